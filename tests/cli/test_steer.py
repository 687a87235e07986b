"""`assent pause`, `resume`, `cancel` and `escalate`: a person steers, from another process, and is told the truth."""

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assent.hub import hub as hub_module
from assent.protocol.error import StoreBusyError
from assent.protocol.run import Status
from tests.cli.drive import Driver, agent_of, begun, look
from tests.cli.shell import Result, Shell, wait_for
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]

RUN = "loop-1703123456-12345"
COMMANDS = ["pause", "resume", "cancel", "escalate"]


def messages(shell: Shell, topic: str) -> list[tuple[int, dict[str, Any]]]:
    """Return a topic's messages with their numbers."""
    with agent_of(shell) as client:
        return [(message.sequence, json.loads(bytes(message.body))) for message in client.read(topic)]


# What each of them does


@proves("I5", "I9", "I10", "I28")
def test_pause_holds_the_next_iteration_until_resume(shell: Shell) -> None:
    """The driver is another process and is never asked: its next iteration begins after the resume, and not before."""
    driver = Driver(shell)
    assert driver.says() == "1 haiku 1"
    paused = shell.run("pause", RUN)
    assert (paused.status, paused.out) == (0, "Loop paused at iteration 1\n")
    assert paused.err == "Iteration 1 is still under way and finishes first; no further one starts.\n"
    driver.go_on()
    wait_for(lambda: not look(shell, RUN).top.is_open)
    assert look(shell, RUN).status is Status.PAUSED
    resumed = shell.run("resume", RUN)
    assert (resumed.status, resumed.out, resumed.err) == (0, "Loop resumed at iteration 1\n", "")
    assert driver.says() == "2 haiku 1"
    results = [number for number, body in messages(shell, "loop:control") if body["type"] == "RESULT"]
    second = next(number for number, body in messages(shell, "loop:current") if body["stack"][0]["iter"] == 2)
    assert second > results[1]


@proves("I11")
def test_cancel_ends_the_run_and_its_asks(shell: Shell) -> None:
    """It names what ended; the driver begins nothing more, and an ask of the run says why nobody waits for it."""
    driver = Driver(shell, mode="grind")
    assert driver.says() == "1 haiku 1"
    asks = [shell.open(title, ASSENT_RUN_ID=RUN) for title in ("Which?", "Why?")]
    other = shell.open("Unrelated?")
    cancelled = shell.run("cancel", RUN)
    assert (cancelled.status, cancelled.err) == (0, "")
    assert cancelled.out == (
        f'Run {RUN} was cancelled. It was "Fix the tests", at iteration 1 of 9. 2 open asks ended with it.\n'
    )
    driver.go_on()
    assert driver.says() == "aborted USER_CANCELLED"
    assert messages(shell, "loop:current")[-1][1] == {
        "schema": 1,
        "event": "ABORT",
        "reason": "USER_CANCELLED",
        "run_id": RUN,
        "stack": [],
    }
    assert [ask.ask_id for ask in shell.waiting()] == [other]
    shown = " ".join(shell.run("show", asks[0]).out.split())
    assert f"Ended: withdrawn. ana cancelled the run {RUN}. The ask ended with it at " in shown


@proves("I12", "I27")
def test_escalate_gives_the_next_iteration_a_stronger_model(shell: Shell) -> None:
    """Without a name it is opus; the reason is in the run's state."""
    driver = Driver(shell)
    assert driver.says() == "1 haiku 1"
    told = shell.run("escalate", RUN, "--reason", "stuck on types")
    assert (told.status, told.out) == (0, f"Run {RUN}: haiku -> opus from the next iteration on.\n")
    driver.go_on()
    assert driver.says() == "2 opus 1"
    frame = look(shell, RUN).top.frame
    assert (frame.model, frame.escalation_reason) == ("opus", "stuck on types")
    named = shell.run("escalate", RUN, "--model", "sonnet", "--json")
    assert named.json["payload"] == {"status": "success", "previous_model": "opus", "new_model": "sonnet"}


def test_run_without_a_model_gets_its_first_by_escalating(call: Call, shell: Shell) -> None:
    """There is nothing to name on the left."""
    with begun(shell, RUN):
        assert call("escalate", RUN).out == f"Run {RUN}: opus from the next iteration on.\n"


