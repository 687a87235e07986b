"""A review, somebody who replies from a list, and a world that remembers: what the tests of a session share."""

from typing import Any

import msgspec
from msgspec.structs import replace

from assent.client.drive import drive
from assent.effects.direct import Direct
from assent.effects.performer import Performers
from assent.flows.gate import AddTodo
from assent.flows.session.effect import (
    ClearSession,
    CountTodos,
    DeepDive,
    Discover,
    InitTodo,
    SaveFindings,
    SaveSession,
    TickTodo,
)
from assent.flows.session.finding import Session
from assent.flows.session.posting import Posted, PostReview
from assent.flows.session.session import review_session
from assent.flows.session.state import parse_state, render_state
from assent.flows.session.talk import Closing, Opening
from assent.flows.session.todo import add_task, begin_list, count_open, tick
from assent.flows.step import Ask, Effect, Ended
from assent.protocol.canonical import Json
from assent.protocol.error import AssentError, EffectError
from assent.protocol.review import Category, Chunk, Comment, Finding, PullRequest, Review, Severity, Visual

__all__ = [
    "PULL",
    "REVIEW",
    "STARTED",
    "TO_LOOP",
    "TO_SYNTHESIS",
    "VISUAL",
    "Seat",
    "new_finding",
    "opening",
    "resume",
]

STARTED = "2030-01-01T12:00:00+00:00"
PULL = PullRequest("acme", "shop", 7, "a" * 40, "Retry payments")


def new_finding(severity: Severity = Severity.WARNING, confidence: int = 90, **changes: Any) -> Finding:
    """Return a finding; `changes` are fields of it."""
    finding = Finding(
        severity,
        f"{severity} at {confidence}",
        "src/retry.py",
        88,
        Category.BUG,
        confidence,
        "It never ends.",
    )
    return replace(finding, **changes)


REVIEW = Review(
    PULL,
    (
        Chunk(
            "payment retries",
            ("src/retry.py", "src/charge.py"),
            286,
            (
                new_finding(Severity.INFO, 80, title="Name says seconds"),
                new_finding(Severity.WARNING, 85, title="Timeout swallowed", file="src/charge.py"),
                new_finding(Severity.CRITICAL, 95, title="Retry loop never ends on 429"),
                new_finding(Severity.WARNING, 90, title="Key is built twice", thread_id=5),
                new_finding(Severity.CRITICAL, 75, title="Secret in a log", category=Category.SECURITY),
            ),
        ),
        Chunk(
            "settings",
            ("src/conf.py",),
            40,
            (
                new_finding(Severity.INFO, 99, title="Unused setting", file="src/conf.py"),
                new_finding(Severity.CRITICAL, 90, title="No bound on retries", file="src/conf.py"),
            ),
        ),
        Chunk("documents", ("README.md",), 12),
    ),
    commits=3,
    comments=(Comment(5, "sam", "src/retry.py", 80, "Why twice?", "to-verify"),),
)
"""Chunk 1 has H1, M1, M2, L1, and a finding that only the focus on security brings out; chunk 2 has H2, L2."""
VISUAL = replace(REVIEW, visual=Visual("2 screens changed."))
TO_LOOP = ("Proceed", "Start from chunk 1")
TO_SYNTHESIS = (*TO_LOOP, "Continue", "Continue", "Continue")


