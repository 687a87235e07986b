"""`assent log` and `assent audit`: the record, read and checked."""

import json
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing

import apsw
import pytest

from tests.cli.shell import PATIENCE, Result, Shell

__all__: list[str] = []

Call = Callable[..., Result]


def fill(call: Call) -> str:
    """Open an ask and answer it; open another."""
    ask_id = call("ask", "Which?", "-o", "Red", "-o", "Blue", "--no-wait").out.strip()
    call("answer", ask_id, "2")
    call("ask", "Next?", "--no-wait")
    return ask_id


def next_line(process: subprocess.Popen[bytes]) -> str:
    """Return the next line of standard output, or fail after a while."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE)[0]
    return process.stdout.readline().decode()


def test_log_is_a_line_an_event(call: Call) -> None:
    """Number, moment, type, subject, what."""
    ask_id = fill(call)
    lines = call("log").out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3"]
    assert lines[0].endswith(f"ask.opened            {ask_id[-6:]}  agent:ana asks: Which?")
    assert lines[1].endswith(f"ask.answered          {ask_id[-6:]}  ana: Blue (cli, declared)")
    assert call("log", "--after", "2").out.splitlines() == lines[2:]


def test_log_json_has_the_public_shape(call: Call) -> None:
    """One object a line, resumable by its sequence."""
    ask_id = fill(call)
    events = [json.loads(line) for line in call("log", "--json").out.splitlines()]
    assert [list(event) for event in events] == [["sequence", "type", "at", "data"]] * 3
    assert [event["type"] for event in events] == ["ask.opened", "ask.answered", "ask.opened"]
    assert events[1]["data"]["ask_id"] == ask_id
    assert events[1]["data"]["answer"]["values"] == {"q1": ["Blue"]}
    assert events[0]["at"].endswith("Z")


def test_log_follow_shows_events_as_they_come_and_ends_by_ctrl_c(shell: Shell) -> None:
    """Live, also from other processes; leaving is no failure."""
    first = shell.open("Which?", "-o", "Red", "-o", "Blue")
    following = shell.start("log", "--follow", "--json")
    assert json.loads(next_line(following))["data"]["ask_id"] == first
    shell.answer(first, "1")
    assert json.loads(next_line(following))["type"] == "ask.answered"
    following.send_signal(signal.SIGINT)
    assert following.wait(PATIENCE) == 0


def test_audit_of_a_whole_record_ends_with_0(call: Call) -> None:
    """In words and as JSON."""
    fill(call)
    assert call("audit", "verify").out == "1 project, 3 events, 2 asks: the record is whole.\n"
    found = call("audit", "verify", "--json")
    assert found.status == 0
    assert found.json == {
        "ok": True,
        "projects": 1,
        "events": 3,
        "asks": 2,
        "problems": [],
        "erased": 0,
        "runs": 0,
    }


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'Blue', 'Blux') AS BLOB)",
        "DELETE FROM asks WHERE rowid = 1",
    ],
)
def test_audit_of_a_changed_record_ends_with_1(call: Call, shell: Shell, damage: str) -> None:
    """Twin: the same store with one thing changed behind its back."""
    fill(call)
    with closing(apsw.Connection(str(shell.store))) as connection:
        connection.execute(damage)
        assert connection.changes() > 0
    found = call("audit", "verify", "--json")
    assert found.status == 1
    assert found.json["ok"] is False
    assert found.json["problems"]
    assert "wrong" in call("audit", "verify").out


def test_audit_alone_shows_its_help(call: Call) -> None:
    """A group without its command."""
    shown = call("audit")
    assert (shown.status, "verify" in shown.err) == (2, True)


def test_line_of_an_ending_says_how_and_why(shell: Shell) -> None:
    """A no with its reason, a lapsed deadline with its consequence."""
    declined = shell.run("ask", "Which?", "-o", "Red", "-o", "Blue", "--no-wait").out.strip()
    shell.run("answer", declined, "--decline", "--reason", "ask Sam")
    shell.run("ask", "Now?", "--no-wait", "--deadline", "0.01", "--consequence", "deny")
    shell.run("inbox")
    lines = shell.run("log").out.splitlines()
    assert lines[1].endswith(": ask Sam")
    assert lines[-1].endswith("nobody answered in time: deny")
