"""A flow with its journal: what was done is not done again, and what does not fit stops it."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from assent.client.client import Client
from assent.client.door import Call, Wait, run_call
from assent.client.durable import MAX_FLOW_ID, Driver
from assent.client.journal import Settled, make_step, render_opened
from assent.flows.kind import FlowKind
from assent.flows.question import QUESTION_ROUND, Answers, Questions
from assent.flows.step import Answered, Ended, Flow, Result, Said, Step, ask, say, step_digest
from assent.flows.step import Ask as AskStep
from assent.hub.record import Hold
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.error import (
    BadRequestError,
    FlowDivergedError,
    FlowTakenError,
    ForbiddenError,
    StillOpen,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import Field, question
from assent.testing import ThrowawayStore
from tests.client.talk import COLOUR, SIZE, TALK, Crash, chosen, crash, driver, void

__all__: list[str] = []


@pytest.fixture
def agent(store: ThrowawayStore) -> Client:
    """Give the client that drives."""
    return store.agent()


@pytest.fixture
def answer(store: ThrowawayStore) -> Callable[[Ask], None]:
    """Give somebody who takes the second option of everything."""
    ana = store.person()
    return lambda ask: void(ana.answer(ask.ask_id, "2"))


@pytest.fixture
def answer_the_colour(answer: Callable[[Ask], None]) -> Callable[[Ask], None]:
    """Give somebody who has gone home when the size is asked for."""
    return lambda ask: answer(ask) if "colour" in ask.prompt.title else None


# What is kept


def test_flow_is_driven_to_its_end_and_then_only_returns(
    store: ThrowawayStore, agent: Client, answer: Callable[[Ask], None]
) -> None:
    """The second time nothing is presented or said, and another input changes nothing."""
    said: list[str] = []
    assert agent.drive("f", TALK, "Which colour?", say=said.append, present=answer) == ["green", "large"]
    assert agent.drive("f", TALK, "Something else?", say=crash, present=crash) == ["green", "large"]
    assert said == ["Now the size."]
    assert store.person().verify().problems == ()


def test_journal_holds_inputs_results_and_the_end(agent: Client, answer: Callable[[Ask], None]) -> None:
    """Step 0, one entry for each thing that was yielded, and the return value."""
    agent.drive("f", TALK, "Which colour?", present=answer)
    entries = [msgspec.json.decode(step.content) for step in agent.steps("f")]
    assert entries[0] == {"type": "opened", "kind": "talk", "version": 1, "inputs": "Which colour?"}
    assert [entry["type"] for entry in entries] == ["opened", *["settled"] * 3, "returned"]
    assert entries[1]["result"]["values"] == {"q1": ["green"]}
    assert entries[-1]["value"] == ["green", "large"]


def test_asks_of_a_flow_go_by_its_id_and_step(agent: Client, answer: Callable[[Ask], None]) -> None:
    """Step 2 was said and not asked."""
    agent.drive("f", TALK, "Which colour?", present=answer)
    assert sorted(ask.key or "" for ask in agent.inbox(all_states=True)) == ["f:1", "f:3"]


@pytest.mark.parametrize("dies_at", ["first ask", "say", "second ask"])
def test_flow_goes_on_where_its_driver_died(
    store: ThrowawayStore, agent: Client, answer: Callable[[Ask], None], dies_at: str
) -> None:
    """Each question is asked once, whenever that was, and on the inputs that the flow began with."""
    told: list[str] = []

    def present(ask: Ask) -> None:
        told.append(ask.prompt.title)
        if dies_at.startswith("first" if len(told) == 1 else "second"):
            raise Crash
        answer(ask)

    with pytest.raises(Crash):
        agent.drive("f", TALK, "Which colour?", say=crash if dies_at == "say" else void, present=present)
    assert agent.drive("f", TALK, "Which size?", present=answer) == ["green", "large"]
    assert len(agent.inbox(all_states=True)) == 2
    assert store.person().verify().problems == ()


def test_answer_that_came_while_nobody_drove_is_found(store: ThrowawayStore, agent: Client) -> None:
    """The ask waits in the store, not in the driver."""
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", wait=0)
    (waiting,) = agent.inbox()
    store.person().answer(waiting.ask_id, "red")
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", wait=0, present=void)
    assert [ask.prompt.title for ask in agent.inbox()] == ["Which size?"]


@pytest.mark.parametrize("end", ["decline", "withdraw", "answer"])
def test_flow_receives_how_its_ask_ended(store: ThrowawayStore, agent: Client, end: str) -> None:
    """A typed outcome with who and why, from whichever client."""
    ana = store.person()

    def flow(_: None) -> Flow[Answered | Ended]:
        return (yield from ask(COLOUR, Kind.GATE))

    def present(ask: Ask) -> None:
        assert ask.kind is Kind.GATE
        if end == "answer":
            ana.answer(ask.ask_id, " A ")
        else:
            getattr(ana, end)(ask.ask_id, "because")

    kind: FlowKind[None, Any] = FlowKind("one", 1, flow, type(None), Answered | Ended)  # type: ignore[arg-type]
    came = agent.drive("f", kind, None, present=present)
    if end == "answer":
        assert came == Answered({"q1": ("red",)}, " A ", "human:ana")
    else:
        state = State.DECLINED if end == "decline" else State.WITHDRAWN
        assert came == Ended(state, "because", "human:ana")


def test_first_run_gets_what_a_resumed_one_would(agent: Client) -> None:
    """Whole floats, tuples and the order of keys: a flow that looked at them would diverge later."""
    seen: list[object] = []

    def flow(inputs: dict[str, Any]) -> Flow[object]:
        seen.append((list(inputs), type(inputs["b"])))
        yield from say("once")
        return {"z": 1.0, "a": (1, 2)}

    kind: FlowKind[dict[str, Any], Any] = FlowKind("odd", 1, flow, dict, object)
    first = agent.drive("f", kind, {"b": (1.0,), "a": 2.0})
    assert first == agent.drive("f", kind, {}) == {"a": [1, 2], "z": 1}
    assert list(first) == ["a", "z"]
    assert seen == [(["a", "b"], list)]


def test_round_of_questions_is_one_flow_of_two_asks(store: ThrowawayStore, agent: Client) -> None:
    """The real flow, answered from another client."""
    ana = store.person()
    fields = tuple(Field(f"q{number}", "Why?", free=True) for number in range(1, 6))

    def present(ask: Ask) -> None:
        ana.answer(ask.ask_id, {field.name: (f"because {field.name}",) for field in ask.prompt.fields})

    answers = agent.drive("round:1", QUESTION_ROUND, Questions(fields), present=present)
    assert answers == Answers({field.name: (f"because {field.name}",) for field in fields})
    assert [len(ask.prompt.fields) for ask in agent.inbox(all_states=True)] == [2, 3]


# What does not fit


def replaced(kind: FlowKind[str, list[str]], **changes: Any) -> FlowKind[str, list[str]]:
    """Return the kind as it became."""
    fields = {"name": kind.name, "version": kind.version, "start": kind.start, "inputs": str, "result": list}
    return FlowKind(**{**fields, **changes})


def size_first(_: str) -> Flow[list[str]]:
    """The talk as somebody changed it: the same asks, in another order."""
    size = yield from ask(SIZE)
    yield from say("Now the colour.")
    colour = yield from ask(COLOUR)
    return [
        str(came.values["q1"][0]) if isinstance(came, Answered) else came.state for came in (colour, size)
    ]


def short(first: str) -> Flow[list[str]]:
    """The talk as somebody cut it."""
    yield from ask(question(first, ["red", "green"]))
    return []


@pytest.mark.parametrize(
    "changed",
    [
        {"start": size_first},
        {"start": short},
        {"name": "chat"},
        {"version": 2},
        {"inputs": int},
    ],
    ids=["order", "length", "kind", "version", "type of inputs"],
)
def test_flow_that_was_changed_diverges(
    agent: Client, answer_the_colour: Callable[[Ask], None], changed: dict[str, Any]
) -> None:
    """It stops, and asks, says and does nothing."""
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", present=answer_the_colour, wait=0)
    before = agent.steps("f"), agent.inbox(all_states=True)
    with pytest.raises(
        FlowDivergedError, match=r"At step [12], f wants|f began as talk version 1|no longer fits"
    ):
        agent.drive("f", replaced(TALK, **changed), "Which colour?", say=crash, present=crash)
    assert (agent.steps("f"), agent.inbox(all_states=True)) == before


@pytest.mark.parametrize("parts", [(SIZE,), (COLOUR, Kind.GATE)], ids=["prompt", "kind"])
def test_flow_that_was_changed_at_an_ask_that_is_not_noted_yet_diverges(
    agent: Client, parts: tuple[Any, ...]
) -> None:
    """The driver died between opening the ask and noting its end; the key leads to the other ask."""

    def now(_: str) -> Flow[list[str]]:
        yield from ask(*parts)
        return []

    with pytest.raises(StillOpen):
        agent.drive("f", replaced(TALK, start=short), "Which colour?", wait=0)
    with pytest.raises(FlowDivergedError):
        agent.drive("f", replaced(TALK, start=now), "Which colour?", present=crash)
    assert [ask.prompt for ask in agent.inbox(all_states=True)] == [COLOUR]


def test_finished_flow_of_another_version_is_not_returned(
    agent: Client, answer: Callable[[Ask], None]
) -> None:
    """Its value may mean something else by now."""
    agent.drive("f", TALK, "Which colour?", present=answer)
    with pytest.raises(FlowDivergedError, match="began as talk version 1, and this is talk version 2"):
        agent.drive("f", replaced(TALK, version=2), "Which colour?")


class ByKeyAlone(Driver[str, list[str]]):
    """A driver as it must not be: what stands at a step is taken for the result, whatever was yielded."""

    def _step(self, number: int, step: Step) -> Call[Result]:
        kept = self._journal.get(number)
        if kept is not None:
            result: Result = msgspec.json.decode(kept.content, type=_Kept).result
            return result
        return (yield from super()._step(number, step))


class _Kept(msgspec.Struct):
    result: Answered | Ended | Said


def test_replaying_by_key_alone_gives_an_answer_to_the_wrong_question(
    agent: Client, answer_the_colour: Callable[[Ask], None]
) -> None:
    """Twin: without the digest, the changed flow takes a colour for a size."""
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", present=answer_the_colour, wait=0)

    def size_only(_: str) -> Flow[list[str]]:
        came = yield from ask(SIZE)
        yield from say("Now the size.")
        return [chosen(came)]

    changed = replaced(TALK, start=size_only)
    with pytest.raises(FlowDivergedError):
        run_call(driver(Driver, agent, changed).run("Which colour?"))
    assert run_call(driver(ByKeyAlone, agent, changed).run("Which colour?")) == ["green"]


# One driver at a time


def test_second_driver_is_refused_while_the_first_waits(store: ThrowawayStore, agent: Client) -> None:
    """Another client of the same agent: whoever comes second is told at once."""
    other, ana = store.agent(), store.person()
    refused: list[type[BaseException]] = []

    def present(ask: Ask) -> None:
        with pytest.raises(FlowTakenError) as taken:
            other.drive("f", TALK, "Which colour?", say=crash, present=crash)
        refused.append(taken.type)
        ana.answer(ask.ask_id, "1")

    assert agent.drive("f", TALK, "Which colour?", present=present) == ["red", "small"]
    assert refused == [FlowTakenError] * 2
    assert store.agent().drive("f", TALK, "Which colour?") == ["red", "small"]


def test_flow_that_ended_while_its_hold_was_taken_only_returns(
    store: ThrowawayStore, agent: Client, answer: Callable[[Ask], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before nobody else could write is read again."""
    other, hold = store.agent(), agent.calls.door.hold

    def late(project: str, flow_id: str) -> Wait[Hold]:
        other.drive("f", TALK, "Which colour?", present=answer)
        return hold(project, flow_id)

    monkeypatch.setattr(agent.calls.door, "hold", late)
    assert agent.drive("f", TALK, "Which colour?", say=crash, present=crash) == ["green", "large"]


