"""An ask as a terminal shows it: who asks, what, what silence means, how it ended.

Rule 1: what the asker wrote stands behind `: `, also where a long line goes on; see `protocol.block` for the rest.
Rule 2: colour is laid over whole lines of ours; it never decides what is shown.
Rule 3: a gate or a menu on the terminal that it was opened on is the protocol's block, line by line and not marked;
        among other asks its text is marked like everything that askers write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from assent.flows.walk_through.prose import guard
from assent.protocol.approval import render_again
from assent.protocol.ask import Ask, Consequence, Kind
from assent.protocol.block import render_field, render_question
from assent.protocol.display import display, first_line
from assent.protocol.ending import render_ending, render_instant, render_name
from assent.protocol.gate import render_gate
from assent.protocol.menu import is_menu, render_explanation, render_menu_options, render_stem
from assent.protocol.prompt import Field, Option, Prompt
from assent.surfaces.grid import lay_out_table
from assent.surfaces.ink import Ink
from assent.surfaces.moment import render_span
from assent.surfaces.width import columns, cut, wrap

__all__ = [
    "SIGNS",
    "lay_out",
    "lay_out_markdown",
    "render_block",
    "render_card",
    "render_check",
    "render_earlier",
    "render_header",
    "render_headline",
    "render_kind",
    "render_notes",
    "render_opening",
    "render_parts",
    "render_question_of",
    "render_silence",
    "render_title",
    "short_id",
]

SIGNS: dict[Kind, str] = {
    Kind.QUESTION: "?",
    Kind.GATE: "#",
    Kind.CONFIRM: "Y",
    Kind.APPROVAL: "!",
    Kind.FINDING: "*",
    Kind.OPEN_QUESTION: "~",
}
_ROUND_SIGN = "="
_SHORT = 6
_ROOM_FOR_ID = 60
_QUESTION = re.compile(r"Q[0-9]+(?: |$)").match
_OPTION = re.compile(r"(?P<mark>(?:[A-Z]|[0-9]+)[).]) ").match
_HEAD = re.compile(r"#{1,6} |\*\*[^*]+\*\*$").match
_FENCE = re.compile(r" {0,3}(```|~~~)").match


def short_id(ask_id: str) -> str:
    """Return the end of an id: enough to tell it from the others that are open."""
    return ask_id[-_SHORT:]


def render_kind(ask: Ask) -> str:
    """Return what sort of ask it is, with its sign."""
    if ask.kind is Kind.QUESTION and len(ask.prompt.fields) > 1:
        return f"{_ROUND_SIGN} {len(ask.prompt.fields)} questions"
    return f"{SIGNS[ask.kind]} {ask.kind.replace('_', ' ')}"


def render_title(ask: Ask) -> str:
    """Return an ask's title on one line; a menu's stem may have several."""
    title = ask.prompt.title.strip()
    return display(" ".join(title.split("\n")) if is_menu(ask.prompt) else title, lines=False)


def render_headline(ask: Ask) -> str:
    """Return an ask in one line of a list: its title; of a gate, also where things stand, of an open question its first."""
    title, body = render_title(ask), ask.prompt.body.strip()
    if ask.kind is Kind.OPEN_QUESTION and ask.prompt.fields[0].text:
        title = f"{title}: {first_line(ask.prompt.fields[0].text)}"
    if ask.prompt.commands and ask.prompt.fields[0].options and body:
        title = f"{title}: {display(body.splitlines()[0], lines=False)}"
    return title


def render_header(ask: Ask, ink: Ink, width: int) -> str:
    """Return the line above an ask: kind, project, asker, id."""
    who = f"{render_kind(ask)}  {display(ask.project, lines=False)} / {render_name(ask.asker)}"
    shown_id = ask.ask_id if width >= _ROOM_FOR_ID else short_id(ask.ask_id)
    left = cut(who, width - len(shown_id) - 2)
    gap = " " * (width - columns(left) - len(shown_id))
    return ink.faint(left + gap + shown_id[:-_SHORT]) + ink.accent(short_id(ask.ask_id))


def lay_out(block: str, ink: Ink, width: int, *, has_title: bool = True) -> list[str]:
    """Return a text block of the protocol in lines that fit; with a title as its first line, or without."""
    title, *rest = block.split("\n") if has_title else ["", *block.split("\n")]
    lines = _go_on(title, ink.strong, ink, width) if has_title else []
    for line in rest:
        lines += _lay_out_line(line, ink, width)
    return lines


def _go_on(line: str, paint: Callable[[str], str], ink: Ink, width: int) -> list[str]:
    """Return a line of the asker's, marked where it goes on."""
    first, *more = wrap(line, width) if columns(line) <= width else wrap(line, width - 2)
    return [paint(first), *(f"{ink.faint(':')} {paint(part)}" for part in more)]


