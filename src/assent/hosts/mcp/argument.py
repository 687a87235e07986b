"""What the tools take: one struct each, and the JSON Schema that hosts are told.

Schemas are flat and have no references: some hosts understand nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from assent.protocol.json_text import Json
from assent.protocol.terms import MAX_LIFE_SECONDS

__all__ = [
    "MAX_WAIT_SECONDS",
    "AskUser",
    "CheckControl",
    "Confirm",
    "Inbox",
    "OpenGate",
    "RedeemApproval",
    "ReportResult",
    "RequestApproval",
    "ReviewFindings",
    "Waiting",
    "input_schema",
]

MAX_WAIT_SECONDS = 86_400
"""The longest that one call waits; the ask itself waits for as long as it takes."""

_Key = Annotated[
    str,
    Meta(
        description="A name of your own for this ask. With the same key and arguments you get the same ask and its answer, "
        "for ever. Without it, the same arguments find the ask until you were told its answer; then they ask anew."
    ),
]
_Seconds = Annotated[
    float,
    Meta(
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="How long to wait for the answer. Keep it below your host's time limit.",
    ),
]
_Body = Annotated[str, Meta(description="What a person should read before answering, in Markdown.")]
_Texts = list[str]


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of one call."""


class Waiting(_Given, frozen=True, kw_only=True):
    """The arguments of a call that waits for a person."""

    key: _Key | None = None
    wait_seconds: _Seconds | None = None


class AskUser(Waiting, frozen=True, kw_only=True):
    """A question."""

    question: Annotated[str, Meta(description="The question, in one line.")]
    options: Annotated[
        _Texts, Meta(description="What to choose from. Without any, the answer is a text.")
    ] = []
    body: _Body = ""
    multiple: Annotated[bool, Meta(description="Several options may be chosen.")] = False
    allow_other: Annotated[bool, Meta(description="Words of the person's own are an answer, too.")] = False
    recommended: Annotated[str, Meta(description="The option that you recommend.")] = ""
    destructive: (
        Annotated[
            _Texts,
            Meta(description="The options that cannot be undone: whoever chooses one is asked once more."),
        ]
        | UnsetType
    ) = UNSET


class Confirm(Waiting, frozen=True, kw_only=True):
    """A yes or a no."""

    question: Annotated[str, Meta(description="What a person says yes or no to.")]
    body: _Body = ""


class OpenGate(Waiting, frozen=True, kw_only=True):
    """A gate."""

    context: Annotated[str, Meta(description="The gate's name, as in phase-gate or chunk-loop.")]
    summary: Annotated[str, Meta(description="Where things stand, in a line or a few.")]
    ids: Annotated[_Texts, Meta(description="The ids of the findings that commands may name.")] = []
    chunks: Annotated[int, Meta(ge=0, le=10_000, description="The last number of a chunk.")] = 0


class RequestApproval(Waiting, frozen=True, kw_only=True):
    """An approval."""

    title: Annotated[str, Meta(description="What would be done, in one line.")]
    action: Annotated[
        dict[str, Json],
        Meta(
            description="The exact thing that would be done. You redeem the receipt for exactly this, and nothing else."
        ),
    ]
    category: Annotated[str, Meta(description="The category of change, whose policy decides.")] | None = None
    risk: Annotated[str, Meta(description="What could go wrong.")] | None = None
    body: _Body = ""
    life_seconds: (
        Annotated[int, Meta(ge=1, le=MAX_LIFE_SECONDS, description="How long the receipt is good for.")]
        | None
    ) = None
    again: (
        Annotated[
            str,
            Meta(
                description="Why you ask although a person said no to the same action. They see their no and this reason."
            ),
        ]
        | UnsetType
    ) = UNSET


class RedeemApproval(_Given, frozen=True, kw_only=True):
    """The use of a receipt."""

    receipt_id: Annotated[str, Meta(description="As request_approval gave it.")]
    action: Annotated[dict[str, Json], Meta(description="What you are about to do, right now.")]


class ReviewFindings(Waiting, frozen=True, kw_only=True):
    """A review."""

    findings: Annotated[
        list[dict[str, Json]],
        Meta(description='The output of one or more reviewers: objects with "reviewer" and "findings".'),
    ]
    document: Annotated[str, Meta(description="The path of the document, in this project.")]


class ReportResult(_Given, frozen=True, kw_only=True):
    """An agent's result."""

    agent: Annotated[str, Meta(description="analyst, dreamer, planner or coder.")]
    source_id: Annotated[str, Meta(description="The feedback, section, plan or task that it is about.")]
    result: Annotated[
        dict[str, Json],
        Meta(description='The result: its "status", its "open_questions", and what else it says.'),
    ] = {}


class CheckControl(_Given, frozen=True, kw_only=True):
    """A look at a run."""

    run_id: Annotated[str, Meta(description="Your run; without it, the one of ASSENT_RUN_ID.")] | None = None


class Inbox(_Given, frozen=True, kw_only=True):
    """A look at what is open."""


def input_schema(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, in one piece."""
    (made,), parts = msgspec.json.schema_components([arguments])
    name = str(made["$ref"]).rpartition("/")[2]
    schema: dict[str, Any] = _inline(parts[name], parts)
    for kept in ("title", "description"):
        schema.pop(kept, None)
    return schema


def _inline(schema: Any, parts: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(entry, parts) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(parts[str(schema["$ref"]).rpartition("/")[2]], parts)
    inlined = {name: _inline(entry, parts) for name, entry in schema.items()}
    choices = inlined.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        # What may be left out is left out: hosts stumble over "or null".
        (kept,) = [choice for choice in choices if choice != {"type": "null"}]
        del inlined["anyOf"]
        inlined = {name: value for name, value in inlined.items() if name != "default"} | kept
    return inlined
