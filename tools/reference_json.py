"""The page of the JSON forms, out of the structs that are encoded."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from assent.engine.ask import TRANSITIONS
from assent.engine.control import ControlEvent
from assent.engine.notification import NotificationEvent
from assent.engine.policy import PolicySet
from assent.engine.receipt import ReceiptEvent
from assent.engine.run import RunEvent
from assent.engine.target import TargetEvent
from assent.engine.task import TaskEvent
from assent.engine.token import TokenEvent
from assent.hub.record import FlowStepped, StoreRestored, TopicPosted
from assent.protocol.agent_result import Meaning
from assent.protocol.answer import Answer
from assent.protocol.ask import Ask, Claim, Outcome
from assent.protocol.control import ControlMessage, ControlRequest
from assent.protocol.json_text import Json
from assent.protocol.notification import Notification
from assent.protocol.open_question import Question
from assent.protocol.policy import Policy
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.receipt import Receipt
from assent.protocol.resolution import Response
from assent.protocol.run import Frame, StateMessage
from assent.protocol.shape import Shape
from assent.protocol.terms import Terms
from assent.protocol.trade_off import TradeOff
from assent.storage.port import Step
from tools.reference_notes import NOTES, RUN_FIELDS
from tools.source import field_notes, first_sentence, table

__all__ = ["render_json_page", "rows", "say_type"]

_SHAPES: tuple[type[msgspec.Struct], ...] = (
    *(Ask, Prompt, Field, Option, Shape, Answer, Outcome, Claim, Terms, Receipt),
    *(Notification, Question, TradeOff, Response, Meaning, Policy),
)
_SIMPLE = {
    str: "string",
    bool: "true or false",
    int: "number",
    float: "number",
    type(None): "null",
    msgspec.UnsetType: "left out",
    bytes: "string, base64",
    msgspec.Raw: "any JSON",
    Frame: "[frame](topics.md#a-frame)",
    StateMessage: "[message](topics.md#what-runs-say)",
    ControlMessage: "[message](topics.md#commands-and-what-came-of-them)",
    ControlRequest: "request",
}


def say_type(kind: Any) -> str:
    """Say a type in the words of JSON."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind is Any:
        return "any JSON"
    if hasattr(kind, "__supertype__"):
        return say_type(kind.__supertype__)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(say_type, inner)))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (tuple, list, Sequence):
        return f"list of {say_type(inner[0])}"
    if origin in (dict, Mapping):
        if inner[1] in (Any, Json):
            return "object"
        return f"object: name to {say_type(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f"`{value}`" for value in kind)
    if kind is datetime:
        return "instant"
    name = kind.__name__
    return f"[{name.lower()}](#{name.lower()})" if kind in _SHAPES else name.lower()


def _note(struct: type[msgspec.Struct], name: str) -> str:
    told = NOTES.get((struct.__name__, name))
    if told is not None:
        return told
    for cls in struct.__mro__:
        if issubclass(cls, msgspec.Struct) and cls is not msgspec.Struct and name in field_notes(cls):
            return field_notes(cls)[name]
    raise KeyError(f"{struct.__name__}.{name} says nowhere what it is.")


def rows(struct: type[msgspec.Struct]) -> list[tuple[str, ...]]:
    """Return the rows of a table of its fields: name, type, meaning."""
    hints = get_type_hints(struct)
    omits = struct.__struct_config__.omit_defaults
    return [
        (
            f"`{field.encode_name}`",
            say_type(hints[field.name]).replace(
                " or null", ", or left out" if omits and not field.required else " or null"
            ),
            _note(struct, field.name).removesuffix("."),
        )
        for field in msgspec.structs.fields(struct)
    ]


def _events() -> list[type[msgspec.Struct]]:
    found = [event for events in TRANSITIONS.values() for event in events]
    others = (*get_args(RunEvent), *get_args(ControlEvent), TopicPosted, FlowStepped, StoreRestored)
    work = (*get_args(NotificationEvent), *get_args(TaskEvent), PolicySet)
    trust = (*get_args(ReceiptEvent), *get_args(TokenEvent), *get_args(TargetEvent))
    return [*dict.fromkeys(found), *others, *work, *trust]


def render_json_page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for struct in _SHAPES:
        parts.append(f"## {struct.__name__}\n\n{first_sentence(struct)}\n")
        parts.append(table(("field", "type", "meaning"), rows(struct)))
    parts.append(_RUN)
    parts.append(
        table(("field", "type", "meaning"), [(f"`{name}`", *told) for name, told in RUN_FIELDS.items()])
    )
    parts.append(_EVENTS)
    for event in _events():
        parts.append(f"### {event.__struct_config__.tag}\n\n{first_sentence(event)}\n")
        parts.append(table(("field", "type", "meaning"), rows(event)))
    for name, struct, more in (
        ("request", ControlRequest, "They are those of the message, read."),
        ("step", Step, "Its `content` is base64."),
    ):
        parts.append(
            f"A `{name}` holds: {', '.join(f'`{field}`' for field in struct.__struct_fields__)}. {more}\n"
        )
    return "\n".join(parts)


_HEAD = """\
# JSON

`assent show --json`, `ask --json`, `answer --json`, `claim --json` and `withdraw --json` print one [ask](#ask).
`gate --json` prints `{"choice", "arguments", "ask_id", "by", "via", "assurance"}` with nulls where nothing was chosen,
and `marked` where there were findings; `gate --list --json` prints the gates, `session --json` [how it
ended](session.md#json). `inbox --json` prints `{"asks": [ask, …]}`, `runs --json` prints `{"runs": [run, …]}` with one [run](#run) each.
`pause`, `resume`, `cancel` and `escalate --json` print the [RESULT](topics.md#commands-and-what-came-of-them).
`result --json` prints `{"meaning", "notification"}`: [what follows from the result](#meaning), and the [notification](#notification)
that asks its questions, or null. `policy show --json` prints `{"hilConfig": policy}` with one [policy](#policy).
`approve --json` and `redeem --json` print one [receipt](#receipt). `token create --json` prints `{"token_id", "token", "role",
"name", "project", "projects", "expires_at"}`, once; `token list --json` prints `{"tokens": [token, …]}`, each
[as over HTTP](wire-format.md#token) and without its secret. `notify list --json` prints `{"targets": [target, …]}`, each with
`name`, `project`, `service`, `host`, `kinds`, `people`, `allows_internal`, `created_at`, `created_by`, `disabled_at` (gone for good), `failed`
(messages given up), `pending` (still to be told), `attempts`, `next_try_at` and `last_error`; no address is in it.
`log --json` prints one [event](#events) a line, `read` and `post` one [message](topics.md#a-message). An error prints
`{"error": {"code", "message", "details"}}`; see [errors](errors.md).

All fields are always there, but for those that may be left out. An instant is written as in `2030-01-01T09:00:00Z`,
always in UTC, with six digits after the seconds where they are not zero. Fields may be added; none is renamed or removed.

JSON that is read must have one reading: no key twice, no NaN, no number beyond 64 bits or with more digits than a float
keeps, no zero with a sign, no half of a surrogate pair.
[Settings and limits](settings.md#limits) says how large and how deep it may be.
"""

_RUN = """\
## Run

One run as it is now. With `runs --watch --json` it is one object for each change.
"""

_EVENTS = """\
## Events

Each line of `assent log --json` is an object with `sequence` (number, without gaps in its project), `type`, `at`
(instant) and `data`, the fields below. `data` is null when a body was erased; the chain still holds then.
"""
