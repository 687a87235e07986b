"""An approval: the exact thing that would be done, and a person's yes or no to it.

Only the yes is a yes (decided rule 6): whatever else ends the ask approves nothing.
"""

from __future__ import annotations

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Ask
from assent.protocol.display import display, fold
from assent.protocol.ending import render_author, render_instant
from assent.protocol.json_text import Json
from assent.protocol.prompt import Field, Option, Prompt

__all__ = [
    "APPROVE",
    "REJECT",
    "approval_prompt",
    "approval_values",
    "is_approval",
    "is_approved",
    "is_irreversible",
    "is_rejection",
    "render_rejection",
]

APPROVE, REJECT = "Approve", "Reject"
_FIELD = "approve"


def approval_prompt(title: str, action: Json, *, body: str = "", risk: str | None = None) -> Prompt:
    """Return what a person is asked before `action` may be done."""
    options = (Option(APPROVE, APPROVE), Option(REJECT, REJECT))
    return Prompt(title, body, (Field(_FIELD, options=options),), action, risk)


def approval_values(approved: bool) -> FieldValues:
    """Return the values of the answer that says yes or no."""
    return {_FIELD: (APPROVE if approved else REJECT,)}


def is_approved(ask: Ask) -> bool:
    """Say whether an ask that has ended was approved."""
    return ask.answer is not None and ask.answer.values.get(_FIELD) == (APPROVE,)


def is_approval(prompt: Prompt) -> bool:
    """Say whether `prompt` is as `approval_prompt` makes it: its yes reads as a yes, and its no as a no."""
    return prompt == approval_prompt(prompt.title, prompt.action, body=prompt.body, risk=prompt.risk)


def is_irreversible(prompt: Prompt, values: FieldValues) -> bool:
    """Say whether these values approve what the asker calls irreversible."""
    return values.get(_FIELD) == (APPROVE,) and "irreversible" in fold(prompt.risk or "")


def is_rejection(prompt: Prompt, values: FieldValues) -> bool:
    """Say whether these values say no to an approval."""
    return is_approval(prompt) and values.get(_FIELD) == (REJECT,)


def render_rejection(ask: Ask) -> str:
    """Return who rejected it, when, and their words; the ask was answered."""
    assert ask.answer is not None  # noqa: S101 - the caller has just looked
    words = f' Reason: "{display(ask.answer.reason, lines=False)}".' if ask.answer.reason else ""
    who = render_author(ask.answer.by, ask.answer.assurance, is_unattended=ask.answer.is_unattended)
    return f"{who} rejected it at {render_instant(ask.answer.at)}.{words}"
