"""The gate: present, stop, read, go on. How it is shown, and what was typed before it was understood, is not its matter.

Rule 1: after an ask the flow is not running: nothing can be said or done before a person has answered (G11-G15).
Rule 2: a command that destroys something is confirmed first. Only a yes confirms; after anything else the gate
        is shown again, and what was neither yes nor no is echoed above it (G22-G27, G-X4).
Rule 3: a task for later is kept, and the gate is shown again (G38).
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.flows.step import Effect, Ended, Failed, Flow, ask, do, say
from assent.protocol.ask import Kind
from assent.protocol.command import render_command
from assent.protocol.display import quote
from assent.protocol.gate import TODO, Choice, Gate, check_question, follow_up, is_no, is_yes, read_choice

__all__ = ["AddTodo", "ask_for", "check", "pass_gate"]

_BACK = "back"


class AddTodo(Effect, frozen=True, tag="add_todo"):
    """Put a task on the project's list."""

    text: str


def pass_gate(gate: Gate, about: str = "", *, is_aside: bool = False) -> Flow[Choice | Ended]:
    """Stop at a gate until a person chose, and confirmed where that is needed; return what they chose.

    `about` is a digest of what the choice would set going, where the gate does not show all of it; `is_aside` as in
    `step.Ask`.
    """
    prompt = gate.prompt
    turn = 0
    while True:
        turn += 1
        # What has no number would be found again by the next turn, too.
        it = f"{about}:{turn}" if is_aside else about
        came = yield from ask(prompt, Kind.GATE, it, is_aside=is_aside)
        if isinstance(came, Ended):
            return came
        choice = read_choice(prompt, came.values)
        if choice.label == TODO and choice.arguments:
            yield from _keep(choice.arguments[0])
            continue
        question = gate.check(choice)
        if question is None or (yield from check(question, about)):
            return choice


def check(question: str, about: str = "") -> Flow[bool]:
    """Ask whether to go on; return whether a person said yes. `about` as in `pass_gate`."""
    came = yield from ask(check_question(question), Kind.GATE, about)
    if isinstance(came, Ended):
        return False
    (reply,) = next(iter(came.values.values()))
    if not is_yes(reply) and not is_no(reply):
        yield from say(f'I didn\'t recognize "{quote(reply)}".')
    return is_yes(reply)


def ask_for(title: str, name: str, values: Sequence[str], body: str = "") -> Flow[tuple[str, ...]]:
    """Ask for what an option needs (G-X6); return what was named, nothing when they went back."""
    commands = (render_command("", name, values), _BACK)
    listed = "" if body else f" ({', '.join(values)})"
    prompt = follow_up(f"{title}{listed} Or {_BACK}.", commands, body)
    came = yield from ask(prompt, Kind.GATE)
    return () if isinstance(came, Ended) else read_choice(prompt, came.values).arguments


def _keep(text: str) -> Flow[None]:
    kept = yield from do(AddTodo(text))
    if isinstance(kept, Failed):
        yield from say(f"The task was not kept: {kept.message}")
    else:
        yield from say(f'Kept for later: "{quote(text)}".')
