"""What became of an ask that has ended, as lines: who was first, with what, when; and what is kept of one's own. Pure."""

from __future__ import annotations

from assent.protocol.answer import labels
from assent.protocol.approval import is_approved
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.ending import render_ending, render_instant, render_login, render_name
from assent.protocol.prompt import Field
from assent.protocol.terms import Terms
from assent.surfaces.tui.choice_card import option_lines
from assent.surfaces.tui.line import ACCENT, FAINT, STRONG, Line, join, line, mark
from assent.surfaces.tui.reply import FieldReply, Reply, is_free_only, is_yes_no, summary
from assent.surfaces.tui.stakes import clock_of, local
from assent.surfaces.tui.view import Fate, View
from assent.surfaces.width import wrap

__all__ = ["fate_lines"]


def fate_lines(view: View, ask: Ask, width: int) -> list[Line]:
    """Return how an ask ended, seen from here."""
    fate = view.fates.get(ask.ask_id)
    sign = "<>" if fate is Fate.LOST else "--"
    first, *more = wrap(_headline(ask, fate), width - 3)
    lines = [join(line(f"{sign} ", ACCENT), line(first, STRONG))]
    lines += [line(f"   {part}", STRONG) for part in more]
    lines += _ending(view, ask, width)
    if isinstance(ask.terms, Terms) and is_approved(ask):
        made = f"It made the receipt {ask.terms.receipt_id}; assent show {ask.ask_id} says what became of it."
        lines += [line(f"   {part}", FAINT) for part in wrap(made, width - 3)]
    if fate is Fate.LOST and ask.answer is not None:
        said = f"The agent was told {render_name(ask.answer.by)}'s answer only."
        lines += [line(f"   {part}", FAINT) for part in wrap(said, width - 3)]
    if fate is not Fate.MINE and not view.reply.is_blank:
        kept = display(f"kept here: {summary(ask, view.reply)}", lines=False)
        lines += [Line(), *(line(f"   {part}") for part in wrap(kept, width - 3))]
    return [*lines, Line(), *option_lines(ask, _given(ask), width, -1, -1)[0]]


def _given(ask: Ask) -> Reply:
    """Return what was answered as a reply, so that the questions stand there with it; what a confirm's was is told above."""
    if is_yes_no(ask):
        return Reply()
    parts = {field.name: _given_of(ask, field) for field in ask.prompt.fields}
    own = "".join(part.text for part in parts.values()) if ask.prompt.commands else ""
    return Reply({} if own else parts, own)


def _given_of(ask: Ask, field: Field) -> FieldReply:
    values = ask.answer.values.get(field.name, ()) if ask.answer else ()
    known = {option.key for option in field.options}
    own = "\n".join(value for value in values if value not in known)
    text = own or "-" * (is_free_only(field) and not ask.prompt.commands)
    return FieldReply(tuple(value for value in values if value in known), text, bool(own))


def _headline(ask: Ask, fate: Fate | None) -> str:
    if fate is Fate.MINE:
        return "Accepted, yours was the one." if ask.answer else "Done, yours was the one."
    if fate is Fate.LOST:
        ended = ask.answer or ask.outcome
        who = "Somebody else" if ended is None else render_name(ended.by)
        return f"{who} was first, your answer was not used."
    return "It has ended."


def _told(view: View, ask: Ask) -> str:
    """Return how an ask ended without an answer, with the reader's own time in place of the long one."""
    told = display(render_ending(ask), lines=False)
    if ask.outcome is not None and ask.outcome.is_unattended:
        told = f"{told} Unattended."
    at = None if ask.outcome is None else ask.outcome.at
    return told if at is None else told.replace(render_instant(at), clock_of(at, view.now), 1)


def _ending(view: View, ask: Ask, width: int) -> list[Line]:
    answer = ask.answer
    if answer is None:
        return [line(f"   {part}") for part in wrap(_told(view, ask), width - 3)]
    said = ", ".join(labels(ask.prompt, answer.values)) + (f": {answer.reason}" if answer.reason else "")
    first, *more = wrap(display(f"{render_name(answer.by)}: {said}", lines=False), width - 5)
    day = clock_of(answer.at, view.now)[:-5]
    marks = [render_login(answer.by, answer.assurance), "unattended" * answer.is_unattended]
    how = ", ".join([answer.via or "an unnamed surface", answer.assurance, *filter(None, marks)])
    when = f"{day}{local(answer.at):%H:%M:%S}, {how}"
    facts = wrap(display(when, lines=False), width - 3)
    return [line(f"   {first}"), *mark(more, margin="   "), *(line(f"   {part}", FAINT) for part in facts)]
