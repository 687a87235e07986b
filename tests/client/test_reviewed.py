"""A durable review as people see it who look: what its journal and its asks come to, at every moment."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from assent.client import reviewed as module
from assent.client.client import Client
from assent.client.journal import Settled, end_of, make_step, render_opened
from assent.client.reviewed import review_keys, view_review
from assent.flows.question import QUESTION_ROUND, Questions
from assent.flows.step import Answered, Ended, step_digest
from assent.flows.step import Ask as AskStep
from assent.hub.record import Step
from assent.protocol.ask import Ask, State
from assent.protocol.decision import NextStep, Verb
from assent.protocol.error import NoAnswer, NotFoundError, StillOpen
from assent.protocol.finding import Action
from assent.protocol.wire_review import ReviewReply, ReviewState
from assent.testing import ThrowawayStore, throwaway
from tests.cli.reviews import DOCUMENT, ROUND_OF_FIVE
from tests.client.reviewing import reply_to, write_document
from tests.client.talk import void

__all__: list[str] = []


class Watched:
    """A review that is gone on with one answer at a time, and looked at in between."""

    def __init__(self, store: ThrowawayStore, folder: Path) -> None:
        self.agent: Client = store.agent()
        self.ana: Client = store.person()
        self._plan = write_document(folder, DOCUMENT)
        self._hub = self.ana.hub

    def go_on(self) -> None:
        """Drive it as far as it goes without an answer."""
        with suppress(StillOpen):
            self.agent.review(ROUND_OF_FIVE, document=self._plan, durable=True, wait=0)

    def finish(self, meet: Callable[[Ask], None]) -> None:
        """Drive it to its end, and to the question behind it; `meet` is there for each ask."""
        self.agent.review(
            ROUND_OF_FIVE, document=self._plan, durable=True, document_type="plan", present=meet
        )

    @property
    def flow_id(self) -> str:
        """What it goes by."""
        keys = {str(ask.key) for ask in self.agent.inbox(all_states=True)}
        return next(key for key in keys if ":next:" not in key).rpartition(":")[0]

    def steps(self) -> list[Step]:
        """Return its journal."""
        with self._hub.reading() as reader:
            return reader.steps(self.agent.project, self.flow_id)

    def look(self) -> ReviewReply:
        """Return how it is shown."""
        steps = self.steps()
        with self._hub.reading() as reader:
            asks = reader.asks_by_key(self.agent.project, review_keys(self.flow_id, len(steps) + 1))
        return view_review(self.flow_id, steps, {ask.key: ask for ask in asks})

    def answer(self, reply: str = "") -> None:
        """Answer what is open, and go on."""
        [ask] = self.agent.inbox()
        self.ana.answer(ask.ask_id, reply or reply_to(ask.prompt.title))
        self.go_on()


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store on a file: who looks does so where the server does."""
    with throwaway() as made:
        yield made


@pytest.fixture
def review(store: ThrowawayStore, tmp_path: Path) -> Watched:
    """Give a review that waits for its first answer."""
    found = Watched(store, tmp_path)
    found.go_on()
    return found


def verbs(view: ReviewReply) -> list[Verb | None]:
    """Return what became of each finding."""
    return [finding.verb for finding in view.findings]


def test_review_is_shown_as_it_goes_on(review: Watched) -> None:
    """Each answer moves one finding, a cascade takes its dependents along, and each has the name of who decided it."""
    first = review.look()
    assert (first.state, first.document, first.round) == (ReviewState.WAITING, "plan.md", 1)
    assert first.question is not None
    assert first.question.about == "routing"
    assert verbs(first) == [None] * 5
    review.answer()
    second = review.look()
    assert second.question is not None
    assert (second.question.about, second.question.number) == ("finding", 1)
    assert second.question.ask_id == review.agent.inbox()[0].ask_id
    review.answer("B")
    third = review.look()
    assert third.question is not None
    assert (third.question.about, third.question.number) == ("cascade", 1)
    assert verbs(third)[0] is Verb.DEFERRED
    assert third.findings[0].append_location
    dependents = [finding.number for finding in third.findings if finding.depends_on == 1]
    assert dependents
    review.answer("A")
    fourth = review.look()
    cascaded = [finding for finding in fourth.findings if finding.number in dependents]
    assert {finding.verb for finding in cascaded} == {Verb.DEFERRED}
    assert all(finding.note.startswith("cascaded from ") for finding in cascaded)
    assert {(finding.by, finding.at is not None) for finding in (fourth.findings[0], *cascaded)} == {
        (str(review.ana.principal), True)
    }


