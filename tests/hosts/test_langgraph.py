"""Interrupts of a real graph become asks, in all three families; the answers resume it, and silence never does."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt, interrupt

from assent.hosts.framework import Terms, Way
from assent.hosts.interrupt import read_interrupt
from assent.hosts.langgraph import (
    answer_interrupts,
    run_until_done,
    run_until_done_async,
)
from assent.protocol.ask import Kind
from assent.protocol.error import (
    BadPromptError,
    BadRequestError,
    ConflictError,
    Declined,
    NoAnswer,
    StillOpen,
)
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ScriptedPerson, ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

CONFIG = {"configurable": {"thread_id": "t1"}}
TOOL = {"action": "send", "args": {"to": "bob"}}
ALL = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
"""What Agent Inbox lets a person do."""


class State(TypedDict):
    """What the graphs of these tests hold."""

    out: list[Any]


def graph_of(*values: Any, schema: Any = None) -> Any:
    """Return a graph that stops for each value in turn, and keeps the answers."""

    def work(state: State) -> State:  # noqa: ARG001 - a node's signature
        return {"out": [interrupt(value, response_schema=schema) for value in values]}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_edge(START, "work")
    builder.add_edge("work", END)
    return builder.compile(checkpointer=InMemorySaver())


class Pair(TypedDict, total=False):
    """What the nodes of `side_by_side` were told."""

    a: Any
    b: Any


def side_by_side(**values: Any) -> Any:
    """Return a graph whose two nodes stop at the same time."""
    builder = StateGraph(Pair)
    for name, value in values.items():

        def work(state: Pair, value: Any = value, name: str = name) -> Any:  # noqa: ARG001 - a node's signature
            return {name: interrupt(value)}

        builder.add_node(f"node-{name}", work)
        builder.add_edge(START, f"node-{name}")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def person_at(store: ThrowawayStore) -> ScriptedPerson:
    """Return somebody at a terminal, who may approve."""
    return ScriptedPerson(store.person(assurance=Assurance.TERMINAL))


def inbox(**config: bool) -> list[dict[str, Any]]:
    """Return a request as Agent Inbox shows it."""
    return [{"action_request": TOOL, "config": config, "description": "An e-mail"}]


def resumed(command: Command[Any] | None) -> list[Any]:
    """Return what a command resumes the interrupts with."""
    assert command is not None
    assert isinstance(command.resume, dict)
    return list(command.resume.values())


def test_text_of_an_interrupt_is_asked_and_the_words_go_back(store: ThrowawayStore) -> None:
    """The plainest family: a text, and what was typed; two in one node are two asks."""
    with person_at(store) as ana:
        ana.will_answer("Your name?", "Ana").will_answer("Your town?", "Graz")
        graph = graph_of("Your name?", "Your town?")
        result = run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == ["Ana", "Graz"]
    assert [ask.key.split(":")[:2] for ask in ana.seen if ask.key] == [["langgraph", "t1"]] * 2


def test_object_of_an_interrupt_shows_its_question_and_the_rest_below(store: ThrowawayStore) -> None:
    """A habit of graphs: a text under a name that says so, and material beside it."""
    with person_at(store) as ana:
        ana.will_answer("Is it right?", "no, 7")
        graph = graph_of({"question": "Is it right?", "draft": "It is 6."})
        run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)
    assert '"draft": "It is 6."' in ana.seen[0].prompt.body


@pytest.mark.parametrize(
    ("schema", "reply", "value"),
    [
        (
            {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]},
            "8080",
            {"port": 8080},
        ),
        ({"type": "boolean"}, "true", True),
        ({"enum": ["red", "blue"]}, "blue", "blue"),
        ({"type": "number", "maximum": 5}, "2.5", 2.5),
    ],
    ids=["object", "boolean", "choice", "number"],
)
def test_schema_of_an_interrupt_makes_a_form_and_a_typed_value(
    store: ThrowawayStore, schema: Any, reply: str, value: Any
) -> None:
    """The third family: what goes back has the type that the graph asked for."""
    with person_at(store) as ana:
        ana.will_answer("Which?", reply)
        graph = graph_of("Which?", schema=schema)
        result = run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == [value]


def test_schema_that_no_form_can_check_is_refused(store: ThrowawayStore) -> None:
    """A rule that nobody checks must not look as if somebody did."""
    nested = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    with pytest.raises(BadPromptError):
        run_until_done(store.agent(), graph_of("Which?", schema=nested), {"out": []}, CONFIG, wait=0)
    assert store.agent().inbox(all_states=True) == []


def test_inbox_accept_is_an_approval_of_the_whole_call(store: ThrowawayStore) -> None:
    """A yes binds: it is asked as an approval, with the call as its action, and its receipt is spent."""
    with person_at(store) as ana:
        ana.will_answer("Run send?", "Approve")
        result = run_until_done(store.agent(), graph_of(inbox(**ALL)), {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == [[{"type": "accept", "args": None}]]
    assert ana.seen[0].kind is Kind.APPROVAL
    assert ana.seen[0].prompt.action == {"name": "send", "args": {"to": "bob"}}


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        (
            ["Reject", "Run it with other arguments", "no json", '{"to": "eve"}', "Approve"],
            {"type": "edit", "args": {"action": "send", "args": {"to": "eve"}}},
        ),
        (["Reject", "Answer in its place", "sent by hand"], {"type": "response", "args": "sent by hand"}),
        (["Reject: by hand", "Ignore it"], {"type": "ignore", "args": None}),
    ],
    ids=["edit", "respond", "ignore"],
)
def test_inbox_offers_what_else_it_takes_after_a_no(
    store: ThrowawayStore, replies: list[str], told: Any
) -> None:
    """Changed arguments are approved in their turn: what runs was shown."""
    with person_at(store) as ana:
        for reply in replies:
            ana.will_answer(lambda _: True, reply)
        result = run_until_done(store.agent(), graph_of(inbox(**ALL)), {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == [[told]]


def test_inbox_that_only_accepts_raises_a_no(store: ThrowawayStore) -> None:
    """There is no word for a no in it, and nothing may be made up."""
    graph = graph_of(inbox(allow_accept=True))
    with person_at(store) as ana:
        ana.will_answer("Run send?", "Reject: Bob left")
        with pytest.raises(NoAnswer, match=r'ana rejected it .* Reason: "Bob left"'):
            run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)


def test_inbox_that_takes_no_yes_is_not_approved(store: ThrowawayStore) -> None:
    """Where only words are wanted, only words are asked for."""
    with person_at(store) as ana:
        ana.will_answer("What is the answer to send?", "no need")
        graph = graph_of(inbox(allow_respond=True))
        result = run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == [[{"type": "response", "args": "no need"}]]


def test_middleware_requests_are_asked_at_once_and_decided_in_order(store: ThrowawayStore) -> None:
    """One decision for each request, in their order, whoever is answered first."""
    value = {
        "action_requests": [{"name": "send", "args": {"n": 1}}, {"name": "drop", "args": {}}],
        "review_configs": [
            {"action_name": "send", "allowed_decisions": ["approve", "reject"]},
            {"action_name": "drop", "allowed_decisions": ["approve", "reject"]},
        ],
    }
    graph = graph_of(value)
    graph.invoke({"out": []}, CONFIG)
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    with pytest.raises(StillOpen):
        answer_interrupts(agent, graph, CONFIG, wait=0)
    drop, send = sorted(ana.inbox(), key=lambda ask: ask.prompt.title)
    ana.answer(drop.ask_id, "Reject", reason="it is in use")
    ana.answer(send.ask_id, "Approve")
    command = answer_interrupts(agent, graph, CONFIG, wait=0)
    (decided,) = resumed(command)
    assert [decision["type"] for decision in decided["decisions"]] == ["approve", "reject"]
    assert 'Reason: "it is in use".' in decided["decisions"][1]["message"]


@pytest.mark.parametrize(
    "value",
    [
        {"action_requests": []},
        {"action_requests": ["send"]},
        {"action_requests": {"name": "send"}},
        [{"action_request": TOOL}, "and this"],
    ],
    ids=["none", "texts", "one", "mixed"],
)
def test_value_that_only_looks_like_tool_calls_is_a_question(store: ThrowawayStore, value: Any) -> None:
    """It is of no known family: it is shown whole, and the words go back."""
    with person_at(store) as ana:
        ana.will_answer("The graph asks.", "go on")
        result = run_until_done(store.agent(), graph_of(value), {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"] == ["go on"]
    assert ana.seen[0].kind is Kind.QUESTION


@pytest.mark.parametrize("configs", [None, "x", ["x"], [{"action_name": ["send"]}]])
def test_configs_that_say_nothing_allow_yes_and_no(configs: Any) -> None:
    """The call is what is approved; how it may be decided has a default."""
    wish = read_interrupt("k", {"action_requests": [{"name": "send", "args": {}}], "review_configs": configs})
    assert wish.reviews[0].ways == {Way.APPROVE, Way.REJECT}


def test_yes_is_not_spent_while_another_request_waits(store: ThrowawayStore) -> None:
    """Whoever stops waiting in between must find every yes when it comes again."""
    graph = side_by_side(a=inbox(**ALL), b="And you?")
    graph.invoke({}, CONFIG)
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    with pytest.raises(StillOpen):
        answer_interrupts(agent, graph, CONFIG, wait=0)
    asks = {ask.prompt.title: ask for ask in ana.inbox()}
    ana.answer(asks["Run send?"].ask_id, "Approve")
    with pytest.raises(StillOpen):
        answer_interrupts(agent, graph, CONFIG, wait=0)
    ana.answer(asks["And you?"].ask_id, "I am fine")
    result = run_until_done(agent, graph, {}, CONFIG, wait=0)
    assert result == {"a": [{"type": "accept", "args": None}], "b": "I am fine"}
    assert len(agent.inbox(all_states=True)) == 2


def test_spent_yes_lets_nothing_run_a_second_time(store: ThrowawayStore) -> None:
    """A process that dies between the yes and the graph's next checkpoint must not do it twice: it is told no."""
    graph = graph_of(inbox(**ALL))
    graph.invoke({"out": []}, CONFIG)
    agent = store.agent()
    with person_at(store) as ana:
        ana.will_answer("Run send?", "Approve")
        first = answer_interrupts(agent, graph, CONFIG, wait=PATIENCE)
    again = answer_interrupts(agent, graph, CONFIG, wait=0)
    assert resumed(first) == [[{"type": "accept", "args": None}]]
    ((reply,),) = resumed(again)
    assert reply["type"] == "response"
    assert "An approval is used once" in reply["args"]