def _lay_out_line(line: str, ink: Ink, width: int) -> list[str]:
    if line.startswith(":"):
        return [f"{ink.faint(':')} {part}" if part else ink.faint(":") for part in wrap(line[2:], width - 2)]
    option = _OPTION(line)
    if option:
        head = f"  {option['mark']} "
        first, *more = wrap(line[option.end() :], width - len(head))
        margin = " " * (len(head) - 2)
        return [ink.accent(head) + first, *(f"{margin}{ink.faint(':')} {part}" for part in more)]
    if _QUESTION(line):
        return _go_on(line, ink.strong, ink, width)
    return [ink.faint(part) if part else "" for part in wrap(line, width)]


def render_block(prompt: Prompt, ink: Ink) -> list[str]:
    """Return the lines of a gate exactly as the protocol has them. Which are ours is told by their place alone."""
    lines = render_gate(prompt).split("\n")
    count = len(prompt.fields[0].options)
    if not count:
        return [*lines[:-1], ink.strong(lines[-1])]
    heading, *summary = lines[: -count - 3]
    options, last = lines[-count - 2 : -2], lines[-1]
    called = lines[-count - 3]
    return [
        ink.strong(heading),
        *summary,
        ink.strong(called),
        *map(ink.accent, options),
        "",
        ink.faint(last),
    ]


def render_parts(prompt: Prompt, ink: Ink, width: int | None) -> list[str]:
    """Return the lines of a menu exactly as the protocol has them: the block, and then the question (W29)."""
    block = render_explanation(prompt)
    return [
        *([*lay_out_markdown(block, width, ink.strong, fits_tables=False), ""] if block else []),
        *map(ink.strong, render_stem(prompt).split("\n")),
        *map(ink.accent, render_menu_options(prompt).split("\n")),
    ]


def lay_out_markdown(
    markdown: str, width: int | None, paint: Callable[[str], str] = str, *, fits_tables: bool = True
) -> list[str]:
    """Return Markdown as lines of plain text; prose that is too long for `width` goes on in the next line.

    Headings and labels are painted. They and code stay in one line each: broken in two they would be something else. A
    table is fitted to the width, but not where somebody decides on what it says: there it stays whole. A part that goes
    on is looked at again: where it begins is up to whoever wrote the words before it.
    """
    lines: list[str] = []
    table: list[str] = []
    closing = ""
    for line in [*display(markdown).split("\n"), None]:
        if table and (line is None or not line.startswith("|")):
            lines += lay_out_table(table, width) if fits_tables and width is not None else table
            table = []
        if line is None:
            break
        fence = _FENCE(line)
        if closing or fence:
            lines.append(line)
            if fence:
                closing = {"": fence[1], fence[1]: ""}.get(closing, closing)
        elif _HEAD(line):
            lines.append(paint(line))
        elif line.startswith("|"):
            table.append(line)
        else:
            first, *more = [line] if width is None else wrap(line, width)
            lines += [first, *map(guard, more)]
    return lines


def render_opening(prompt: Prompt) -> str:
    """Return what stands above the questions of a round; they are asked one by one."""
    block = render_question(prompt)
    # Nothing that the asker wrote begins a line with Q: their lines have a mark, and the title is the first line.
    return block.partition("\n\nQ1")[0] if len(prompt.fields) > 1 else block


