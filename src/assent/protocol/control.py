"""A control: a command to a run and what came of it, as messages on `loop:control` (schema 0).

Rule 1: a REQUEST is read leniently (unknown fields are ignored, ids are opaque) and judged strictly (I-X11).
Rule 2: ACK and RESULT repeat `request_id`, `command` and `target` unchanged; `timestamp` is their own (I16-I20).
Rule 3: there are no codes but the four of `Code` (I42).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

import msgspec

from assent.protocol.canonical import canonical, digest
from assent.protocol.display import quote
from assent.protocol.error import BadJsonError, TooLargeError
from assent.protocol.json_text import parse_json
from assent.protocol.run import MAX_RUN_ID, RunId, is_model

__all__ = [
    "ALREADY_PROCESSED",
    "CONTROL_SCHEMA",
    "DEDUP_SECONDS",
    "EXPIRY_SECONDS",
    "MAX_REASON",
    "MAX_REQUEST_ID",
    "Code",
    "Control",
    "ControlCommand",
    "ControlMessage",
    "ControlRequest",
    "ControlState",
    "Malformed",
    "failure",
    "parse_request",
    "render_request",
    "sent_at",
]

CONTROL_SCHEMA = 0
EXPIRY_SECONDS = 30
"""A REQUEST that nobody took up for longer is expired; exactly so old it is not yet (I29, I-X5)."""
DEDUP_SECONDS = 300
"""From the RESULT on, so long a repeated REQUEST gets it again (I31, I-X16)."""
MAX_REQUEST_ID = 500
MAX_REASON = 2_000
"""It stands in every STATE from then on."""

ALREADY_PROCESSED = "Request ID was already processed"


class ControlCommand(StrEnum):
    """What can be asked of a run (I9-I12)."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    ESCALATE = "escalate"


class Code(StrEnum):
    """Why a command failed (I38-I42)."""

    NOT_FOUND = "not_found"
    INVALID_STATE = "invalid_state"
    DUPLICATE = "duplicate"
    BAD_REQUEST = "bad_request"


class ControlMessage(msgspec.Struct, frozen=True):
    """One message on `loop:control`, with the fields in the order in which the text shows them."""

    schema: int
    type: Literal["REQUEST", "ACK", "RESULT"]
    request_id: str
    command: str
    target: dict[str, Any]
    timestamp: datetime
    payload: dict[str, Any]

    @property
    def is_success(self) -> bool:
        """It is a RESULT, and the command was executed."""
        return self.payload.get("status") == "success"

    @property
    def code(self) -> str | None:
        """Why the command failed."""
        return self.payload.get("code")


class ControlRequest(msgspec.Struct, frozen=True):
    """A well-formed REQUEST, read."""

    request_id: str
    command: ControlCommand
    run_id: RunId
    target: dict[str, Any]
    payload: dict[str, Any]

    @property
    def model(self) -> str:
        """The model that `escalate` names."""
        return str(self.payload.get("model", ""))

    @property
    def reason(self) -> str:
        """Why to escalate."""
        return str(self.payload.get("reason", ""))

    @property
    def digest(self) -> str:
        """Tells a retry from another request under the same id: command, target and payload."""
        told = {"command": self.command.value, "target": self.target, "payload": self.payload}
        # Most hold nothing but texts that were checked when they were read, and texts have only one spelling.
        is_plain = not self.payload and self.target.keys() <= _TEXTS
        return digest(_spell(told) if is_plain else canonical(told))

    def ack(self, at: datetime) -> ControlMessage:
        """Return the receipt (I24)."""
        return self._reply("ACK", at, {})

    def result(self, at: datetime, payload: dict[str, Any]) -> ControlMessage:
        """Return the outcome."""
        return self._reply("RESULT", at, payload)

    def _reply(
        self, type_: Literal["ACK", "RESULT"], at: datetime, payload: dict[str, Any]
    ) -> ControlMessage:
        return ControlMessage(
            CONTROL_SCHEMA, type_, self.request_id, self.command.value, self.target, at, payload
        )


class ControlState(StrEnum):
    """Where a control is in its life."""

    POSTED = "posted"
    """Lying in the topic; nobody has taken it up."""
    ACCEPTED = "accepted"
    """Acknowledged; its RESULT is not out yet."""
    RESOLVED = "resolved"
    EXPIRED = "expired"
    """Nobody took it up in time. It was never executed, and its id is as good as new."""


class Control(msgspec.Struct, frozen=True):
    """One control as it is now."""

    request: ControlRequest
    digest: str
    state: ControlState
    by: str
    posted_at: datetime
    result: ControlMessage | None = None
    sequence: int = 0
    """The number of the last event that changed it."""

    @property
    def is_settled(self) -> bool:
        """Nothing is left to do for it."""
        return self.state in {ControlState.RESOLVED, ControlState.EXPIRED}

    @property
    def is_forgotten(self) -> bool:
        """A request with its id counts as never seen."""
        return self.state is ControlState.EXPIRED


class Malformed(msgspec.Struct, frozen=True):
    """A message that is no REQUEST that anybody could execute."""

    problem: str
    request_id: str | None = None
    """None where nothing can be correlated: it is logged, and nothing is published (I-X10)."""
    command: str = ""
    target: dict[str, Any] = {}
    is_reply: bool = False
    """It is an ACK or a RESULT, which only the hub may post (I-X12)."""

    def result(self, at: datetime) -> ControlMessage:
        """Return the RESULT; what could not be read is filled with empty strings (I-X10)."""
        payload = failure(Code.BAD_REQUEST, self.problem)
        return ControlMessage(
            CONTROL_SCHEMA, "RESULT", self.request_id or "", self.command, self.target, at, payload
        )


