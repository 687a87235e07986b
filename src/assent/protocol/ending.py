"""How an ask ended, in one sentence that a person or an agent can act on."""

from __future__ import annotations

from datetime import datetime

from assent.protocol.answer import labels
from assent.protocol.ask import Ask, Consequence, State
from assent.protocol.display import display
from assent.protocol.principal import Assurance

__all__ = [
    "DISMISSED",
    "GITHUB",
    "OURSELVES",
    "render_author",
    "render_ending",
    "render_instant",
    "render_lateness",
    "render_login",
    "render_name",
]

OURSELVES = "operator:assent"
"""Who acts where a timer, or the end of a run, and no person does."""
DISMISSED = "dismissed"
"""The reason of an ask that was ended by dismissing its notification."""
GITHUB = "@github"
"""How the name ends of somebody who answers by a comment."""
_BY_LOGIN = "by a comment, which anybody with that login can write"
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


def render_login(principal: str, assurance: str | None) -> str:
    """Return what a comment's author is worth, where that is who acted; else nothing.

    >>> render_login("human:ana@github", Assurance.COMMENT)
    'by a comment, which anybody with that login can write'
    """
    is_read = assurance == Assurance.DECLARED and principal.endswith(GITHUB)
    return _BY_LOGIN if is_read or assurance == Assurance.COMMENT else ""


def render_author(principal: str, assurance: Assurance | None, *, is_unattended: bool = False) -> str:
    """Return who acted, and in brackets what makes that less than sure: a host's word, a login, or that nobody was there.

    >>> render_author("human:ana", Assurance.HOST), render_author("human:ana", Assurance.TOKEN)
    ("ana (by an agent's host)", 'ana')
    """
    host = "by an agent's host" if assurance is Assurance.HOST else ""
    marks = ", ".join(filter(None, [host, render_login(principal, assurance), "unattended" * is_unattended]))
    return f"{render_name(principal)} ({marks})" if marks else render_name(principal)


def render_ending(ask: Ask) -> str:
    """Return who ended `ask`, when, and how."""
    if ask.answer is not None:
        answer = ask.answer
        who = render_author(answer.by, answer.assurance, is_unattended=answer.is_unattended)
        chosen = ", ".join(labels(ask.prompt, ask.answer.values))
        shown = display(chosen if len(chosen) <= _SHOWN else chosen[:_SHOWN] + "…", lines=False)
        words = f' Reason: "{display(ask.answer.reason, lines=False)}".' if ask.answer.reason else ""
        return f'{who} answered at {render_instant(ask.answer.at)}: "{shown}".{words}'
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
    who = render_author(outcome.by, outcome.assurance, is_unattended=outcome.is_unattended)
    return f"{who} {verb} at {when}.{reason}"


def render_lateness(ask: Ask) -> str:
    """Return what whoever came too late is told: that nothing happened, and who was first."""
    return f"Too late, nothing was changed: {render_ending(ask)}"