def test_flow_can_be_driven_again_after_any_error(agent: Client, answer: Callable[[Ask], None]) -> None:
    """Whatever ended the first driver, its hold is gone with it."""

    def broken(_: Ask) -> None:
        raise OSError("the terminal is gone")

    with pytest.raises(OSError, match="terminal"):
        agent.drive("f", TALK, "Which colour?", present=broken)
    assert agent.drive("f", TALK, "Which colour?", present=answer) == ["green", "large"]


def test_same_flow_id_in_another_project_is_another_flow(store: ThrowawayStore) -> None:
    """Journals and holds are a project's own."""
    one, two = store.agent(project="one"), store.agent(project="two")

    def present(_: Ask) -> None:
        with pytest.raises(StillOpen):
            two.drive("f", TALK, "Which colour?", wait=0)

    with pytest.raises(StillOpen):
        one.drive("f", TALK, "Which colour?", present=present, wait=0)
    assert len(one.steps("f")) == len(two.steps("f")) == 1


@pytest.mark.parametrize("flow_id", ["", "x" * (MAX_FLOW_ID + 1), "a\nb", "a\u200bb", "\ud800"])
def test_flow_id_that_cannot_be_kept_or_seen_is_refused(agent: Client, flow_id: str) -> None:
    """It stands in keys, in the log and in sentences."""
    with pytest.raises(BadRequestError):
        agent.drive(flow_id, TALK, "Which colour?")


