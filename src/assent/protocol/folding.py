"""Folding: a prompt laid out for a surface that cannot show it as it is, so that nothing becomes unreachable (G5-G7).

Rule 1: every option keeps its number from the prompt on every page, and the order is the prompt's (G10, G-X10). What is
        recommended gets a word behind it and no other place.
Rule 2: what does not fit is named in the text and typed, or, where nothing can be typed, stands on another page.
Rule 3: commands are typed. Where that is not possible they are rows, and those that name something have pages of their
        own; what cannot be a row, as it takes any text, is named as such.
Rule 4: a text that does not fit says how much of it is missing. An action is shown whole or not asked about.
Rule 5: of a menu only the question is laid out: whoever shows the dialog shows the block first, in its own place (W29).
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from assent.protocol.block import render_field, render_question
from assent.protocol.capability import Capability, FreeText
from assent.protocol.command import Command, parse_command
from assent.protocol.dialog import NOTE_ROOM, Dialog, Row, RowKind, clip
from assent.protocol.display import display, fold
from assent.protocol.gate import is_yes
from assent.protocol.menu import is_menu, render_stem
from assent.protocol.prompt import OTHER, Field, Option, Prompt, other_label

__all__ = ["fold_prompt"]

_MORE, _BACK = "More…", "Back"
_DONE = Row("Done", kind=RowKind.DONE)
_LEAVE = Row("Other actions", kind=RowKind.LEAVE)
_WRITE = Row("Type the answer", kind=RowKind.WRITE)
_LATER = Row("Not now", "Leave it open.", RowKind.LATER)
_OURS = frozenset(
    fold(label) for label in (_MORE, _BACK, *(row.label for row in (_DONE, _LEAVE, _WRITE, _LATER)))
)

_LISTED = "More to choose from, by typing:"
_GATE_HELP = "Type a number or command to proceed."
_SEVERAL_HELP = "For several, type them with commas between."
_OWN_HELP = "Or type your own words."
_OWN_BEYOND = "Words of your own cannot be typed here."
_COMMANDS = "Commands: "  # G-X12: how a gate begins the line that advertises them
_BEYOND_MAX = 120
_SHARE = 4
"""The list of what has to be typed gets this part of a text at most, and so does the line of commands."""


class _Group(NamedTuple):
    """Rows that are offered together; those that do not fit on one page go on the next."""

    rows: tuple[Row, ...]
    is_plural: bool = False
    """Several of them can be chosen together."""
    head: str = ""
    """The words of the command that all of them belong to."""
    exits: tuple[Row, ...] = ()
    """What leads away from them."""


class _Layout(NamedTuple):
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
    groups = _groups(prompt, field, capability)
    if not groups[0].rows and not capability.allows_text:
        return []
    layouts = [_lay(group, capability) for group in groups]
    starts = [first]
    for layout in layouts:
        starts.append(starts[-1] + len(layout.pages))
    key = f"Q{number + 1}" if len(prompt.fields) > 1 else ""
    header = clip(key or _title(prompt), capability.header_max)
    dialogs: list[Dialog] = []
    for place, (group, layout) in enumerate(zip(groups, layouts, strict=True)):
        is_main = place == 0
        context = _context(prompt, number, field, key, capability) if is_main else _lead(prompt, group)
        for turned, rows in enumerate(layout.pages):
            tail = _join(
                _tail(prompt, field, capability, group, layout) if is_main else "", _page_line(turned, layout)
            )
            text = _fit(context, tail, _room(capability, layout))
            if prompt.action is not None and not text.startswith(context):
                return []
            dialogs.append(
                Dialog(
                    header,
                    text,
                    (*_lead_on(rows, starts), *_page_row(turned, layout, starts[place])),
                    _takes_text(prompt, field, capability, layout),
                    capability.allows_multiple and group.is_plural,
                    number,
                    starts[place] + turned,
                    _join(key, tail),
                    group.head,
                    layout.gathers,
                )
            )
    return dialogs


# What can be chosen.


def _groups(prompt: Prompt, field: Field, capability: Capability) -> list[_Group]:
    """Return what is offered first, and after it the commands that it leads to."""
    options = tuple(
        Row(*_option(number, option, field, capability), reply=f"{number}.")
        for number, option in enumerate(field.options, start=1)
    )
    if options and capability.allows_text:
        return [_Group(options, field.multiple)]
    commands = [parse_command(spec) for spec in prompt.commands]
    words = _words(commands)
    lists = [command for command in commands if command.is_list and command.values]
    if len(lists) == 1 and not options and not words:
        return [_values(lists[0], capability)]
    leads = [
        Row(f"{command.head or command.name}…", kind=RowKind.PAGE, page=place)
        for place, command in enumerate(lists, start=1)
    ]
    main = _Group(_name_apart([*options, *words, *leads], capability), field.multiple)
    return [main, *(_values(command, capability, _LEAVE) for command in lists)]


def _words(commands: list[Command]) -> list[Row]:
    """Return the commands that are nothing but words; a yes is never the first (it would be what Enter chooses)."""
    heads = [command.head for command in commands if not command.name]
    long_forms = {"y": "yes", "n": "no"}
    heads = [head for head in heads if long_forms.get(head) not in heads]
    shown = {"yes": "Yes", "no": "No"}
    return [Row(shown.get(head, head), reply=head) for head in sorted(heads, key=is_yes)]


def _values(command: Command, capability: Capability, *exits: Row) -> _Group:
    # Where one is chosen, its row spells the whole command: a bare number would read like that of an option.
    head = "" if command.is_plural else command.head
    rows = _name_apart([Row(f"{head} {value}".strip(), reply=value) for value in command.values], capability)
    return _Group(rows, command.is_plural, command.head, exits)


def _name_apart(rows: list[Row], capability: Capability) -> tuple[Row, ...]:
    """Return the rows with labels that fit, and of which no two are the same, nor one of ours."""
    seen, named = set(_OURS), []
    for row in rows:
        label = clip(display(row.label, lines=False), capability.label_max)
        number = 1
        while fold(label) in seen:
            number += 1
            mark = f" ({number})"
            room = None if capability.label_max is None else capability.label_max - len(mark)
            label = clip(display(row.label, lines=False), room) + mark
        seen.add(fold(label))
        named.append(replace(row, label=label))
    return tuple(named)


def _option(number: int, option: Option, field: Field, capability: Capability) -> tuple[str, str]:
    """Return an option's label and description."""
    words, suffix, about = _option_words(option), _suffix(option), display(option.description.strip())
    label = f"{number}. {words}{suffix}"
    most = capability.label_max
    is_cut = False
    if most is not None and len(label) > most:
        is_cut = True
        label = clip(f"{number}. {words}", most - len(suffix)) + suffix
    elif not capability.shows_descriptions and about and _fits_beside(label, about, capability):
        label = f"{label} - {about}"
    if field.multiple:
        label = label.replace(",", ";")  # the labels of several rows come back with commas between
    if not capability.shows_descriptions:
        return label, ""
    return label, _join(words, about, between="\n") if is_cut else about


