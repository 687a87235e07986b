"""Effects with a journal: each is done once, wherever its driver dies, and never over somebody else's change."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.client.door import Call, run_call
from assent.client.durable import Driver
from assent.effects.document import document_performers
from assent.effects.performer import Intention, find_performer, intend, settle
from assent.flows.document import ReadDocument, read_document, write_document
from assent.flows.kind import FlowKind
from assent.flows.step import Done, Effect, Failed, Flow, Result, do, say
from assent.protocol.ask import Ask
from assent.protocol.canonical import Json
from assent.protocol.error import FlowTakenError, StillOpen
from assent.testing import ThrowawayStore
from tests.client.talk import APPEND, TALK, Append, Appender, Crash, appending, crash, driver
from tests.patience import PATIENCE

__all__: list[str] = []

T = TypeVar("T")


@pytest.fixture
def agent(store: ThrowawayStore) -> Client:
    """Give the client that drives."""
    return store.agent()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Give an empty document."""
    path = tmp_path / "log.md"
    path.write_bytes(b"")
    return path


@pytest.mark.parametrize("dies", ["intend", "noted", "perform", "performed"])
def test_effect_is_done_once_wherever_the_driver_dies(
    store: ThrowawayStore, agent: Client, log: Path, dies: str
) -> None:
    """Before and after it was noted, before and after the world was touched."""
    with pytest.raises(Crash):
        agent.drive("f", APPEND, None, appending(log, dies))
    assert [step.state for step in agent.steps("f")[1:]] == ([] if dies == "intend" else ["intended"])
    assert agent.drive("f", APPEND, None, appending(log)) == "done"
    assert log.read_bytes() == b"line\n"
    assert [step.state for step in agent.steps("f")] == ["done", "done", "done"]
    assert sorted(path.name for path in log.parent.iterdir()) == ["log.md"]
    assert store.person().verify().problems == ()


class OnlyDone(Driver[None, str]):
    """A driver as it must not be: it notes an effect only when it is done."""

    def _effect(self, number: int, effect: Effect, yielded: str) -> Call[Result]:  # noqa: ARG002 - that is the fault
        performer = find_performer(self._performers, effect)
        intention = intend(performer, effect)
        assert isinstance(intention, Intention)
        yield from self._calls.steps(self._flow_id)
        return settle(performer, intention)


def test_noting_only_what_is_done_appends_twice(agent: Client, log: Path) -> None:
    """Twin: the test above sees it when the intention is not kept."""
    with pytest.raises(Crash):
        run_call(driver(OnlyDone, agent, APPEND, appending(log, "performed")).run(None))
    assert run_call(driver(OnlyDone, agent, APPEND, appending(log)).run(None)) == "done"
    assert log.read_bytes() == b"line\nline\n"


@pytest.mark.parametrize("dies", ["noted", "performed"])
def test_world_that_somebody_else_changed_is_a_result_for_the_flow(
    agent: Client, log: Path, dies: str
) -> None:
    """Neither as before nor as meant: nothing is guessed and nothing overwritten."""
    with pytest.raises(Crash):
        agent.drive("f", APPEND, None, appending(log, dies))
    log.write_bytes(b"a person's text\n")
    assert agent.drive("f", APPEND, None, appending(log)) == "world_changed"
    assert agent.drive("f", APPEND, None) == "world_changed"
    assert log.read_bytes() == b"a person's text\n"


def test_refused_effect_is_noted_once_and_not_tried_again(agent: Client, tmp_path: Path) -> None:
    """A refusal is a result like any other."""

    def flow(path: str) -> Flow[str]:
        came = yield from do(ReadDocument(path))
        return "found" if isinstance(came, Done) else came.code

    def hide(path: str) -> Flow[str]:
        yield from say("first")
        return (yield from flow(path))

    kind: FlowKind[str, str] = FlowKind("hide", 1, hide, str, str)
    assert agent.drive("f", kind, "../secret", document_performers(tmp_path)) == "path_refused"
    assert [step.state for step in agent.steps("f")] == ["done"] * 4