@proves("I25")
def test_json_is_the_result_message_as_it_stands_on_the_topic(call: Call, shell: Shell) -> None:
    """Success and failure alike; the issue is repeated."""
    with begun(shell, RUN):
        good = call("pause", RUN, "--json", "--issue", "auth-123")
        bad = call("pause", RUN, "--json")
        results = [body for _, body in messages(shell, "loop:control") if body["type"] == "RESULT"]
        assert [good.json, bad.json] == results
    assert (good.status, bad.status) == (0, 4)
    assert list(good.json) == ["schema", "type", "request_id", "command", "target", "timestamp", "payload"]
    assert good.json["target"] == {"run_id": RUN, "issue_id": "auth-123"}
    assert good.json["payload"] == {"status": "success", "message": "Loop paused at iteration 1"}
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", good.json["request_id"]
    )
    assert bad.json["payload"]["code"] == "invalid_state"


@proves("I30", "I33")
def test_same_request_id_is_executed_once(call: Call, shell: Shell) -> None:
    """A retry gets the RESULT again, though the command would now be refused."""
    with begun(shell, RUN):
        first = call("pause", RUN, "--request-id", "abc123")
        again = call("pause", RUN, "--request-id", "abc123")
        assert (first.status, first.out) == (again.status, again.out) == (0, "Loop paused at iteration 1\n")
        other = call("resume", RUN, "--request-id", "abc123")
        assert (other.status, other.err) == (4, "Request ID was already processed (duplicate).\n")
        assert look(shell, RUN).status is Status.PAUSED


def test_empty_request_id_is_refused(call: Call, shell: Shell) -> None:
    """A script whose variable was empty would send a new command every time."""
    with begun(shell, RUN):
        assert call("pause", RUN, "--request-id", "").status == 2
        assert look(shell, RUN).status is Status.RUNNING


# What is refused


@proves("I37", "I38")
@pytest.mark.parametrize("command", COMMANDS)
def test_run_that_ended_or_never_was_is_not_found(call: Call, shell: Shell, command: str) -> None:
    """The REQUEST is sent all the same, and gets the text's own sentence."""
    with begun(shell, "loop-completed-xyz"):
        pass
    for run_id in ("loop-completed-xyz", "nosuch"):
        refused = call(command, run_id)
        assert (refused.status, refused.out) == (4, "")
        assert refused.err == f"Run {run_id} is not active (not_found). assent runs shows what is active.\n"
    assert [body["type"] for _, body in messages(shell, "loop:control")] == ["REQUEST", "RESULT"] * 2


@proves("I39")
def test_command_that_is_impossible_now_is_refused(call: Call, shell: Shell) -> None:
    """The state stays as it is."""
    with begun(shell, RUN, model="opus"):
        refused = [call("resume", RUN), call("escalate", RUN)]
        assert look(shell, RUN).status is Status.RUNNING
    assert [result.status for result in refused] == [4, 4]
    assert refused[0].err == f"Run {RUN} is not paused (invalid_state).\n"
    assert refused[1].err == f"Run {RUN} is on opus already (invalid_state).\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_agent_is_refused_before_anything_is_sent(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """An agent that could resume its own run would not be paused."""
    for name, value in (("ASSENT_RUN_ID", RUN), ("CLAUDECODE", "1"), ("ASSENT_PRINCIPAL", "agent:x")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            refused = call(command, RUN)
        assert (refused.status, refused.out) == (4, "")
        assert f"{name} is set, so an agent runs this command, and only a person can" in refused.err
        assert "steer runs" in refused.err
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("run_id", ["", "two words", "esc\x1b[2J", "x" * 201])
def test_text_that_is_no_run_id_is_refused(call: Call, shell: Shell, run_id: str) -> None:
    """Nothing is sent, and nothing is made."""
    refused = call("pause", run_id)
    assert (refused.status, "is no run id" in refused.err) == (2, True)
    assert list(shell.folder.iterdir()) == []


# Which run is meant


@pytest.mark.parametrize("part", ["grind-179", "4127", "grind-1794773100-4127"])
def test_beginning_or_end_of_an_active_id_is_enough(call: Call, shell: Shell, part: str) -> None:
    """At least four characters of it."""
    with begun(shell, RUN), begun(shell, "grind-1794773100-4127"):
        assert call("pause", part).status == 0
        assert look(shell, RUN).status is Status.RUNNING


def test_part_that_means_several_runs_is_not_guessed_at(call: Call, shell: Shell) -> None:
    """Status 1, and which ones; a part of three characters means none."""
    with begun(shell, "loop-1-100"), begun(shell, "loop-2-100"):
        refused = call("cancel", "loop-")
        assert (refused.status, refused.out) == (1, "")
        assert refused.err.startswith('"loop-" may mean 2 runs: ')
        assert "loop-1-100 in shop" in refused.err
        assert call("cancel", "1-1").status == 4
        assert all(look(shell, run_id).is_active for run_id in ("loop-1-100", "loop-2-100"))


def test_whole_id_elsewhere_wins_over_a_part_here(call: Call, shell: Shell) -> None:
    """Nobody cancels deploy-2 who typed deploy and has a run of that name."""
    with begun(shell, "deploy-2"), begun(shell, "deploy", project="annex"):
        assert call("cancel", "deploy").status == 0
        assert look(shell, "deploy-2").is_active
        assert not look(shell, "deploy", "annex").is_active


def test_run_of_an_ended_name_is_not_taken_for_another(call: Call, shell: Shell) -> None:
    """The run that was meant is over; the one whose id begins so is left alone."""
    with begun(shell, "deploy"):
        pass
    with begun(shell, "deploy-2"):
        assert call("cancel", "deploy").status == 4
        assert look(shell, "deploy-2").is_active


def test_run_is_found_in_other_projects_and_stores(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Wherever this user works; a named project means that one only."""
    with begun(shell, RUN, project="annex"):
        assert call("pause", "12345", "--project", "shop").status == 4
        assert call("pause", "12345").status == 0
        other = tmp_path / "other"
        other.mkdir()
        monkeypatch.chdir(other)
        assert call("resume", RUN).status == 0
        assert look(shell, RUN, "annex").status is Status.RUNNING
        assert list(other.iterdir()) == []


