"""Deferred tools of Pydantic AI: a real agent with its function model, and a tool that counts."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic_ai import Agent, DeferredToolRequests, ToolApproved, ToolDenied
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from assent.hosts.pydantic_ai import answer_deferred, run_until_done, run_until_done_async
from assent.protocol.error import StillOpen
from assent.protocol.principal import Assurance
from assent.testing import ScriptedPerson, ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []


class World:
    """An agent that wants to refund, and what it refunded."""

    def __init__(self, *wanted: ToolCallPart) -> None:
        self.refunded: list[int] = []
        wanted = wanted or (ToolCallPart("refund", {"order": 7}, "c0"),)

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:  # noqa: ARG001 - its signature
            heard = [
                part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
            ]
            if heard:
                return ModelResponse([TextPart(" | ".join(str(part.content) for part in heard))])
            return ModelResponse(list(wanted))

        self.agent = Agent(FunctionModel(model), output_type=[str, DeferredToolRequests])

        @self.agent.tool_plain(requires_approval=True)
        def refund(order: int) -> str:
            """Refund an order."""
            self.refunded.append(order)
            return f"refunded {order}"

        @self.agent.tool_plain
        def ask_boss(question: str) -> str:
            """Ask the boss."""
            raise CallDeferred({"question": question})


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def person_at(store: ThrowawayStore) -> ScriptedPerson:
    """Return somebody at a terminal, who may approve."""
    return ScriptedPerson(store.person(assurance=Assurance.TERMINAL))


def test_approved_call_runs_once_for_what_was_shown(store: ThrowawayStore, tmp_path: Path) -> None:
    """A yes, redeemed for exactly this call."""
    world, path = World(), tmp_path / "run.json"
    with person_at(store) as ana:
        ana.will_answer(lambda ask: ask.prompt.action == {"name": "refund", "args": {"order": 7}}, "Approve")
        result = run_until_done(store.agent(), world.agent, "Go.", thread="t", path=path, wait=PATIENCE)
    assert (world.refunded, result.output) == ([7], "refunded 7")
    assert not path.exists()


def test_rejected_call_is_denied_with_who_said_no(store: ThrowawayStore) -> None:
    """Approved and denied side by side, by the ids of the calls."""
    world = World(ToolCallPart("refund", {"order": 1}, "c1"), ToolCallPart("refund", '{"order": 2}', "c2"))
    requests = asyncio.run(world.agent.run("Go.")).output
    assert isinstance(requests, DeferredToolRequests)
    with person_at(store) as ana:
        ana.will_answer(lambda ask: ask.prompt.action == {"name": "refund", "args": {"order": 1}}, "Approve")
        ana.will_answer(
            lambda ask: ask.prompt.action == {"name": "refund", "args": {"order": 2}}, "Reject: too much"
        )
        told = answer_deferred(store.agent(), requests, thread="t", wait=PATIENCE)
    assert told.approvals["c1"] == ToolApproved()
    denied = told.approvals["c2"]
    assert isinstance(denied, ToolDenied)
    assert "too much" in denied.message


def test_run_that_stopped_waiting_goes_on_in_another_process(store: ThrowawayStore, tmp_path: Path) -> None:
    """Nobody came in time: nothing ran, the ask is open, and the file says where the run was."""
    agent, path = store.agent(), tmp_path / "run.json"
    first, second = World(), World()
    with pytest.raises(StillOpen):
        run_until_done(agent, first.agent, "Go.", thread="t", path=path, wait=0)
    (ask,) = agent.inbox()
    store.person(assurance=Assurance.TERMINAL).answer(ask.ask_id, "Approve")
    result = run_until_done(agent, second.agent, "Go.", thread="t", path=path, wait=0)
    assert (first.refunded, second.refunded, result.output) == ([], [7], "refunded 7")
    assert len(agent.inbox(all_states=True)) == 1


def test_run_that_died_after_its_yes_does_not_run_the_tool_again(
    store: ThrowawayStore, tmp_path: Path
) -> None:
    """The yes was spent before the tool ran. A copy of the messages from before is told so."""
    agent, path, world = store.agent(), tmp_path / "run.json", World()
    with pytest.raises(StillOpen):
        run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    kept = path.read_bytes()
    store.person(assurance=Assurance.TERMINAL).answer(agent.inbox()[0].ask_id, "Approve")
    run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    path.write_bytes(kept)
    again = run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    assert world.refunded == [7]
    assert "An approval is used once" in again.output


def test_tool_that_a_person_answers_gets_the_words(store: ThrowawayStore, tmp_path: Path) -> None:
    """An external call is asked as a question, and nothing runs."""
    world = World(ToolCallPart("ask_boss", {"question": "May I?"}, "c1"))
    with person_at(store) as ana:
        ana.will_answer("What is the answer to ask_boss?", "only today")
        result = run_until_done(
            store.agent(), world.agent, "Go.", thread="t", path=tmp_path / "run.json", wait=PATIENCE
        )
    assert result.output == "only today"


def test_external_call_that_nobody_named_is_left_to_the_caller(store: ThrowawayStore) -> None:
    """It may be a job of another program."""
    world = World(ToolCallPart("ask_boss", {"question": "May I?"}, "c1"))
    requests = asyncio.run(world.agent.run("Go.")).output
    assert isinstance(requests, DeferredToolRequests)
    told = answer_deferred(store.agent(), requests, thread="t", wait=0)
    assert (told.calls, told.approvals) == ({}, {})


def test_run_is_awaited_as_it_is_blocked_on(store: ThrowawayStore, tmp_path: Path) -> None:
    """The same in a loop, with the async client; the path may be a text."""
    world = World()
    with person_at(store) as ana:
        ana.will_answer("Run refund?", "Approve")
        call = run_until_done_async(
            store.async_agent(),
            world.agent,
            "Go.",
            thread="t",
            path=str(tmp_path / "run.json"),
            wait=PATIENCE,
        )
        asyncio.run(call)
    assert world.refunded == [7]
