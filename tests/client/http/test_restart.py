"""A server that goes away and comes back: whoever waited waits on, what was sent is done once, drivers drive on."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from assent.client.client import Client
from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import State
from assent.protocol.error import RunTakenError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS
from assent.testing import ThrowawayStore, throwaway
from tests.client.http.process import ServerProcess
from tests.patience import PATIENCE
from tools.warm import spawn

__all__: list[str] = []

RUN_ID = "loop-1703123456-12345"
WAYS = [signal.SIGTERM, signal.SIGKILL]
READY = b"driving"

Join = Callable[[Role, str], Client]


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store on the clock of this machine."""
    with throwaway() as made:
        yield made


@pytest.fixture
def server(store: ThrowawayStore) -> Iterator[ServerProcess]:
    """Give a server in a process of its own."""
    store.hub()  # the store is there before it
    with ServerProcess(store.path) as made:
        yield made


@pytest.fixture
def secret(store: ThrowawayStore) -> Callable[[Role, str], str]:
    """Give what makes tokens."""
    minter = store.person("minter", project="keys", assurance=Assurance.TERMINAL)
    return lambda role, name: minter.create_token(role, name=name, projects=(ALL_PROJECTS,))[1]


@pytest.fixture
def join(store: ThrowawayStore, server: ServerProcess, secret: Callable[[Role, str], str]) -> Join:
    """Give what makes clients of the server."""
    return lambda role, name: Client(server.door(secret(role, name)), store.project, Principal(role, name))


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Give threads."""
    with ThreadPoolExecutor(8) as made:
        yield made


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something is true; fail after a while."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came true"
        threading.Event().wait(0.02)


def types(client: Client) -> list[str]:
    """Return the types of the project's events."""
    return [record.type for record in client.log()]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_wait_goes_on_while_the_server_is_away_and_the_answer_arrives_once(
    store: ThrowawayStore, server: ServerProcess, join: Join, pool: ThreadPoolExecutor, way: signal.Signals
) -> None:
    """It is answered beside the server, before that is back."""
    agent = join(Role.AGENT, "coder")
    handle = agent.open("Which?", ["red fox", "blue fox"])
    waiting: Future[object] = pool.submit(handle.value, PATIENCE)
    server.end(way)
    store.person().answer(handle.ask_id, "2")
    assert not waiting.done()
    server.start()
    assert waiting.result(PATIENCE) == "blue fox"
    assert types(store.person()) == ["ask.opened", "ask.answered"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_commands_that_are_sent_while_the_server_is_away_are_done_once_when_it_is_back(
    store: ThrowawayStore, server: ServerProcess, join: Join, pool: ThreadPoolExecutor, way: signal.Signals
) -> None:
    """An ask and an answer, each by somebody whom the server knew."""
    agent, ana = join(Role.AGENT, "coder"), join(Role.HUMAN, "ana")
    first = agent.open("Which?", ["red fox", "blue fox"])
    assert ana.count() == 1
    server.end(way)
    asking = pool.submit(agent.open, "And then?", key="then")
    answering = pool.submit(ana.answer, first.ask_id, "1")
    server.start()
    assert asking.result(PATIENCE).ask.is_open
    assert answering.result(PATIENCE).state is State.ANSWERED
    assert sorted(types(store.person())) == ["ask.answered", "ask.opened", "ask.opened"]


def test_feed_goes_on_after_a_restart_without_a_gap(
    store: ThrowawayStore, server: ServerProcess, join: Join
) -> None:
    """What happened meanwhile comes, in order and once."""
    agent, ana = join(Role.AGENT, "coder"), join(Role.HUMAN, "ana")
    feed = ana.follow()
    agent.open("First?")
    assert next(feed).sequence == 1
    server.end(signal.SIGKILL)
    store.agent().open("Second?")
    server.start()
    agent.open("Third?")
    assert [next(feed).sequence for _ in range(2)] == [2, 3]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_driver_goes_on_after_a_restart_and_holds_its_run_again(
    server: ServerProcess, join: Join, way: signal.Signals
) -> None:
    """Nobody else gets it then, and it ends as it would have."""
    agent, rival = join(Role.AGENT, "coder"), join(Role.AGENT, "rival")
    with agent.run(run_id=RUN_ID, max=3) as run:
        turns = iter(run)
        assert next(turns).number == 1
        server.end(way)
        server.start()
        wait_until(lambda: rival.is_driven(run.state))
        with pytest.raises(RunTakenError), rival.run(run_id=RUN_ID):
            pass
        assert [turn.number for turn in turns] == [2, 3]
    kept = rival.find_run(RUN_ID)
    assert (kept.fence, kept.reason) == (1, "MAX_ITERATIONS")
    assert not rival.is_driven(kept)


DRIVER = f"""
    import os, sys, threading
    import assent

    with assent.connect(os.environ["ASSENT_STORE"], project="test").run(run_id="{RUN_ID}", max=2) as run:
        for turn in run:
            print("driving", turn.number, flush=True)
            threading.Event().wait()
"""


def test_driver_that_is_killed_lets_go_and_the_next_one_takes_over(
    server: ServerProcess, join: Join, secret: Callable[[Role, str], str]
) -> None:
    """Within a few seconds, at the iteration that was interrupted."""
    environ = {name: value for name, value in os.environ.items() if name not in AGENT_MARKS}
    environ |= {"ASSENT_STORE": server.url, "ASSENT_TOKEN": secret(Role.AGENT, "coder")}
    child = spawn([sys.executable, "-c", textwrap.dedent(DRIVER)], env=environ, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(READY)
        agent = join(Role.AGENT, "coder")
        assert agent.is_driven(agent.find_run(RUN_ID))
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=PATIENCE)
    wait_until(lambda: not agent.is_driven(agent.find_run(RUN_ID)))
    with agent.run(run_id=RUN_ID, max=2) as run:
        seen = [(turn.number, turn.attempt) for turn in run]
    assert seen == [(1, 2), (2, 1)]
    assert run.state.fence == 2
