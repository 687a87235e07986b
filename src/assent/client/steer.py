"""The controller's side: look at runs, send them commands, and read and write topics.

A command is sent under an id of its own and may be sent again under it as often as one likes: it is executed once. A
controller takes `duplicate` for "still pending" while its own request is in flight (I-X3), and tells a command that
failed (a RESULT says so) from one that expired (nobody acknowledged it).
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec
from msgspec import structs

from assent.client.boot import boot_milliseconds
from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.hub.command import ExecuteControl, Posted, PostMessage
from assent.hub.ids import new_command_id, new_request_id
from assent.protocol.control import (
    EXPIRY_SECONDS,
    Code,
    Control,
    ControlCommand,
    ControlMessage,
    ControlState,
    render_request,
)
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ConflictError,
    ControlExpiredError,
    Expired,
    InvalidStateError,
    NotFoundError,
    StillOpen,
    StoreAwayError,
    StoreBusyError,
)
from assent.protocol.json_text import Json, check_json
from assent.protocol.run import MAX_MODEL, Run, RunId, check_run_id, is_model
from assent.protocol.tail import Tail
from assent.protocol.topic import CONTROL_TOPIC, Message, check_topic

__all__ = [
    "STRONGEST_MODEL",
    "Draft",
    "cancel",
    "control",
    "deliver",
    "draft_request",
    "escalate",
    "failure_of",
    "find_run",
    "is_driven",
    "list_runs",
    "pause",
    "post",
    "post_text",
    "read_output",
    "read_topic",
    "resume",
    "send_request",
    "wait_for_run",
]

STRONGEST_MODEL = "opus"
"""What `escalate` means where no model is named (I12)."""
_RUNS = 1_000
_LEAST_SECONDS = 1.0
"""So long a REQUEST may take at least: nothing arrives at once."""

_FAILURES: dict[str, type[AssentError]] = {
    Code.NOT_FOUND: NotFoundError,
    Code.INVALID_STATE: InvalidStateError,
    Code.DUPLICATE: ConflictError,
    Code.BAD_REQUEST: BadRequestError,
}


def control(  # noqa: PLR0913 - the public call
    calls: Calls,
    run_id: str,
    command: ControlCommand | str,
    *,
    model: str | None = None,
    reason: str = "",
    issue_id: str | None = None,
    request_id: str | None = None,
    wait: float = EXPIRY_SECONDS,
) -> Call[ControlMessage]:
    """Send a command to a run and return its RESULT, also where that is a failure.

    With the `request_id` of an earlier call it is the same command: it is executed once, and its RESULT comes again.

    Raises:
        ControlExpiredError: nobody acknowledged it within `wait` seconds; it will not be executed.
        StillOpen: it was acknowledged, and its RESULT has not come within `wait` seconds.
    """
    draft = draft_request(
        run_id, command, model=model, reason=reason, issue_id=issue_id, request_id=request_id
    )
    not_after = _later(min(max(wait, _LEAST_SECONDS), EXPIRY_SECONDS))
    return (yield from send_request(calls, draft, not_after, _later(wait)))


class Draft(msgspec.Struct, frozen=True):
    """A REQUEST but for its moment."""

    request_id: str
    command: ControlCommand
    run_id: RunId
    issue_id: str | None
    payload: dict[str, Any]

    def render(self, at: datetime) -> bytes:
        """Return it as it is posted."""
        return render_request(
            self.request_id, self.command, self.run_id, at, issue_id=self.issue_id, payload=self.payload
        )


def draft_request(
    run_id: str,
    command: ControlCommand | str,
    *,
    model: str | None = None,
    reason: str = "",
    issue_id: str | None = None,
    request_id: str | None = None,
) -> Draft:
    """Return a REQUEST; see `control`."""
    command = _command(command)
    payload = _escalation(model, reason) if command is ControlCommand.ESCALATE else {}
    return Draft(request_id or new_request_id(), command, check_run_id(run_id), issue_id, payload)


def send_request(
    calls: Calls, draft: Draft, not_after: int, until_when: int | None = None
) -> Call[ControlMessage]:
    """Send a REQUEST, which is acknowledged by `not_after` or never, and return its RESULT, waited for until then.

    Both are moments of the boot clock, in milliseconds.

    Raises:
        ControlExpiredError: nobody acknowledged it; it will not be executed.
        StillOpen: it was acknowledged, and its RESULT has not come.
    """
    until_when = not_after if until_when is None else until_when
    posted: Posted | None = None
    while posted is None:
        message = PostMessage(CONTROL_TOPIC, draft.render(calls.door.now()), not_after=not_after)
        try:
            posted = yield from _send(calls, message)
        except (StoreBusyError, StoreAwayError, Expired):
            # A server that says it is too late was started anew, or heard from too long ago: its reply tells its clock.
            if boot_milliseconds() >= min(not_after, until_when):
                raise ControlExpiredError from None
    return (yield from _result(calls, posted, until_when))


def _later(seconds: float) -> int:
    return boot_milliseconds() + round(seconds * 1_000)


def _result(calls: Calls, posted: Posted, until_when: int) -> Call[ControlMessage]:
    """Return the RESULT for a message that was posted; finish the control if nobody has yet."""
    reply, begun = posted.reply, posted.control
    is_pending = begun is not None and begun.state is ControlState.ACCEPTED
    while is_pending and begun is not None:
        with suppress(
            StoreBusyError, StoreAwayError
        ):  # it is acknowledged: whoever comes next to the store executes it
            begun = yield from _execute(calls, begun.request.request_id)
        if begun.result is not None:
            return begun.result
        if boot_milliseconds() >= until_when:
            raise StillOpen("The command was acknowledged, but its RESULT is not there yet.")
    if reply is None:
        raise BadRequestError(posted.problem or "Nobody can be answered for this message.")
    return reply


def _send(calls: Calls, request: PostMessage, command_id: str = "") -> Call[Posted]:
    told = yield from until(
        calls.door.send(request, calls.project, calls.principal, command_id or new_command_id())
    )
    assert isinstance(told, Posted)  # noqa: S101 - the desk's reply to a message
    return told


def _execute(calls: Calls, request_id: str) -> Call[Control]:
    request = ExecuteControl(request_id)
    told = yield from until(calls.door.send(request, calls.project, calls.principal, new_command_id()))
    assert isinstance(told, Control)  # noqa: S101 - the desk's reply to it
    return told


def _command(given: ControlCommand | str) -> ControlCommand:
    try:
        return ControlCommand(given)
    except ValueError:
        raise BadRequestError("A run can be told to pause, resume, cancel or escalate.") from None


def _escalation(model: str | None, reason: str) -> dict[str, Any]:
    model = STRONGEST_MODEL if model is None else model
    if not is_model(model):
        raise BadRequestError(f"A model's name has 1 to {MAX_MODEL} visible characters.")
    return {"model": model, "reason": reason} if reason else {"model": model}


def _succeed(result: ControlMessage) -> ControlMessage:
    if result.is_success:
        return result
    raise failure_of(result)


def failure_of(result: ControlMessage) -> AssentError:
    """Return the typed error for a RESULT that says no."""
    return _FAILURES.get(result.code or "", AssentError)(str(result.payload.get("message", "")))


def pause(calls: Calls, run_id: str) -> Call[ControlMessage]:
    """Let no further iteration of the run start; the one under way finishes. Return the RESULT.

    Raises:
        NotFoundError: there is no such run, or it has ended.
        InvalidStateError: it is paused already.
    """
    return _succeed((yield from control(calls, run_id, ControlCommand.PAUSE)))


def resume(calls: Calls, run_id: str) -> Call[ControlMessage]:
    """Let a paused run go on. Return the RESULT.

    Raises:
        NotFoundError: there is no such run, or it has ended.
        InvalidStateError: it is not paused.
    """
    return _succeed((yield from control(calls, run_id, ControlCommand.RESUME)))


def cancel(calls: Calls, run_id: str) -> Call[ControlMessage]:
    """End the run, whole: its asks are withdrawn and its driver ends what it runs. Return the RESULT.

    Raises:
        NotFoundError: there is no such run, or it has ended.
    """
    return _succeed((yield from control(calls, run_id, ControlCommand.CANCEL)))


def escalate(
    calls: Calls, run_id: str, model: str = STRONGEST_MODEL, *, reason: str = ""
) -> Call[ControlMessage]:
    """Give the run's next iteration a more capable model. Return the RESULT.

    Raises:
        NotFoundError: there is no such run, or it has ended.
        InvalidStateError: it is on that model already.
        BadRequestError: the run declared its models, and this is none of them.
    """
    found = yield from control(calls, run_id, ControlCommand.ESCALATE, model=model, reason=reason)
    return _succeed(found)


def find_run(calls: Calls, run_id: str) -> Call[Run]:
    """Return one run by its id.

    Raises:
        NotFoundError: there is none.
    """
    run = yield from until(calls.door.find_run(calls.project, check_run_id(run_id)))
    if run is None:
        raise NotFoundError(f"There is no run {run_id} in project {calls.project}.")
    return run


def read_output(calls: Calls, run_id: str, after: int = 0) -> Call[Tail]:
    """Return what is kept of a run's output after its first `after` bytes; come again with its `written`.

    Raises:
        NotFoundError: there is no such run.
    """
    tail = yield from until(calls.door.tail(calls.project, check_run_id(run_id), after))
    if tail is None:
        raise NotFoundError(f"There is no run {run_id} in project {calls.project}.")
    return tail


def list_runs(
    calls: Calls, *, all_states: bool = False, all_projects: bool = False, limit: int = _RUNS
) -> Call[list[Run]]:
    """Return the runs that have not ended, newest first; with `all_states` the ended ones, too."""
    project = None if all_projects else calls.project
    return (yield from until(calls.door.runs(project, limit, active=not all_states)))


def is_driven(calls: Calls, run: Run) -> Call[bool]:
    """Say whether somebody alive on this machine drives the run."""
    return (yield from until(calls.door.is_driven(run.project, run.run_id)))


def wait_for_run(calls: Calls, run_id: str, after: int, seconds: float | None = None) -> Call[Run]:
    """Return the run as soon as an event after number `after` has changed it, in whichever process.

    Raises:
        StillOpen: `seconds` went by.
    """
    wait = calls.door.until_run_changed(check_run_id(run_id), calls.project, after, seconds)
    return (yield from until(wait))


def post(calls: Calls, topic: str, body: Json) -> Call[Message]:
    """Put a message into a topic; return it with its number. On `loop:control` it is taken up at once."""
    check_json(body)
    return (yield from post_text(calls, topic, msgspec.json.encode(body)))


def post_text(calls: Calls, topic: str, text: bytes) -> Call[Message]:
    """Put a message into a topic as it stands.

    Raises:
        BadRequestError: it is no JSON, or nobody could be answered for it.
    """
    posted = yield from deliver(calls, topic, text)
    if posted.message is None:
        raise BadRequestError(posted.problem)
    return posted.message


def deliver(
    calls: Calls, topic: str, text: bytes, *, command_id: str = "", not_after: int | None = None
) -> Call[Posted]:
    """Put a message into a topic as it stands; return what became of it, a REQUEST's RESULT included.

    Raises:
        ControlExpiredError: nobody acknowledged a REQUEST by `not_after`, or within 30 seconds.
    """
    if topic == CONTROL_TOPIC and not_after is None:
        not_after = _later(EXPIRY_SECONDS)
    try:
        posted = yield from _send(calls, PostMessage(topic, text, not_after=not_after), command_id)
    except Expired:
        raise ControlExpiredError from None
    if posted.control is not None and posted.control.state is ControlState.ACCEPTED:
        result = yield from _result(calls, posted, not_after or _later(EXPIRY_SECONDS))
        return structs.replace(posted, reply=result)
    return posted


def read_topic(calls: Calls, topic: str, after: int = 0, limit: int = 1_000) -> Call[list[Message]]:
    """Return a topic's messages after a number, oldest first."""
    check_topic(topic)
    return (yield from until(calls.door.messages(calls.project, topic, after, limit)))
