"""How an ask ended, in one sentence that a person or an agent can act on."""

from __future__ import annotations

from datetime import datetime

from assent.protocol.answer import labels
from assent.protocol.ask import Ask, Consequence, State
from assent.protocol.display import display

__all__ = ["OURSELVES", "render_ending", "render_instant", "render_lateness", "render_name"]

OURSELVES = "operator:assent"
"""Who acts where a timer, or the end of a run, and no person does."""
_SHOWN = 200


def render_instant(at: datetime) -> str:
    """Return `at` as people read it, to the second, in UTC."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def render_name(principal: str) -> str:
    """Return `ana` for `human:ana`; agents and others keep their role."""
    if principal == OURSELVES:
        return "Assent"
    role, _, name = principal.partition(":")
    return display(name if role == "human" else principal, lines=False)


def render_ending(ask: Ask) -> str:
    """Return who ended `ask`, when, and how."""
    if ask.answer is not None:
        chosen = ", ".join(labels(ask.prompt, ask.answer.values))
        shown = display(chosen if len(chosen) <= _SHOWN else chosen[:_SHOWN] + "…", lines=False)
        return f'{render_name(ask.answer.by)} answered at {render_instant(ask.answer.at)}: "{shown}".'
    outcome = ask.outcome
    if outcome is None:
        return "It is still open."
    when = render_instant(outcome.at)
    reason = f' Reason: "{display(outcome.reason, lines=False)}".' if outcome.reason else ""
    if outcome.state is State.EXPIRED:
        meaning = "counts as a no" if outcome.consequence is Consequence.DENY else "ends the run"
        return f"Nobody answered before the deadline; it expired at {when} and {meaning}."
    if outcome.state is State.SUPERSEDED:
        return f"{outcome.successor} took its place at {when}."
    if outcome.state is State.WITHDRAWN and outcome.by == OURSELVES:
        # Nobody took it back: its run is over, and the reason says how.
        return f"{display(outcome.reason, lines=False)} The ask ended with it at {when}."
    verb = "declined" if outcome.state is State.DECLINED else "took it back"
    return f"{render_name(outcome.by)} {verb} at {when}.{reason}"


def render_lateness(ask: Ask) -> str:
    """Return what whoever came too late is told: that nothing happened, and who was first."""
    return f"Too late, nothing was changed: {render_ending(ask)}"
