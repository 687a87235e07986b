"""What is said when a piece of work waits for a go-ahead, and what a reply to it means (C35, C46, C-X11)."""

from __future__ import annotations

from enum import StrEnum

from assent.protocol.display import fold, quote
from assent.protocol.plan import Moment, Owner
from assent.protocol.prompt import MAX_TITLE, Field, Prompt
from assent.protocol.report import Report

__all__ = [
    "DROP",
    "RERUN",
    "Meaning",
    "confirm_prompt",
    "read_reply",
    "render_ai_message",
    "render_message",
]

DROP = "drop this confirm"
"""A person's explicit wish not to be asked here any more (C-X7)."""
RERUN = "rerun"
"""Where a reviewer gave no result, the wish to have it run again (C-X6)."""
_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
_STOP = frozenset({"stop", "cancel", "abort", "halt", "quit"})


class Meaning(StrEnum):
    """What a person said to a confirm."""

    YES = "yes"
    NO = "no"
    STOP = "stop"
    DROP = "drop"
    RERUN = "rerun"
    CHANGES = "changes"
    """Anything else is a wish for changes."""


def read_reply(text: str, *, can_rerun: bool = False) -> Meaning:
    """Return what a reply means.

    >>> read_reply(" Yes "), read_reply("N"), read_reply("rename it first")
    (<Meaning.YES: 'yes'>, <Meaning.NO: 'no'>, <Meaning.CHANGES: 'changes'>)
    """
    folded = fold(text).rstrip(".!")
    if folded in _YES:
        return Meaning.YES
    if folded in _NO:
        return Meaning.NO
    if folded in _STOP:
        return Meaning.STOP
    if folded == DROP:
        return Meaning.DROP
    return Meaning.RERUN if can_rerun and folded == RERUN else Meaning.CHANGES


def render_message(owner: Owner, moment: Moment, summary: str) -> str:
    """Return how a person is asked (C35)."""
    return (
        f"Confirm (human) {owner.kind} {owner.owner_id}: {owner.name}. When={moment}. "
        f"Summary: {_sentence(summary)}. Continue? (Y/N)"
    )


def render_ai_message(owner: Owner, moment: Moment, agent: str, report: Report) -> str:
    """Return how a reviewer's report is told (C46)."""
    return (
        f"Confirm (ai:{agent}) {owner.kind} {owner.owner_id}: {owner.name}. When={moment}. "
        f"Issues-first report: {_listed(report.blocking)} / {_listed(report.non_blocking)}. "
        "Proceeding unless blocking issues."
    )


def confirm_prompt(owner: Owner, moment: Moment, summary: str, body: str = "") -> Prompt:
    """Return the question for a person. A summary that is too long for one line stands below it."""
    title = render_message(owner, moment, summary)
    if len(title) > MAX_TITLE or "\n" in title:
        title = render_message(owner, moment, "see below")
        body = "\n\n".join(filter(None, [summary.strip(), body]))
    return Prompt(title, body, (Field("confirm", free=True),))


def _sentence(text: str) -> str:
    return text.strip().rstrip(".")


def _listed(issues: tuple[str, ...]) -> str:
    return "; ".join(quote(" ".join(issue.split())) for issue in issues) or "none"
