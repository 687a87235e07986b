"""The page of the terminal inbox's keys and signs, out of the table that its own help shows."""

from __future__ import annotations

from assent.surfaces.tui.help import KEYS, NOTE, SIGNS_USED
from assent.surfaces.tui.screen import LEAST_COLUMNS, LEAST_ROWS
from tools.source import table

__all__ = ["render_keys"]

_HEAD = f"""\
# The terminal inbox: keys and signs

`assent` alone on a terminal opens it; [five agents, one terminal](../how-to/five-agents-one-terminal.md) shows it. It needs
{LEAST_COLUMNS} columns and {LEAST_ROWS} rows, and no colour. In it, `?` shows what stands here.
"""


def render_keys() -> str:
    """Return the page."""
    parts = [_HEAD]
    for title, keys in (*KEYS, ("Signs", SIGNS_USED)):
        rows = [(f"`{key}`", what) for key, what in keys]
        parts.append(f"## {title}\n\n{table(('sign' if title == 'Signs' else 'key', 'means'), rows)}\n")
    return "\n".join([*parts, f"## When a key counts\n\n{NOTE}"])
