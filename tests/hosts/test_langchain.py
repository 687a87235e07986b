"""LangChain's agents, with its own middleware and with ours: a real agent, its fake model, and a tool that counts."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from assent.hosts.langchain import ApprovalMiddleware
from assent.hosts.langgraph import run_until_done
from assent.protocol.error import StillOpen
from assent.protocol.principal import Assurance
from assent.testing import ScriptedPerson, ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

CONFIG: Any = {"configurable": {"thread_id": "t1"}}
START: Any = {"messages": [{"role": "user", "content": "Write to Bob."}]}


class FakeModel(GenericFakeChatModel):
    """Says its lines, whatever tools it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002 - the model's signature
        return self


class World:
    """An agent that wants to send, and what was sent."""

    def __init__(self, *middleware: Any, calls: int = 1) -> None:
        self.sent: list[str] = []

        @tool
        def send(to: str) -> str:
            """Send a letter."""
            self.sent.append(to)
            return f"sent to {to}"

        wanted = [
            {"name": "send", "args": {"to": f"bob{number}"}, "id": f"c{number}"} for number in range(calls)
        ]
        lines = [AIMessage("", tool_calls=wanted), AIMessage("Done.")]
        self.agent = create_agent(
            FakeModel(messages=iter(lines)),
            [send],
            middleware=middleware,
            checkpointer=InMemorySaver(),
        )

    @staticmethod
    def tool_texts(result: Any) -> list[str]:
        """Return what the model was told of its calls."""
        return [message.content for message in result["messages"] if message.type == "tool"]


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def person_at(store: ThrowawayStore) -> ScriptedPerson:
    """Return somebody at a terminal, who may approve."""
    return ScriptedPerson(store.person(assurance=Assurance.TERMINAL))


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_langchains_own_middleware_is_answered_in_both_modes(store: ThrowawayStore, mode: Any) -> None:
    """Two calls, one yes and one no: the first runs once, the second never, and the model hears why."""
    gate: Any = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    world = World(gate, calls=2)
    with person_at(store) as ana:
        ana.will_answer(lambda ask: ask.prompt.action == action("bob0"), "Approve")
        ana.will_answer(lambda ask: ask.prompt.action == action("bob1"), "Reject: Bob left")
        result = run_until_done(store.agent(), world.agent, START, CONFIG, wait=PATIENCE)
    assert world.sent == ["bob0"]
    assert any('Reason: "Bob left".' in text for text in world.tool_texts(result))


def action(to: str) -> Any:
    """Return the call as it is approved."""
    return {"name": "send", "args": {"to": to}}


@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_edited_call_runs_with_what_the_person_approved(store: ThrowawayStore, mode: Any) -> None:
    """The edit is shown and approved before it runs."""
    gate: Any = HumanInTheLoopMiddleware({"send": True}, interrupt_mode=mode)
    world = World(gate)
    with person_at(store) as ana:
        ana.will_answer(lambda ask: ask.prompt.action == action("bob0"), "Reject")
        ana.will_answer("Run send? What instead?", "Run it with other arguments")
        ana.will_answer("Other arguments for send?", '{"to": "eve"}')
        ana.will_answer(lambda ask: ask.prompt.action == action("eve"), "Approve")
        run_until_done(store.agent(), world.agent, START, CONFIG, wait=PATIENCE)
    assert world.sent == ["eve"]


def test_person_can_answer_in_the_tools_place(store: ThrowawayStore) -> None:
    """A tool whose real body is a person: nothing runs, and the model hears the words."""
    world = World(HumanInTheLoopMiddleware({"send": {"allowed_decisions": ["respond"]}}))
    with person_at(store) as ana:
        ana.will_answer("What is the answer to send?", "Bob is on leave")
        result = run_until_done(store.agent(), world.agent, START, CONFIG, wait=PATIENCE)
    assert world.sent == []
    assert world.tool_texts(result) == ["Bob is on leave"]


@pytest.mark.parametrize(("reply", "sent"), [("Approve", ["bob0"]), ("Reject: Bob left", [])])
def test_our_middleware_runs_the_tool_after_a_yes_only(
    store: ThrowawayStore, reply: str, sent: list[str]
) -> None:
    """It waits inside the call; after a no the model is told who said so."""
    world = World(ApprovalMiddleware(store.agent(), {"send"}, wait=PATIENCE))
    with person_at(store) as ana:
        ana.will_answer("Run send?", reply)
        result = world.agent.invoke(START, CONFIG)
    assert world.sent == sent
    assert sent or 'Reason: "Bob left".' in world.tool_texts(result)[0]


def test_our_middleware_leaves_other_tools_alone(store: ThrowawayStore) -> None:
    """Only what is named is asked about."""
    world = World(ApprovalMiddleware(store.agent(), {"other"}))
    world.agent.invoke(START, CONFIG)
    assert world.sent == ["bob0"]
    assert store.agent().inbox(all_states=True) == []


def test_our_middleware_awaits_in_a_task(store: ThrowawayStore) -> None:
    """The same in a loop, with the async client."""
    with person_at(store) as ana:
        ana.will_answer("Run send?", "Approve")
        world = World(ApprovalMiddleware(store.async_agent(), ["send"], wait=PATIENCE))
        asyncio.run(world.agent.ainvoke(START, CONFIG))
    assert world.sent == ["bob0"]


def test_thread_that_stopped_waiting_goes_on_with_the_same_ask(store: ThrowawayStore) -> None:
    """Nobody came in time: nothing ran, the ask stayed open, and the thread finds it when it is run again."""
    agent = store.agent()
    world = World(ApprovalMiddleware(agent, "send", wait=0))
    with pytest.raises(StillOpen):
        world.agent.invoke(START, CONFIG)
    assert world.sent == []
    (ask,) = agent.inbox()
    store.person(assurance=Assurance.TERMINAL).answer(ask.ask_id, "Approve")
    world.agent.invoke(None, CONFIG)
    assert world.sent == ["bob0"]
    assert len(agent.inbox(all_states=True)) == 1
