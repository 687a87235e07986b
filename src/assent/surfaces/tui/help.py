"""All keys, as lines; the page of the docs about them is made from the same table."""

from __future__ import annotations

from assent.surfaces.tui.line import ACCENT, FAINT, STRONG, Line, fit, join, line
from assent.surfaces.width import pad, wrap

__all__ = ["KEYS", "NOTE", "SIGNS_USED", "help_lines"]

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Move",
        (
            ("j k, arrows", "next, previous; on an open ask the arrows move among its options"),
            ("n", "the next one that waits; on a confirm it does nothing"),
            ("o", "the one that has waited for longest"),
            ("/", "filter: words, kind: project: asker: run:"),
            ("Tab", "the next pane"),
            ("Esc", "back to the list; there it ends a filter"),
            ("q, Ctrl-C", "leave; it never answers"),
        ),
    ),
    (
        "Answer",
        (
            ("letter or number", "mark; it never sends"),
            ("m", "mark what the cursor is on"),
            ("#", "say which one: its number or a part of it"),
            ("Enter", "open; then send what is marked"),
            ("i", "write; F2 or Ctrl-Enter sends, Esc keeps it as a draft; on an approval: no, with words"),
            ("e", "write in $EDITOR"),
            (":", "type a gate's command"),
            ("Backspace", "unmark"),
            ("y or yes", "asked for once more by what cannot be undone"),
            ("d", "decline, with a reason"),
        ),
    ),
    (
        "This ask",
        (
            ("Space, b", "page down, up"),
            ("v, +", "the whole of it, full screen"),
            ("x", "the action as JSON, and back"),
            ("c", "claim: say that you are on it"),
            ("y", "copy its id; where somebody else was first, your answer"),
            ("w", "open in the browser"),
            ("z, Z", "snooze in this view, show all again"),
            ("W", "withdraw, asks again"),
        ),
    ),
    (
        "Runs",
        (
            ("r", "the runs; there it resumes"),
            ("p", "pause"),
            ("e", "escalate: model and reason"),
            ("x", "cancel, checked twice"),
            ("y", "copy its id"),
        ),
    ),
)
SIGNS_USED: tuple[tuple[str, str], ...] = (
    (">", "the row or option that the cursor is on"),
    ("[x]", "marked"),
    (":", "at the left edge: somebody else's words, on every line of them"),
    ("|", "words of your own"),
    ("<U+200B>", "a character that cannot be seen, made visible"),
    ("v 3 more", "there is more below"),
    ("[A]", "in the line of keys: keys do not count yet"),
    ("<>", "somebody else was first"),
    ("! ? = # * ~ Y", "approval, question, round, gate, finding, open question, confirm"),
)
NOTE = (
    "A key only marks; Enter sends. For 0.4 s after an ask was drawn, after another key, after a resize and after the "
    "window came back no key counts, so that one that was meant for elsewhere decides nothing. In a line, Enter sends "
    "0.4 s after the last letter, F2 at once. If the inbox ends while somebody types, the next one takes no key before "
    "Esc and a quiet second. Where an option goes by the letter of a "
    "command, the option wins; the command is Alt and the letter then."
)
_KEY = 16
_TWO_COLUMNS = 96
_ROOM_FOR_TABLE = 46


def help_lines(width: int) -> list[Line]:
    """Return the keys in lines that fit, in two columns where there is room."""
    blocks = [_block(title, keys, width) for title, keys in KEYS]
    if width >= _TWO_COLUMNS:
        half = width // 2
        left = [each for title, keys in KEYS[:2] for each in _block(title, keys, half - 2)]
        right = [each for title, keys in KEYS[2:] for each in _block(title, keys, half - 2)]
        rows = max(len(left), len(right))
        left, right = (side + [Line()] * (rows - len(side)) for side in (left, right))
        lines = [join(fit(a, half), b) for a, b in zip(left, right, strict=True)]
    else:
        lines = [each for block in blocks for each in block]
    lines += _block("Signs", SIGNS_USED, width)
    return lines + [line(part, FAINT) for part in wrap(NOTE, width)]


def _block(title: str, keys: tuple[tuple[str, str], ...], width: int) -> list[Line]:
    lines = [line(title, STRONG)]
    if width < _ROOM_FOR_TABLE:
        for key, what in keys:
            first, *more = wrap(f"{key}: {what}", width - 4)
            lines += [line(f"  {first}"), *(line(f"    {part}") for part in more)]
        return [*lines, Line()]
    margin = _KEY + 4
    for key, what in keys:
        first, *more = wrap(what, width - margin)
        lines.append(join(line(f"  {pad(key, _KEY)}  ", ACCENT), first))
        lines += [line(" " * margin + part) for part in more]
    return [*lines, Line()]
