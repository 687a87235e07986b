"""Asks and approvals, as HTTP bodies. See `wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from assent.protocol.ask import Ask, Consequence, Kind
from assent.protocol.json_text import Json
from assent.protocol.prompt import Option, Prompt
from assent.protocol.receipt import Receipt
from assent.protocol.wire import Body, Reply

__all__ = [
    "AnswerBody",
    "ApprovalBody",
    "ApprovalReply",
    "AskBody",
    "Asks",
    "Count",
    "ProseReply",
    "ReasonBody",
    "RedeemBody",
]


class AskBody(Body, frozen=True):
    """A question in words, with options; or a whole prompt."""

    prompt: str | Prompt
    options: tuple[str | Option, ...] = ()
    body: str = ""
    multiple: bool = False
    free: bool | None = None
    kind: Kind = Kind.QUESTION
    key: str | None = None
    replace: bool = False
    run_id: str | None = None
    deadline: datetime | float | None = None
    """An instant, or the seconds from now."""
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    protocol: str | None = None
    other: str = ""
    again: str = ""
    """Why an approval is asked for although a person said no to the same action lately."""


class Asks(Reply, frozen=True):
    """Asks, newest first."""

    asks: tuple[Ask, ...]
    next: str | None = None
    """Where there are more: the `before` that brings them."""


class Count(Reply, frozen=True):
    """How many."""

    count: int


class AnswerBody(Body, frozen=True):
    """A reply as it was typed, or ready-made values, or a no to being asked."""

    text: str | None = None
    values: dict[str, str | tuple[str, ...]] | None = None
    decline: bool = False
    reason: str = ""
    """Words that go with a no: to being asked, or to an approval."""
    unattended: bool = False
    confirmed: bool = False
    """The person was asked once more about what cannot be undone, and said yes."""


class ProseReply(Reply, frozen=True):
    """What an agent wrote around its question, as a tree of what a page draws: no HTML."""

    body: tuple[Any, ...]
    """A node is a text, or a list: its tag, its attributes, and the nodes in it."""
    digest: str
    """Of the prompt that it is the text of."""


class ReasonBody(Body, frozen=True):
    """Why."""

    reason: str = ""


class ApprovalBody(Body, frozen=True):
    """What an agent wants to do. The policy says whether a person is asked."""

    title: str
    action: Json
    category: str | None = None
    risk: str | None = None
    body: str = ""
    key: str | None = None
    life_seconds: int | None = None
    """How long the receipt is good; an hour where nothing is said."""
    task_id: str | None = None
    run_id: str | None = None
    deadline: datetime | float | None = None
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    again: str = ""
    """Why it is asked for although a person said no to the same action lately."""


class ApprovalReply(Reply, frozen=True):
    """The receipt, where it may happen; else the ask that a person must answer first."""

    receipt: Receipt | None = None
    ask: Ask | None = None


class RedeemBody(Body, frozen=True):
    """What is about to be done."""

    action: Json