def _fits_beside(label: str, about: str, capability: Capability) -> bool:
    length = len(label) + len(" - ") + len(about)
    return "\n" not in about and (capability.label_max is None or length <= capability.label_max)


def _option_words(option: Option) -> str:
    return display(option.label.strip(), lines=False)


def _suffix(option: Option) -> str:
    return " (recommended)" * option.recommended + " (destructive)" * option.destructive


# How it fits.


def _lay(group: _Group, capability: Capability) -> _Layout:
    rows = (*group.rows, *group.exits)
    if not rows:
        return _Layout(((),) if capability.allows_no_options else ((_WRITE, _LATER),))
    gathers = group.is_plural and not capability.allows_multiple and not capability.allows_text
    if gathers:
        rows = (*group.rows, _DONE, *group.exits)
    most = capability.max_options or len(rows)
    if len(rows) <= most:
        return _Layout(((*rows, _LATER) if len(rows) < capability.min_options else rows,), gathers=gathers)
    listed = rows[most:]
    share = None if capability.text_max is None else capability.text_max // _SHARE
    if capability.allows_text and not group.exits and (share is None or len(_list(listed)) <= share):
        return _Layout((rows[:most],), listed)
    if group.is_plural:
        rows, gathers = (*group.rows, _DONE, *group.exits), True
    size = most - 1  # the last row turns the page
    return _Layout(tuple(rows[at : at + size] for at in range(0, len(rows), size)), gathers=gathers)


def _lead_on(rows: tuple[Row, ...], starts: list[int]) -> tuple[Row, ...]:
    """Return the rows; those that lead to a group lead to its first page now."""
    leads = (RowKind.PAGE, RowKind.LEAVE)
    return tuple(replace(row, page=starts[row.page]) if row.kind in leads else row for row in rows)


def _page_row(turned: int, layout: _Layout, start: int) -> tuple[Row, ...]:
    if len(layout.pages) == 1:
        return ()
    if turned + 1 < len(layout.pages):
        return (Row(_MORE, kind=RowKind.PAGE, page=start + turned + 1),)
    return (Row(_BACK, kind=RowKind.PAGE, page=start),)


def _page_line(turned: int, layout: _Layout) -> str:
    return f"Page {turned + 1} of {len(layout.pages)}." if len(layout.pages) > 1 else ""


def _takes_text(prompt: Prompt, field: Field, capability: Capability, layout: _Layout) -> bool:
    is_needed = (
        bool(prompt.commands or layout.listed)
        or field.free
        or (field.multiple and not capability.allows_multiple)
    )
    return capability.allows_text and (is_needed or capability.free_text is FreeText.ALWAYS)


