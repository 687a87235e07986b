"""Requests of a host's session: found again after a restart, withdrawn when the host takes them back."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from assent import AsyncClient
from assent.hosts.request import Request, Requests
from assent.protocol.ask import Ask, State
from assent.protocol.prompt import Prompt, question
from assent.testing import ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

PROMPT: Prompt = question("Which?", ["Red", "Blue"])


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give an empty store."""
    with throwaway() as made:
        yield made


def play(
    store: ThrowawayStore, story: Callable[[AsyncClient, AsyncClient], Coroutine[Any, Any, None]]
) -> None:
    """Play a story of an agent and a person in a loop of its own."""
    asyncio.run(asyncio.wait_for(story(store.async_agent(), store.async_person()), PATIENCE))


async def waiting(client: AsyncClient, count: int) -> list[Ask]:
    """Return the asks that wait, once there are so many."""
    while True:
        found = await client.inbox()
        if len(found) == count:
            return found
        await asyncio.sleep(0.01)


async def only_open(client: AsyncClient) -> Ask:
    """Return the one ask that waits, once it is there."""
    return (await waiting(client, 1))[0]


def keeping(said: list[str]) -> Callable[[Request], Coroutine[Any, Any, None]]:
    """Return work that asks, and keeps what the host would be told."""

    async def work(request: Request) -> None:
        ended = await request.ask(PROMPT)
        said.append("nothing" if ended.answer is None else ended.answer.values["q1"][0])

    return work


def test_same_request_again_is_a_new_ask_and_one_that_was_left_is_found_again(store: ThrowawayStore) -> None:
    """What was told is kept; what was not told yet is found by whoever comes next."""
    said: list[str] = []

    async def first(agent: AsyncClient, person: AsyncClient) -> None:
        requests = Requests(agent.calls, "codex", "thread")
        await requests.load()
        requests.start("1", {"which": 1}, keeping(said))
        await person.answer((await only_open(agent)).ask_id, "Red")
        await requests.settle()
        requests.start("2", {"which": 1}, keeping(said))
        await only_open(agent)
        await requests.leave()

    async def second(agent: AsyncClient, person: AsyncClient) -> None:
        left = await only_open(agent)
        requests = Requests(agent.calls, "codex", "thread")
        await requests.load()
        requests.start("9", {"which": 1}, keeping(said))
        await person.answer(left.ask_id, "Blue")
        await requests.settle()

    play(store, first)
    assert said == ["Red"]
    play(store, second)
    assert said == ["Red", "Blue"]
    assert len(store.agent().inbox(all_states=True)) == 2


def test_request_that_the_host_takes_back_is_withdrawn_and_nothing_is_told(store: ThrowawayStore) -> None:
    """Also where it is taken back in the moment in which it is asked: no ask stays behind."""
    said: list[str] = []

    async def story(agent: AsyncClient, _: AsyncClient) -> None:
        requests = Requests(agent.calls, "codex", "thread")
        await requests.load()
        requests.start("1", "early", keeping(said))
        await asyncio.sleep(0)
        await requests.drop_all("gone")
        requests.start("2", "late", keeping(said))
        await only_open(agent)
        await requests.drop("2", "gone, too")
        await requests.drop("2", "and again")
        assert not requests.names

    play(store, story)
    assert said == []
    states = {ask.state for ask in store.agent().inbox(all_states=True)}
    assert states == {State.WITHDRAWN}


def test_two_requests_of_the_same_content_at_once_are_two_asks(store: ThrowawayStore) -> None:
    """One answer must not serve both."""
    said: list[str] = []

    async def story(agent: AsyncClient, person: AsyncClient) -> None:
        requests = Requests(agent.calls, "codex", "x" * 500)
        await requests.load()
        for name in ("1", "2"):
            requests.start(name, {}, keeping(said))
        for ask, reply in zip(await waiting(agent, 2), ("Red", "Blue"), strict=True):
            await person.answer(ask.ask_id, reply)
        await requests.settle()

    play(store, story)
    assert sorted(said) == ["Blue", "Red"]