def test_nobody_answering_leaves_the_graph_interrupted_and_the_ask_open(store: ThrowawayStore) -> None:
    """Silence resumes nothing."""
    graph = graph_of(inbox(**ALL))
    with pytest.raises(StillOpen):
        run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=0.05)
    assert len(graph.get_state(CONFIG).interrupts) == 1
    assert [ask.is_open for ask in store.agent().inbox(all_states=True)] == [True]


def test_declined_question_is_raised(store: ThrowawayStore) -> None:
    """A plain interrupt has no word for a no."""
    with person_at(store) as ana:
        ana.will_decline("Your name?", "none of your business")
        with pytest.raises(Declined):
            run_until_done(store.agent(), graph_of("Your name?"), {"out": []}, CONFIG, wait=PATIENCE)


def test_declined_approval_is_a_reject_with_the_reason(store: ThrowawayStore) -> None:
    """Nobody who declined is asked what else; the agent hears why."""
    value = {
        "type": "tool_approval",
        "tool_call_id": "c1",
        "name": "send",
        "args": {},
        "description": "",
    }
    schema = {"discriminator": {"mapping": {"approve": "", "reject": "", "respond": ""}}}
    graph = graph_of(value, schema=schema)
    with person_at(store) as ana:
        ana.will_decline("Run send?", "ask Sam")
        result = run_until_done(store.agent(), graph, {"out": []}, CONFIG, wait=PATIENCE)
    assert result["out"][0]["type"] == "reject"
    assert "ask Sam" in result["out"][0]["message"]