class Seat:
    """A surface with its replies, and the world around it.

    What was saved is kept as the file that it would be, and read back at once: a session that cannot be resumed fails
    the test that made it.
    """

    def __init__(self, *replies: str | Ended, fails: tuple[type[Effect], ...] = ()) -> None:
        self.replies = list(replies)
        self.fails = fails
        self.gates: list[str] = []
        self.asks: list[Ask] = []
        self.bodies: list[str] = []
        self.said: list[str] = []
        self.echoed: list[str] = []
        self.done: list[Effect] = []
        self.given: list[str] = []
        self.state: bytes | None = None
        self.findings: bytes | None = None
        self.todo: str | None = None
        self.visual: str | None = "3 screens changed."
        self._is_waiting = False

    # The surface

    def present(self, ask: Ask) -> None:
        assert not self._is_waiting, "a second gate while one is open"
        self._is_waiting = True
        self.asks.append(ask)
        self.gates.append(ask.prompt.title)
        self.bodies.append(ask.prompt.body)

    def read(self) -> str | Ended | None:
        if not self.replies:
            return None
        reply = self.replies.pop(0)
        self._is_waiting = False
        if isinstance(reply, str):
            self.given.append(reply)
        return reply

    def echo(self, ask: Ask, refusal: AssentError) -> None:  # noqa: ARG002 - what was asked is still the last one
        self._is_waiting = True
        self.echoed.append(refusal.message)

    def say(self, markdown: str) -> None:
        assert not self._is_waiting, "something was said while a gate is open"
        self.said.append(markdown)

    # The world

    @property
    def performers(self) -> Performers:
        """Who does what a session wants done, in memory."""
        acts: dict[type[Effect], Any] = {
            SaveSession: self._save,
            SaveFindings: self._export,
            ClearSession: self._clear,
            AddTodo: self._add,
            InitTodo: self._init,
            TickTodo: self._tick,
            CountTodos: lambda _: count_open(self.todo or ""),
            DeepDive: lambda dive: f"{dive.action} on {dive.held.finding_id}",
            Discover: lambda _: self.visual,
            PostReview: self._post,
        }
        return {kind: Direct(kind, self._watch(kind, act)) for kind, act in acts.items()}

    def _watch(self, kind: type[Effect], act: Any) -> Any:
        def watched(effect: Effect) -> Json:
            assert not self._is_waiting, "something was done while a gate is open"
            if kind in self.fails:
                raise EffectError("The disk is full.")
            self.done.append(effect)
            result: Json = act(effect)
            return result

        return watched

    def _save(self, effect: SaveSession) -> None:
        self.state = render_state(effect.session, STARTED, len(self.given)).encode()
        assert parse_state(self.state) == replace(effect.session, asked=len(self.given))

    def _export(self, effect: SaveFindings) -> str:
        self.findings = render_state(effect.session, STARTED, 0).encode()
        return "review-findings.md"

    def _clear(self, effect: ClearSession) -> None:
        self.state = None
        if not effect.keeps_findings:
            self.findings = self.todo = None

    def _add(self, effect: AddTodo) -> None:
        self.todo = add_task(self.todo or "", effect.text, str(len(self.done)))

    def _init(self, effect: InitTodo) -> None:
        self.todo = begin_list(effect.session, self.todo or "")

    def _tick(self, effect: TickTodo) -> None:
        self.todo = tick(self.todo or "", effect.line)

    def _post(self, effect: PostReview) -> Json:
        posted = Posted(len(effect.comments), len(effect.replies), 0, "https://example.org/1", effect.event)
        result: Json = msgspec.to_builtins(posted)
        return result

    # Looking back

    def drive(self, start: Opening) -> Closing:
        """Play a session to its end."""
        return drive(review_session(start), self, self.performers)

    @property
    def session(self) -> Session:
        """The session that was saved last."""
        assert self.state is not None
        return parse_state(self.state)

    @property
    def posted(self) -> list[PostReview]:
        """What was posted."""
        return [effect for effect in self.done if isinstance(effect, PostReview)]

    @property
    def posted_ids(self) -> list[str]:
        """The findings of the one review that was posted."""
        (review,) = self.posted
        comments = [comment.finding_id for comment in review.comments]
        return comments + [reply.finding_id for reply in review.replies]

    @property
    def marks(self) -> dict[str, bool]:
        """The marks of the session that was saved last."""
        return {held.finding_id: held.is_marked for held in self.session.held}

    @property
    def statuses(self) -> list[str]:
        """The statuses of the chunks, as they were saved last."""
        return [part.status.value for part in self.session.parts]


def opening(review: Review = REVIEW, **changes: Any) -> Opening:
    """Return how a session starts."""
    return replace(Opening(STARTED, review), **changes)


def resume(seat: Seat, *replies: str | Ended, review: Review | None = None) -> tuple[Closing | None, Seat]:
    """Go on with what a seat has saved, at another; return how it ended, if it did, and that seat."""
    other = Seat(*replies)
    other.state, other.todo = seat.state, seat.todo
    return other.drive(Opening(STARTED, review, seat.session, is_resuming=True)), other
