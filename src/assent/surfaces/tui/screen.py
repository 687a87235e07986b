"""The whole screen as lines, for any size: three panes where they fit, one where they do not. Pure.

    wide     from 100 columns and 24 rows: what waits, the ask in full, the runs
    one      below that: the pane that has the keys
    compact  below 60 columns or 16 rows: without the lines that only part

The status line and, while there is room, the line of keys stay at the bottom and never scroll.
"""

from __future__ import annotations

from typing import NamedTuple

from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.ending import render_name
from assent.surfaces.tui.ask_card import card_lines
from assent.surfaces.tui.choice_card import check_lines, option_lines
from assent.surfaces.tui.fate_card import fate_lines
from assent.surfaces.tui.head_line import head_lines, place_of
from assent.surfaces.tui.help import help_lines
from assent.surfaces.tui.key_line import key_line, status_line
from assent.surfaces.tui.line import CAUTION, FAINT, STRONG, Line, fit, join, line
from assent.surfaces.tui.list_pane import Rows, list_rows
from assent.surfaces.tui.name import kind_name
from assent.surfaces.tui.run_card import run_lines
from assent.surfaces.tui.run_pane import run_blocks, run_rows
from assent.surfaces.tui.stakes import clock_of
from assent.surfaces.tui.view import Mode, View
from assent.surfaces.width import columns, cut, wrap

__all__ = ["LEAST_COLUMNS", "LEAST_ROWS", "compose", "is_wide", "scroll_card"]

LEAST_COLUMNS, LEAST_ROWS = 40, 10
_WIDE_COLUMNS, _WIDE_ROWS = 100, 24
_ROOMY_COLUMNS, _ROOMY_ROWS = 60, 16
_RUNS_SHOWN = 5
_LIST_LEAST, _LIST_MOST = 36, 46
_LEAST_FOR_SIGNS = 4
"""With fewer lines none of them says that there are more."""
_TOO_SMALL = f"The inbox needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows."
_LEAVING = "Ctrl-C leaves; it never answers. Tab walks the panes. After Ctrl-Z the keys arm again."


def is_wide(width: int, height: int) -> bool:
    """Say whether the three panes fit."""
    return width >= _WIDE_COLUMNS and height >= _WIDE_ROWS


def compose(view: View, width: int, height: int) -> list[Line]:
    """Return exactly `height` lines of exactly `width` columns."""
    if width < LEAST_COLUMNS or height < LEAST_ROWS:
        return _frame(_small(view, width), width, height)
    if is_wide(width, height) and view.mode not in (Mode.WHOLE, Mode.HELP):
        return _wide(view, width, height)
    return _single(view, width, height)


def _small(view: View, width: int) -> list[Line]:
    """Return what is left where a field takes the room: how its ask ended, or what is asked once more."""
    ask = view.ask
    if width >= LEAST_COLUMNS and view.check:
        return check_lines(view.check, width)
    if width >= LEAST_COLUMNS and ask is not None and not ask.is_open:
        return fate_lines(view, ask, width)
    return [line(part) for part in wrap(_TOO_SMALL, max(1, width))]


def scroll_card(view: View, width: int, height: int) -> tuple[int, int]:
    """Return how far what is read can be scrolled, and by how much a page does."""
    if is_wide(width, height) and view.mode not in (Mode.WHOLE, Mode.HELP):
        plan = _wide_plan(view, width, height)
        pane = _pane(view, plan.right - 2, plan.room, is_compact=False)
    else:
        one = _single_plan(view, width, height)
        pane = _pane(view, width - 2, one.room, is_compact=one.is_compact)
    return pane.most, pane.page


def _frame(lines: list[Line], width: int, height: int) -> list[Line]:
    filled = [*lines[:height], *([Line()] * (height - len(lines)))]
    return [fit(each, width) for each in filled]


# What is read


class _Pane(NamedTuple):
    """The pane that has the keys, in as many lines as there is room for."""

    title: str
    end: str
    lines: list[Line]
    most: int = 0
    """How far it can be scrolled."""
    page: int = 1


def _pane(view: View, width: int, room: int, *, is_compact: bool) -> _Pane:
    ask = view.ask
    if view.mode is Mode.HELP:
        return _read(view, "Keys", "", help_lines(width), room)
    if view.mode is Mode.RUN:
        return _run(view, width, room)
    if ask is None:
        said = "Nothing fits this filter: Esc shows all." if view.words else "Nothing waits for you."
        return _Pane("", "", [line(said)])
    return _card(view, ask, width, room, is_compact=is_compact)


def _read(view: View, title: str, end: str, lines: list[Line], room: int) -> _Pane:
    most = max(0, len(lines) - room)
    top = min(view.top, most)
    shown = lines[top : top + room]
    if most > top:
        shown[-1] = _more(len(lines) - top - room + 1)
    return _Pane(title, end, shown, most, max(1, room - 2))


