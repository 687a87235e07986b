"""One client over HTTP for many tasks, for forks, and for somebody who has waited long enough."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pytest

from assent.client.http.door import POLL_SECONDS, HttpDoor
from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import State
from assent.protocol.error import NotFoundError, UnreachableError
from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import wait_for
from tests.patience import PATIENCE

__all__: list[str] = []

AT_ONCE = 20.0
"""Seconds: less than a poll takes."""
KEPT_SECONDS = 4.5
"""Less than a server keeps a connection on which nothing is said."""
MANY = 200


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on a store of its own."""
    with throwaway() as store, ThrowawayServer(store) as made:
        yield made


def test_two_hundred_tasks_of_one_client_wait_at_once(server: ThrowawayServer) -> None:
    """Each gets its own answer, and the loop is free meanwhile."""

    async def talk() -> tuple[list[object], float]:
        async with (
            server.async_client("agent", "coder") as agent,
            server.async_client("human", "ana") as ana,
        ):
            asks = [await agent.open(f"Number {number}?") for number in range(MANY)]
            waits = [asyncio.create_task(handle.value(PATIENCE)) for handle in asks]
            began = time.monotonic()
            await asyncio.sleep(0)
            held = time.monotonic() - began
            for number, handle in enumerate(asks):
                await ana.answer(handle.ask_id, f"it is {number}")
            return list(await asyncio.wait_for(asyncio.gather(*waits), PATIENCE)), held

    values, held = asyncio.run(talk())
    assert values == [f"it is {number}" for number in range(MANY)]
    assert held < AT_ONCE


def test_cancelled_wait_leaves_the_client_as_good_as_it_was(server: ThrowawayServer) -> None:
    """The request ends with the task; the ask stays open and can be waited for again."""

    async def talk() -> object:
        async with server.async_client("agent", "coder") as agent:
            handle = await agent.open("Which?", ["red fox", "blue fox"])
            task = asyncio.create_task(handle.wait(PATIENCE))
            await asyncio.to_thread(wait_for, lambda: server.waiting > 0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            waiting = asyncio.create_task(handle.value(PATIENCE))
            await asyncio.to_thread(server.person().answer, handle.ask_id, "1")
            return await waiting

    assert asyncio.run(talk()) == "red fox"


def test_client_that_is_closed_in_its_loop_leaves_no_connection(server: ThrowawayServer) -> None:
    """Not to the server, and none that only the collector would find."""

    async def talk() -> None:
        async with server.async_client("agent", "coder") as agent:
            await agent.open("Which?", ["red fox", "blue fox"])
            assert server.connections == 1
        await asyncio.to_thread(wait_for, lambda: not server.connections)

    began = time.monotonic()
    asyncio.run(talk())
    assert time.monotonic() - began < KEPT_SECONDS  # before the server would have ended it by itself


def test_forked_children_use_their_parents_client(server: ThrowawayServer) -> None:
    """Nobody hears another's reply; the parent's connections go on."""
    agent = server.agent()
    handle = agent.open("Before the forks?", ["red fox", "blue fox"])
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                mine = agent.open(f"From child {number}?", key=f"child-{number}").ask
                is_mine = mine.prompt.title == f"From child {number}?"
                status = 0 if is_mine and agent.wait(handle.ask_id, PATIENCE).state is State.ANSWERED else 2
            finally:
                os._exit(status)
        children.append(child)
        assert agent.show(handle.ask_id).is_open
    server.person().answer(handle.ask_id, "1")
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert len(agent.inbox()) == 4


WAITER = """
    import os, sys
    import assent

    client = assent.connect(project="test")
    handle = client.open("Which?", ["a b", "c d"])
    print("waiting", flush=True)
    try:
        handle.wait()
    except KeyboardInterrupt:
        print("interrupted", client.show(handle.ask_id).state, flush=True)
"""


def people(server: ThrowawayServer, role: Role, name: str) -> dict[str, str]:
    """Return an environment for somebody's process, on the server."""
    environ = {key: value for key, value in os.environ.items() if key not in AGENT_MARKS}
    return environ | {
        "ASSENT_STORE": server.url,
        "ASSENT_TOKEN": server.token(role, name),
        "ASSENT_PROJECT": "test",
    }


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (["-c", textwrap.dedent(WAITER)], 0, b"interrupted open"),
        (["-m", "assent", "ask", "Which?", "--option", "a b", "--option", "c d"], 3, b""),
    ],
    ids=["python", "cli"],
)
def test_ctrl_c_ends_a_wait_at_once(
    server: ThrowawayServer, command: list[str], status: int, said: bytes
) -> None:
    """Long before the poll is over; the ask stays open."""
    waiter = subprocess.Popen(
        [sys.executable, *command],
        env=people(server, Role.AGENT, "coder"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for(lambda: server.waiting > 0)
        began = time.monotonic()
        waiter.send_signal(signal.SIGINT)
        out, err = waiter.communicate(timeout=PATIENCE)
    finally:
        waiter.kill()
    assert time.monotonic() - began < AT_ONCE < POLL_SECONDS
    assert waiter.returncode == status, err
    assert said in out
    assert b"Traceback" not in err
    assert server.person().count() == 1


def test_address_where_nobody_is_is_told_soon() -> None:
    """Not after a minute: the address is wrong, more likely than not."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    door, began = HttpDoor(f"http://127.0.0.1:{port}"), time.monotonic()
    with pytest.raises(UnreachableError, match="assent serve"):
        door._line.talk(door._do("list_projects"))
    assert time.monotonic() - began < PATIENCE / 2


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../../x", "a/b", "a?b=c", "a#b", "%2e%2e", "\x00", "\udcff", "é"]
)
def test_name_that_a_path_could_take_for_its_own_is_only_a_name(server: ThrowawayServer, name: str) -> None:
    """Nothing is found by it, and nothing else is done."""
    ana = server.person()
    for call in (ana.find_task, ana.find_notification, ana.revoke_token, ana.find_receipt):
        with pytest.raises(NotFoundError):
            call(name)
    assert server.store.person().log() == ana.log()
