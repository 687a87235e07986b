"""Folding: a prompt laid out for a surface that cannot show it as it is, so that nothing becomes unreachable (G5-G7).

Rule 1: every option keeps its number from the prompt on every page, and the order is the prompt's (G10, G-X10). What is
        recommended gets a word behind it and no other place.
Rule 2: what does not fit is named in the text and typed, or, where nothing can be typed, stands on another page.
Rule 3: commands are typed. Where that is not possible they are rows, those that name something with pages of their own;
        what cannot be a row, as it takes any text, is named as such.
Rule 4: a text that does not fit says how much of it is missing. An action is shown whole or not asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from assent.protocol.block import render_field, render_question
from assent.protocol.capability import Capability, FreeText
from assent.protocol.command import ANY_REPLY, Command, parse_command
from assent.protocol.dialog import NOTE_ROOM, Dialog, Row, RowKind, clip
from assent.protocol.display import display, fold
from assent.protocol.prompt import Field, Option, Prompt

__all__ = ["fold_prompt"]

_MORE, _BACK, _DONE = "More…", "Back", "Done"
_LEAVE, _WRITE, _LATER = "Other actions", "Type the answer", "Not now"
_OURS = frozenset(fold(label) for label in (_MORE, _BACK, _DONE, _LEAVE, _WRITE, _LATER))

_GATE_HELP = "Type a number or command to proceed."
_SEVERAL_HELP = "For several, type them with commas between."
_OWN_HELP = "Or type your own words."
_LISTED = "More to choose from, by typing:"
_COMMANDS = "Commands: "  # G-X12: how a gate begins the line that advertises them
_BARE = Field("text", free=True)
_SHORT = {"y": "yes", "n": "no"}


class _Group(NamedTuple):
    """Rows that are offered together; those that do not fit on one page go on the next."""

    rows: tuple[Row, ...]
    head: str = ""
    """The words of a command that all of them belong to."""
    is_plural: bool = False
    """Several of them can be chosen together."""


class _Laid(NamedTuple):
    """A group as it fits."""

    pages: tuple[tuple[Row, ...], ...]
    listed: tuple[Row, ...] = ()
    """What has to be typed."""
    gathers: bool = False


def fold_prompt(prompt: Prompt, capability: Capability) -> tuple[Dialog, ...]:
    """Return the dialogs that ask `prompt`: for each question its first page, and the pages that lead on from there.

    There are none where it cannot be asked: where text is needed and cannot be typed, or an action is too long.
    """
    dialogs: list[Dialog] = []
    for number, field in enumerate(prompt.fields):
        folded = _fold_field(prompt, number, field, capability, len(dialogs))
        if not folded:
            return ()
        dialogs += folded
    return tuple(dialogs)


def _fold_field(
    prompt: Prompt, number: int, field: Field, capability: Capability, first: int
) -> list[Dialog]:
    is_round = len(prompt.fields) > 1
    key = f"Q{number + 1}" if is_round else ""
    groups = _groups(prompt, field, capability)
    if not groups[0].rows and not capability.allows_text:
        return []
    laid = [_lay(group, capability) for group in groups]
    starts = [first + sum(len(before.pages) for before in laid[:place]) for place in range(len(laid))]
    dialogs: list[Dialog] = []
    for place, (group, layout) in enumerate(zip(groups, laid, strict=True)):
        context = _context(prompt, number, key) if not place else _command_context(prompt, group)
        details = _details(field, capability) if not place else ""
        for turned, rows in enumerate(layout.pages):
            tail = _tail(prompt, field, capability, layout, is_main=not place)
            if len(layout.pages) > 1:
                tail = "\n\n".join(filter(None, [tail, f"Page {turned + 1} of {len(layout.pages)}."]))
            room = capability.text_max
            if room is not None and layout.gathers:
                room -= NOTE_ROOM
            text = _fit("\n\n".join(filter(None, [context, details])), tail, room)
            if prompt.action is not None and not number and not text.startswith(context):
                return []
            dialogs.append(
                Dialog(
                    clip(key or display(prompt.title.strip(), lines=False), capability.header_max),
                    text,
                    _resolve(rows, starts),
                    _takes_text(prompt, field, capability, layout),
                    capability.allows_multiple and group.is_plural,
                    number,
                    first + len(dialogs),
                    " ".join(filter(None, [key, tail])) if is_round else tail,
                    group.head,
                    layout.gathers,
                )
            )
    return [_bind(dialog, starts, laid) for dialog in dialogs]


# What can be chosen.


def _groups(prompt: Prompt, field: Field, capability: Capability) -> list[_Group]:
    """Return what is offered first, and after it the commands that it leads to."""
    options = tuple(
        Row(_label(number, option, field, capability), _describe(number, option, field, capability), reply=f"{number})")
        for number, option in enumerate(field.options, start=1)
    )
    if options and capability.allows_text:
        return [_Group(options, is_plural=field.multiple)]
    commands = [parse_command(spec) for spec in prompt.commands]
    words = tuple(
        Row(command.head, reply=command.head)
        for command in _in_order([command for command in commands if not command.name])
    )
    lists = [command for command in commands if command.is_list and command.values]
    if len(lists) == 1 and not options and not words:
        return [_values(lists[0])]
    leads = tuple(
        Row(f"{command.head or command.name}…", kind=RowKind.PAGE, page=place)
        for place, command in enumerate(lists, start=1)
    )
    leave = Row(_LEAVE, kind=RowKind.LEAVE)
    main = _Group(_name_apart((*options, *words, *leads), capability), is_plural=field.multiple)
    groups = [_values(command) for command in lists]
    return [main, *(group._replace(rows=(*group.rows, leave)) for group in groups)]
