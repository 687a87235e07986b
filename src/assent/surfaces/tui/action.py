"""The exact thing that an approval is for, as lines: readable, and whole. Agents give actions any shape, so this walks
through the JSON and leaves nothing out; commands and differences are drawn as such.

Rule: a line begins with `: `, or with `$ ` for a command, or is set in: none of them can pass for one of ours.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from assent.protocol.block import render_action
from assent.protocol.canonical import Json, canonical
from assent.protocol.display import display, display_exact
from assent.surfaces.tui.line import ACCENT, DANGER, FAINT, GOOD, STRONG, Line, join, line, mark
from assent.surfaces.width import wrap

__all__ = ["action_lines", "json_lines"]

_COMMANDS = frozenset({"command", "cmd", "run", "shell"})
_ARGUMENTS = frozenset({"argv", "args", "command"})
_NAMES = ("path", "file", "filename", "name")
_is_diff = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE).search
_DIGITS = 9
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@").match


def action_lines(action: Json, width: int) -> list[Line]:
    """Return an action as a person reads it, in lines that fit."""
    return [part for piece in _walk("", action, width) for part in piece]


def json_lines(action: Json, width: int) -> list[Line]:
    """Return an action as JSON, in lines that fit."""
    return mark(wrap(render_action(action), width - 2))


def _walk(name: str, value: Json, width: int) -> Iterator[list[Line]]:
    command = _command(name, value)
    if command is not None:
        first, *more = wrap(display_exact(command), width - 2)
        yield [join(line("$ ", ACCENT), first), *(line(f"  {part}") for part in more)]
    elif isinstance(value, str) and _is_diff(value):
        yield _diff(name or "difference", value, width)
    elif isinstance(value, dict) and value:
        title = _title(value)
        for key, part in value.items():
            if key == title:
                continue
            called = str(value[title]) if title and isinstance(part, str) and _is_diff(part) else key
            yield from _walk(called, part, width)
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for number, part in enumerate(value, start=1):
            yield from _walk(f"{name} {number}".strip(), part, width)
    else:
        yield _pair(name or "value", value, width)


def _command(name: str, value: Json) -> str | None:
    if name in _COMMANDS and isinstance(value, str):
        return value
    if name in _ARGUMENTS and isinstance(value, list) and value:
        words = [part for part in value if isinstance(part, str)]
        return shlex.join(words) if len(words) == len(value) else None
    return None


def _title(value: dict[str, Json]) -> str | None:
    """Return the part that only says which file a difference is of: it stands at the head of that."""
    if not any(isinstance(part, str) and _is_diff(part) for part in value.values()):
        return None
    return next((key for key in _NAMES if isinstance(value.get(key), str)), None)


def _pair(name: str, value: Json, width: int) -> list[Line]:
    said = f"[{', '.join(map(_spell, value))}]" if isinstance(value, list) else _spell(value)
    head = f"{display_exact(name)}: "
    first, *more = wrap(head + said, width - 2)
    painted = (
        [line(head, FAINT), first.removeprefix(head)] if first.startswith(head) else [line(first, FAINT)]
    )
    return [join(line(": ", FAINT), *painted), *mark(more)]


def _spell(value: Json) -> str:
    """Return a value; a text stands between quotes, so that it is not taken for what stands without."""
    return f'"{display_exact(value)}"' if isinstance(value, str) else canonical(value).decode()


def _diff(name: str, text: str, width: int) -> list[Line]:
    lines: list[Line] = []
    added = removed = before = after = old_left = new_left = 0
    for raw in text.removesuffix("\n").split("\n"):
        sign, hunk = raw[:1], _HUNK(raw)
        shown, paint, number = display(raw), FAINT, ""
        if hunk:
            before, old_left, after, new_left = _places(hunk)
        elif sign == "+" and new_left > 0:
            shown, paint, number = display(raw[1:]), GOOD, str(after)
            after, new_left, added = after + 1, new_left - 1, added + 1
        elif sign == "-" and old_left > 0:
            shown, paint, number = display(raw[1:]), DANGER, str(before)
            before, old_left, removed = before + 1, old_left - 1, removed + 1
        elif sign in ("", " ") and (old_left > 0 or new_left > 0):
            shown, paint, number = display(raw[1:]), "", str(after)
            before, after, old_left, new_left = before + 1, after + 1, old_left - 1, new_left - 1
        sign = sign if paint in (GOOD, DANGER) else " "
        head = f"{number:>5} {sign} "
        first, *more = wrap(shown, max(8, width - len(head)))
        lines.append(join(line(head, paint or FAINT), line(first, paint)))
        lines += mark(more, paint, " " * (len(head) - 2))
    return [*_file(name, f"+{added} -{removed}", width), *lines]


def _places(hunk: re.Match[str]) -> tuple[int, int, int, int]:
    """Return where a part of a difference begins, and how many lines it has, before and after."""
    before, old, after, new = (_number(part or "1") for part in hunk.groups())
    return before, old, after, new


def _number(digits: str) -> int:
    """Return a number of lines; what no file has is as good as any, and would not fit."""
    return int(digits) if len(digits) <= _DIGITS else 10**_DIGITS - 1


def _file(name: str, count: str, width: int) -> list[Line]:
    *above, last = mark(wrap(display_exact(name), width - 2), STRONG)
    gap = width - last.width - len(count)
    return [*above, join(last, line(" " * gap + count, FAINT)) if gap > 1 else last]
