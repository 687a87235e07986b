"""One gate by itself: a person stays at it until they choose something that leads away from it.

Rule 1: what only changes marks (`deselect`, `toggle`, `all`, `none`, `Select specific`) is done here; what remains marked
        is told, and the gate is shown again (G40, G43, G-U7 to G-U9).
Rule 2: an option that needs to know more asks one question, and `back` leads from there to the gate (G-X6). Where
        there is nothing to name, the option stands for itself.
Rule 3: everything else is the result, and whoever asked carries it out.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from assent.flows.gate import ask_for, pass_gate
from assent.flows.session.finding import Session, mark, toggle
from assent.flows.session.table import render_findings, render_marks
from assent.flows.step import Ended, Flow, say
from assent.protocol.command import Command, parse_command
from assent.protocol.display import fold
from assent.protocol.gate import Choice, Gate
from assent.protocol.prompt import Prompt

__all__ = ["Chosen", "choose", "render_choice"]

_QUESTIONS = {
    "ID": "Which finding?",
    "IDs": "Which findings? Give their ids, with commas between them.",
    "N": "Which chunk?",
    "area": "Which area?",
}


class Chosen(msgspec.Struct, frozen=True):
    """What came of a gate."""

    choice: Choice
    marked: tuple[str, ...] | None = None
    """The findings that are marked for posting now, where there was anything to mark."""


def choose(gate: Gate, session: Session | None = None) -> Flow[Chosen | Ended]:
    """Stay at a gate until a choice leads away; `session` holds the findings that its commands may name."""
    while True:
        choice = yield from pass_gate(_with_findings(gate, session))
        if isinstance(choice, Ended):
            return choice
        needed = None if choice.arguments else _needed(gate.prompt, choice.label)
        if needed is not None:
            choice = Choice(choice.label, (yield from _ask_for(needed, session)))
            if not choice.arguments:
                continue
        changed = None if session is None else _change(gate.prompt, session, choice)
        if changed is None:
            marked = None if session is None else tuple(held.finding_id for held in session.marked)
            return Chosen(choice, marked)
        session = changed
        yield from say(render_marks(session.held))


def _with_findings(gate: Gate, session: Session | None) -> Gate:
    """Return the gate with what can be named in its summary: whoever answers from elsewhere sees it, too."""
    if session is None or not session.held:
        return gate
    return replace(gate, summary=f"{gate.summary.strip()}\n{render_findings(session.held)}")


def _needed(prompt: Prompt, label: str) -> Command | None:
    """Return the command that is an option with what it needs: `skip to chunk 3` for `Skip to chunk N`."""
    for command in map(parse_command, prompt.commands):
        if command.values and fold(label) in (command.head, f"{command.head} n"):
            return command
    return None


def _ask_for(needed: Command, session: Session | None) -> Flow[tuple[str, ...]]:
    listed = [held for held in session.held if held.finding_id in needed.values] if session else []
    return (yield from ask_for(_QUESTIONS[needed.name], needed.name, needed.values, render_findings(listed)))


def _change(prompt: Prompt, session: Session, choice: Choice) -> Session | None:
    """Return the session with its marks changed; nothing where the choice is about something else."""
    every = [held.finding_id for held in session.held]
    match choice.label:
        case "deselect":
            return mark(session, choice.arguments, False)
        case "toggle":
            return toggle(session, choice.arguments)
        case "all" | "none":
            return mark(session, every, choice.label == "all")
        case "Select specific" if choice.arguments:
            is_toggling = any(parse_command(spec).head == "toggle" for spec in prompt.commands)
            if is_toggling:
                return toggle(session, choice.arguments)
            return mark(mark(session, every, False), choice.arguments, True)
        case _:
            return None


def render_choice(prompt: Prompt, choice: Choice) -> str:
    """Return a choice as it would be typed: `Continue`, `Skip to chunk 3`, `Deep-dive H1`, `note: text`."""
    if not choice.arguments:
        return choice.label
    named = ", ".join(choice.arguments)
    if any(spec.has_colon and spec.head == choice.label for spec in map(parse_command, prompt.commands)):
        return f"{choice.label}: {named}"
    is_option = any(option.label == choice.label for option in prompt.fields[0].options)
    label = choice.label.removesuffix(" N") if is_option else choice.label
    return f"{label} {named}"
