"""The main story, with real processes: an agent asks, a person answers elsewhere, whatever is killed in between."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assent
from assent.client.client import Client
from assent.protocol.ask import State
from tests.patience import PATIENCE
from tools.warm import spawn

__all__: list[str] = []


AGENT = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop") as client:
    handle = client.open("Which database?", ["PostgreSQL", "SQLite"], key="db")
    print(handle.ask_id, handle.ask.replayed, flush=True)
    try:
        print(handle.value(), flush=True)
    except assent.NoAnswer as outcome:
        print(outcome.code, flush=True)
"""
PERSON = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop", principal="human:ana") as client:
    [ask] = client.inbox()
    if sys.argv[2] == "decline":
        client.decline(ask.ask_id, "no time")
    else:
        client.answer(ask.ask_id, sys.argv[2])
"""


class Started:
    """A process that was started, and its lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        command = [sys.executable, "-c", script, *map(str, arguments)]
        self.process: subprocess.Popen[str] = spawn(command, stdout=subprocess.PIPE, text=True, bufsize=1)

    def line(self) -> str:
        """Return its next line, in bounded time."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, "nothing was said in time"
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """Kill it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(PATIENCE) == -signal.SIGKILL

    def end(self) -> None:
        """Wait for its orderly end."""
        assert self.process.wait(PATIENCE) == 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / ".assent" / "assent.db"


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Started]]:
    """Give what starts processes on the store; what is left is killed."""
    started: list[Started] = []

    def begin(script: str, *arguments: object) -> Started:
        started.append(Started(script, path, *arguments))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.communicate(timeout=PATIENCE)


def look(path: Path) -> Client:
    """Return a client of this process on the same store."""
    return assent.connect(path, project="shop")


def test_agent_wakes_when_a_person_answers_from_another_process(
    path: Path, start: Callable[..., Started]
) -> None:
    """Ask in one process, answer in a second, woken in the first; the record tells all of it."""
    agent = start(AGENT)
    ask_id, replayed = agent.line().split()
    start(PERSON, "sqlite").end()
    assert agent.line() == "SQLite"
    agent.end()
    assert replayed == "False"
    with look(path) as client:
        kept = client.show(ask_id)
        assert kept.answer is not None
        assert (kept.answer.by, kept.answer.via) == ("human:ana", "python")
        audit = client.verify()
        assert (audit.events, audit.problems) == (2, ())


def test_declined_ask_wakes_the_agent_with_its_outcome(start: Callable[..., Started]) -> None:
    """A person's no is told as one."""
    agent = start(AGENT)
    agent.line()
    start(PERSON, "decline").end()
    assert agent.line() == "declined"
    agent.end()


@pytest.mark.parametrize("moment", ["while it is down", "after it came back"])
def test_killed_agent_finds_its_ask_again_by_its_key(
    path: Path, start: Callable[..., Started], moment: str
) -> None:
    """The same ask, asked once, with its answer, whether that came before or after the restart."""
    first = start(AGENT)
    ask_id, _ = first.line().split()
    first.kill()
    with look(path) as client:
        assert [ask.ask_id for ask in client.inbox()] == [ask_id]
    if moment == "while it is down":
        start(PERSON, "2").end()
    second = start(AGENT)
    assert second.line() == f"{ask_id} True"
    if moment == "after it came back":
        start(PERSON, "2").end()
    assert second.line() == "SQLite"
    second.end()
    with look(path) as client:
        assert [record.type for record in client.log()] == ["ask.opened", "ask.answered"]
        assert client.verify().problems == ()


def test_agent_that_died_leaves_its_ask_open(path: Path, start: Callable[..., Started]) -> None:
    """Decided rule 12: nothing ends it by itself; killed again and again it is still one open ask."""
    ids = set()
    for _ in range(3):
        agent = start(AGENT)
        ids.add(agent.line().split()[0])
        agent.kill()
    with look(path) as client:
        [ask] = client.inbox(all_states=True)
        assert ids == {ask.ask_id}
        assert (ask.state, ask.answer, ask.outcome) == (State.OPEN, None, None)


def test_many_agents_that_wait_all_wake(start: Callable[..., Started]) -> None:
    """Several processes share the key; one answer wakes every one of them."""
    agents = [start(AGENT) for _ in range(3)]
    assert len({agent.line().split()[0] for agent in agents}) == 1
    start(PERSON, "1").end()
    assert [agent.line() for agent in agents] == ["PostgreSQL"] * 3
    for agent in agents:
        agent.end()


def test_interrupted_agent_leaves_its_ask_open(path: Path, start: Callable[..., Started]) -> None:
    """Ctrl-C ends the wait, not the ask, and leaves no socket behind, whichever moment it hits."""
    agent = start("import sys; sys.stderr = open('/dev/null', 'w')\n" + AGENT)
    ask_id, _ = agent.line().split()
    agent.process.send_signal(signal.SIGINT)
    assert agent.process.wait(PATIENCE) != 0
    with look(path) as client:
        assert client.show(ask_id).is_open
    runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / "assent"
    assert not list(runtime.glob(f"*/{agent.process.pid}-*"))
