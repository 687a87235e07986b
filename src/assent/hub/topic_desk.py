"""The part of the desk where messages are posted, and where controls are taken up, executed and answered.

Two transactions for each control: the first has the REQUEST and, right behind it, ACK or the immediate RESULT; a later
one has effect, RESULT and state event. Who begins a transaction finds what earlier ones accepted and finishes it, so a
control outlives whoever sent it, and none is executed in the transaction that acknowledged it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import msgspec

from assent.engine.control import (
    ControlAcknowledged,
    ControlEvent,
    ControlExpired,
    ControlMalformed,
    ControlRepeated,
    ControlReplied,
    ControlRequested,
    ControlResolved,
    ControlStep,
    PostRequest,
    RefuseRequest,
    ResolveControl,
    TakeUp,
    decide,
    evolve,
)
from assent.engine.reactions import carry_out
from assent.engine.stamp import Stamp
from assent.hub.command import Posted, PostMessage
from assent.hub.record import RESTORED_TOPIC, TopicPosted
from assent.hub.restored import find_restored_at
from assent.protocol.control import (
    Code,
    Control,
    ControlMessage,
    ControlRequest,
    ControlState,
    Malformed,
    failure,
    parse_request,
    sent_at,
)
from assent.protocol.ending import render_instant
from assent.protocol.error import ForbiddenError, NotFoundError
from assent.protocol.json_text import parse_json
from assent.protocol.principal import parse_principal
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC, Message, check_topic
from assent.storage.port import Head

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["TopicDesk"]


class TopicDesk:
    """Posts and controls of one transaction."""

    def __init__(self, desk: Desk, *, is_strict: bool) -> None:
        self._desk = desk
        self._is_strict = is_strict

    def post(self, head: Head, request: PostMessage, stamp: Stamp) -> Posted:
        """Put a message into a topic."""
        check_topic(request.topic)
        if request.topic == CURRENT_TOPIC:
            raise ForbiddenError(f"Only runs post on {CURRENT_TOPIC}; nothing was posted.")
        if request.topic == RESTORED_TOPIC:
            raise ForbiddenError(f"Only a restore posts on {RESTORED_TOPIC}; nothing was posted.")
        if request.topic == CONTROL_TOPIC:
            return self._post_control(head, request, stamp)
        parse_json(request.text)
        event = TopicPosted(request.topic, stamp.at, str(stamp.by), msgspec.Raw(_on_one_line(request.text)))
        sequence = self._desk.record(head, event, request.topic)
        return Posted(Message(sequence, request.topic, stamp.at, event.message, event.by))

    def find_posted(self, head: Head, request: PostMessage, sequence: int) -> Posted:
        """Return a message that was posted before."""
        found = self._desk.transaction.messages(head, request.topic, sequence - 1, 1)
        return Posted(found[0] if found else None)

    def find(self, head: Head, request_id: str) -> Control:
        """Return a control. Taking the head has executed whatever could be."""
        control = self._desk.transaction.control(head, request_id)
        if control is None:
            raise NotFoundError("There is no such request here.")
        return control

    def advance(self, head: Head, control: Control) -> None:
        """Go one step on with a control that an earlier transaction left."""
        run = self._desk.transaction.run(head.project, control.request.run_id)
        stamp = self._desk.stamp(head, parse_principal(control.by))
        if control.state is ControlState.POSTED:
            self._step(head, control, TakeUp(run, stamp))
            return
        try:
            payload, events = carry_out(control, run, stamp)
        except Exception as error:  # noqa: BLE001 - nothing is written yet, and every later transaction would fail on it
            payload, events = failure(Code.INVALID_STATE, f"The command cannot be executed: {error!r}."), ()
        self._step(head, control, ResolveControl(payload, stamp))
        self._desk.happen(head, run, events)

    def _post_control(self, head: Head, request: PostMessage, stamp: Stamp) -> Posted:
        read = parse_request(request.text, is_strict=self._is_strict)
        if isinstance(read, Malformed):
            if read.is_reply:
                raise ForbiddenError("ACK and RESULT are Assent's own; nothing was posted. Post a REQUEST.")
            text = request.text if read.request_id is None else _on_one_line(request.text)
            return self._step(head, None, RefuseRequest(read, text, stamp))
        text = _on_one_line(request.text)
        run = self._desk.transaction.run(head.project, read.run_id)
        known = self._desk.transaction.control(head, read.request_id)
        if (known is None or known.is_forgotten) and (late := self._find_late(head, read, text)) is not None:
            return self._step(head, None, RefuseRequest(late, text, stamp))
        return self._step(head, known, PostRequest(read, text, run, request.is_left, stamp))

    def _find_late(self, head: Head, request: ControlRequest, text: bytes) -> Malformed | None:
        """Return why a REQUEST from before a restore is not executed: it may have been, after the backup was taken."""
        restored_at = find_restored_at(self._desk.transaction, head)
        if restored_at is None or sent_at(text) >= restored_at:
            return None
        problem = (
            f"The store was restored from a backup at {render_instant(restored_at)}; this REQUEST is from before, and is "
            "not executed. Send a new one."
        )
        return Malformed(problem, request.request_id, request.command.value, request.target)

    def _step(self, head: Head, control: Control | None, command: ControlStep) -> Posted:
        message: Message | None = None
        reply: ControlMessage | None = None
        problem = ""
        for event in decide(control, command):
            sequence = self._desk.record(head, event, _subject(event))
            match event:
                case ControlRequested() | ControlRepeated():
                    message = Message(sequence, CONTROL_TOPIC, command.stamp.at, event.message)
                case ControlAcknowledged() | ControlResolved() | ControlReplied():
                    reply = event.message
                case ControlMalformed():
                    problem = event.problem
                case ControlExpired():
                    pass
                case _:
                    assert_never(event)
            known, control = control, evolve(control, event, sequence=sequence)
            if control is not None and control is not known:
                self._desk.transaction.put_control(head, control)
        return Posted(message, control, reply, problem)


def _on_one_line(text: bytes) -> bytes:
    # A topic is read a line a message, and whoever posts may have written it on several.
    return msgspec.json.format(text, indent=-1)


def _subject(event: ControlEvent) -> str:
    match event:
        case ControlRequested():
            return event.request.request_id
        case ControlRepeated() | ControlMalformed():
            return CONTROL_TOPIC
        case _:
            return event.request_id
