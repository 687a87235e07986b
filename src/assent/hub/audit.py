"""Is the record whole? The chain, the numbers, and the rows that the log must give when it is replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from assent.engine.ask import evolve
from assent.engine.control import ControlEvent
from assent.engine.control import evolve as evolve_control
from assent.engine.notification import NotificationEvent
from assent.engine.notification import evolve as evolve_notification
from assent.engine.policy import PolicySet
from assent.engine.policy import evolve as evolve_policy
from assent.engine.receipt import ReceiptEvent
from assent.engine.receipt import evolve as evolve_receipt
from assent.engine.run import RunEvent
from assent.engine.run import evolve as evolve_run
from assent.engine.target import TargetEvent
from assent.engine.target import evolve as evolve_target
from assent.engine.task import TaskEvent
from assent.engine.task import evolve as evolve_task
from assent.engine.token import TokenEvent
from assent.engine.token import evolve as evolve_token
from assent.hub.clock import is_ahead
from assent.hub.desk import instant
from assent.hub.record import FlowStepped, StoreRestored, TopicPosted, WorkEvent, decode_event, topic_of
from assent.protocol.ask import Ask
from assent.protocol.control import Control
from assent.protocol.display import quote
from assent.protocol.error import AssentError, StoreDamagedError
from assent.protocol.notification import Notification
from assent.protocol.policy import ProjectPolicy
from assent.protocol.receipt import Receipt
from assent.protocol.run import Run
from assent.protocol.target import Target
from assent.protocol.task import Task
from assent.protocol.token import Token
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
                rows = replay(head.project, records)
                found = _compare(reader, rows, head, gone)
            except (AssentError, KeyError, AssertionError) as error:
                problems.append(f"{head.project}: the log or its rows cannot be read ({error!r}).")
                continue
            asks += len(rows.asks)
            runs += len(rows.runs)
            problems.extend(f"{head.project}: {problem}" for problem in found)
    return Audit(len(heads), events, asks, tuple(problems), erased, runs, ahead)


def _erased(records: list[Record]) -> set[str]:
    return {record.subject for record in records if record.body is None}


class Replayed(msgspec.Struct):
    """The rows that a project's log gives."""

    asks: dict[str, Ask] = {}
    steps: dict[str, Step] = {}
    runs: dict[str, Run] = {}
    controls: dict[str, Control] = {}
    notifications: dict[str, Notification] = {}
    tasks: dict[str, Task] = {}
    policies: dict[str, ProjectPolicy] = {}
    tokens: dict[str, Token] = {}
    receipts: dict[str, Receipt] = {}
    targets: dict[str, Target] = {}


def replay(project: str, records: list[Record]) -> Replayed:
    """Return the rows that a project's log gives; what has lost a body gives none."""
    rows = Replayed()
    gone = _erased(records)
    for record in records:
        if record.body is None or record.subject in gone:
            continue
        event = decode_event(record.body)
        if isinstance(event, FlowStepped):
            rows.steps[_name(event.step)] = event.step
        elif isinstance(event, RunEvent):
            known = rows.runs.get(event.run_id)
            rows.runs[event.run_id] = evolve_run(known, event, project=project, sequence=record.sequence)
        elif isinstance(event, ControlEvent):
            _replay_control(rows.controls, record, event)
        elif isinstance(event, NotificationEvent | TaskEvent | PolicySet):
            _replay_work(rows, project, record, event)
        elif isinstance(event, TokenEvent):
            known_token = rows.tokens.get(event.token_id)
            rows.tokens[event.token_id] = evolve_token(
                known_token, event, project=project, sequence=record.sequence
            )
        elif isinstance(event, ReceiptEvent):
            known_receipt = rows.receipts.get(event.receipt_id)
            rows.receipts[event.receipt_id] = evolve_receipt(
                known_receipt, event, project=project, sequence=record.sequence
            )
        elif isinstance(event, TargetEvent):
            known_target = rows.targets.get(event.name)
            rows.targets[event.name] = evolve_target(
                known_target, event, project=project, sequence=record.sequence
            )
        elif not isinstance(event, TopicPosted | StoreRestored):
            ask = rows.asks.get(event.ask_id)
            rows.asks[event.ask_id] = evolve(ask, event, project=project, sequence=record.sequence)
    return rows