def _more(count: int) -> Line:
    return line(f"v {count} more line{'' if count == 1 else 's'}: Space pages", CAUTION)


def _run(view: View, width: int, room: int) -> _Pane:
    """A run and the end of its output; once it is paged, all of it from the top."""
    lines, tail = run_lines(view, width)
    name = "" if view.run is None else display(view.run.run.project, lines=False)
    title, most = f"Run, {name}", max(0, len(lines) + len(tail) - room)
    if view.top or not most or len(lines) + 2 > room:
        return _read(view, title, "", lines + tail, room)
    hidden = len(tail) - (room - len(lines)) + 1
    note = line(f"^ {hidden} more line{'' if hidden == 1 else 's'}: Space pages from the top", CAUTION)
    return _Pane(title, "", [*lines, note, *tail[hidden:]], most, max(1, room - 2))


def _card(view: View, ask: Ask, width: int, room: int, *, is_compact: bool) -> _Pane:
    """The ask: its words above, what can be chosen below, each with what fits."""
    is_whole = view.mode is Mode.WHOLE
    words = card_lines(ask, width, view.now, is_raw=view.is_raw, is_compact=is_compact and not is_whole)
    cursor = 0
    if ask.is_open:
        options, cursor = option_lines(ask, view.reply, width, view.field_at, view.option_at)
    else:
        options = fate_lines(view, ask, width)
    if view.check:
        options, cursor = check_lines(view.check, width), 0
    if is_whole:  # all of it is read in one go, what can be chosen, too
        words, options = words + options, []
    split = min(len(words), room if is_whole else max(room // 2, room - len(options), 2))
    most = max(0, len(words) - split)
    top = min(view.top, most)
    shown = words[top : top + split]
    if most > top:
        shown[-1] = _more(len(words) - top - split + 1)
    lines = [*shown, *_window(options, cursor, room - len(shown))]
    origin = f"{display(ask.project, lines=False)} / {render_name(ask.asker)}"
    ended = ask.answer or ask.outcome
    end = f"ask {place_of(view)}" if ended is None else f"ended {clock_of(ended.at, view.now)}"
    return _Pane(f"{kind_name(ask)}, {origin}", end, lines, most, max(1, split - 1))


def _window(options: list[Line], cursor: int, room: int) -> list[Line]:
    """Return the options around the cursor, with signs where there are more."""
    start = max(0, min(cursor - room // 2, len(options) - room))
    shown = options[start : start + max(0, room)]
    if room < _LEAST_FOR_SIGNS:
        return shown
    below = len(options) - start - room
    if start > 0:
        shown[0] = line(f"^ {start + 1} more", CAUTION)
    if below > 0:
        shown[-1] = line(f"v {below + 1} more: arrows, or v for all", CAUTION)
    return shown


# One pane


class _SinglePlan(NamedTuple):
    """What stands above and below the one pane, and what is left for it."""

    head: list[Line]
    foot: list[Line]
    room: int
    is_compact: bool


def _single_plan(view: View, width: int, height: int) -> _SinglePlan:
    is_compact = width < _ROOMY_COLUMNS or height < _ROOMY_ROWS
    head = head_lines(view, width, is_compact=is_compact)
    foot = [fit(join(" ", status_line(view, width - 2)), width)]
    if height > LEAST_ROWS:
        foot.append(key_line(view, width))
    if not is_compact:
        foot.insert(0, line("─" * width, FAINT))
    return _SinglePlan(head, foot, height - len(head) - len(foot) - (not is_compact), is_compact)


def _single(view: View, width: int, height: int) -> list[Line]:
    plan = _single_plan(view, width, height)
    if view.mode is Mode.LIST or (view.ask is None and view.mode in (Mode.ASK, Mode.WHOLE)):
        (title, body), end = _list_pane(view, width, plan.room), ""
    else:
        pane = _pane(view, width - 2, plan.room, is_compact=plan.is_compact)
        if view.mode is Mode.RUNS:
            pane = _Pane("Runs", "", _board(view, width - 2, plan.room))
        title, end, body = pane.title, pane.end, [join(" ", each) for each in pane.lines]
    parting = [] if plan.is_compact else [_parting(title, end, width)]
    return _frame([*plan.head, *parting, *_frame(body, width, plan.room), *plan.foot], width, height)


def _parting(left: str, right: str, width: int) -> Line:
    end = f" {right} ─" if right else ""
    said = f"─ {cut(left, width - columns(end) - 4)} " if left else ""
    return line(f"{said}{'─' * (width - columns(said) - columns(end))}{end}", FAINT)


def _board(view: View, width: int, room: int) -> list[Line]:
    if not view.runs:
        return [line("No runs.", FAINT)]
    lines, cursor = run_blocks(view.runs, min(view.run_at, len(view.runs) - 1), width, view.now)
    start = max(0, min(cursor - 1, len(lines) - room))
    return lines[start : start + room]


# Three panes


class _WidePlan(NamedTuple):
    """The sizes of the three panes."""

    head: list[Line]
    left: int
    right: int
    runs: int
    room: int


def _wide_plan(view: View, width: int, height: int) -> _WidePlan:
    head = head_lines(view, width, is_compact=False)
    left = max(_LIST_LEAST, min(_LIST_MOST, width * 36 // 100))
    runs = max(1, min(_RUNS_SHOWN, len(view.runs)))
    # Four lines part the panes; the status and two lines of keys are below them.
    return _WidePlan(head, left, width - left - 3, runs, height - len(head) - runs - 7)


def _wide(view: View, width: int, height: int) -> list[Line]:
    plan = _wide_plan(view, width, height)
    pane = _pane(view, plan.right - 2, plan.room, is_compact=False)
    title, end = pane.title, pane.end
    if view.ask is not None and view.mode is not Mode.RUN:  # who asks stands in the card
        title, end = (f"Ask {place_of(view)}", "") if view.ask.is_open else ("Ask", end)
    cards = _frame([join(" ", each) for each in pane.lines], plan.right, plan.room)
    heading, window = _list_pane(view, plan.left, plan.room)
    listed = _frame(window, plan.left, plan.room)
    lines = [*plan.head, _edge("┌┬┐", (heading, ""), plan.left, (title, end), plan.right)]
    lines += [join("│", a, "│", b, "│") for a, b in zip(listed, cards, strict=True)]
    runs = f"Runs, {plan.runs} of {len(view.runs)}" if len(view.runs) > plan.runs else "Runs"
    lines.append(_edge("├┴┤", (runs, ""), plan.left, ("", ""), plan.right))
    lines += [
        join("│", each, "│") for each in _frame(_run_window(view, width - 2, plan.runs), width - 2, plan.runs)
    ]
    lines.append(line(f"├{'─' * (width - 2)}┤", FAINT))
    lines.append(join("│", fit(join(" ", status_line(view, width - 4)), width - 2), "│"))
    lines.append(line(f"└{'─' * (width - 2)}┘", FAINT))
    lines += [key_line(view, width), line(f" {_LEAVING}", FAINT)]
    return _frame(lines, width, height)


def _run_window(view: View, width: int, room: int) -> list[Line]:
    if not view.runs:
        return [line("  No runs.", FAINT)]
    here = min(view.run_at, len(view.runs) - 1) if view.mode in (Mode.RUNS, Mode.RUN) else -1
    rows = run_rows(view.runs, here, width - 1, view.now)
    start = max(0, min(here - room // 2, len(rows) - room))
    return rows[start : start + room]


def _edge(signs: str, first: tuple[str, str], left: int, second: tuple[str, str], right: int) -> Line:
    """Return a line between panes: its three signs, and the titles of the two below it."""

    def part(told: tuple[str, str], width: int) -> Line:
        end = f" {told[1]} ─" if told[1] else ""
        title = f" {cut(told[0], width - columns(end) - 3)} " if told[0] else ""
        fill = "─" * (width - columns(title) - columns(end))
        return join(line(title, STRONG), line(f"{fill}{end}", FAINT))

    start, middle, last = (line(sign, FAINT) for sign in signs)
    return join(start, part(first, left), middle, part(second, right), last)


# The list


def _list_pane(view: View, width: int, room: int) -> tuple[str, list[Line]]:
    """Return the title of the list and what of it is shown; what came in out of sight is said in the title."""
    title = (
        f"Inbox, filter: {display(view.words, lines=False)}" if view.words else "Inbox: urgent, then newest"
    )
    rows = list_rows(view.groups, view.current, view.drafts, width, view.now)
    if not rows.lines:
        said = "Nothing fits this filter: Esc shows all." if view.words else "Nothing waits for you."
        return title, [line(f" {said}")]
    top = list_top(rows, view.current, view.list_row, room)
    above = sum(place < top for place in rows.places.values())
    if above:
        title = f"Inbox: ^ {above} more above"
    # Where asks above have ended, their room stays empty until somebody moves: the row of the cursor does not.
    shown = [*([Line()] * -top), *rows.lines[max(0, top) : top + room]]
    below = len(rows.lines) - top - room
    if below > 0 and room >= _LEAST_FOR_SIGNS:
        shown[-1] = line(f" v {below + 1} more lines", CAUTION)
    return title, shown


def list_top(rows: Rows, current: str, row: int, room: int) -> int:
    """Return the first line of the list that is shown: the open ask stands on `row`, which stays as it is."""
    place = rows.places.get(current, 0)
    return place - max(0, min(row, room - _LEAST_FOR_SIGNS))
