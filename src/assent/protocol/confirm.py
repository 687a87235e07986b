"""What is said when a piece of work waits for a go-ahead, and what a reply to it means (C35, C46, C-X11)."""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from assent.protocol.display import fold, is_blank, quote
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.plan import Moment, Owner
from assent.protocol.prompt import MAX_TITLE, Field, Prompt
from assent.protocol.report import Report

__all__ = [
    "DROP",
    "MAX_SUMMARY_BYTES",
    "RERUN",
    "Meaning",
    "check_summary",
    "confirm_prompt",
    "read_reply",
    "render_ai_message",
    "render_message",
]

MAX_SUMMARY_BYTES = 64 << 10
"""Far below what a prompt holds, so that what is said beside it always fits."""
DROP = "drop this confirm"
"""A person's explicit wish not to be asked here any more (C-X7)."""
RERUN = "rerun"
"""Where a reviewer gave no result, the wish to have it run again (C-X6)."""
_HELP = "Y goes on, N declines, stop halts; anything else is what should be changed first."
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
    folded = fold(text).rstrip(".! ")
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
    if not _is_title(title):
        title = render_message(owner, moment, "see below")
        body = "\n\n".join(filter(None, [summary.strip(), body]))
    if not _is_title(title):  # the plan's own words are the cause
        title = render_message(_shortened(owner), moment, "see below")
    return Prompt(title, body, (Field("confirm", _HELP, free=True),))


def check_summary(summary: str) -> None:
    """Check that there is something to confirm, and not more than a person would read.

    Raises:
        BadRequestError: it is blank, or too long.
    """
    if is_blank(summary):
        raise BadRequestError("A confirm needs a summary of what is to be done, or was done.")
    size = len(summary.encode(errors="surrogatepass"))
    if size > MAX_SUMMARY_BYTES:
        raise TooLargeError(f"A summary has at most {MAX_SUMMARY_BYTES:,} bytes; this one has {size:,}.")


def _is_title(text: str) -> bool:
    return len(text) <= MAX_TITLE and len(text.splitlines()) == 1


def _shortened(owner: Owner) -> Owner:
    return replace(owner, owner_id=quote(owner.owner_id), name=quote(owner.name))


def _sentence(text: str) -> str:
    return text.strip().rstrip(".")


def _listed(issues: tuple[str, ...]) -> str:
    return "; ".join(quote(" ".join(_sentence(issue).split())) for issue in issues) or "none"
