"""CrewAI's two ways to a person, with a stand-in that hands over what CrewAI does and takes what CrewAI takes."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from assent.hosts.crewai import PersonProvider, UnansweredError
from assent.protocol.error import Declined, StillOpen
from assent.testing import ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []


@dataclass
class Context:
    """As CrewAI's `PendingFeedbackContext`."""

    flow_id: str
    method_output: Any
    flow_class: str = "shop.Report"
    method_name: str = "draft"
    message: str = "Good enough?"
    emit: list[str] | None = None
    default_outcome: str | None = "rejected"
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Flow:
    """As CrewAI's `Flow`, and as strict: an empty reply is its default outcome, None is "nobody there"."""

    flow_id: str
    provider: PersonProvider

    def feedback(self, output: Any, emit: list[str] | None = None) -> str:
        """Do what `@human_feedback` does with its provider."""
        reply = self.provider.request_feedback(Context(self.flow_id, output, emit=emit), self)
        assert isinstance(reply, str)
        assert reply.strip()
        return reply

    def ask(self, message: str) -> str | None:
        """Do what `Flow.ask` does with its provider: whatever fails there is None, and the flow goes on."""
        try:
            return self.provider.request_input(message, self, metadata={"channel": "x"})
        except Exception:  # noqa: BLE001 - as CrewAI does
            return None


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def test_feedback_shows_the_output_and_returns_an_outcome_as_it_is_spelled(store: ThrowawayStore) -> None:
    """A chosen outcome comes back letter for letter."""
    flow = Flow("f1", PersonProvider(store.agent(), wait=PATIENCE))
    with store.scripted_person() as ana:
        ana.will_answer("Good enough?", "2")
        assert flow.feedback({"text": "Draft"}, ["approved", "needs_revision"]) == "needs_revision"
    assert '"text": "Draft"' in ana.seen[0].prompt.body


@pytest.mark.parametrize("emit", [None, ["approved", "rejected"]], ids=["words only", "outcomes"])
def test_feedback_in_words_comes_back_as_typed(store: ThrowawayStore, emit: list[str] | None) -> None:
    """What an outcome makes of them is CrewAI's business."""
    flow = Flow("f1", PersonProvider(store.agent(), wait=PATIENCE))
    with store.scripted_person() as ana:
        ana.will_answer("Good enough?", "shorter, please")
        assert flow.feedback("Draft", emit) == "shorter, please"


def test_question_of_a_flow_is_asked(store: ThrowawayStore) -> None:
    """`self.ask(…)` in a flow."""
    flow = Flow("f1", PersonProvider(store.agent(), wait=PATIENCE))
    with store.scripted_person() as ana:
        ana.will_answer("Which topic?", "bees")
        assert flow.ask("Which topic?") == "bees"


def test_flow_that_was_started_again_finds_its_ask(store: ThrowawayStore) -> None:
    """Under the flow's id, or under a name of one's own where the id is a new one each time."""
    agent = store.agent()
    with pytest.raises(StillOpen):
        Flow("f1", PersonProvider(agent, thread="report", wait=0)).feedback("Draft")
    store.person().answer(agent.inbox()[0].ask_id, "fine")
    assert Flow("f2", PersonProvider(agent, thread="report", wait=0)).feedback("Draft") == "fine"
    assert len(agent.inbox(all_states=True)) == 1


def test_same_output_shown_once_more_is_a_new_ask(store: ThrowawayStore) -> None:
    """A flow that loops without change must not hear its old answer for ever; another flow never does."""
    provider = PersonProvider(store.agent(), wait=PATIENCE)
    with store.scripted_person() as ana:
        for reply in ("again", "fine", "other"):
            ana.will_answer("Good enough?", reply)
        flow = Flow("f1", provider)
        assert [flow.feedback("Draft"), flow.feedback("Draft")] == ["again", "fine"]
        assert Flow("f2", provider).feedback("Draft") == "other"


def test_declined_feedback_is_raised_and_never_the_default(store: ThrowawayStore) -> None:
    """An empty reply would be CrewAI's default outcome, which nobody chose."""
    flow = Flow("f1", PersonProvider(store.agent(), wait=PATIENCE))
    with store.scripted_person() as ana:
        ana.will_decline("Good enough?", "not my desk")
        with pytest.raises(Declined, match="not my desk") as no:
            flow.feedback("Draft", ["approved", "rejected"])
    assert no.value.reason == "not my desk"


def test_declined_question_of_a_flow_stops_it_although_crewai_swallows_failures(
    store: ThrowawayStore,
) -> None:
    """None would be "nobody there", and a flow goes on with that; a person said no."""
    flow = Flow("f1", PersonProvider(store.agent(), wait=PATIENCE))
    with store.scripted_person() as ana:
        ana.will_decline("Which topic?", "not my desk")
        with pytest.raises(UnansweredError, match="not my desk") as stopped:
            flow.ask("Which topic?")
    assert isinstance(stopped.value.__cause__, Declined)


def test_question_of_a_flow_that_nobody_answered_in_time_stops_it(store: ThrowawayStore) -> None:
    """Silence is no None, either; the ask stays open."""
    agent = store.agent()
    with pytest.raises(UnansweredError):
        Flow("f1", PersonProvider(agent, wait=0)).ask("Which topic?")
    assert [ask.is_open for ask in agent.inbox()] == [True]


def test_provider_in_a_flow_s_class_is_one_for_all_of_its_flows(store: ThrowawayStore) -> None:
    """CrewAI makes a deep copy of what stands in the class, and a client cannot be copied."""
    provider = PersonProvider(store.agent(), wait=0)
    assert copy.deepcopy({"input_provider": provider})["input_provider"] is provider