def test_expired_approval_is_a_reject_that_says_so() -> None:
    """A deadline that passes approves nothing."""
    clock = FakeClock()
    value = {"type": "tool_approval", "tool_call_id": "c1", "name": "send", "args": {}}
    graph = graph_of(value)
    with throwaway(clock=clock) as store:
        agent, terms = store.agent(), Terms(deadline=timedelta(minutes=5), consequence="deny")
        with pytest.raises(StillOpen):
            run_until_done(agent, graph, {"out": []}, CONFIG, wait=0, **terms)
        clock.advance(timedelta(minutes=6))
        result = run_until_done(agent, graph, {"out": []}, CONFIG, wait=PATIENCE, **terms)
    assert result["out"][0]["type"] == "reject"
    assert "eadline" in result["out"][0]["message"]


def test_graph_that_somebody_else_resumed_is_not_answered(store: ThrowawayStore) -> None:
    """LangGraph takes an answer for whatever waits; so it is looked at again, and nothing is spent."""
    graph = graph_of(inbox(**ALL), "second?")
    graph.invoke({"out": []}, CONFIG)

    class Resumed:
        """Is resumed by somebody else while a person thinks."""

        looks = 0

        def get_state(self, config: Any) -> Any:
            self.looks += 1
            if self.looks == 2:
                graph.invoke(Command(resume=[{"type": "ignore", "args": None}]), config)
            return graph.get_state(config)

    with person_at(store) as ana:
        ana.will_answer("Run send?", "Approve")
        with pytest.raises(ConflictError):
            answer_interrupts(store.agent(), Resumed(), CONFIG, wait=PATIENCE)


