"""Is the record whole? The chain, the numbers, and the rows that the log must give when it is replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from assent.engine.table import MACHINE_OF, MACHINES
from assent.hub.clock import is_ahead
from assent.hub.desk import instant
from assent.hub.record import FlowStepped, decode_event, topic_of
from assent.protocol.display import quote
from assent.protocol.error import AssentError, StoreDamagedError
from assent.storage.chain import genesis, link
from assent.storage.port import Head, Reader, Record, Step, Store

__all__ = ["Ahead", "Audit", "Replayed", "find_ahead", "replay", "verify"]

_PAGE = 1_000


class Audit(msgspec.Struct, frozen=True):
    """What was looked at, and what is wrong."""

    projects: int
    events: int
    asks: int
    problems: tuple[str, ...]
    erased: int = 0
    """Asks, flows and runs of which some body was erased: the chain holds, but their rows cannot be compared."""
    runs: int = 0
    ahead: int = 0
    """Events that are dated more than five minutes ahead of the clock."""


class Ahead(msgspec.Struct, frozen=True):
    """What of a project's log is dated more than five minutes ahead of the clock."""

    project: str
    events: int
    first: Record
    until: datetime
    """The furthest."""


def find_ahead(store: Store, now: datetime) -> list[Ahead]:
    """Return the projects that have events ahead of the clock; only the logs of these are read."""
    found = []
    with store.reading() as reader:
        for head in reader.heads():
            if is_ahead(instant(head.high), now):
                records = [each for each in _records(reader, head.project) if is_ahead(instant(each.at), now)]
                found += (
                    [Ahead(head.project, len(records), records[0], instant(head.high))] if records else []
                )
    return found


def verify(store: Store, now: datetime | None = None) -> Audit:
    """Walk every project's log: dense numbers, an unbroken chain, and rows that equal the replay.

    What is ahead of `now` is counted, and is no problem of the record.
    """
    problems = store.check()
    events = asks = runs = erased = ahead = 0
    with store.reading() as reader, reader.snapshot():
        heads = reader.heads()
        for head in heads:
            records, found = _walk(reader, head)
            problems.extend(f"{head.project}: {problem}" for problem in found)
            events += len(records)
            if now is not None:
                ahead += sum(is_ahead(instant(record.at), now) for record in records)
            gone = _erased(records)
            erased += len(gone)
            try:
                told = replay(head.project, records)
                found = _compare(reader, told, head, gone)
            except (AssentError, KeyError, AssertionError) as error:
                problems.append(f"{head.project}: the log or its rows cannot be read ({error!r}).")
                continue
            asks += len(told.rows["ask"])
            runs += len(told.rows["run"])
            problems.extend(f"{head.project}: {problem}" for problem in found)
    return Audit(len(heads), events, asks, tuple(problems), erased, runs, ahead)


def _erased(records: list[Record]) -> set[str]:
    return {record.subject for record in records if record.body is None}


class Replayed(msgspec.Struct):
    """What a project's log gives: the rows of each noun, by its name and their ids, and the steps of flows."""

    rows: dict[str, dict[str, Any]]
    steps: dict[str, Step]


def replay(project: str, records: list[Record]) -> Replayed:
    """Return the rows that a project's log gives; what has lost a body gives none."""
    told = Replayed({machine.name: {} for machine in MACHINES}, {})
    gone = _erased(records)
    for record in records:
        if record.body is None or record.subject in gone:
            continue
        event = decode_event(record.body)
        if isinstance(event, FlowStepped):
            told.steps[_name(event.step)] = event.step
        elif (machine := MACHINE_OF.get(type(event))) is not None:
            rows, subject = told.rows[machine.name], record.subject
            state = machine.evolve(rows.get(subject), event, project=project, sequence=record.sequence)
            if state is not None:
                rows[subject] = state
    return told


def _name(step: Step) -> str:
    return f"step {step.step} of {step.flow_id}"


def _records(reader: Reader, project: str) -> Iterator[Record]:
    last = 0
    while page := reader.records(project, last, _PAGE):
        yield from page
        last = page[-1].sequence


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
            if record.topic != _topic(record):
                return records, [f"event {record.sequence} is not on the topic {record.topic}."]
            last = record.sequence
            records.append(record)
    if (last, previous) != (head.sequence, head.hash):
        return records, [f"the log ends at event {last}, its head says {head.sequence}."]
    return records, []


def _topic(record: Record) -> str | None:
    """Return the topic that the event itself says it is on; the chain does not cover the column."""
    if record.body is None:
        return record.topic
    try:
        return topic_of(decode_event(record.body))
    except StoreDamagedError:
        return record.topic  # what cannot be read is reported when it is replayed


def _asks(reader: Reader, project: str, limit: int) -> dict[str, Any]:
    # A claim is volatile: the log does not know it.
    return {ask.ask_id: replace(ask, claim=None) for ask in reader.asks(project, None, limit)}


def _policies(reader: Reader, project: str, _: int) -> dict[str, Any]:
    policy = reader.policy(project)
    return {} if policy is None else {"policy": policy}


_READ: dict[str, Callable[[Reader, str, int], dict[str, Any]]] = {
    "ask": _asks,
    "run": lambda reader, project, limit: {
        each.run_id: each for each in reader.runs(project, limit, active=False)
    },
    "request": lambda reader, project, _: {
        each.request.request_id: each for each in reader.controls(project)
    },
    "notification": lambda reader, project, limit: {
        each.notification_id: each for each in reader.notifications(project, limit, is_open=False)
    },
    "task": lambda reader, project, limit: {
        each.task_id: each for each in reader.tasks(project, limit, is_live=False)
    },
    "policy": _policies,
    "token": lambda reader, project, limit: {each.token_id: each for each in reader.tokens(project, limit)},
    "receipt": lambda reader, project, limit: {
        each.receipt_id: each for each in reader.receipts(project, limit)
    },
    "target": lambda reader, project, _: {each.name: each for each, _ in reader.targets(project)},
}
"""How the rows of each noun are read, by their ids."""


def _compare(reader: Reader, told: Replayed, head: Head, gone: set[str]) -> list[str]:
    found = []
    for name, rows in told.rows.items():
        kept = _READ[name](reader, head.project, len(rows) + len(gone) + 1)
        differing = _differences({key: row for key, row in kept.items() if key not in gone}, rows)
        found += [f"the row of {name if key == name else f'{name} {key}'}" for key in differing]
    steps = {_name(step): step for step in reader.steps(head.project) if step.flow_id not in gone}
    return [f"{each} is not what the log says." for each in [*found, *_differences(steps, told.steps)]]


def _differences(kept: Mapping[str, object], told: Mapping[str, object]) -> list[str]:
    return [quote(key) for key in sorted(kept.keys() | told.keys()) if kept.get(key) != told.get(key)]