# When things go wrong on the way


@contextmanager
def held_elsewhere(shell: Shell) -> Iterator[None]:
    """Hold the store's lock as another process would."""
    descriptor = os.open(f"{shell.store}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@proves("I29")
def test_command_that_nobody_acknowledges_expires(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 5, nothing is executed later, and the same id counts as first sight."""
    monkeypatch.setattr(hub_module, "BUSY_SECONDS", 0.05)
    with begun(shell, RUN):
        with held_elsewhere(shell):
            expired = call("pause", RUN, "--wait", "0.1", "--request-id", "late-1")
        assert (expired.status, expired.out) == (5, "")
        assert expired.err.endswith(f"executed once: assent pause {RUN} --request-id late-1\n")
        assert look(shell, RUN).status is Status.RUNNING
        assert call("pause", RUN, "--request-id", "late-1").status == 0


def test_acknowledged_command_without_a_result_ends_with_3(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It will be executed by whoever comes next; asked again under its id, there is the RESULT."""

    def busy(*_: object) -> Iterator[None]:
        yield from ()
        raise StoreBusyError

    with begun(shell, RUN):
        with monkeypatch.context() as patch:
            patch.setattr("assent.client.steer._execute", busy)
            open_still = call("pause", RUN, "--wait", "0.1", "--request-id", "slow-1")
        assert (open_still.status, open_still.out) == (3, "")
        assert open_still.err.startswith("The command was acknowledged, but its RESULT is not there yet.\n")
        again = call("pause", RUN, "--request-id", "slow-1")
        assert (again.status, again.out) == (0, "Loop paused at iteration 1\n")


def test_ctrl_c_while_it_is_sent_says_how_to_find_out(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may or may not have been done, and the command line says so instead of guessing."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with begun(shell, RUN):
        with monkeypatch.context() as patch:
            patch.setattr("assent.cli.steer.Wake.wait", interrupt)
            left = call("pause", RUN, "--request-id", "cut-1")
        assert left.status == 3
        assert f"send it again: assent pause {RUN} --request-id cut-1" in left.err
        assert call("pause", RUN, "--request-id", "cut-1").status == 0


def test_run_without_a_driver_can_be_steered_and_says_so(shell: Shell) -> None:
    """Whoever goes on with it is bound."""
    driver = Driver(shell)
    driver.says()
    driver.kill()
    paused = shell.run("pause", RUN)
    assert (paused.status, paused.out) == (0, "Loop paused at iteration 1\n")
    assert (
        paused.err
        == f"Nobody drives it just now; assent loop --run-id {RUN} -- … goes on with it, bound by this.\n"
    )


def test_hostile_models_and_titles_are_inert(call: Call, shell: Shell) -> None:
    """What an agent called its model or its run drives no terminal."""
    with begun(shell, RUN, model="hai\u3164ku", title="\x1b]0;t\x07"):
        told = [call("escalate", RUN), call("escalate", RUN, "--model", "opus"), call("cancel", RUN)]
    assert [result.status for result in told] == [0, 4, 0]
    assert "hai<U+3164>ku -> opus" in told[0].out
    assert 'It was "<U+001B>]0;t<U+0007>"' in told[2].out
    assert all((result.out + result.err).replace("\n", "").isprintable() for result in told)