def failure(code: Code, message: str) -> dict[str, Any]:
    """Return the payload of a RESULT that says no."""
    return {"status": "failure", "code": code.value, "message": message}


def render_request(
    request_id: str,
    command: ControlCommand,
    run_id: str,
    at: datetime,
    *,
    issue_id: str | None = None,
    payload: dict[str, Any] | None = None,
) -> bytes:
    """Return a REQUEST as a controller posts it."""
    target = {"run_id": run_id} if issue_id is None else {"run_id": run_id, "issue_id": issue_id}
    message = ControlMessage(CONTROL_SCHEMA, "REQUEST", request_id, command.value, target, at, payload or {})
    return msgspec.json.encode(message)


def parse_request(text: bytes | str, *, is_strict: bool = False) -> ControlRequest | Malformed:
    """Read a message that was posted on `loop:control`.

    With `is_strict`, only a UUID v4 is an id; the text's own examples are not then (I-X1).
    """
    try:
        message = parse_json(text)
    except (BadJsonError, TooLargeError) as error:
        return Malformed(error.message)
    if not isinstance(message, dict):
        return Malformed("A control message is an object.")
    problem = _problem(message, is_strict=is_strict)
    if problem is None:
        command = ControlCommand(message["command"])
        target: dict[str, Any] = message["target"]
        return ControlRequest(
            message["request_id"], command, RunId(target["run_id"]), target, message["payload"]
        )
    return Malformed(
        problem,
        message["request_id"] if isinstance(message.get("request_id"), str) else None,
        _text(message, "command"),
        _readable(message.get("target")),
        message.get("type") in ("ACK", "RESULT"),  # no set: what stands there may be a list
    )


def sent_at(text: bytes | str) -> datetime:
    """Return when a REQUEST was sent, as it says itself; only of what `parse_request` has read."""
    return datetime.fromisoformat(msgspec.json.decode(text)["timestamp"])


def _readable(target: object) -> dict[str, Any]:
    if not isinstance(target, dict):
        return {"run_id": ""}
    kept = {"run_id": _text(target, "run_id")}
    return kept | {"issue_id": target["issue_id"]} if isinstance(target.get("issue_id"), str) else kept


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _problem(message: dict[str, Any], *, is_strict: bool) -> str | None:
    """Return what is wrong with the message, in one sentence, or None (I-X11)."""
    for name, kind, word in _REQUIRED:
        if name not in message:
            return f"{name} is missing."
        # True and False are whole numbers to Python, and not to JSON.
        if not isinstance(message[name], kind) or isinstance(message[name], bool):
            return f"{name} must be {word}."
    if message["schema"] != CONTROL_SCHEMA:
        return f"schema must be {CONTROL_SCHEMA}."
    if message["type"] != "REQUEST":
        return f'type "{quote(message["type"], 40)}" is not known.'
    if message["command"] not in _COMMANDS:
        return (
            f'command "{quote(message["command"], 40)}" is not known: use pause, resume, cancel or escalate.'
        )
    return (
        _problem_of_id(message["request_id"], is_strict=is_strict)
        or _problem_of_target(message["target"])
        or _problem_of_timestamp(message["timestamp"])
        or (_problem_of_escalation(message["payload"]) if message["command"] == "escalate" else None)
    )


def _problem_of_id(request_id: str, *, is_strict: bool) -> str | None:
    if not 1 <= len(request_id) <= MAX_REQUEST_ID:
        return f"request_id must have 1 to {MAX_REQUEST_ID} characters."
    if is_strict and not _UUID4(request_id):
        return "request_id must be a UUID v4."
    return None


def _problem_of_target(target: dict[str, Any]) -> str | None:
    if "run_id" not in target:
        return "target.run_id is missing."
    run_id = target["run_id"]
    if not isinstance(run_id, str) or not 1 <= len(run_id) <= MAX_RUN_ID:
        return f"target.run_id must be a string of 1 to {MAX_RUN_ID} characters."
    if "issue_id" in target and not isinstance(target["issue_id"], str):
        return "target.issue_id must be a string."
    return None


def _problem_of_timestamp(timestamp: str) -> str | None:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return "timestamp must be an ISO 8601 moment."
    if moment.utcoffset() != timedelta(0):
        return "timestamp must be in UTC."
    return None


def _problem_of_escalation(payload: dict[str, Any]) -> str | None:
    model = payload.get("model")
    if not isinstance(model, str) or not is_model(model):
        return "payload.model must name a model."
    reason = payload.get("reason", "")
    if not isinstance(reason, str) or len(reason) > MAX_REASON:
        return f"payload.reason must be a string of at most {MAX_REASON} characters."
    return None


_UUID4 = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE
).fullmatch
_TEXTS = frozenset({"run_id", "issue_id"})
"""The parts of a target that can only be texts."""
_spell = msgspec.json.Encoder(order="sorted").encode
_COMMANDS = frozenset(command.value for command in ControlCommand)
_REQUIRED: tuple[tuple[str, type, str], ...] = (
    ("request_id", str, "a string"),
    ("schema", int, "a whole number"),
    ("type", str, "a string"),
    ("command", str, "a string"),
    ("target", dict, "an object"),
    ("timestamp", str, "a string"),
    ("payload", dict, "an object"),
)
