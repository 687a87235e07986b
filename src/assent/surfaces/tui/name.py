"""How an ask is called in a row and above its card: shorter than its own title where that is one of the fixed sentences."""

from __future__ import annotations

import re

from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display, first_line
from assent.surfaces.card import SIGNS, render_headline, render_kind, render_title

__all__ = ["kind_name", "matter", "row_title", "sign_of"]

_FINDING = re.compile(r"Finding (\d+) of (\d+)\s*[—:-]\s*").match
_WALK = re.compile(r"review:.*:\d+", re.DOTALL).fullmatch
_CONFIRM = re.compile(
    r"Confirm \([^)]*\) (?P<owner>\w+) (?P<id>\S+): (?P<name>.*?)\. When=(?P<when>before|after)\..*",
    re.DOTALL,
).fullmatch


def _is_of_walk(ask: Ask) -> bool:
    """A question of a durable review goes by the key of its flow and its step."""
    return ask.kind is Kind.QUESTION and _WALK(ask.key or "") is not None


def sign_of(ask: Ask) -> str:
    """Return the sign of an ask's kind; a question of a walk-through is part of it."""
    return SIGNS[Kind.FINDING] if _is_of_walk(ask) else render_kind(ask).partition(" ")[0]


def kind_name(ask: Ask) -> str:
    """Return what an ask is; of a finding also its place in the walk-through."""
    place = _FINDING(ask.prompt.title) if ask.kind is Kind.FINDING else None
    if place:
        return f"Finding {place[1]}/{place[2]}"
    if _is_of_walk(ask):
        return "Walk-through"
    return render_kind(ask).partition(" ")[2].capitalize()


def row_title(ask: Ask) -> str:
    """Return an ask in one line of a list."""
    title = ask.prompt.title.strip()
    found = _CONFIRM(title) if ask.kind is Kind.CONFIRM else None
    if found:
        when = found["when"].capitalize()
        return display(f"{when} {found['owner']} {found['id']}: {found['name']}", lines=False)
    place = _FINDING(title) if ask.kind is Kind.FINDING else None
    if place:
        return display(title[place.end() :].split("\n")[0], lines=False)
    if matter(ask):
        return first_line(ask.prompt.fields[0].text.strip())
    return render_headline(ask)


def matter(ask: Ask) -> str:
    """Return what an open question is about, and what waits for it; empty where the row says it already."""
    is_open_question = ask.kind is Kind.OPEN_QUESTION and bool(ask.prompt.fields[0].text.strip())
    return render_title(ask) if is_open_question else ""
