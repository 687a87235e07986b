"""A dialog: one question as a selection tool shows it, and what the tool gave back turned into a reply.

Rule 1: a row is chosen by its exact label. Whatever else came back was typed, and `protocol.reply` reads it like any
        other reply, so that a gate takes the same answers in a tool as in plain text (G44).
Rule 2: nothing is chosen that was not chosen. An empty answer, "None of the above" and "Not now" are no decision.
Rule 3: a dialog does not remember. What was chosen on other pages is written into the next one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from assent.protocol.capability import Capability
from assent.protocol.display import fold, is_blank, quote

__all__ = [
    "NOTE_ROOM",
    "Dialog",
    "Given",
    "PageTurn",
    "Row",
    "RowKind",
    "clip",
    "echo_in",
    "turn_page",
    "unfold",
]

Given = str | Sequence[str] | None
"""What a tool gave back for one dialog: a label, a text, several of them, or nothing at all."""

_NONE_OF_THESE = "none of the above"
_NOTE = "user_note:"
"""How Codex spells what was typed beside its list."""
_SHOWN_CHOSEN = 120
NOTE_ROOM = 200
"""A dialog that gathers leaves so many characters for the line that says what was chosen so far."""


class RowKind(StrEnum):
    """What choosing a row does."""

    REPLY = "reply"
    """It is a reply."""
    PAGE = "page"
    """It turns the page."""
    LEAVE = "leave"
    """It turns the page, and what was chosen so far is dropped."""
    DONE = "done"
    """All that was chosen so far is the reply."""
    WRITE = "write"
    """It says that a reply will be typed, and is none."""
    LATER = "later"
    """It leaves the question open."""


class Row(msgspec.Struct, frozen=True):
    """One line that can be chosen."""

    label: str
    description: str = ""
    kind: RowKind = RowKind.REPLY
    reply: str = ""
    """What it stands for, as it could have been typed."""
    page: int = 0
    """Where it leads."""


class Dialog(msgspec.Struct, frozen=True):
    """One page of one question."""

    header: str
    text: str
    rows: tuple[Row, ...] = ()
    allows_free_text: bool = False
    is_multiple: bool = False
    """Several rows may be chosen at once."""
    question: int = 0
    """Which field of the prompt it is about, counted from 0."""
    page: int = 0
    """Its place among all dialogs of the prompt."""
    brief: str = ""
    """What stands above the rows instead of the text after a reply that was not recognised."""
    head: str = ""
    """The words of the command that the rows belong to."""
    gathers: bool = False
    """What is chosen is kept until the row that says so ends it."""
    chosen: tuple[str, ...] = ()
    """What was chosen so far."""


class PageTurn(msgspec.Struct, frozen=True):
    """Not a reply yet: another page is to be shown."""

    page: int
    chosen: tuple[str, ...] = ()


def unfold(dialog: Dialog, given: Given) -> str | PageTurn | None:
    """Return the reply that `given` stands for, the page to show next, or None: there was no decision.

    >>> dialog = Dialog("", "Go on?", (Row("1. Yes", reply="1."), Row("2. No", reply="2.")))
    >>> unfold(dialog, "2. No"), unfold(dialog, "2"), unfold(dialog, " ")
    ('2.', '2', None)
    """
    rows = {row.label: row for row in dialog.rows}
    parts = _split(dialog, rows, given)
    kinds = {rows[part].kind for part in parts if part in rows}
    if not parts or RowKind.LATER in kinds:
        return None
    if len(parts) > 1:
        parts = [part for part in parts if part not in rows or rows[part].kind is not RowKind.WRITE]
    picked = [rows[part] for part in parts if part in rows]
    if len(picked) < len(parts):
        return _type(dialog, rows, parts)
    if len(picked) > 1 and not dialog.is_multiple:
        return ", ".join(parts)  # two choices where one was asked for: nothing here says which one counts
    return _choose(dialog, picked)


def _split(dialog: Dialog, rows: dict[str, Row], given: Given) -> list[str]:
    """Return the texts that were given, without those that say nothing."""
    if given is None:
        return []
    if not isinstance(given, str):
        notes = [
            part.strip()[len(_NOTE) :] if part.strip().startswith(_NOTE) else "" if _is_none(part) else part
            for part in given
        ]
        return [note.strip() for note in notes if not is_blank(note)]
    text = given.strip()
    if is_blank(text) or _is_none(text):
        return []
    parts = [part.strip() for part in text.split(",")]
    # Labels of several rows come back joined. A text of one's own may hold commas, too, and stays whole.
    is_joined = dialog.is_multiple and text not in rows and any(part in rows for part in parts)
    return parts if is_joined else [text]


def _is_none(text: str) -> bool:
    return fold(text) == _NONE_OF_THESE


def _type(dialog: Dialog, rows: dict[str, Row], parts: list[str]) -> str:
    """Return what was typed. Beside rows of a list it is one more of that list."""
    if not dialog.is_multiple:
        return ", ".join(parts)
    replies = [rows[part].reply if part in rows else part for part in parts]
    return ", ".join(reply for reply in replies if reply)


def _choose(dialog: Dialog, picked: list[Row]) -> str | PageTurn:
    replies = [row.reply for row in picked if row.kind is RowKind.REPLY]
    kinds = {row.kind: row for row in picked}
    if RowKind.LEAVE in kinds:
        return PageTurn(kinds[RowKind.LEAVE].page)
    chosen = _toggle(dialog.chosen, replies)
    if RowKind.PAGE in kinds:
        return PageTurn(kinds[RowKind.PAGE].page, chosen)
    is_over = RowKind.DONE in kinds or not dialog.gathers
    if not chosen or not is_over:
        return PageTurn(dialog.page, chosen)
    return f"{dialog.head} {', '.join(chosen)}".strip()


def _toggle(chosen: tuple[str, ...], replies: list[str]) -> tuple[str, ...]:
    """Return what is chosen now: what is chosen a second time is taken back."""
    kept = dict.fromkeys(chosen)
    for reply in replies:
        if reply in kept:
            del kept[reply]
        else:
            kept[reply] = None
    return tuple(kept)


def turn_page(dialogs: Sequence[Dialog], turn: PageTurn, capability: Capability) -> Dialog:
    """Return the dialog that a turn leads to; it says what was chosen so far."""
    dialog = dialogs[turn.page]
    if not turn.chosen:
        return dialog
    shown = quote(", ".join(reply.rstrip(".") for reply in turn.chosen), _SHOWN_CHOSEN)
    note = f"Chosen so far: {shown}. Choose one again to take it back."
    text = _above(note, dialog.text, capability.text_max)
    return replace(dialog, text=text, chosen=turn.chosen)


def echo_in(dialog: Dialog, message: str, capability: Capability) -> Dialog:
    """Return the dialog with what was not recognised above the brief list, and nothing of the context (G17, G18)."""
    return replace(dialog, text=_above(message, dialog.brief, capability.text_max))


def _above(message: str, text: str, limit: int | None) -> str:
    """Return the message above the text. Where both do not fit, it is the message that is cut."""
    room = None if limit is None else limit - len(text) - len("\n\n")
    return "\n\n".join(filter(None, [clip(message, room), text]))


def clip(text: str, limit: int | None) -> str:
    """Return `text` in at most `limit` characters; what belongs together on the screen is not torn apart.

    >>> clip("Continue (mismatch)", 12)
    'Continue (m…'
    """
    if limit is None or len(text) <= limit:
        return text
    end = limit - 1
    while end > 0 and _hangs_on(text, end):
        end -= 1
    return text[:end].rstrip() + "…"


def _hangs_on(text: str, position: int) -> bool:
    """Whether the character at `position` is drawn together with the one before it."""
    character = text[position]
    if unicodedata.category(character).startswith("M") or "\U0001f3fb" <= character <= "\U0001f3ff":
        return True
    # Flags are pairs of regional letters: the second of a pair hangs on the first.
    run = 0
    while position - run >= 0 and "\U0001f1e6" <= text[position - run] <= "\U0001f1ff":
        run += 1
    return run > 0 and run % 2 == 0
