"""What a session wants done to the world, beside asking: files kept, tasks listed, a finding looked into."""

from __future__ import annotations

from assent.flows.session.finding import Held, Session
from assent.flows.step import Effect
from assent.protocol.review import PullRequest

__all__ = [
    "ClearSession",
    "CountTodos",
    "DeepDive",
    "Discover",
    "InitTodo",
    "SaveFindings",
    "SaveSession",
    "TickTodo",
]


class SaveSession(Effect, frozen=True, tag="save_session"):
    """Keep the session, so that it can be resumed."""

    session: Session


class SaveFindings(Effect, frozen=True, tag="save_findings"):
    """Export the session's findings; the result is where they are."""

    session: Session


class ClearSession(Effect, frozen=True, tag="clear_session"):
    """Remove what was kept of a session."""

    keeps_findings: bool = False
    """Only its state goes; exported findings and the list of tasks stay."""
    started: str = ""
    """Only what is of the session that began then: a file of another one stays. Empty: whatever there is."""


class InitTodo(Effect, frozen=True, tag="init_todo"):
    """Begin the list of tasks with the session's phases and chunks; tasks that are there already stay."""

    session: Session


class TickTodo(Effect, frozen=True, tag="tick_todo"):
    """Tick a line of the list."""

    line: str


class CountTodos(Effect, frozen=True, tag="count_todos"):
    """Count the tasks that people added and that are not done; the result is a number."""


class DeepDive(Effect, frozen=True, tag="deep_dive"):
    """Look into a finding; the result is a text."""

    action: str
    """The label of the option that was chosen."""
    held: Held
    session_name: str


class Discover(Effect, frozen=True, tag="discover"):
    """Look again for what there is to see of the change; the result is a summary, or nothing."""

    pull_request: PullRequest
