"""`assent loop` hands its command's output on: to a file and to a server, and never at the loop's cost."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from assent import connect
from assent.client.client import Client
from assent.client.identity import AGENT_MARKS
from assent.protocol.run import Status
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import Shell, wait_for

__all__: list[str] = []

_WAIT = "while [ ! -e go ]; do sleep 0.02; done"
_SCRIPT = rf"printf 'one \303\266\n'; printf '\033[2Jtwo\n' >&2; {_WAIT}; echo last"


class Seat(NamedTuple):
    """Where a loop is started, and somebody who looks at it."""

    changes: dict[str, str | None]
    person: Client


@pytest.fixture(params=["file", "server"])
def seat(request: pytest.FixtureRequest, shell: Shell) -> Iterator[Seat]:
    """Give a store of each sort."""
    if request.param == "file":
        with connect(shell.store, project=shell.folder.name, principal="human:ana") as client:
            yield Seat({}, client)
        return
    with throwaway(project=shell.folder.name) as store, ThrowawayServer(store) as server:
        marks = dict.fromkeys(AGENT_MARKS)
        secret = server.token("agent", "coder")
        changes = marks | {
            "ASSENT_STORE": server.url,
            "ASSENT_TOKEN": secret,
            "ASSENT_PROJECT": shell.folder.name,
        }
        yield Seat(changes, store.person())


def test_output_of_a_loop_is_seen_while_its_command_runs_and_wholly_when_it_is_over(
    shell: Shell, seat: Seat
) -> None:
    """Standard output and standard error; escapes stay what they are, for boards to show as marks."""
    words = ("loop", "--run-id", "r1", "--max", "1", "--", "sh", "-c", _SCRIPT)
    process = shell.start(*words, stdin=subprocess.DEVNULL, **seat.changes)
    wait_for(lambda: bool(seat.person.runs(all_states=True)))
    wait_for(lambda: "two\n" in seat.person.read_output("r1").text)
    live = seat.person.read_output("r1")
    assert "one ö\n" in live.text
    assert "\x1b[2Jtwo\n" in live.text
    (shell.folder / "go").touch()
    ended = shell.finish(process)
    assert ended.status == 7, ended.err
    rest = seat.person.read_output("r1", live.written)
    assert rest.text == "last\n"
    assert seat.person.find_run("r1").status is Status.DONE


def test_output_of_a_loop_inside_a_loop_is_in_the_tail_once(shell: Shell) -> None:
    """The inner one's is output of the outer one's command."""
    script = f'{sys.executable} -m assent loop --max 1 -- echo "inner says hello"; true'
    ended = shell.run("loop", "--run-id", "r1", "--max", "1", "--", "sh", "-c", script)
    assert ended.status == 7, ended.err
    with connect(shell.store, project=shell.folder.name, principal="human:ana") as ana:
        assert ana.read_output("r1").text.count("inner says hello") == 1


def test_store_that_cannot_keep_the_tail_does_not_disturb_the_loop(shell: Shell) -> None:
    """The command's output goes where it always went, and the loop ends as it would have."""
    shell.run("ask", "Which?", "--no-wait")
    connection = sqlite3.connect(shell.store)
    try:
        connection.executescript(
            "CREATE TRIGGER no_tail BEFORE INSERT ON tails BEGIN SELECT RAISE(ABORT, 'no'); END;"
        )
    finally:
        connection.close()
    ended = shell.run("loop", "--run-id", "r1", "--max", "2", "--", "echo", "hello")
    assert (ended.status, ended.out) == (7, "hello\nhello\n")
    with connect(shell.store, project=shell.folder.name, principal="human:ana") as ana:
        assert ana.read_output("r1").written == 0
        assert ana.find_run("r1").reason == "MAX_ITERATIONS"
