"""`assent log` and `assent audit`: the record, read and checked."""

import json
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from typing import get_args

import apsw
import pytest

from assent.cli.log_line import _WORDS, render_record
from assent.hub.record import Recorded
from assent.protocol.display import display
from assent.storage.port import Record
from tests.cli.drive import begun
from tests.cli.shell import Result, Shell
from tests.patience import PATIENCE

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
    assert lines[0].endswith(f"ask.opened             {ask_id[-6:]}  agent:ana asks: Which?")
    assert lines[1].endswith(f"ask.answered           {ask_id[-6:]}  ana: Blue (cli, declared)")
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
        "ahead": 0,
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
    assert lines[1].endswith(": ask Sam (cli, declared)")
    assert lines[-1].endswith("nobody answered in time: deny")


RUN = "loop-1703123456-12345"


def test_log_tells_the_story_of_a_run_in_words(call: Call, shell: Shell) -> None:
    """Who started and steered it, what was asked of it, and what came of it."""
    with begun(shell, RUN, mode="issue", model="haiku", title="Fix the tests") as run:
        call("pause", RUN, "--request-id", "req-pause-001")
        call("escalate", RUN, "--reason", "stuck", "--request-id", "req-escalate-001")
        call("resume", RUN)
        with run.nested("loop", max=3) as inner:
            next(inner)
        next(run)
    call("pause", RUN)
    call("post", "notes", '{"a": 1}')
    told = [line[28:].split(maxsplit=1) for line in call("log").out.splitlines()]
    story = {type_: " ".join(rest.split()) for type_, rest in told}
    assert {type_: story[type_] for type_ in story if not type_.startswith("control")} == {
        "run.started": f"{RUN} agent:coder starts it (issue, up to 10 iterations, haiku): Fix the tests",
        "run.turn_begun": f"{RUN} iteration 2 begins",
        "run.turn_ended": f"{RUN} iteration 2 is over",
        "run.paused": f"{RUN} ana paused it",
        "run.escalated": f"{RUN} ana escalated it to opus: stuck",
        "run.resumed": f"{RUN} ana resumed it",
        "run.frame_pushed": f"{RUN} a loop inside it begins (loop, up to 3 iterations, opus)",
        "run.frame_popped": f"{RUN} the loop inside it is over: COMPLETE",
        "run.done": f"{RUN} done: COMPLETE",
        "topic.posted": 'notes ana: {"a":1}',
    }
    text = call("log").out
    assert f"se-001  ana sends REQUEST pause to {RUN}" in text
    assert f"se-001  ACK pause for {RUN}\n" in text
    assert f"se-001  RESULT pause for {RUN}: success: Loop paused at iteration 1" in text
    assert f"RESULT escalate for {RUN}: success: haiku -> opus" in text
    assert f"RESULT pause for {RUN}: failure not_found: Run {RUN} is not active" in text


def test_every_event_has_its_words() -> None:
    """A new kind of event is not printed bare by oversight; a flow's steps are told by their number alone."""
    types = {kind.__struct_config__.tag for kind in get_args(Recorded)}
    assert types - set(_WORDS) == {"flow.stepped"}
    assert set(_WORDS) - types == set()


def test_subject_of_every_event_stands_in_one_column() -> None:
    """The column of types is as wide as the longest of them."""
    types = [str(kind.__struct_config__.tag) for kind in get_args(Recorded)]
    lines = [render_record(Record("p", 7, 0, each, "123456", None, b"", b"")) for each in types]
    assert {line.find("123456") for line in lines} == {
        len("    7  1970-01-01 00:00:00  ") + max(map(len, types)) + 2
    }


def test_event_of_an_unknown_type_is_still_a_line() -> None:
    """A newer Assent may have written it."""
    record = Record("p", 7, 0, "moon.rose", "ask_123456", b'{"type": "moon.rose"}', b"", b"")
    assert render_record(record) == "    7  1970-01-01 00:00:00  moon.rose              123456"


def test_log_of_a_cancelled_run_says_why_its_asks_ended(call: Call, shell: Shell) -> None:
    """In the words that the agent is told."""
    with begun(shell, RUN):
        call("ask", "Which?", "--no-wait")
        shell.open("Why?", ASSENT_RUN_ID=RUN)
        call("cancel", RUN)
    lines = [line[28:] for line in call("log").out.splitlines()[-2:]]
    assert lines[0].endswith(f"{RUN}  ana cancelled it")
    assert lines[1].endswith(f"ana cancelled the run {RUN}.")


@pytest.mark.parametrize("text", ["\x1b[2J\x1b]0;t\x07", "\u202e\x9b2J", "a\nb\r\nc"])
def test_hostile_words_of_runs_and_topics_are_inert_in_the_log(call: Call, shell: Shell, text: str) -> None:
    """Titles, models, reasons, notes and messages are somebody's words."""
    with suppress(ValueError), begun(shell, RUN, model="hai\u3164ku", title=text, filter=text):
        call("escalate", RUN, "--reason", text)
        call("post", "notes", json.dumps({text: text}, ensure_ascii=False))
        call("post", "loop:control", json.dumps({"request_id": text, "command": text}, ensure_ascii=False))
        raise ValueError(text)
    shown = call("log")
    assert shown.status == 0
    assert shown.out.replace("\n", "").isprintable()
    assert len(shown.out.splitlines()) == len(call("log", "--json").out.splitlines())
    assert f"aborted: ERROR: ValueError: {display(text, lines=False)}" in shown.out