def _replay_control(controls: dict[str, Control], record: Record, event: ControlEvent) -> None:
    control = evolve_control(controls.get(record.subject), event, sequence=record.sequence)
    if control is not None:
        controls[record.subject] = control


def _replay_work(rows: Replayed, project: str, record: Record, event: WorkEvent) -> None:
    subject, sequence = record.subject, record.sequence
    if isinstance(event, PolicySet):
        rows.policies[subject] = evolve_policy(
            rows.policies.get(subject), event, project=project, sequence=sequence
        )
    elif isinstance(event, TaskEvent):
        rows.tasks[subject] = evolve_task(rows.tasks.get(subject), event, project=project, sequence=sequence)
    else:
        rows.notifications[subject] = evolve_notification(
            rows.notifications.get(subject), event, project=project, sequence=sequence
        )


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


def _compare(reader: Reader, told: Replayed, head: Head, gone: set[str]) -> list[str]:
    project = head.project
    asks = reader.asks(project, None, len(told.asks) + len(gone) + 1)
    runs = reader.runs(project, len(told.runs) + len(gone) + 1, active=False)
    kept_asks: dict[str, Ask] = {
        ask.ask_id: replace(ask, claim=None) for ask in asks if ask.ask_id not in gone
    }
    kept_runs: dict[str, Run] = {run.run_id: run for run in runs if run.run_id not in gone}
    kept_steps = {_name(step): step for step in reader.steps(project) if step.flow_id not in gone}
    kept_controls = {
        control.request.request_id: control
        for control in reader.controls(project)
        if control.request.request_id not in gone
    }
    notifications = reader.notifications(project, len(told.notifications) + len(gone) + 1, is_open=False)
    kept_notifications: dict[str, Notification] = {
        each.notification_id: each for each in notifications if each.notification_id not in gone
    }
    tasks = reader.tasks(project, len(told.tasks) + len(gone) + 1, is_live=False)
    kept_tasks: dict[str, Task] = {task.task_id: task for task in tasks if task.task_id not in gone}
    tokens = reader.tokens(project, len(told.tokens) + len(gone) + 1)
    kept_tokens: dict[str, Token] = {token.token_id: token for token in tokens if token.token_id not in gone}
    receipts = reader.receipts(project, len(told.receipts) + len(gone) + 1)
    kept_receipts: dict[str, Receipt] = {
        receipt.receipt_id: receipt for receipt in receipts if receipt.receipt_id not in gone
    }
    kept_targets: dict[str, Target] = {
        target.name: target for target, _ in reader.targets(project) if target.name not in gone
    }
    policy = reader.policy(project)
    kept_policies = {"policy": policy} if policy is not None and "policy" not in gone else {}
    return [
        *_differences("the row of {}", kept_asks, told.asks),
        *_differences("{}", kept_steps, told.steps),
        *_differences("the row of run {}", kept_runs, told.runs),
        *_differences("the row of request {}", kept_controls, told.controls),
        *_differences("the row of notification {}", kept_notifications, told.notifications),
        *_differences("the row of task {}", kept_tasks, told.tasks),
        *_differences("the {}", kept_policies, told.policies),
        *_differences("the row of token {}", kept_tokens, told.tokens),
        *_differences("the row of receipt {}", kept_receipts, told.receipts),
        *_differences("the row of target {}", kept_targets, told.targets),
    ]


def _differences(name: str, kept: Mapping[str, object], told: Mapping[str, object]) -> list[str]:
    differing = [key for key in sorted(kept.keys() | told.keys()) if kept.get(key) != told.get(key)]
    return [f"{name.format(quote(key))} is not what the log says." for key in differing]
