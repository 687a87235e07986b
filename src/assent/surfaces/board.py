"""Runs as a terminal shows them: the board. Which run, how far, on which model, and what keeps it.

Rule 1: pure. Runs, a width and a moment go in, and lines that fit come out; `cli.watch` draws them again and again.
Rule 2: what agents and people wrote (titles, models, reasons, ids) passes `display` and stays on its line.
Rule 3: words carry the meaning. Colour is laid over whole words of ours, and is never needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from assent.protocol.display import display, quote
from assent.protocol.ending import render_name
from assent.protocol.run import AbortReason, Frame, Level, Run, Status, render_shown
from assent.surfaces.ink import Ink
from assent.surfaces.moment import render_span
from assent.surfaces.width import columns, cut, pad, wrap

__all__ = ["BoardRun", "render_board", "render_change", "render_circumstances", "render_place", "render_word"]

_GAP = "  "
_NARROWEST_TITLE = 16
_WIDEST_MODEL = 24
_USUAL_WORD = len("running")
"""So that the columns stay where they are when a run is paused."""
_LONGEST_WORDS = 120
_HOUR = timedelta(hours=1)
_ESCALATED = ", escalated"

Piece = tuple[str, Callable[[str], str]]
"""A text that is kept together where it fits, and its colour."""


class BoardRun(msgspec.Struct, frozen=True):
    """A run with what its record does not know."""

    run: Run
    is_driven: bool
    """Somebody alive drives it."""
    waits: int = 0
    """How many of its asks wait for an answer."""


class _Row(NamedTuple):
    """One loop of a run, in words."""

    word: str
    mode: str
    turn: str
    model: str
    what: str


def render_board(runs: Sequence[BoardRun], ink: Ink, width: int, now: datetime, ended: str) -> list[str]:
    """Return the board: what is active, and below the heading `ended` what is not."""
    if not runs:
        return ["No runs."]
    active = [seen for seen in runs if seen.run.is_active]
    over = [seen for seen in runs if not seen.run.is_active]
    rows = {id(seen): _rows(seen, now) for seen in runs}
    sizes = _sizes([row for found in rows.values() for row in found])
    lines: list[str] = []
    for seen in active:
        lines += _render(seen, rows[id(seen)], sizes, ink, width, now)
    if over:
        lines += [""] if active else []
        lines.append(ink.faint(cut(ended, width)))
        for seen in over:
            lines += _render(seen, rows[id(seen)], sizes, ink, width, now)
    return lines


def render_word(seen: BoardRun, now: datetime) -> str:
    """Return the one word for where a run is; an ended one says how it ended."""
    run = seen.run
    if run.status is Status.ABORTED and run.reason in _ABORTED:
        return _ABORTED[run.reason]
    return render_shown(run, is_driven=seen.is_driven, now=now)


_ABORTED: dict[str, str] = {AbortReason.USER_CANCELLED: "cancelled", AbortReason.ERROR: "failed"}


def render_place(run: Run) -> str:
    """Return where in its loops a run is, on one line: `grind 7/40 > issue 2/10`."""
    return " > ".join(f"{level.frame.mode} {_turn(level.frame)}" for level in run.levels)


def render_change(seen: BoardRun, now: datetime) -> str:
    """Return a run on one line, for those who read changes and not a screen."""
    run = seen.run
    facts = [_model(run.top), _what(run, 0), *render_circumstances(seen, now, is_live=False)]
    told = [render_word(seen, now), display(run.run_id, lines=False), render_place(run), *facts]
    return _GAP.join(filter(None, told))


def _rows(seen: BoardRun, now: datetime) -> list[_Row]:
    run = seen.run
    return [
        _Row(
            "" if depth else render_word(seen, now),
            f"{' ' * 2 * (depth - 1)}└ {level.frame.mode}" if depth else level.frame.mode,
            _turn(level.frame),
            _model(level),
            _what(run, depth),
        )
        for depth, level in enumerate(run.levels)
    ]


def _turn(frame: Frame) -> str:
    return f"{max(1, frame.iter)}/{frame.max}"


def _model(level: Level) -> str:
    if level.frame.model is None:
        return ""
    name = display(level.frame.model, lines=False)
    return f"{cut(name, _WIDEST_MODEL - len(_ESCALATED))}{_ESCALATED}" if level.is_escalated else name


def _what(run: Run, depth: int) -> str:
    frame = run.levels[depth].frame
    parts = (run.title if depth == 0 else "", frame.issue_id, frame.filter, frame.branch)
    return ", ".join(quote(part, _LONGEST_WORDS) for part in parts if part)


def _sizes(rows: list[_Row]) -> tuple[int, int, int, int]:
    word, mode, turn, model = (max(columns(row[at]) for row in rows) for at in range(4))
    return max(word, _USUAL_WORD), mode, turn, min(model, _WIDEST_MODEL)


def _render(
    seen: BoardRun, rows: list[_Row], sizes: tuple[int, int, int, int], ink: Ink, width: int, now: datetime
) -> list[str]:
    word, mode, turn, model = sizes
    facts = word + mode + turn + model + len(_GAP) * (3 + bool(model))
    is_wide = width - facts >= _NARROWEST_TITLE
    margin = " " * (word + len(_GAP) if is_wide else len(_GAP))
    is_alive = seen.is_driven or not seen.run.is_active
    paint = _paint(rows[0].word, ink) if is_alive else ink.caution
    lines: list[str] = []
    for row in rows:
        if is_wide:
            cells = [pad(row.mode, mode), f"{row.turn:>{turn}}", *([pad(row.model, model)] if model else [])]
            title = cut(row.what, width - facts)
            cells.append(ink.strong(title) if row.word else title)
            lines.append(_GAP.join([paint(pad(row.word, word)), *cells]).rstrip())
        else:
            told = _GAP.join(filter(None, (row.mode, row.turn, row.model)))
            head = (paint(cut(row.word, width)), width - columns(row.word)) if row.word else ("", width)
            lines.append(head[0] + cut(_GAP + told, head[1]))
            lines += [margin + ink.strong(part) for part in wrap(row.what, width - len(margin)) if part]
    return [*lines, *(margin + line for line in _flow(_pieces(seen, ink, now), width - len(margin)))]


def _paint(word: str, ink: Ink) -> Callable[[str], str]:
    return {
        "running": ink.good,
        "pausing": ink.caution,
        "paused": ink.accent,
        "stale": ink.caution,
        "failed": ink.danger,
    }.get(word, ink.faint)


def _pieces(seen: BoardRun, ink: Ink, now: datetime) -> list[Piece]:
    """Return what stands below a run: what to type to mean it, where it belongs, how long, and what is special."""
    run = seen.run
    end = run.ended_at or now
    took = f"took {_clock(end - run.started_at)}" if run.ended_at else f"for {_clock(end - run.started_at)}"
    return [
        (display(run.run_id, lines=False), ink.accent),
        (display(run.project, lines=False), ink.faint),
        (took, ink.faint),
        *((note, ink.caution) for note in render_circumstances(seen, now)),
    ]


def render_circumstances(seen: BoardRun, now: datetime, *, is_live: bool = True) -> list[str]:
    """Return what is special about a run; without what only says how time goes by, unless it is seen live."""
    run = seen.run
    if not run.is_active:
        ago = f"{render_span(now - (run.ended_at or now))} ago"
        return [_ending(run), ago] if is_live else [_ending(run)]
    notes = _driving(seen, now, is_live=is_live)
    if run.top.attempt > 1:
        notes.append(f"attempt {run.top.attempt}")
    if seen.waits:
        notes.append(f"waits for {seen.waits} answer{'' if seen.waits == 1 else 's'}")
    reason = run.top.frame.escalation_reason
    if reason:
        notes.append(f'escalated: "{quote(reason, _LONGEST_WORDS)}"')
    return notes


def _driving(seen: BoardRun, now: datetime, *, is_live: bool) -> list[str]:
    run = seen.run
    word = render_shown(run, is_driven=seen.is_driven, now=now)
    ago = _clock(now - run.updated_at)
    open_for = _clock(now - (run.top.begun_at or now))
    notes: list[str] = []
    if run.status is Status.PAUSED:
        since = _clock(now - (run.paused_at or now))
        if word == "pausing":
            notes.append(f"iteration {run.iteration} still open" + (f", {open_for}" if is_live else ""))
        notes.append(f"paused by {render_name(run.paused_by)}" + (f", {since} ago" if is_live else ""))
    if not seen.is_driven:
        notes.append(f"no live driver, silent for {ago}" if word == "stale" and is_live else "no live driver")
        lowest = run.levels[0]  # the loops inside it begin anew with it
        if lowest.is_open or lowest.is_interrupted:
            notes.append(f"iteration {lowest.frame.iter} was interrupted")
    elif run.status is Status.RUNNING and is_live and run.top.is_open:
        notes.append(f"this iteration for {open_for}")
    return notes


def _ending(run: Run) -> str:
    how = quote(run.reason, _LONGEST_WORDS) if run.reason else "ended"
    if run.reason == AbortReason.USER_CANCELLED:
        how += f" by {render_name(run.ended_by)}"
    return f"{how}: {quote(run.note, _LONGEST_WORDS)}" if run.note else how


def _clock(span: timedelta) -> str:
    """Return a span as a clock shows it, so that one sees it run; from an hour on in words."""
    if span >= _HOUR:
        return render_span(span)
    seconds = max(0, int(span.total_seconds()))
    return f"{seconds // 60}:{seconds % 60:02}"


def _flow(pieces: list[Piece], width: int) -> list[str]:
    """Return pieces side by side, each whole where it can be, in lines that fit."""
    lines: list[list[str]] = []
    room = 0
    for text, paint in pieces:
        for part in wrap(text, width):
            taken = columns(part)
            if lines and taken + len(_GAP) <= room:
                lines[-1].append(paint(part))
                room -= taken + len(_GAP)
            else:
                lines.append([paint(part)])
                room = width - taken
    return [_GAP.join(line) for line in lines]