def test_config_without_a_thread_is_refused(store: ThrowawayStore) -> None:
    """Its asks would have no key that outlives the process."""

    class Waiting:
        """Waits for something."""

        interrupts = (Interrupt("Your name?", "i1"),)

        def get_state(self, config: Any) -> Any:  # noqa: ARG002 - a graph's signature
            return self

    with pytest.raises(BadRequestError, match="names no thread"):
        answer_interrupts(store.agent(), Waiting(), {}, wait=0)


def test_graph_is_answered_in_a_task_as_in_a_thread(store: ThrowawayStore) -> None:
    """One body, two drivers."""

    async def run() -> Any:
        return await run_until_done_async(
            store.async_agent(), graph_of(inbox(**ALL)), {"out": []}, CONFIG, wait=PATIENCE
        )

    with person_at(store) as ana:
        ana.will_answer("Run send?", "Approve")
        result = asyncio.run(run())
    assert result["out"] == [[{"type": "accept", "args": None}]]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "\x1b[2J\u202e",
        "a\n" * 5_000,
        {"question": 7},
        {"question": "\u200b"},
        [],
        [1],
        object(),
        {"action_request": "x"},
        {1: 2},
        3.5,
    ],
    ids=[str(number) for number in range(12)],
)
def test_any_value_can_be_asked(store: ThrowawayStore, value: Any) -> None:
    """A graph's author may stop with anything; a person sees something and can answer."""
    wish = read_interrupt("k", value)
    assert wish.prompt is not None
    handle = store.agent().open(wish.prompt)
    assert store.person().answer(handle.ask_id, "words").answer is not None


@pytest.mark.parametrize(
    "value",
    [
        {"action_request": {"action": None, "args": {}}, "config": ALL},
        {"action_requests": [{"name": "send", "args": {"when": object()}}], "review_configs": []},
        {"type": "tool_approval", "name": "send", "args": {1: 2}},
    ],
    ids=["no name", "no JSON", "no text key"],
)
def test_tool_call_that_cannot_be_bound_is_refused(value: Any) -> None:
    """What cannot be spelled cannot be approved."""
    with pytest.raises(BadRequestError):
        read_interrupt("k", value)
