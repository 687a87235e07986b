"""Where the cursor can be in an ask, and which place of it a key or a typed word means. Pure."""

from __future__ import annotations

from typing import NamedTuple

from assent.protocol.answer import spellings
from assent.protocol.approval import is_approval
from assent.protocol.ask import Ask
from assent.protocol.display import fold
from assent.protocol.prompt import Field, other_label, parse_position
from assent.surfaces.tui.reply import WAYS, is_free_only, is_long, is_yes_no, keycap

__all__ = ["Found", "find_by_key", "find_by_words", "find_written", "places"]


class Found(NamedTuple):
    """The places that fit some words."""

    first: int | None
    number: int


def places(ask: Ask) -> list[tuple[int, int]]:
    """Return where the cursor can be: the question and the place in it, for every option and every place for words."""
    if is_yes_no(ask):
        return [(0, place) for place in range(len(WAYS))]
    return [
        (number, place)
        for number, field in enumerate(ask.prompt.fields)
        for place in range(len(field.options) + field.free)
    ] or [(0, 0)]


def find_by_key(ask: Ask, field_at: int, cap: str) -> int | None:
    """Return the place that goes by a key in the question that the cursor is in; a long list has no keys."""
    if is_yes_no(ask):
        caps = [way.letter for way in WAYS]
        return caps.index(cap) if cap in caps else _number(cap, len(caps))
    field = ask.prompt.fields[field_at]
    if is_free_only(field) or is_long(field):
        return None
    count = len(field.options) + field.free
    caps = [keycap(ask.prompt, field, place) for place in range(count)]
    if cap in caps:
        return caps.index(cap)
    place = _number(cap, count)
    # A number that is also another option's label could mean either, so it means none, as everywhere.
    named = (at for at, option in enumerate(field.options) if fold(cap) in spellings(option))
    return place if all(at == place for at in named) else None


def _number(cap: str, count: int) -> int | None:
    return int(cap) - 1 if cap in tuple("123456789") and int(cap) <= count else None


def find_by_words(field: Field, words: str) -> Found:
    """Return the place that a typed number, letter or part of a label means, and how many there are that fit.

    A whole label is that option, whatever else has it as a part.
    """
    folded = fold(words)
    labels = [fold(option.label) for option in field.options]
    labels += [fold(other_label(field))] if field.free and field.options else []
    position = parse_position(folded, field)
    if folded in labels:
        return Found(labels.index(folded), 1)
    if position is not None and position < len(labels):
        return Found(position, 1)
    fitting = [place for place, label in enumerate(labels) if folded and folded in label]
    return Found(fitting[0] if fitting else None, len(fitting))


def find_written(ask: Ask, field_at: int) -> int | None:
    """Return the question whose words are written: that of the cursor, or the first that takes any.

    An approval takes words with its no.
    """
    if is_approval(ask.prompt):
        return 0
    free = [number for number, field in enumerate(ask.prompt.fields) if field.free]
    return field_at if field_at in free else next(iter(free), None)
