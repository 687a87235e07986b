"""What is said when a piece of work waits for a go-ahead, and what a reply to it means (C35, C46, C-X11)."""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from assent.protocol.answer import FieldValues
from assent.protocol.display import fold, is_blank, quote
from assent.protocol.error import BadRequestError, TooLargeError, UnrecognisedError
from assent.protocol.plan import Moment, Owner
from assent.protocol.prompt import MAX_TITLE, Field, Option, Prompt
from assent.protocol.report import Report, render_report

__all__ = [
    "DROP",
    "MAX_SUMMARY_BYTES",
    "RERUN",
    "Meaning",
    "check_changes",
    "check_summary",
    "confirm_fields",
    "confirm_prompt",
    "direction_prompt",
    "is_confirm_of",
    "is_direction",
    "read_reply",
    "read_summary",
    "render_ai_message",
    "render_message",
]

MAX_SUMMARY_BYTES = 64 << 10
"""Far below what a prompt holds, so that what is said beside it always fits."""
DROP = "drop this confirm"
"""A person's explicit wish not to be asked here any more (C-X7)."""
RERUN = "rerun"
"""Where a reviewer gave no result, the wish to have it run again (C-X6)."""
_FIELD = "confirm"
_HELP = "Y goes on, N declines, stop halts; anything else is what should be changed first."
_ASKS, _WHEN, _SUMMARY, _CONTINUE = "Confirm (human) ", ". When=", ". Summary: ", ". Continue? (Y/N)"
_BELOW = "see below"
_DIRECTION = Field(
    _FIELD, options=(Option(RERUN, "Apply changes and re-run"), Option("stop", "Stop")), free=True
)
_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})
_CHANGES = "changes:"
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


def check_changes(prompt: Prompt, values: FieldValues) -> FieldValues:
    """Return what a reply to a confirm says; of `changes: WORDS` its words, which must ask for a change.

    The one rule for every surface: whoever asks for changes with `yes` is asked again and never taken at the word.

    Raises:
        UnrecognisedError: the words are missing, or read as a yes, a no or a stop.
    """
    field = prompt.fields[0]
    if len(prompt.fields) > 1 or field.options or not field.free:
        return values
    (text,) = values[field.name]
    head, mark, words = text.partition(":")
    if not mark or fold(head + mark) != _CHANGES:
        return values
    if is_blank(words):
        raise UnrecognisedError("Say what should be changed first.")
    if read_reply(words, can_rerun=True) is not Meaning.CHANGES:
        raise UnrecognisedError(
            f'"{quote(words.strip())}" asks for no change: answer with it alone, or say what should be changed first.'
        )
    return {field.name: (words.strip(),)}


def confirm_fields() -> tuple[Field, ...]:
    """Return what a person can answer to a confirm."""
    return (Field(_FIELD, _HELP, free=True),)


def render_message(owner: Owner, moment: Moment, summary: str) -> str:
    """Return how a person is asked (C35)."""
    named = f"{owner.kind} {owner.owner_id}: {owner.name}"
    return f"{_ASKS}{named}{_WHEN}{moment}{_SUMMARY}{_sentence(summary)}{_CONTINUE}"


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
        title = render_message(owner, moment, _BELOW)
        body = "\n\n".join(filter(None, [summary.strip(), body]))
    if not _is_title(title):  # the plan's own words are the cause
        title = render_message(_shortened(owner), moment, _BELOW)
    return Prompt(title, body, confirm_fields())


def is_confirm_of(prompt: Prompt, owner_id: str, moment: Moment) -> bool:
    """Whether a prompt is one by which `confirm_prompt` asks for that owner and moment.

    Anybody may open an ask under any key, and a yes to another question is none to this one.
    """
    title = prompt.title
    heads = tuple(
        f"{_ASKS}{kind} {told}: " for kind in ("phase", "task") for told in (owner_id, quote(owner_id))
    )
    return (
        title.startswith(heads)
        and f"{_WHEN}{moment}{_SUMMARY}" in title
        and title.endswith(_CONTINUE)
        # What the field explains may be worded in another way in another version.
        and [replace(field, text="") for field in prompt.fields] == [Field(_FIELD, free=True)]
        and not prompt.commands
    )


def read_summary(prompt: Prompt, moment: Moment) -> str:
    """Return the summary that a person saw."""
    shown = prompt.title.partition(f"{_WHEN}{moment}{_SUMMARY}")[2].removesuffix(_CONTINUE)
    return prompt.body if shown == _BELOW else shown


def direction_prompt(owner: Owner, moment: Moment, agent: str, report: Report) -> Prompt:
    """Return the question what is to be done about blocking issues (C43)."""
    title = (
        f"{quote(agent)} found blocking issues in {owner.kind} {quote(owner.owner_id)}: {quote(owner.name)}. "
        f"When={moment}. What now?"
    )
    return Prompt(title, render_report(report), (_DIRECTION,))


def is_direction(prompt: Prompt) -> bool:
    """Whether a prompt is one that `direction_prompt` makes."""
    return prompt.fields == (_DIRECTION,) and not prompt.commands


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
