"""What an ask can be answered with, as lines: its options with their keys, what is marked, and what was written. Pure.

>   the cursor         [x]  marked         |  words of the reader's own
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.protocol.ask import Ask
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import display
from assent.protocol.gate import render_gate
from assent.protocol.prompt import Field, Option, Prompt, other_label
from assent.surfaces.tui.line import ACCENT, DANGER, FAINT, STRONG, Line, join, line, mark
from assent.surfaces.tui.reply import WAYS, FieldReply, Reply, is_free_only, is_yes_no, keycap
from assent.surfaces.width import columns, wrap

__all__ = ["check_lines", "option_lines"]

_MARKED = "marked"
_WRITE = "press i to write, e for your editor"


def option_lines(ask: Ask, reply: Reply, width: int, field_at: int, option_at: int) -> tuple[list[Line], int]:
    """Return the options with what is marked, and the line of the one that the cursor is on."""
    if is_yes_no(ask):
        return _ways(ask, reply, width, option_at)
    called, last = _frame_of(ask.prompt)
    lines = [line(called, STRONG)] if called else []
    cursor = 0
    for number, field in enumerate(ask.prompt.fields):
        here = option_at if number == field_at else -1
        lines += _field_head(ask, field, number, width)
        shown, at = _field_lines(ask, field, reply.of(field.name), width, here)
        cursor = len(lines) + at if here >= 0 else cursor
        lines += shown
        if number + 1 < len(ask.prompt.fields):
            lines.append(Line())
    if ask.prompt.commands:
        lines += _commands(ask.prompt, last, reply, width)
    return lines, cursor


def check_lines(question: str, width: int) -> list[Line]:
    """Return what is asked once more, in place of the options."""
    return [join(line("! ", DANGER), line(part, DANGER)) for part in wrap(question, width - 2)]


def _frame_of(prompt: Prompt) -> tuple[str, str]:
    """Return what stands above and below a gate's options, as the protocol has it."""
    count = len(prompt.fields[0].options) if prompt.commands else 0
    if not count:
        return "", ""
    block = render_gate(prompt).split("\n")
    return block[-count - 3], block[-1]


def _field_head(ask: Ask, field: Field, number: int, width: int) -> list[Line]:
    lines: list[Line] = []
    if len(ask.prompt.fields) > 1:
        first, *more = wrap(display(field.text) or "Your answer", width - 4)
        lines = [join(line(f"Q{number + 1:<3}", FAINT), line(first, STRONG)), *mark(more, STRONG, "  ")]
    elif field.text:
        lines = mark(wrap(display(field.text), width - 2), STRONG)
    if field.multiple:
        lines.append(line("several may be marked", FAINT))
    return lines


def _field_lines(ask: Ask, field: Field, part: FieldReply, width: int, here: int) -> tuple[list[Line], int]:
    """Return the options of one question, and the line of the one at `here`."""
    caps = [keycap(ask.prompt, field, place) for place in range(len(field.options) + field.free)]
    size = max((len(cap) for cap in caps), default=1)
    end = "." if ask.prompt.commands else ")"
    lines: list[Line] = []
    cursor = 0
    for place, option in enumerate(field.options):
        cursor = len(lines) if place == here else cursor
        head = _head(f"{caps[place]:>{size}}{end}", is_marked=option.key in part.keys, is_here=place == here)
        lines += _choice(head, _said(option), option.description, width, is_marked=option.key in part.keys)
    if not field.free:  # an approval's no may have words
        return [*lines, *_own_words(part.text, width)], cursor
    is_here = here == len(field.options)
    cursor = len(lines) if is_here else cursor
    if is_free_only(field):
        return [*lines, *_written(part.text, width, is_here=is_here)], cursor
    head = _head(f"{caps[-1]:>{size}}{end}", is_marked=part.is_own, is_here=is_here)
    lines += _choice(head, display(other_label(field), lines=False), "", width, is_marked=part.is_own)
    return [*lines, *_own_words(part.text, width)], cursor


def _said(option: Option) -> str:
    tags = [("recommended", option.recommended), ("cannot be undone", option.destructive)]
    return display(option.label, lines=False) + "".join(f" ({tag})" for tag, holds in tags if holds)


def _head(cap: str, *, is_marked: bool, is_here: bool) -> str:
    return f"{'>' if is_here else ' '} {'[x]' if is_marked else '[ ]'} {cap} "


def _choice(head: str, said: str, note: str, width: int, *, is_marked: bool) -> list[Line]:
    paint = ACCENT if is_marked else ""
    room = width - columns(head)
    first, *more = wrap(said, room)
    gap = room - columns(first) - len(_MARKED)
    told = f"{' ' * gap}{_MARKED}" if is_marked and gap > 1 else ""
    margin = " " * (columns(head) - 2)
    is_lit = is_marked or head.startswith(">")
    return [
        join(line(head, ACCENT if is_lit else FAINT), line(first, paint), line(told, ACCENT)),
        *mark(more, paint, margin),
        *(mark(wrap(display(note), room), FAINT, margin) if note else []),
    ]


def _written(text: str, width: int, *, is_here: bool) -> list[Line]:
    head = "> " if is_here else "  "
    if not text:
        return [join(line(head, ACCENT), line(part, FAINT)) for part in wrap(_WRITE, width - 2)]
    return [join(line(head, ACCENT), line("| ", FAINT), part) for part in wrap(display(text), width - 4)]


def _own_words(text: str, width: int) -> list[Line]:
    return [join(line("      | ", FAINT), part) for part in wrap(display(text), width - 8)] if text else []


def _ways(ask: Ask, reply: Reply, width: int, option_at: int) -> tuple[list[Line], int]:
    part = reply.of(ask.prompt.fields[0].name)
    lines: list[Line] = []
    cursor = 0
    for place, way in enumerate(WAYS):
        cursor = len(lines) if place == option_at else cursor
        is_marked = way.key in part.keys
        head = _head(f"{way.letter})", is_marked=is_marked, is_here=place == option_at)
        margin = " " * columns(head)
        lines += _choice(head, way.label, "", width, is_marked=is_marked)
        lines += [line(f"{margin}{row}", FAINT) for row in wrap(way.note, width - len(margin))]
        if way.key == "changes":
            lines += _own_words(part.text, width)
    return lines, cursor


def _commands(prompt: Prompt, last: str, reply: Reply, width: int) -> list[Line]:
    """Return the place for a command, and what is known here: the marks of its arguments are the protocol's."""
    lines = [Line(), *(line(part, FAINT) for part in wrap(last, width))] if last else []
    typed: Sequence[str] = wrap(display(reply.command, lines=False), width - 2) if reply.command else ["_"]
    lines += [join(line("> ", ACCENT), line(part, ACCENT if reply.command else FAINT)) for part in typed]
    known = "   ".join(spec for spec in prompt.commands if spec != ANY_REPLY)
    shown = wrap(display(known, lines=False), width - 4)
    return [*lines, *mark(shown, FAINT, "  ")]
