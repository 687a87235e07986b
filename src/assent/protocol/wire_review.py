"""A durable review as a whole, as an HTTP body. See `wire`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from assent.protocol.decision import NextStep, Verb
from assent.protocol.finding import Action, Severity
from assent.protocol.wire import Reply

__all__ = ["ReviewQuestion", "ReviewReply", "ReviewState", "ReviewedFinding"]


class ReviewState(StrEnum):
    """How far a review has come."""

    WAITING = "waiting"
    """For a person."""
    WORKING = "working"
    """Somebody drives it, or has to go on with it: it waits for nobody."""
    FINISHED = "finished"
    LEFT = "left"
    """A question ended without an answer: nothing was applied."""
    UNCLEAR = "unclear"
    """What the journal holds cannot be followed; `problem` says why."""


class ReviewQuestion(Reply, frozen=True):
    """What a person is asked now."""

    about: str
    """`routing`, `finding`, `no_fix`, `cascade`, `failure`, `preview` or `next`; empty where that is not known."""
    key: str
    ask_id: str | None
    """None where it is not open yet."""
    number: int | None = None
    """The finding that it is about."""


class ReviewedFinding(Reply, frozen=True):
    """One finding that a person decides about, and what became of it."""

    number: int
    id: str
    title: str
    severity: Severity
    section: str
    recommended: Action
    reviewers: tuple[str, ...]
    confidence: int
    depends_on: int | None
    """The number of the root that it falls with."""
    planned: Action | None = None
    """Where a preview is the question: what would be done."""
    verb: Verb | None = None
    """None: it is not decided."""
    by: str = ""
    at: datetime | None = None
    note: str = ""
    reason: str = ""
    append_location: str = ""
    recorded_only: bool = False
    failure: str = ""
    """Why what was decided could not be done."""


class ReviewReply(Reply, frozen=True):
    """A review: what it is about, how far it has come, and in the end its report."""

    flow_id: str
    document: str
    date: str
    round: int
    state: ReviewState
    driver: str
    """Who wrote the journal; empty where that is not known."""
    findings: tuple[ReviewedFinding, ...] = ()
    fixes: int = 0
    """How many safe fixes were made before anybody was asked."""
    question: ReviewQuestion | None = None
    began_at: datetime | None = None
    """When the first question was asked."""
    last_at: datetime | None = None
    """When the last one was answered."""
    report: dict[str, Any] | None = None
    """As `assent review --json` prints it, without what only the next round needs."""
    next_step: NextStep | None = None
    """What a person chose after the report."""
    ended: str = ""
    """How it was left: `declined`, `withdrawn`, …"""
    problem: str = ""
