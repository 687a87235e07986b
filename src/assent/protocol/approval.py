"""An approval: the exact thing that would be done, and a person's yes or no to it.

Only the yes is a yes (decided rule 6): whatever else ends the ask approves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import UnsetType

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Again, Ask, AskId, Kind, State
from assent.protocol.canonical import canonical, digest
from assent.protocol.display import display, fold
from assent.protocol.ending import DISMISSED, render_author, render_ending, render_instant, render_name
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import Json
from assent.protocol.prompt import Field, Option, Prompt

__all__ = [
    "APPROVE",
    "MAX_AGAIN",
    "REJECT",
    "REJECTION_SECONDS",
    "action_digest",
    "approval_prompt",
    "approval_values",
    "check_again",
    "find_rejection",
    "is_approval",
    "is_approved",
    "is_irreversible",
    "is_rejection",
    "make_again",
    "render_again",
    "render_rejected_before",
    "render_rejection",
]

APPROVE, REJECT = "Approve", "Reject"
_FIELD = "approve"
REJECTION_SECONDS = 86_400
"""For so long nobody is asked again about an action that a person said no to, unless the asker says why."""
MAX_AGAIN = 2_000
"""Characters of the reason for asking again."""


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


def action_digest(kind: Kind, prompt: Prompt) -> str | None:
    """Return what the action of an approval is compared by; None where it is none."""
    if kind is not Kind.APPROVAL or prompt.action is None or not is_approval(prompt):
        return None
    return digest(canonical(prompt.action))


def find_rejection(decided: Iterable[Ask], at: datetime) -> Ask | None:
    """Return the no that still holds at a moment, of what people decided about one action; the last decision counts.

    A no is a person's Reject, or that they declined to be asked. That a notification was dismissed decides nothing.
    """
    for ask in sorted(decided, key=lambda ask: ask.sequence, reverse=True):
        end = ask.answer or ask.outcome
        if end is None or (ask.state is State.DECLINED and end.reason == DISMISSED):
            continue
        is_no = ask.answer is None or is_rejection(ask.prompt, ask.answer.values)
        return ask if is_no and abs(at - end.at) < timedelta(seconds=REJECTION_SECONDS) else None
    return None


def check_again(reason: str) -> str:
    """Return the reason for asking again, without white space around it; empty where there is none.

    Raises:
        BadRequestError: it is too long.
    """
    if len(reason) > MAX_AGAIN:
        raise BadRequestError(f"A reason for asking again has at most {MAX_AGAIN:,} characters.")
    return reason.strip()


def make_again(rejected: Ask, reason: str) -> Again:
    """Return what stands beside a prompt that is about an action that a person said no to."""
    end = rejected.answer or rejected.outcome
    assert end is not None  # noqa: S101 - it has ended with a no
    return Again(reason, AskId(rejected.ask_id), end.by, end.at, rejected.words)


def render_rejected_before(rejected: Ask) -> str:
    """Return whose no stands in the way, when and why, and how to ask all the same."""
    no = render_ending(rejected) if rejected.answer is None else render_rejection(rejected)
    hours = REJECTION_SECONDS // 3_600
    return (
        f"{no} Nobody is asked about the same action again within {hours} hours, unless you say why (again)."
    )


def render_again(ask: Ask) -> str:
    """Return the earlier no, and the asker's reason to ask all the same, as a text block; empty where there is none."""
    again = ask.again
    if isinstance(again, UnsetType):
        return ""
    words = f' Reason: "{display(again.words, lines=False)}".' if again.words else ""
    no = f"{render_name(again.by)} said no to this action at {render_instant(again.at)}.{words}"
    reason = display(again.reason).split("\n")
    return "\n".join([no, "Asked again, in the asker's words:", *(f": {line}" for line in reason)])