# What stands above the rows.


def _context(prompt: Prompt, number: int, field: Field, key: str, capability: Capability) -> str:
    """Return what the question is about; of a round, the first question says it for all of them."""
    stem = _join(key, display(field.text.strip() or prompt.title.strip()), between=" ") if key else ""
    about = "" if number else _about(prompt, "" if key else field.text)
    return _join(about, stem, _details(field, capability))


def _title(prompt: Prompt) -> str:
    """Return the title on one line; of a menu, the first line of its stem."""
    title = prompt.title.strip()
    return display(title.partition("\n")[0].strip() if is_menu(prompt) else title, lines=False)


def _about(prompt: Prompt, text: str) -> str:
    if is_menu(prompt):
        return render_stem(prompt)
    if prompt.commands and prompt.action is None and prompt.risk is None:
        return _join(_title(prompt), display(_split_commands(prompt.body)[0]), display(text))
    bare = Field("text", text, free=True)
    shown = render_question(replace(prompt, fields=(bare,), commands=()))
    return shown.removesuffix(render_field(bare)).rstrip()


def _split_commands(body: str) -> tuple[str, str]:
    """Return a gate's summary, and the line that advertises its commands."""
    above, _, last = body.rstrip().rpartition("\n")
    return (above.rstrip(), last) if last.startswith(_COMMANDS) else (body, "")


def _details(field: Field, capability: Capability) -> str:
    """Return in full what neither a label nor a description could hold."""
    if capability.shows_descriptions:
        return ""
    lines = []
    for number, option in enumerate(field.options, start=1):
        about = display(option.description.strip())
        whole = f"{number}. {_option_words(option)}{_suffix(option)}"
        is_cut = capability.label_max is not None and len(whole) > capability.label_max
        if is_cut or (about and not _fits_beside(whole, about, capability)):
            lines.append(_join(whole, about, between=" - "))
    return "\n".join(lines)


def _lead(prompt: Prompt, group: _Group) -> str:
    title = _title(prompt)
    return f"{title}: {display(group.head, lines=False)}" if group.head else title


def _list(rows: tuple[Row, ...]) -> str:
    lines = [_join(row.label, row.description.partition("\n")[0], between=" - ") for row in rows]
    return "\n".join([_LISTED, *lines])


def _tail(prompt: Prompt, field: Field, capability: Capability, group: _Group, layout: _Layout) -> str:
    """Return how to reply; it is never cut."""
    parts = [_list(layout.listed)] if layout.listed else []
    if not capability.allows_text:
        beyond = [spec for spec in prompt.commands if parse_command(spec).has_colon]
        if beyond:
            named = display(", ".join(f"`{spec}`" for spec in beyond), lines=False)
            parts.append(clip(f"Nothing can be typed here, so not from here: {named}.", _BEYOND_MAX))
        parts += [_OWN_BEYOND] if field.free else []
        return _join(*parts)
    if prompt.commands:
        line = display(_split_commands(prompt.body)[1])
        parts.append(clip(line, capability.text_max and capability.text_max // _SHARE))
    if field.options and prompt.commands:
        parts.append(_GATE_HELP)
    if group.is_plural and (layout.listed or not capability.allows_multiple):
        parts.append(_SEVERAL_HELP)
    if field.free and field.options:
        parts.append(_own_help(field, capability))
    return _join(*parts)


def _own_help(field: Field, capability: Capability) -> str:
    # C14: a tool that adds a row for own words has its own label for it, and a second one would be a second row.
    label = other_label(field)
    if label == OTHER or capability.free_text is FreeText.ALWAYS:
        return _OWN_HELP
    return f"{_OWN_HELP.removesuffix('.')}: {display(label, lines=False)}"


def _room(capability: Capability, layout: _Layout) -> int | None:
    if capability.text_max is None:
        return None
    return capability.text_max - (NOTE_ROOM if layout.gathers else 0)


def _fit(context: str, tail: str, limit: int | None) -> str:
    """Return both; where they do not fit, the context ends with how many lines of it are missing."""
    text = _join(context, tail)
    if limit is None or len(text) <= limit:
        return text
    lines = context.split("\n")
    room = limit - len(tail) - len("\n\n") - len(f"\n… {len(lines)} more lines")
    kept, used = 0, -1
    while kept < len(lines) and used + 1 + len(lines[kept]) <= room:
        used += 1 + len(lines[kept])
        kept += 1
    head = "\n".join(lines[:kept]) if kept else clip(lines[0], room)
    missing = len(lines) - max(kept, 1)
    note = f"… {missing} more line{'s' * (missing != 1)}" if missing else ""
    return _join(_join(head, note, between="\n"), tail)


def _join(*parts: str, between: str = "\n\n") -> str:
    return between.join(filter(None, parts))
