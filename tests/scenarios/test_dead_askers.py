"""Whoever waits for an ask of their own and is killed is seen to be gone: on a file, over a server and on a database."""

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import psycopg
import pytest

import assent
from assent.client.client import Client
from assent.client.http.door import HttpDoor
from assent.protocol.error import StillOpen
from assent.protocol.principal import parse_principal
from tests.cli.shell import Shell, wait_for
from tests.scenarios.test_server_questions import Served, make_token

__all__: list[str] = []

ASKING = ("ask", "Deploy?", "-o", "yes", "-o", "no", "--key", "deploy")
GONE = "its asker is gone: the answer is kept for whoever asks again"


class World:
    """A store behind one door, askers that are processes, and somebody who looks."""

    def __init__(
        self, shell: Shell, look: Client, leases: Callable[[], set[str]], environ: Mapping[str, str | None]
    ) -> None:
        self.shell = shell
        self.look = look
        self.leases = leases
        self.environ = environ

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start an asker; return it once it waits."""
        process = self.shell.start(*ASKING, *options, stdin=subprocess.DEVNULL, **self.environ)
        wait_for(lambda: bool(self.look.inbox()))
        ask_id = self.look.inbox()[0].ask_id
        wait_for(lambda: ask_id in self.leases())
        return process

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command to its end."""
        ran = self.shell.run(*arguments, typed=None, **self.environ)
        assert ran.status in {0, 3}, ran.err
        return ran.status, ran.out

    def is_gone(self) -> bool:
        """Say whether the only ask says that whoever waited for it is gone."""
        [ask] = self.look.inbox()
        return ask.is_asker_gone


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in an empty folder; what it started is ended with the test."""
    folder = tmp_path / "shop"
    folder.mkdir()
    made = Shell(folder)
    yield made
    made.close()


def read_files(shell: Shell) -> set[str]:
    """Return the asks that are waited for, or were by somebody who died, as the store's side files say."""
    waited: set[str] = set()
    with suppress(FileNotFoundError):  # whoever waits no longer takes their own away
        for path in Path(f"{shell.store}-waits").iterdir():
            lines = path.read_text(encoding="utf-8").split("\n")
            waited |= {
                line[1:] for line in lines if lines.count(f"+{line[1:]}") > lines.count(f"-{line[1:]}")
            }
    return waited


def read_rows(url: str) -> set[str]:
    """Return the same as a database says it."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT name FROM assent.holds").fetchall()
    return {name.removeprefix("wait:") for (name,) in found}


@pytest.fixture(params=["file", "server", "database"])
def world(request: pytest.FixtureRequest, shell: Shell) -> Iterator[World]:
    """Give a world behind each door."""
    door: AbstractContextManager[Client]
    environ: Mapping[str, str | None]
    if request.param == "file":
        door = shell.client(parse_principal("human:ana"))
        environ, leases = {}, lambda: read_files(shell)
    elif request.param == "server":
        agent, person = make_token(shell, "agent", "coder"), make_token(shell, "human", "ana")
        url = Served(shell).url
        door = Client(HttpDoor(url, person), "shop", parse_principal("human:ana"))
        environ = {"ASSENT_STORE": url, "ASSENT_TOKEN": agent, "ASSENT_PROJECT": "shop"}
        leases = lambda: read_files(shell)  # noqa: E731 - one of three
    else:
        url = request.getfixturevalue("database")
        door = assent.connect(url, project="shop", principal="human:ana")
        environ = {"ASSENT_STORE": url, "ASSENT_PROJECT": "shop"}
        leases = lambda: read_rows(url)  # noqa: E731 - one of three
    with door as look:
        yield World(shell, look, leases, environ)


def test_asker_that_is_killed_is_seen_to_be_gone_and_its_answer_is_kept(world: World) -> None:
    """Decision 12: the ask stays open and says so; whoever asks again under the same key gets the answer."""
    asker = world.start()
    assert not world.is_gone()
    asker.send_signal(signal.SIGKILL)
    asker.wait()
    wait_for(world.is_gone)
    [ask] = world.look.inbox()
    assert world.look.show(ask.ask_id).is_asker_gone
    assert GONE in " ".join(world.run("inbox", "--here")[1].split())
    assert GONE in " ".join(world.run("show", ask.ask_id)[1].split())
    assert '"is_asker_gone":true' in world.run("inbox", "--here", "--json")[1]
    assert '"is_asker_gone":true' in world.run("show", ask.ask_id, "--json")[1]
    answered = world.look.answer(ask.ask_id, "yes")
    assert not answered.is_asker_gone
    assert not world.look.show(ask.ask_id).is_asker_gone
    assert world.run(*ASKING) == (0, "yes\n")


def test_asker_that_comes_again_is_not_gone_and_can_leave_in_order(world: World) -> None:
    """The next process of the same asker waits where the dead one did; Ctrl-C, or a wait that lapses, is no death."""
    dead = world.start()
    dead.send_signal(signal.SIGKILL)
    dead.wait()
    wait_for(world.is_gone)
    again = world.shell.start(*ASKING, stdin=subprocess.DEVNULL, **world.environ)
    wait_for(lambda: not world.is_gone())
    again.send_signal(signal.SIGINT)
    world.shell.finish(again)
    assert again.returncode == 3  # still open
    [ask] = world.look.inbox()
    wait_for(lambda: ask.ask_id not in world.leases())  # nor will it be
    assert not world.look.show(ask.ask_id).is_asker_gone
    assert not world.is_gone()


def test_asker_that_leaves_in_order_is_not_gone(world: World) -> None:
    """A wait that lapses, and an ask that nobody waits for; the record has nothing of who waits."""
    assert world.run(*ASKING, "--no-wait")[0] == 0
    assert not world.is_gone()
    assert world.run(*ASKING, "--wait", "0.3")[0] == 3
    [ask] = world.look.inbox()
    wait_for(lambda: ask.ask_id not in world.leases())
    assert not world.is_gone()
    types = [record.type for record in world.look.log() if not record.type.startswith("token.")]
    assert types == ["ask.opened"]


def test_person_who_waits_and_is_killed_is_no_asker(world: World) -> None:
    """Whoever else waits for the end of an ask can go without a trace: nobody waits for them."""
    world.run(*ASKING, "--no-wait")
    [ask] = world.look.inbox()
    with pytest.raises(StillOpen):
        world.look.wait(ask.ask_id, 0.1)
    assert ask.ask_id not in world.leases()


def test_asker_outlives_its_server_and_is_seen_to_die_after_it(shell: Shell) -> None:
    """A server that is killed knows of nobody; those who live come again, and those who do not are gone."""
    agent, person = make_token(shell, "agent", "coder"), make_token(shell, "human", "ana")
    server = Served(shell)
    environ = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": agent, "ASSENT_PROJECT": "shop"}
    with Client(HttpDoor(server.url, person), "shop", parse_principal("human:ana")) as look:
        world = World(shell, look, lambda: read_files(shell), environ)
        asker = world.start()
        server.end(signal.SIGKILL)
        server.start()
        wait_for(lambda: not world.is_gone())
        asker.send_signal(signal.SIGKILL)
        asker.wait()
        wait_for(world.is_gone)
        assert server.end(signal.SIGTERM) == 0
        server.start()
        assert world.is_gone()
