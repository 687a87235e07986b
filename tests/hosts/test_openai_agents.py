"""Approvals of the OpenAI Agents SDK: a real runner with a scripted model, and a tool that counts."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, Runner, RunState, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from assent.hosts.openai_agents import answer_approvals, run_until_done, run_until_done_async
from assent.protocol.error import StillOpen
from assent.protocol.principal import Assurance
from assent.testing import ScriptedPerson, ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []


class ScriptedModel(Model):
    """Calls the tool so many times at once, and then repeats what it heard."""

    def __init__(self, calls: int, arguments: str | None = None) -> None:
        self.calls = calls
        self.arguments = arguments

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002, ARG002 - the SDK's signature
        """Answer by what is in the conversation, so that it does not matter which process asks."""
        heard = [entry for entry in input if entry.get("type") == "function_call_output"]
        output: list[Any] = []
        if heard:
            text = " | ".join(str(entry["output"]) for entry in heard)
            part = ResponseOutputText(text=text, type="output_text", annotations=[])
            output.append(
                ResponseOutputMessage(
                    id="m", content=[part], role="assistant", status="completed", type="message"
                )
            )
        else:
            output.extend(
                ResponseFunctionToolCall(
                    call_id=f"c{number}",
                    name="refund",
                    arguments=self.arguments or json.dumps({"order": number}),
                    type="function_call",
                )
                for number in range(self.calls)
            )
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Nobody streams here."""
        raise NotImplementedError


class World:
    """An agent that wants to refund, and what it refunded."""

    def __init__(self, calls: int = 1, arguments: str | None = None) -> None:
        set_tracing_disabled(disabled=True)
        self.refunded: list[int] = []

        @function_tool(needs_approval=True)
        def refund(order: int) -> str:
            """Refund an order."""
            self.refunded.append(order)
            return f"refunded {order}"

        self.agent = Agent("shop", model=ScriptedModel(calls, arguments), tools=[refund])


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def person_at(store: ThrowawayStore) -> ScriptedPerson:
    """Return somebody at a terminal, who may approve."""
    return ScriptedPerson(store.person(assurance=Assurance.TERMINAL))


def test_approved_call_runs_and_rejected_one_is_told_who_said_no(
    store: ThrowawayStore, tmp_path: Path
) -> None:
    """Two calls, asked at once; each has its own answer."""
    world, path = World(2), tmp_path / "run.json"
    with person_at(store) as ana:
        ana.will_answer(lambda ask: ask.prompt.action == {"name": "refund", "args": {"order": 0}}, "Approve")
        ana.will_answer(
            lambda ask: ask.prompt.action == {"name": "refund", "args": {"order": 1}}, "Reject: paid"
        )
        result = run_until_done(store.agent(), world.agent, "Go.", thread="t", path=path, wait=PATIENCE)
    assert world.refunded == [0]
    assert "refunded 0" in result.final_output
    assert 'Reason: "paid".' in result.final_output
    assert not path.exists()


def test_run_that_stopped_waiting_goes_on_in_another_process(store: ThrowawayStore, tmp_path: Path) -> None:
    """Nobody came in time: nothing ran, the ask is open, and the file says where the run was. Only its user reads it."""
    agent, path = store.agent(), tmp_path / "run.json"
    first, second = World(), World()
    with pytest.raises(StillOpen):
        run_until_done(agent, first.agent, "Go.", thread="t", path=path, wait=0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (ask,) = agent.inbox()
    store.person(assurance=Assurance.TERMINAL).answer(ask.ask_id, "Approve")
    result = run_until_done(agent, second.agent, "Go.", thread="t", path=path, wait=0)
    assert (first.refunded, second.refunded, result.final_output) == ([], [0], "refunded 0")
    assert len(agent.inbox(all_states=True)) == 1


def test_run_that_died_after_its_yes_does_not_run_the_tool_again(
    store: ThrowawayStore, tmp_path: Path
) -> None:
    """The yes was spent before the tool ran. A copy of the state from before is told so."""
    agent, path, world = store.agent(), tmp_path / "run.json", World()
    with pytest.raises(StillOpen):
        run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    kept = path.read_bytes()
    store.person(assurance=Assurance.TERMINAL).answer(agent.inbox()[0].ask_id, "Approve")
    run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    path.write_bytes(kept)
    again = run_until_done(agent, world.agent, "Go.", thread="t", path=path, wait=0)
    assert world.refunded == [0]
    assert "An approval is used once" in again.final_output


def test_state_of_ones_own_is_answered_without_a_file(store: ThrowawayStore) -> None:
    """Whoever keeps the state elsewhere uses the inner call; its JSON is enough."""
    world = World()

    async def stop() -> Any:
        result = await Runner.run(world.agent, "Go.")
        return await RunState.from_json(world.agent, result.to_state().to_json())

    with person_at(store) as ana:
        ana.will_answer("Run refund?", "Approve")
        state = answer_approvals(store.agent(), asyncio.run(stop()), thread="t", wait=PATIENCE)
    assert asyncio.run(Runner.run(world.agent, state)).final_output == "refunded 0"


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
    assert world.refunded == [0]


def test_arguments_that_are_no_json_are_shown_as_they_are(store: ThrowawayStore, tmp_path: Path) -> None:
    """A model may write anything; a person sees it, and nothing breaks."""
    world = World(arguments='{"order": 1, "order": 2}')
    agent = store.agent()
    with pytest.raises(StillOpen):
        run_until_done(agent, world.agent, "Go.", thread="t", path=tmp_path / "run.json", wait=0)
    assert agent.inbox()[0].prompt.action == {"name": "refund", "args": '{"order": 1, "order": 2}'}
