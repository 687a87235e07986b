"""The runs in rows: one line each where there is room for columns, a few where there is not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from assent.protocol.display import display
from assent.surfaces.board import BoardRun, render_board, render_circumstances, render_word
from assent.surfaces.tui.line import (
    ACCENT,
    CAUTION,
    FAINT,
    GOOD,
    INK,
    STRONG,
    Line,
    fit,
    join,
    line,
    lines_of,
)
from assent.surfaces.width import columns, cut, pad

__all__ = ["run_blocks", "run_rows"]

_MOST = {"project": 16, "model": 20}
_LEAST_TITLE = 12
_PAINTS = {"running": GOOD, "pausing": CAUTION, "stale": CAUTION, "paused": ACCENT}
_GAP = "  "
_WAITS = "waits for"
"""What a reader can do something about comes first."""


def run_rows(runs: Sequence[BoardRun], here: int, width: int, now: datetime) -> list[Line]:
    """Return one line for each run: where it is, what it loops over, how far, on which model, and what keeps it."""
    cells = [_cells(seen, now) for seen in runs]
    sizes = [max((columns(row[at]) for row in cells), default=0) for at in range(5)]
    sizes[2], sizes[4] = min(sizes[2], _MOST["project"]), min(sizes[4], _MOST["model"])
    lines = []
    for number, (seen, row) in enumerate(zip(runs, cells, strict=True)):
        word, mode, project, turn, model = (pad(cell, size) for cell, size in zip(row, sizes, strict=True))
        paint = _PAINTS.get(row[0], FAINT)
        facts = _GAP.join(filter(str.strip, (mode, project, turn, model)))
        sign = ">" if number == here else " "
        head = join(line(f"{sign} ", ACCENT), line(word, paint), f"{_GAP}{facts}{_GAP}")
        room = max(0, width - head.width)
        lines.append(fit(join(head, _told(seen, room, now)), width))
    return lines


def _cells(seen: BoardRun, now: datetime) -> tuple[str, str, str, str, str]:
    run = seen.run
    top = run.top
    model = display(top.frame.model or "", lines=False)
    return (
        render_word(seen, now),
        str(run.levels[0].frame.mode),
        display(run.project, lines=False),
        f"{max(1, top.frame.iter)}/{top.frame.max}",
        f"{model}, escalated" if top.is_escalated else model,
    )


def _told(seen: BoardRun, room: int, now: datetime) -> Line:
    """Return the title of a run, and behind it what is special about it: as much as fits, the first in any case."""
    title = display(seen.run.title or seen.run.run_id, lines=False)
    notes = sorted(render_circumstances(seen, now), key=lambda each: not each.startswith(_WAITS))
    note, *others = notes or [""]
    for other in others:
        if columns(title) + columns(note) + columns(other) + len(_GAP) + len(", ") <= room:
            note += f", {other}"
    left = room - columns(note) - len(_GAP) if note else room
    left = max(1, min(columns(title), max(left, min(_LEAST_TITLE, room))))
    shown = line(pad(title, left), STRONG)
    return join(shown, _GAP, line(cut(note, max(1, room - left - len(_GAP))), CAUTION)) if note else shown


def run_blocks(runs: Sequence[BoardRun], here: int, width: int, now: datetime) -> tuple[list[Line], int]:
    """Return each run in as many lines as it takes, and the first line of the one that the cursor is on."""
    lines: list[Line] = []
    cursor = 0
    for number, seen in enumerate(runs):
        is_here = number == here
        cursor = len(lines) if is_here else cursor
        painted = render_board([seen], INK, width - 2, now, "ended")
        shown = lines_of(painted if seen.run.is_active else painted[1:])
        first, *more = shown
        lines += [join(line("> " if is_here else "  ", ACCENT), first), *(join("  ", each) for each in more)]
    return lines, cursor
