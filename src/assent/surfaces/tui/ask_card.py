"""One ask as lines: consequence above the action, above the agent's words. Pure. The options are `choice_card`'s.

Rule 1: every line that the asker wrote begins with `: `, or stands where only their words stand: the first line of the
        title, what follows `! ` or `$ `, and the lines of a difference behind their numbers.
Rule 2: nothing is cut. What does not fit is scrolled to.
Rule 3: signs and words carry the meaning; paint is never needed.
Rule 4: a gate has its lines in the order of the protocol's block.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

import msgspec

from assent.protocol.ask import Ask, Kind
from assent.protocol.canonical import canonical
from assent.protocol.display import display
from assent.protocol.ending import render_name
from assent.protocol.gate import render_gate
from assent.surfaces.card import lay_out_markdown, short_id
from assent.surfaces.tui.action import action_lines, json_lines
from assent.surfaces.tui.line import ACCENT, FAINT, INK, STRONG, Line, join, line, mark, read_ink, rule
from assent.surfaces.tui.name import kind_name, row_title
from assent.surfaces.tui.stakes import stake_lines
from assent.surfaces.width import columns, wrap

__all__ = ["card_lines", "is_asked_last"]

_KEPT = 8
"""So many texts stay laid out: the screen is drawn anew with every key, and a text may be a megabyte."""


def card_lines(
    ask: Ask, width: int, now: datetime, *, is_raw: bool = False, is_compact: bool = False
) -> list[Line]:
    """Return what is read before answering: all of an ask but its options. A compact one has no lines that only part."""
    gap = [] if is_compact else [Line()]
    title = _title(ask, width)
    lines = _head(ask, width, is_compact=is_compact)
    stakes = [*stake_lines(ask, width, now, is_compact=is_compact), *gap] if ask.is_open else []
    if ask.prompt.commands:  # nothing of ours stands between the lines of a gate's block
        lines += stakes if is_asked_last(ask) else [*stakes, *title, *gap]
    else:
        lines += [*title, *gap, *stakes]
    if ask.prompt.action is not None:
        lines += [*_action(ask, width, is_raw=is_raw), *gap]
    words = _words(ask, width, is_compact=is_compact)
    lines += [*words, *gap] if words else []
    return [*lines, *title, *gap] if is_asked_last(ask) else lines


def is_asked_last(ask: Ask) -> bool:
    """Say whether the title is the question that a gate asks again: it stands below what it is about."""
    return bool(ask.prompt.commands) and not ask.prompt.fields[0].options


def _head(ask: Ask, width: int, *, is_compact: bool) -> list[Line]:
    name = "" if is_compact else display(short_id(ask.ask_id), lines=False)
    origin = f"{display(ask.project, lines=False)} / {render_name(ask.asker)}"
    said = f"{kind_name(ask).upper()}{' ' if is_compact else '  '}{origin}"
    first, *more = wrap(said, width - columns(name) - 2 * bool(name))
    gap = " " * (width - columns(first) - columns(name))
    return [join(line(first + gap, FAINT), line(name, ACCENT)), *mark(more, FAINT)]


def _title(ask: Ask, width: int) -> list[Line]:
    title = display(ask.prompt.title.strip())
    if ask.prompt.commands:
        # On one line, as the protocol has it, and so is every gate's heading.
        title = display(ask.prompt.title.strip(), lines=False)
        title = title if is_asked_last(ask) else render_gate(ask.prompt).split("\n", 1)[0]
    said, *others = title.split("\n")
    short = row_title(ask) if ask.kind is Kind.CONFIRM else said
    if short != said:  # a confirm's one long sentence: what it is about first, and then the whole of it
        said, others = short, [said, *others]
    first, *more = wrap(said, width) if columns(said) <= width else wrap(said, width - 2)
    more += [part for text in others for part in wrap(text, width - 2)]
    return [line(first, STRONG), *mark(more, STRONG)]


def _action(ask: Ask, width: int, *, is_raw: bool) -> list[Line]:
    lines = _laid_out_action(canonical(ask.prompt.action), width, is_raw=is_raw)
    count = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
    digest = display(f"{ask.digest[:15]}..{ask.digest[-4:]}", lines=False) if ask.digest else ""
    return [rule(f"what will run, {count}, nothing cut", width, digest), *lines]


@lru_cache(maxsize=_KEPT)
def _laid_out_action(action: bytes, width: int, *, is_raw: bool) -> tuple[Line, ...]:
    # By the action itself: its digest is what a server says of it.
    return tuple((json_lines if is_raw else action_lines)(msgspec.json.decode(action), width))


def _words(ask: Ask, width: int, *, is_compact: bool) -> list[Line]:
    text = ask.prompt.body.strip("\n")
    if not text.strip():
        return []
    head = [rule(f"{render_name(ask.asker)} wrote, not checked by Assent", width)]
    return [*([] if is_compact else head), *_laid_out_words(text, width)]


@lru_cache(maxsize=_KEPT)
def _laid_out_words(text: str, width: int) -> tuple[Line, ...]:
    said: list[Line] = []
    for painted in lay_out_markdown(text, width - 2, INK.strong):
        row = read_ink(painted)
        paint = row.pieces[0][1] if row.pieces else ""
        # Headings and code come on one line, however long it is.
        said += mark(wrap(row.text, width - 2), paint)
    return tuple(said)
