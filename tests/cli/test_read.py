"""`assent read`: a topic, whole and in order, also live and across processes."""

import json
import signal
from collections.abc import Callable

from tests.cli.drive import agent_of, begun, next_line
from tests.cli.shell import Result, Shell
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]

RUN = "loop-1703123456-12345"


def test_topic_is_read_from_its_first_message_in_order(call: Call) -> None:
    """One object a line; numbers rise and have gaps where other things happened."""
    for number in range(3):
        call("post", "notes", json.dumps({"n": number}))
        call("post", "other", "0")
    lines = [json.loads(line) for line in call("read", "notes").out.splitlines()]
    assert [list(line) for line in lines] == [["sequence", "topic", "posted_at", "body"]] * 3
    assert [(line["sequence"], line["body"]["n"]) for line in lines] == [(1, 0), (3, 1), (5, 2)]
    assert lines[0]["posted_at"].endswith("Z")
    after = call("read", "notes", "--after", "3").out.splitlines()
    assert [json.loads(line)["sequence"] for line in after] == [5]


def test_long_topic_is_read_whole(call: Call, shell: Shell) -> None:
    """Page by page, without a message lost or doubled between two."""
    with agent_of(shell) as client:
        for number in range(1_203):
            client.post("notes", number)
    bodies = [json.loads(line)["body"] for line in call("read", "notes").out.splitlines()]
    assert bodies == list(range(1_203))


def test_reading_where_no_store_is_makes_none(call: Call, shell: Shell) -> None:
    """Empty is not an error."""
    looked = call("read", "loop:current")
    assert (looked.status, looked.out, looked.err) == (0, "", "")
    assert list(shell.folder.iterdir()) == []


def test_topics_of_projects_are_apart(call: Call) -> None:
    """A topic is a part of its project's log."""
    call("post", "notes", "1", "--project", "annex")
    assert call("read", "notes").out == ""
    assert json.loads(call("read", "notes", "--project", "annex").out)["body"] == 1


@proves("I1", "I3", "I45")
def test_follow_shows_both_topics_live_across_processes(shell: Shell) -> None:
    """A third process cancels: its RESULT and then the ABORT come to two readers that were there before."""
    with begun(shell, RUN):
        control = shell.start("read", "loop:control", "--follow")
        current = shell.start("read", "loop:current", "--follow")
        assert json.loads(next_line(current))["body"]["event"] == "STATE"
        assert shell.run("cancel", RUN).status == 0
        commands = [json.loads(next_line(control)) for _ in range(3)]
        states = [json.loads(next_line(current)) for _ in range(2)]
    assert [(line["body"]["schema"], line["body"]["type"]) for line in commands] == [
        (0, "REQUEST"),
        (0, "ACK"),
        (0, "RESULT"),
    ]
    assert (states[-1]["body"]["schema"], states[-1]["body"]["event"]) == (1, "ABORT")
    assert commands[-1]["sequence"] < states[-1]["sequence"]
    for process in (control, current):
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_follow_goes_on_after_a_number(shell: Shell) -> None:
    """Whoever remembers the last number misses nothing and sees nothing twice."""
    shell.run("post", "notes", "1")
    shell.run("post", "notes", "2")
    following = shell.start("read", "notes", "--after", "1", "--follow")
    assert json.loads(next_line(following))["body"] == 2
    shell.run("post", "notes", "3")
    assert json.loads(next_line(following))["body"] == 3
    following.send_signal(signal.SIGINT)
    assert following.wait(PATIENCE) == 0


def test_follow_into_a_closed_pipe_ends_in_silence(shell: Shell) -> None:
    """As `| head` does it."""
    shell.run("post", "notes", "1")
    following = shell.start("read", "notes", "--follow")
    next_line(following)
    assert following.stdout is not None
    following.stdout.close()
    shell.run("post", "notes", "2")
    following.wait(PATIENCE)
    assert following.stderr is not None
    assert following.stderr.read() == b""
