"""What a session holds: findings with their ids and marks, chunks with their status. Values; every change is a new one.

Rule 1: an id is the prefix of the severity and a number that runs on over the whole review, and is never used again,
        also after its finding was discarded (G-U1).
Rule 2: a finding is marked for posting when it is added (G-U2).
Rule 3: at most one chunk is in progress. A move that the table does not have is made, and told (G-U6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec.structs import replace

from assent.protocol.review import (
    PREFIXES,
    SHOWN_FROM,
    Chunk,
    Comment,
    Finding,
    PullRequest,
    Review,
    Severity,
    confidence_with,
)

__all__ = [
    "MOVES",
    "ChunkStatus",
    "Held",
    "Mode",
    "Part",
    "Phase",
    "Session",
    "begin",
    "discard",
    "enter",
    "in_order",
    "mark",
    "merge",
    "move",
    "next_chunk",
    "toggle",
]


class ChunkStatus(StrEnum):
    """Where a chunk stands."""

    PENDING = "pending"
    IN_PROGRESS = "in-progress"
    REVIEWED = "reviewed"
    SKIPPED = "skipped"


MOVES: dict[ChunkStatus, frozenset[ChunkStatus]] = {
    ChunkStatus.PENDING: frozenset({ChunkStatus.IN_PROGRESS, ChunkStatus.SKIPPED}),
    ChunkStatus.IN_PROGRESS: frozenset({ChunkStatus.REVIEWED, ChunkStatus.SKIPPED}),
    ChunkStatus.REVIEWED: frozenset(),
    ChunkStatus.SKIPPED: frozenset(),
}

Mode = Literal["full", "quick"]


class Phase(StrEnum):
    """How far a session has come: the gate that it stands at."""

    OVERVIEW = "overview"
    VISUAL = "visual"
    PLAN = "plan"
    REVIEW = "review"
    """The chunks, and then the synthesis."""


_ORDER = tuple(Severity)


class Held(msgspec.Struct, frozen=True):
    """A finding that was shown."""

    finding_id: str
    chunk: int
    """The number of its chunk."""
    finding: Finding
    is_marked: bool = True
    """It will be posted."""


class Part(msgspec.Struct, frozen=True):
    """A chunk of the plan."""

    number: int
    chunk: Chunk
    status: ChunkStatus = ChunkStatus.PENDING


class Session(msgspec.Struct, frozen=True):
    """A review in progress."""

    pull_request: PullRequest
    started: str
    """When it began, as ISO 8601; also its name."""
    parts: tuple[Part, ...]
    phase: Phase = Phase.OVERVIEW
    mode: Mode = "full"
    focus: str = ""
    self_review: bool = False
    is_visual: bool = False
    """Visual review is enabled."""
    held: tuple[Held, ...] = ()
    counters: dict[str, int] = {}
    """Per prefix, the last number that was given."""
    comments: tuple[Comment, ...] = ()
    commits: int = 0
    visual: str = ""
    """What there is to see of the change; empty: nothing."""
    asked: int = 0
    """How many asks have been settled; the next one goes by the next number."""
    compared: int = 0
    """How often a person settled that it is the session to go on with. Each such answer is used once (G35)."""
    moved_to: str = ""
    """The head of the pull request, where that is known to be another commit than the one that was looked at."""

    def of_chunk(self, number: int) -> tuple[Held, ...]:
        """Return the findings of one chunk."""
        return tuple(held for held in self.held if held.chunk == number)

    @property
    def marked(self) -> tuple[Held, ...]:
        """The findings that will be posted."""
        return tuple(held for held in self.held if held.is_marked)


def begin(review: Review, started: str) -> Session:
    """Return the session that a review starts with: every chunk waits."""
    return Session(
        review.pull_request,
        started,
        tuple(Part(number, chunk) for number, chunk in enumerate(review.chunks, start=1)),
        self_review=review.self_review,
        comments=review.comments,
        commits=review.commits,
        visual=review.visual.summary if review.visual else "",
    )


def in_order(held: Iterable[Held]) -> tuple[Held, ...]:
    """Return findings as they are listed: by severity, then the surest first."""
    return tuple(sorted(held, key=lambda each: _rank(each.finding, each.finding.confidence)))


def _rank(finding: Finding, confidence: int) -> tuple[int, int]:
    return _ORDER.index(finding.severity), -confidence


def next_chunk(session: Session) -> Part | None:
    """Return the first chunk that was not looked at; one in progress counts as such (G-U13)."""
    waiting = (ChunkStatus.PENDING, ChunkStatus.IN_PROGRESS)
    return next((part for part in session.parts if part.status in waiting), None)


def move(session: Session, number: int, status: ChunkStatus) -> tuple[Session, str]:
    """Return the session with a chunk in another status, and a warning where the table does not have that move."""
    part = session.parts[number - 1]
    warning = ""
    if status is not part.status and status not in MOVES[part.status]:
        warning = f"Chunk {number} went from {part.status} to {status}, which is not usual."
    moved = tuple(replace(each, status=status) if each.number == number else each for each in session.parts)
    return replace(session, parts=moved), warning


def enter(session: Session, number: int) -> Session:
    """Return the session with the findings of a chunk added: those that are sure enough, each with its id.

    The chunk gives them up, so a chunk that is entered again has nothing to add.
    """
    part = session.parts[number - 1]
    sure = []
    for finding in part.chunk.findings:
        confidence = confidence_with(finding, session.focus)
        is_hidden = session.self_review and finding.severity is Severity.INFO
        if confidence >= SHOWN_FROM and not is_hidden:
            sure.append(replace(finding, confidence=confidence))
    counters = dict(session.counters)
    added = []
    for finding in sorted(sure, key=lambda each: _rank(each, each.confidence)):
        prefix = PREFIXES[finding.severity]
        counters[prefix] = counters.get(prefix, 0) + 1
        added.append(Held(f"{prefix}{counters[prefix]}", number, finding))
    return replace(_empty(session, part), held=(*session.held, *added), counters=counters)


def _empty(session: Session, part: Part) -> Session:
    emptied = replace(part, chunk=replace(part.chunk, findings=()))
    return replace(
        session, parts=tuple(emptied if each.number == part.number else each for each in session.parts)
    )


def discard(session: Session, number: int) -> Session:
    """Return the session without the findings of a chunk. Their numbers are not used again."""
    return replace(session, held=tuple(held for held in session.held if held.chunk != number))


def mark(session: Session, ids: Collection[str], is_marked: bool) -> Session:
    """Return the session with the named findings marked, or not marked."""
    return _change(session, {held.finding_id: is_marked for held in session.held if held.finding_id in ids})


def toggle(session: Session, ids: Collection[str]) -> Session:
    """Return the session with the marks of the named findings turned round."""
    changed = {held.finding_id: not held.is_marked for held in session.held if held.finding_id in ids}
    return _change(session, changed)


def _change(session: Session, marks: dict[str, bool]) -> Session:
    held = tuple(replace(each, is_marked=marks.get(each.finding_id, each.is_marked)) for each in session.held)
    return replace(session, held=held)


def merge(session: Session) -> Session:
    """Return the session with all of its chunks as one."""
    chunks = [part.chunk for part in session.parts]
    whole = Chunk(
        "everything at once" if len(chunks) > 1 else chunks[0].label,
        tuple(dict.fromkeys(file for chunk in chunks for file in chunk.files)),
        sum(chunk.lines for chunk in chunks),
        tuple(finding for chunk in chunks for finding in chunk.findings),
    )
    return replace(session, parts=(Part(1, whole),))
