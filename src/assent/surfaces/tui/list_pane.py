"""What waits, as lines: two or three for each ask, in groups. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from assent.protocol.answer import labels
from assent.protocol.ask import Ask, State
from assent.protocol.display import display, quote
from assent.protocol.ending import render_name
from assent.surfaces.card import render_notes
from assent.surfaces.moment import render_span
from assent.surfaces.tui.line import ACCENT, CAUTION, FAINT, STRONG, Line, fit, line, spread
from assent.surfaces.tui.name import kind_name, matter, row_title, sign_of
from assent.surfaces.tui.order import Groups
from assent.surfaces.tui.stakes import clock_of
from assent.surfaces.width import columns, cut, pad

__all__ = ["Rows", "find_line", "list_rows"]

_KIND = 14
_ANY_WIDTH = 60
"""How many lines an ask has does not depend on it."""


class Rows(NamedTuple):
    """Lines of the list, and where each ask begins among them."""

    lines: list[Line]
    places: dict[str, int]


def list_rows(groups: Groups, current: str, drafts: frozenset[str], width: int, now: datetime) -> Rows:
    """Return the list in lines of `width` columns."""
    rows = Rows([], {})
    waiting = "NO HURRY" if groups.urgent else "WAITING"
    for title, asks in (("TIME RUNS", groups.urgent), (waiting, groups.calm)):
        if asks:
            rows.lines.append(fit(line(f" {title}", FAINT), width))
        for ask in asks:
            rows.places[ask.ask_id] = len(rows.lines)
            rows.lines.extend(
                fit(each, width) for each in _open_row(ask, current, ask.ask_id in drafts, width, now)
            )
    if groups.ended:
        rows.lines.append(fit(line(" ENDED WHILE YOU WERE HERE", FAINT), width))
    for ask in groups.ended:
        rows.places[ask.ask_id] = len(rows.lines)
        rows.lines.append(fit(_ended_row(ask, current, width, now), width))
    return rows


def find_line(groups: Groups, ask_id: str, drafts: frozenset[str], now: datetime) -> int:
    """Return the line of the list at which an ask begins; 0 where it is not listed. Only what is above it is laid out."""
    listed: list[str] = [ask.ask_id for ask in groups.all]
    if ask_id not in listed:
        return 0
    end = listed.index(ask_id) + 1
    urgent, waiting = len(groups.urgent), len(groups.open)
    above = Groups(
        groups.urgent[:end],
        groups.calm[: max(0, end - urgent)],
        groups.ended[: max(0, end - waiting)],
    )
    return list_rows(above, "", drafts, _ANY_WIDTH, now).places[ask_id]


def _open_row(ask: Ask, current: str, has_draft: bool, width: int, now: datetime) -> list[Line]:
    is_here = ask.ask_id == current
    age = render_span(now - ask.opened_at, is_rough=True)
    left = f"{'>' if is_here else ' '}{sign_of(ask)} {pad(kind_name(ask), _KIND)}"
    project = cut(display(ask.project, lines=False), max(1, width - columns(left) - columns(age) - 2))
    gap = " " * max(1, width - columns(left) - columns(project) - columns(age) - 1)
    lines = [
        line(f"{left}{project}{gap}{age}", ACCENT if is_here else FAINT),
        line(f"   {cut(row_title(ask), width - 4)}", STRONG if is_here else ""),
    ]
    about = matter(ask)
    notes = [*render_notes(ask, now), *([about] if about else []), *(["your draft"] if has_draft else [])]
    if notes:
        lines.append(line(f"   {cut('   '.join(notes), width - 4)}", CAUTION if ask.deadline else FAINT))
    return lines


_ENDS = {
    State.DECLINED: "declined",
    State.WITHDRAWN: "taken back",
    State.EXPIRED: "expired, counts as no",
    State.SUPERSEDED: "asked anew",
}
_SHOWN = 60


def _ended_row(ask: Ask, current: str, width: int, now: datetime) -> Line:
    ended = ask.answer or ask.outcome
    at = "" if ended is None else clock_of(ended.at, now)
    how = _ENDS.get(ask.state, "")
    if ask.answer:
        said = ", ".join(labels(ask.prompt, ask.answer.values))
        how = f"{render_name(ask.answer.by)}: {quote(said, _SHOWN)}"
    head = f"{'>' if ask.ask_id == current else ' '}  {how}  {row_title(ask)}"
    return spread(line(head, FAINT), line(f" {at} ", FAINT), width)