def render_question_of(field: Field, number: int, count: int) -> str:
    """Return one question of a round as a text block."""
    first, *more = (display(field.text) or f"Question {number}").split("\n")
    lines = [f"Q{number} of {count}  {first}", *(f": {line}" for line in more)]
    if field.multiple:
        lines.append("(several, separated by commas)")
    return "\n".join([*lines, "", render_field(field)])


_THEN = {
    Consequence.WAIT: "then it is overdue and waits on",
    Consequence.DENY: "then it ends as a no",
    Consequence.END_RUN: "then it ends, and the run with it",
}


def _then(ask: Ask) -> str:
    if ask.consequence is Consequence.ESCALATE:
        return f"then {render_name(ask.escalate_to or '')} is asked, too"
    return _THEN[ask.consequence]


def _asked_now(ask: Ask) -> str:
    return f"; {render_name(ask.escalate_to)} is asked now, too" if ask.escalate_to else ""


def render_silence(ask: Ask, now: datetime) -> str:
    """Return what happens if nobody answers."""
    if ask.deadline is None:
        return "If nobody answers, it waits."
    if ask.is_overdue:
        since = render_span(now - ask.deadline)
        return f"Overdue since {since}{_asked_now(ask)}; it goes on waiting."
    left = render_span(ask.deadline - now)
    return f"{left} left, {_then(ask)} ({render_instant(ask.deadline)})."


def render_notes(ask: Ask, now: datetime) -> list[str]:
    """Return what a list says of an ask beside its title: its time, who is on it, what went wrong."""
    notes = []
    if ask.deadline is not None:
        left = f"{render_span(ask.deadline - now)} left, {_then(ask)}"
        since = f"overdue since {render_span(now - ask.deadline)}{_asked_now(ask)}"
        notes.append(since if ask.is_overdue else left)
    if ask.claim is not None:
        notes.append(f"{render_name(ask.claim.by)} is on it since {render_span(now - ask.claim.at)}")
    if ask.is_undelivered:
        notes.append("could be shown nowhere")
    if ask.is_asker_gone:
        notes.append("its asker is gone: the answer is kept for whoever asks again")
    return notes


def render_earlier(ask: Ask, ink: Ink, width: int) -> list[str]:
    """Return the no that a person said to the same action before, and why it is asked again."""
    no, *asked = render_again(ask).split("\n")
    lines = [ink.caution(part) for part in wrap(no, width)] if no else []
    return lines + [part for line in asked for part in _lay_out_line(line, ink, width)]


def render_check(option: Option) -> str:
    """Return what is asked once more before an option is sent that cannot be undone; only y or yes is a yes."""
    return f'This chooses "{display(option.label, lines=False)}", which cannot be undone. Proceed? [y/n]'


def render_card(ask: Ask, ink: Ink, width: int, now: datetime) -> list[str]:
    """Return all of an ask, for somebody who wants to see it whole."""
    lines = [render_header(ask, ink, width)]
    if ask.is_open:
        paint = ink.faint if ask.deadline is None else ink.caution
        notes = [render_silence(ask, now), *render_notes(ask, now)[ask.deadline is not None :]]
        lines += [paint(part) for note in notes for part in wrap(note, width)]
    lines += render_earlier(ask, ink, width)
    # A question of a gate has its body first, as its title is what the reply answers.
    has_title = not (ask.prompt.commands and ask.prompt.body and not ask.prompt.fields[0].options)
    lines += ["", *lay_out(render_question(ask.prompt), ink, width, has_title=has_title), ""]
    opened = f"Asked {render_instant(ask.opened_at)}, {render_span(now - ask.opened_at)} ago"
    if ask.key is not None:
        opened += f', with the key "{display(ask.key, lines=False)}"'
    if ask.run_id is not None:
        opened += f", by run {display(ask.run_id, lines=False)}"
    lines += [ink.faint(part) for part in wrap(f"{opened}.", width)]
    if ask.is_open:
        return lines
    ending = f"Ended: {ask.state}. {render_ending(ask)}"
    if ask.answer is not None:
        ending += f" Given by {display(ask.answer.via, lines=False) or 'an unnamed surface'}, assurance {ask.answer.assurance}."
    return [*lines, *(ink.good(part) if ask.answer else ink.caution(part) for part in wrap(ending, width))]
