"""Runs, frames and control messages that many tests start from."""

from typing import Any

import msgspec
from msgspec.structs import replace

from assent.protocol.control import Control, ControlRequest, ControlState, parse_request
from assent.protocol.run import Frame, Level, Mode, Run, RunId, Status
from tests.samples import AGENT, ANA, NOON

__all__ = [
    "REQUEST_ID",
    "RUN_ID",
    "new_control",
    "new_frame",
    "new_request",
    "new_run",
    "request_body",
    "request_text",
]

RUN_ID = RunId("loop-1703123456-12345")
"""The run of the text's own examples."""
REQUEST_ID = "req-pause-001"


def new_frame(**changes: Any) -> Frame:
    """Return the frame of a loop before its first iteration."""
    return replace(Frame(RUN_ID, Mode.LOOP, 0, 10), **changes)


def new_run(frame: Frame | None = None, **changes: Any) -> Run:
    """Return a run that has just been started; `changes` are fields of it."""
    run = Run(
        RUN_ID, "p", Status.RUNNING, (Level(frame or new_frame()),), NOON, str(AGENT), NOON, driver="host:1"
    )
    return replace(run, **changes)


def request_body(command: str = "pause", /, **changes: Any) -> dict[str, Any]:
    """Return a REQUEST as JSON has it; a change to None takes the field away."""
    body: dict[str, Any] = {
        "schema": 0,
        "type": "REQUEST",
        "request_id": REQUEST_ID,
        "command": command,
        "target": {"run_id": RUN_ID},
        "timestamp": "2024-12-28T10:00:00Z",
        "payload": {"model": "opus", "reason": "stuck"} if command == "escalate" else {},
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


def request_text(command: str = "pause", /, **changes: Any) -> bytes:
    """Return a REQUEST as it is posted."""
    return msgspec.json.encode(request_body(command, **changes))


def new_request(command: str = "pause", /, **changes: Any) -> ControlRequest:
    """Return a REQUEST, read."""
    request = parse_request(request_text(command, **changes))
    assert isinstance(request, ControlRequest)
    return request


def new_control(command: str = "pause", **changes: Any) -> Control:
    """Return a control that was accepted and waits to be executed; `changes` are fields of it."""
    request = new_request(command)
    return replace(Control(request, request.digest, ControlState.ACCEPTED, str(ANA), NOON), **changes)