def test_longest_flow_id_fits_into_a_key(agent: Client) -> None:
    """Its asks' keys are longer than itself."""
    with pytest.raises(StillOpen):
        agent.drive("x" * MAX_FLOW_ID, TALK, "Which colour?", wait=0)


def test_observer_may_not_drive(store: ThrowawayStore) -> None:
    """Driving writes to the project; the hub's one guard stands before it, and the hold is let go of."""
    observer = Client(store.hub(), store.project, Principal(Role.OBSERVER, "otto"))
    with pytest.raises(ForbiddenError):
        observer.drive("f", TALK, "Which colour?")
    with pytest.raises(StillOpen):
        store.agent().drive("f", TALK, "Which colour?", wait=0)


@pytest.mark.parametrize(
    "forged",
    [
        Answered({"q1": ("green",)}, "2", "human:ana"),
        Ended(State.DECLINED, "not mine", "human:ana"),
        Said(),
    ],
    ids=["answered", "declined", "no end of an ask"],
)
def test_end_that_an_agent_wrote_into_the_journal_is_not_taken(
    agent: Client, forged: Answered | Ended | Said
) -> None:
    """An agent may write journals, and only a person says yes or no: the ask itself has the last word."""
    agent.write_step(make_step("f", 0, render_opened(TALK, "Which colour?")))
    agent.write_step(make_step("f", 1, Settled(forged), step_digest(AskStep(COLOUR))))
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", wait=0.05)
    assert [ask.prompt for ask in agent.inbox()] == [COLOUR]
