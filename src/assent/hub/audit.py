"""Is the record whole? The chain, the numbers, and the rows that the log must give when it is replayed."""

from __future__ import annotations

from hashlib import sha256

import msgspec
from msgspec.structs import replace

from assent.engine.ask import evolve
from assent.hub.record import FlowStepped, decode_event
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError
from assent.storage.chain import genesis, link
from assent.storage.port import Head, Reader, Record, Step, Store

__all__ = ["Audit", "replay", "verify"]

_PAGE = 1_000


class Audit(msgspec.Struct, frozen=True):
    """What was looked at, and what is wrong."""

    projects: int
    events: int
    asks: int
    problems: tuple[str, ...]
    erased: int = 0
    """Asks and flows of which some body was erased: the chain holds, but their rows cannot be compared."""


def verify(store: Store) -> Audit:
    """Walk every project's log: dense numbers, an unbroken chain, and rows that equal the replay."""
    problems = [f"SQLite: {finding}" for finding in store.check()]
    events = asks = erased = 0
    with store.reading() as reader, reader.snapshot():
        heads = reader.heads()
        for head in heads:
            records, found = _walk(reader, head)
            problems.extend(f"{head.project}: {problem}" for problem in found)
            events += len(records)
            gone = _erased(records)
            erased += len(gone)
            try:
                rows, steps = replay(head.project, records)
                found = _compare(reader, rows, steps, head, gone)
            except (AssentError, KeyError, AssertionError) as error:
                problems.append(f"{head.project}: the log or its rows cannot be read ({error!r}).")
                continue
            asks += len(rows)
            problems.extend(f"{head.project}: {problem}" for problem in found)
    return Audit(len(heads), events, asks, tuple(problems), erased)


def _erased(records: list[Record]) -> set[str]:
    return {record.subject for record in records if record.body is None}


def replay(project: str, records: list[Record]) -> tuple[dict[str, Ask], dict[tuple[str, int], Step]]:
    """Return the rows that a project's log gives; what has lost a body gives none."""
    asks: dict[str, Ask] = {}
    steps: dict[tuple[str, int], Step] = {}
    gone = _erased(records)
    for record in records:
        if record.body is None or record.subject in gone:
            continue
        event = decode_event(record.body)
        if isinstance(event, FlowStepped):
            steps[event.step.flow_id, event.step.step] = event.step
        else:
            known = asks.get(event.ask_id)
            asks[event.ask_id] = evolve(known, event, project=project, sequence=record.sequence)
    return asks, steps


def _walk(reader: Reader, head: Head) -> tuple[list[Record], list[str]]:
    records: list[Record] = []
    previous, last = genesis(head.project), 0
    while page := reader.records(head.project, last, _PAGE):
        for record in page:
            if record.sequence != last + 1:
                return records, [f"event {last + 1} is missing."]
            if record.body is not None and sha256(record.body).digest() != record.digest:
                return records, [f"the body of event {record.sequence} was changed."]
            previous = link(previous, record.sequence, record.at, record.type, record.subject, record.digest)
            if previous != record.hash:
                return records, [f"the chain breaks at event {record.sequence}."]
            last = record.sequence
            records.append(record)
    if (last, previous) != (head.sequence, head.hash):
        return records, [f"the log ends at event {last}, its head says {head.sequence}."]
    return records, []


def _compare(
    reader: Reader,
    asks: dict[str, Ask],
    steps: dict[tuple[str, int], Step],
    head: Head,
    gone: set[str],
) -> list[str]:
    problems = []
    kept_asks = reader.asks(head.project, None, len(asks) + len(gone) + 1)
    rows: dict[str, Ask] = {ask.ask_id: ask for ask in kept_asks if ask.ask_id not in gone}
    for ask_id in rows.keys() | asks.keys():
        row, told = rows.get(ask_id), asks.get(ask_id)
        if told is None or row is None or replace(row, claim=None) != told:
            problems.append(f"the row of {ask_id} is not what the log says.")
    kept_steps = [step for step in reader.steps(head.project) if step.flow_id not in gone]
    kept = {(step.flow_id, step.step): step for step in kept_steps}
    for flow_id, number in sorted(kept.keys() | steps.keys()):
        if kept.get((flow_id, number)) != steps.get((flow_id, number)):
            problems.append(f"step {number} of {flow_id} is not what the log says.")
    return problems