def test_preview_says_what_would_happen_to_each_finding(review: Watched) -> None:
    """All as recommended, or all deferred, as it was asked for; afterwards nothing is planned any more."""
    review.answer("B")
    asked = review.look()
    assert asked.question is not None
    assert asked.question.about == "preview"
    assert [finding.planned for finding in asked.findings] == [each.recommended for each in asked.findings]
    review.answer("Cancel")
    assert {finding.planned for finding in review.look().findings} == {None}
    review.answer("C")
    assert {finding.planned for finding in review.look().findings} == {Action.DEFER}


def test_finished_review_has_its_report_and_what_comes_next(review: Watched) -> None:
    """The report as it is printed; then the question behind it, and what was chosen."""
    seen: dict[str, ReviewReply] = {}

    def meet(ask: Ask) -> None:
        seen[ask.prompt.title] = review.look()
        review.ana.answer(ask.ask_id, reply_to(ask.prompt.title))

    review.finish(meet)
    asked = seen["What should the agent do next?"]
    assert asked.question is not None
    assert asked.question.about == "next"
    view = review.look()
    assert view.state is ReviewState.FINISHED
    assert view.report is not None
    assert view.report["verdict"] == "Not ready"
    assert "primer" not in view.report
    assert None not in verbs(view)
    assert (view.question, view.next_step) == (None, NextStep.STOP)


def test_review_that_was_declined_is_shown_as_left(review: Watched) -> None:
    """Nothing was applied, and how it ended is said."""
    review.answer()
    [ask] = review.agent.inbox()
    review.ana.decline(ask.ask_id, "later")
    with pytest.raises(NoAnswer):
        review.go_on()
    view = review.look()
    assert (view.state, view.ended) == (ReviewState.LEFT, State.DECLINED)


def test_answer_that_nobody_gave_is_not_shown_as_one(review: Watched) -> None:
    """An agent may write a journal; the ask has the last word."""
    steps, flow_id = review.steps(), review.flow_id
    number = int(str(review.agent.inbox()[0].key).rpartition(":")[2])
    [asked] = review.agent.inbox()
    forged = make_step(
        flow_id,
        number,
        Settled(Answered({"decision": ("LFG",)}, "B", "human:ana")),
        step_digest(AskStep(asked.prompt, asked.kind)),
    )
    view = view_review(flow_id, [*steps, forged], {asked.key: asked})
    assert view.state is ReviewState.UNCLEAR
    assert "an answer that nobody gave" in view.problem
    assert verbs(view) == [None] * 5


def test_end_that_nobody_answered_for_is_not_shown_as_one(review: Watched) -> None:
    """Neither a report behind an open question, nor a no that no person said."""
    steps, flow_id = review.steps(), review.flow_id
    [asked] = review.agent.inbox()
    number = int(str(asked.key).rpartition(":")[2])
    review.finish(lambda ask: void(review.ana.answer(ask.ask_id, reply_to(ask.prompt.title))))
    end = end_of(review.steps())
    assert end is not None
    declined = Settled(Ended(State.DECLINED, "no", "human:ana"))
    forged = make_step(flow_id, number, declined, step_digest(AskStep(asked.prompt, asked.kind)))
    reported = make_step(flow_id, number + 1, end)
    for journal in ([*steps, forged], [*steps, forged, reported], [*steps, reported]):
        view = view_review(flow_id, journal, {asked.key: asked})
        assert (view.state, view.report, view.ended) == (ReviewState.UNCLEAR, None, "")
        assert view.problem
        assert verbs(view) == [None] * 5


def test_journal_that_cannot_be_followed_is_said_to_be_so(review: Watched) -> None:
    """Rather than guessed at."""
    review.answer()
    steps = [msgspec.structs.replace(step, digest="0" * 64) if step.step else step for step in review.steps()]
    view = view_review(review.flow_id, steps, {})
    assert (view.state, view.findings) == (ReviewState.UNCLEAR, ())
    assert "wants something else" in view.problem


def test_journal_of_another_flow_is_no_review() -> None:
    """Foreign and missing look alike."""
    step = make_step("f", 0, render_opened(QUESTION_ROUND, Questions(())))
    with pytest.raises(NotFoundError):
        view_review("f", [step], {})


def test_review_that_takes_too_long_to_follow_is_shown_as_far_as_there_is_time(
    review: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under way it is said to be so; when it is over, its report says what became of each finding."""
    monkeypatch.setattr(module, "REVIEW_SECONDS", -1.0)
    review.answer()
    cut = review.look()
    assert (cut.state, cut.findings) == (ReviewState.UNCLEAR, ())
    assert cut.problem.startswith("It is so long")
    assert cut.question is not None
    assert cut.question.ask_id == review.agent.inbox()[0].ask_id
    review.finish(lambda ask: void(review.ana.answer(ask.ask_id, reply_to(ask.prompt.title))))
    view = review.look()
    assert (view.state, view.problem) == (ReviewState.FINISHED, "")
    assert view.report is not None
    monkeypatch.setattr(module, "REVIEW_SECONDS", 60.0)
    assert view.report == review.look().report
