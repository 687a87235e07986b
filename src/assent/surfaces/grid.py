"""A Markdown table on a terminal: its columns under each other; in a narrow window, cells go on in lines below.

Nothing is cut. Where not even that would fit, its lines are as they were.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from assent.surfaces.width import columns, pad, wrap

__all__ = ["lay_out_table"]

_BAR = re.compile(r"(?<!\\)\|")
_NARROWEST = 6
"""A column has at least so much room."""
_FRAME = len("|  ")


def lay_out_table(lines: Sequence[str], width: int) -> list[str]:
    """Return the lines of a table with their cells under each other, within `width` where that can be done."""
    split = [[cell.strip() for cell in _BAR.split(line)] for line in lines]
    rows = [row[1:-1] for row in split]
    texts = [row for row in rows if not _is_rule(row)]
    # Where words stand outside of the bars it is no table, and they must not get lost.
    is_table = len({len(row) for row in rows}) == 1 and not any(row[0] or row[-1] for row in split)
    if not is_table or not texts or not rows[0]:
        return list(lines)
    widths = [max(columns(row[place]) for row in texts) for place in range(len(rows[0]))]
    room = width - _FRAME * len(widths) - 1
    while sum(widths) > room:
        widest = max(widths)
        if widest <= _NARROWEST:
            return list(lines)
        widths[widths.index(widest)] -= 1
    laid: list[str] = []
    for row in rows:
        laid += _row(["-" * each for each in widths] if _is_rule(row) else row, widths)
    return laid


def _is_rule(row: Sequence[str]) -> bool:
    return all(cell == "---" for cell in row)


def _row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    wrapped = map(wrap, cells, widths)
    return [f"| {' | '.join(map(pad, parts, widths))} |" for parts in zip_longest(*wrapped, fillvalue="")]
