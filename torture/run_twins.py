"""The planted faults of run control: each takes one guard away that steering, driving or listening leans on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from assent.client.door import Call
from assent.client.wheel import Rung, Wheel
from assent.engine import control as control_machine
from assent.engine import run as run_machine
from assent.engine.control import (
    ControlAcknowledged,
    ControlEvent,
    ControlRequested,
    PostRequest,
    ResolveControl,
    TakeUp,
)
from assent.engine.reactions import carry_out
from assent.engine.run import BeginTurn, CancelRun, RunAborted, RunEvent, RunTaken, TurnBegun
from assent.hub import desk
from assent.hub.feed import Feed
from assent.hub.hub import Hub
from assent.hub.topic_desk import TopicDesk
from assent.protocol.control import DEDUP_SECONDS, Control, ControlRequest, ControlState
from assent.protocol.principal import parse_principal
from assent.protocol.run import Level, Run, RunId, Status
from assent.protocol.topic import Message
from assent.storage.port import Head
from assent.storage.sql.transaction import SqlTransaction
from assent.storage.sqlite.reader import SqliteReader
from torture.swap import swap

__all__ = ["RUN_PLANTS"]


class _Nothing:
    """A hold that excludes nobody."""

    is_held = True

    def release(self) -> None:
        """Nothing was held."""


def _begin_while_paused() -> None:
    begin = run_machine._begin

    def heedless(run: Run | None, command: BeginTurn) -> tuple[RunEvent, ...]:
        is_paused = run is not None and run.status is Status.PAUSED
        return begin(replace(run, status=Status.RUNNING) if run and is_paused else run, command)

    run_machine._DECISIONS[BeginTurn] = heedless
    run_machine.TRANSITIONS[Status.PAUSED][TurnBegun] = Status.PAUSED


def _forget_pause_at_takeover() -> None:
    run_machine.TRANSITIONS[Status.PAUSED][RunTaken] = Status.RUNNING


def _drive_without_hold() -> None:
    swap(Hub, "hold_run", lambda *_: _Nothing())


def _drive_without_fence() -> None:
    driven = run_machine._driven

    def trusting(run: Run | None, run_id: RunId, fence: int) -> Run:
        return driven(run, run_id, fence if run is None else run.fence)

    swap(run_machine, "_driven", trusting)


def _work_without_leave() -> None:
    def eager(wheel: Wheel, rung: Rung) -> Call[Level | None]:
        run = yield from wheel.try_begin(rung)
        return run.levels[rung.depth] if run.is_active else None

    swap(Wheel, "begin", eager)


def _cancel_the_ended() -> None:
    cancel = run_machine._cancel

    def obliging(run: Run | None, command: CancelRun) -> tuple[RunEvent, ...]:
        return cancel(run and replace(run, status=Status.RUNNING), command)

    def acknowledged(request: ControlRequest, run: Run | None, at: datetime) -> ControlAcknowledged:  # noqa: ARG001 - the guard's own
        return ControlAcknowledged(request.request_id, request.ack(at))

    run_machine._DECISIONS[CancelRun] = obliging
    swap(control_machine, "_receive", acknowledged)
    for status in (Status.DONE, Status.ABORTED):
        run_machine.TRANSITIONS[status][RunAborted] = Status.ABORTED


def _leave_asks_open() -> None:
    swap(desk, "react_to_run", lambda _: ())


def _result_after_effect() -> None:
    def hasty(topics: TopicDesk, head: Head, control: Control) -> None:
        run = topics._desk.transaction.run(head.project, control.request.run_id)
        stamp = topics._desk.stamp(head, parse_principal(control.by))
        if control.state is ControlState.POSTED:
            topics._step(head, control, TakeUp(run, stamp))
            return
        payload, events = carry_out(control, run, stamp)
        topics._desk.happen(head, run, events)
        topics._step(head, control, ResolveControl(payload, stamp))

    swap(TopicDesk, "advance", hasty)


def _feed_skips() -> None:
    read = Feed.read

    def careless(feed: Feed[Any], limit: int = 500) -> list[Any]:
        found = read(feed, limit)
        feed.cursor += 2 if found else 0  # as one who counts on gaps
        return found

    swap(Feed, "read", careless)


def _read_from_the_cursor_on() -> None:
    messages = SqliteReader.messages

    def inclusive(reader: SqliteReader, project: str, topic: str, after: int, limit: int) -> list[Message]:
        return messages(reader, project, topic, max(0, after - 1), limit)

    swap(SqliteReader, "messages", inclusive)


def _forget_requests(is_forgotten: Callable[[Control, PostRequest], bool]) -> None:
    post = control_machine._post

    def forgetful(control: Control | None, command: PostRequest) -> tuple[ControlEvent, ...]:
        is_done = control is not None and control.state is ControlState.RESOLVED
        return post(None if control and is_done and is_forgotten(control, command) else control, command)

    control_machine._DECISIONS[PostRequest] = forgetful
    control_machine.TRANSITIONS[ControlState.RESOLVED][ControlRequested] = ControlState.POSTED


def _forget_requests_at_restart() -> None:
    known: set[str] = set()

    def is_unknown(control: Control, command: PostRequest) -> bool:
        return control.request.request_id not in known and command.stamp.command_id != ""

    resolve = control_machine._resolve

    def noted(control: Control | None, command: ResolveControl) -> tuple[ControlEvent, ...]:
        known.update({control.request.request_id} if control else ())
        return resolve(control, command)

    _forget_requests(is_unknown)
    control_machine._DECISIONS[ResolveControl] = noted


def _forget_requests_after_the_window() -> None:
    def is_old(control: Control, command: PostRequest) -> bool:
        window = timedelta(seconds=DEDUP_SECONDS)
        return control.result is not None and command.stamp.at - control.result.timestamp >= window

    _forget_requests(is_old)


def _repeat_results_for_ever() -> None:
    swap(control_machine, "DEDUP_SECONDS", 10**9)


def _only_the_sender_executes() -> None:
    def own(topics: TopicDesk, head: Head, request_id: str) -> Control:
        control = topics._desk.transaction.control(head, request_id)
        if control is not None and control.state is ControlState.ACCEPTED:
            topics.advance(head, control)
        return find(topics, head, request_id)

    find = TopicDesk.find
    swap(TopicDesk, "find", own)
    swap(SqlTransaction, "open_controls", lambda *_: [])


def _execute_again_and_again() -> None:
    swap(Control, "is_settled", property(lambda _: False))


RUN_PLANTS: dict[str, Callable[[], Any]] = {
    "begin-while-paused": _begin_while_paused,
    "forget-pause-at-takeover": _forget_pause_at_takeover,
    "drive-without-hold": _drive_without_hold,
    "drive-without-fence": _drive_without_fence,
    "work-without-leave": _work_without_leave,
    "cancel-the-ended": _cancel_the_ended,
    "leave-asks-open": _leave_asks_open,
    "result-after-effect": _result_after_effect,
    "forget-requests-at-restart": _forget_requests_at_restart,
    "forget-requests-after-the-window": _forget_requests_after_the_window,
    "repeat-results-for-ever": _repeat_results_for_ever,
    "only-the-sender-executes": _only_the_sender_executes,
    "execute-again-and-again": _execute_again_and_again,
    "feed-skips": _feed_skips,
    "read-from-the-cursor-on": _read_from_the_cursor_on,
}