def test_document_read_before_a_crash_is_not_read_again(agent: Client, log: Path) -> None:
    """What was computed from it must still be computed from it; a write then sees that it changed."""

    def flow(path: str) -> Flow[str]:
        found = yield from read_document(path)
        assert not isinstance(found, Failed)
        yield from say("read")
        came = yield from write_document(path, found, found.content + b"line\n")
        return "done" if isinstance(came, Done) else came.code

    kind: FlowKind[str, str] = FlowKind("careful", 1, flow, str, str)
    with pytest.raises(Crash):
        agent.drive("f", kind, "log.md", document_performers(log.parent), say=crash)
    log.write_bytes(b"changed\n")
    assert agent.drive("f", kind, "log.md", document_performers(log.parent)) == "world_changed"
    assert log.read_bytes() == b"changed\n"


# On an event loop


def on_a_loop(store: ThrowawayStore, act: Callable[[AsyncClient], Coroutine[Any, Any, T]]) -> T:
    """Run something with an async client, within a limit."""

    async def main() -> T:
        client = store.async_agent()
        return await asyncio.wait_for(act(client), PATIENCE)

    return asyncio.run(main())


def test_async_client_drives_the_same_way(store: ThrowawayStore, agent: Client) -> None:
    """One body for both: what one began the other finishes."""
    ana = store.person()
    with pytest.raises(StillOpen):
        agent.drive("f", TALK, "Which colour?", wait=0)

    def present(ask: Ask) -> None:
        ana.answer(ask.ask_id, "2")

    async def go_on(client: AsyncClient) -> list[str]:
        return await client.drive("f", TALK, "Which colour?", present=present)

    assert on_a_loop(store, go_on) == ["green", "large"]


def test_async_effect_leaves_the_loop_free(store: ThrowawayStore, log: Path) -> None:
    """A long effect runs beside the loop."""
    begun, free = threading.Event(), threading.Event()

    class Slow(Appender):
        def perform(self, intention: Intention) -> Json:
            begun.set()
            assert free.wait(PATIENCE)
            return super().perform(intention)

    async def act(client: AsyncClient) -> str:
        driving = asyncio.create_task(client.drive("f", APPEND, None, {Append: Slow(log.parent)}))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        assert len(await client.steps("f")) == 2
        free.set()
        return await driving

    assert on_a_loop(store, act) == "done"
    assert log.read_bytes() == b"line\n"


def test_flow_of_a_cancelled_task_is_held_until_its_effect_has_ended(
    store: ThrowawayStore, agent: Client, log: Path
) -> None:
    """Nobody may look at the world while somebody is still changing it."""
    begun, free = threading.Event(), threading.Event()

    class Slow(Appender):
        def perform(self, intention: Intention) -> Json:
            begun.set()
            assert free.wait(PATIENCE)
            return super().perform(intention)

    async def act(client: AsyncClient) -> None:
        driving = asyncio.create_task(client.drive("f", APPEND, None, {Append: Slow(log.parent)}))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving
        with pytest.raises(FlowTakenError):
            agent.drive("f", APPEND, None, appending(log))

    on_a_loop(store, act)
    worker = next(thread for thread in threading.enumerate() if thread.name == "assent-work")
    free.set()
    worker.join(PATIENCE)
    assert agent.drive("f", APPEND, None, appending(log)) == "done"
    assert log.read_bytes() == b"line\n"


def test_async_effect_that_breaks_reaches_the_caller(store: ThrowawayStore, agent: Client, log: Path) -> None:
    """And the flow can be driven again."""

    class Broken(Appender):
        def perform(self, intention: Intention) -> Json:  # noqa: ARG002 - it gets nowhere
            raise ZeroDivisionError

    async def act(client: AsyncClient) -> None:
        with pytest.raises(ZeroDivisionError):
            await client.drive("f", APPEND, None, {Append: Broken(log.parent)})

    on_a_loop(store, act)
    assert agent.drive("f", APPEND, None, appending(log)) == "done"
