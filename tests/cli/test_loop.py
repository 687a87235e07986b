"""`assent loop`: any command as a loop that people steer, as a real process with real children."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from assent import connect
from assent.client.client import Client
from assent.hosts.leftover import Leftovers
from assent.protocol.run import Run, Status
from tests.cli.shell import Shell, wait_for
from tests.patience import PATIENCE
from tests.proves import proves

_DONE = "<loop-done>COMPLETE</loop-done>"
_WAIT = "while [ ! -e go ]; do sleep 0.02; done"
"""An iteration that lasts until the test lets it go."""


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def ledger(shell: Shell) -> Path:
    """Give the file in which iterations note themselves."""
    return shell.folder / "ledger"


@pytest.fixture
def person(shell: Shell) -> Iterator[Client]:
    """Give somebody who steers, in another process than the loop's."""
    with connect(shell.store, project=shell.folder.name, principal="human:ana") as client:
        yield client


@pytest.fixture
def run(person: Client) -> Callable[[str], Run]:
    """Give a look at a run."""
    return person.find_run


def _begun(ledger: Path, count: int) -> None:
    wait_for(lambda: len(_lines(ledger)) >= count)


def test_a_loop_runs_its_command_with_the_prompt_until_it_says_done(shell: Shell, ledger: Path) -> None:
    """The prompt comes on standard input, the run in the environment, and {model} is filled in."""
    script = (
        'echo "$(cat) $ASSENT_ITERATION $ASSENT_ATTEMPT $ASSENT_MODEL {model} $ASSENT_RUN_ID $ASSENT_PROJECT"'
        f' >>ledger; [ "$ASSENT_ITERATION" = 3 ] && echo "{_DONE}"; true'
    )
    ended = shell.run(
        "loop", "--run-id", "r1", "--model", "haiku", "--prompt", "Fix it", "--", "sh", "-c", script
    )
    assert ended.status == 0, ended.err
    assert _lines(ledger) == [f"Fix it {number} 1 haiku haiku r1 shop" for number in (1, 2, 3)]
    assert ended.out == f"{_DONE}\n"
    assert "iteration 3 of 10, haiku" in ended.err
    assert "done: COMPLETE" in ended.err
    assert shell.run("audit", "verify").status == 0


def test_the_prompt_may_stand_in_a_word_or_come_through_a_pipe_or_from_a_file(shell: Shell) -> None:
    """However agents want it; a file is read again for each iteration."""
    in_a_word = shell.run("loop", "--max", "1", "--prompt", "a b", "--", "echo", "got {prompt} {}")
    assert in_a_word.out == "got a b {}\n"
    assert shell.run("loop", "--max", "1", "--", "cat", typed="piped").out == "piped"
    (shell.folder / "PROMPT.md").write_text("one\n")
    from_a_file = shell.run(
        "loop", "--max", "2", "--prompt-file", "PROMPT.md", "--", "sh", "-c", "cat; echo two >PROMPT.md"
    )
    assert from_a_file.out == "one\ntwo\n"


@pytest.mark.parametrize(
    ("options", "script", "status", "said"),
    [
        (["--max", "2"], "true", 7, "done: MAX_ITERATIONS, iteration 2 of 2"),
        ([], "echo '<loop-done>STUCK</loop-done>'", 7, "done: STUCK"),
        (["--mode", "grind", "--max", "1"], "true", 0, "done: MAX_ISSUES"),
        (["--mode", "grind"], "echo '<grind-done>NO_MORE_ISSUES</grind-done>'", 0, "NO_MORE_ISSUES"),
        (
            ["--mode", "issue"],
            "echo '<issue-complete>DONE</issue-complete>'",
            0,
            "done: COMPLETE, iteration 1 of 10",
        ),
        ([], "exit 9", 1, "aborted at iteration 1: The command ended with exit status 9."),
        ([], "kill -9 $$", 1, "The command ended with signal 9."),
        (["--keep-going", "--max", "2"], "exit 9", 7, "done: MAX_ITERATIONS, iteration 2 of 2"),
        ([], f"echo '{_DONE}'; exit 1", 1, "aborted"),
    ],
)
def test_the_exit_status_tells_how_the_loop_ended(
    shell: Shell, options: list[str], script: str, status: int, said: str
) -> None:
    """All reasons of DONE, and ABORT with ERROR: on an error no further iteration starts."""
    ended = shell.run("loop", *options, "--", "sh", "-c", script)
    assert ended.status == status, ended.err
    assert said in ended.err


def test_a_loop_that_cannot_begin_says_so_and_begins_no_run(shell: Shell) -> None:
    """Bad input changes nothing."""
    (shell.folder / "notes.txt").touch()
    for arguments, said in (
        ([], "Which command?"),
        (["--", "no-such-command-here"], "no-such-command-here is no command here."),
        (["--", "echo", "{model}"], "--model"),
        (["--", "echo", "{prompt}"], "--prompt"),
        (["--", "./notes.txt"], "./notes.txt cannot be executed."),
        (["--prompt", "a", "--prompt-file", sys.executable, "--", "cat"], "not both"),
        (["--run-id", "a b", "--", "true"], "is no run id"),
        (["--model", "haiku", "--models", "opus,sonnet", "--", "true"], "none of those declared"),
    ):
        ended = shell.run("loop", *arguments)
        assert ended.status == 2
        assert said in ended.err
        assert "Traceback" not in ended.err
    assert shell.run("runs", "--json", "--all").json == {"runs": []}


@proves("I5", "I9", "I10")
def test_a_paused_loop_finishes_its_iteration_and_begins_none_until_resumed(
    shell: Shell, ledger: Path, person: Client, run: Callable[[str], Run]
) -> None:
    """The RESULT comes while the iteration runs; `pausing` until it is over."""
    loop = shell.start(
        "loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", f"echo $ASSENT_ITERATION >>ledger; {_WAIT}"
    )
    _begun(ledger, 1)
    assert person.pause("r1").payload["message"] == "Loop paused at iteration 1"
    assert [shown["status"] for shown in shell.run("runs", "--json").json["runs"]] == ["pausing"]
    (shell.folder / "go").touch()
    wait_for(lambda: not run("r1").top.is_open)
    assert [shown["status"] for shown in shell.run("runs", "--json").json["runs"]] == ["paused"]
    assert _lines(ledger) == ["1"]
    person.resume("r1")
    ended = shell.finish(loop)
    assert ended.status == 7
    assert "paused; assent resume r1 goes on" in ended.err
    assert _lines(ledger) == ["1", "2"]


@proves("I9", "I10", "I44")
@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize(("command", "status"), [("resume", 0), ("cancel", 5)])
def test_a_loop_that_is_paused_in_its_last_iteration_is_held(
    shell: Shell,
    ledger: Path,
    person: Client,
    run: Callable[[str], Run],
    is_killed: bool,
    command: str,
    status: int,
) -> None:
    """On resume it is done without another iteration; its driver may die meanwhile, and a cancel is ABORT."""
    script = f"echo $ASSENT_ITERATION >>ledger; {_WAIT}; echo '{_DONE}'"
    words = ("loop", "--run-id", "r1", "--", "sh", "-c", script)
    loop = shell.start(*words)
    _begun(ledger, 1)
    person.pause("r1")
    (shell.folder / "go").touch()
    wait_for(lambda: run("r1").held == "COMPLETE")
    if is_killed:
        os.kill(loop.pid, signal.SIGKILL)
        shell.finish(loop)
        loop = shell.start(*words)
        wait_for(lambda: run("r1").fence == 2)
    assert run("r1").status is Status.PAUSED
    told = shell.run(command, "r1")
    assert told.status == 0
    assert ("it is done now (COMPLETE)" in told.err) is (command == "resume")
    ended = shell.finish(loop)
    assert ended.status == status, ended.err
    assert ("done: COMPLETE" in ended.err) is (command == "resume")
    assert _lines(ledger) == ["1"]


@proves("I12")
def test_an_escalated_loop_gives_the_next_iteration_the_new_model(
    shell: Shell, ledger: Path, person: Client
) -> None:
    """In the environment and in the command's words; the iteration under way keeps its own."""
    script = f"echo $ASSENT_MODEL {{model}} >>ledger; {_WAIT}"
    loop = shell.start("loop", "--run-id", "r1", "--max", "2", "--model", "haiku", "--", "sh", "-c", script)
    _begun(ledger, 1)
    assert person.escalate("r1", "opus", reason="stuck").payload["previous_model"] == "haiku"
    (shell.folder / "go").touch()
    shell.finish(loop)
    assert _lines(ledger) == ["haiku haiku", "opus opus"]


@proves("I11")
def test_a_cancelled_loop_leaves_nothing_behind(shell: Shell, ledger: Path, person: Client) -> None:
    """Not what ignores the request, not what left the group, not what cleared its environment."""
    script = (
        'trap "" TERM; setsid sleep 611 & env -i PATH="$PATH" setsid sleep 612 & (trap "" TERM; sleep 613) &'
        " echo $ASSENT_ITERATION $ASSENT_LOOP >>ledger; sleep 614"
    )
    loop = shell.start("loop", "--run-id", "r1", "--grace", "0.3", "--", "sh", "-c", script)
    _begun(ledger, 1)
    asked = person.open("Which?", ["A", "B"], run_id="r1")
    person.cancel("r1")
    ended = shell.finish(loop)
    assert ended.status == 5, ended.err
    assert "cancelled by ana at iteration 1" in ended.err
    marks = {"ASSENT_RUN_ID": "r1", "ASSENT_LOOP": _lines(ledger)[0].split()[1]}
    assert Leftovers(marks).find() == []
    commands = [" ".join(each.info["cmdline"] or ()) for each in psutil.process_iter(["cmdline"])]
    assert commands
    assert not any(f"sleep 61{number}" in command for number in range(1, 5) for command in commands)
    told = shell.run("show", asked.ask_id)
    assert "ana cancelled the run r1" in told.out
    bodies = [json.loads(line)["body"] for line in shell.run("read", "loop:current").out.splitlines()]
    assert [body["event"] for body in bodies].count("ABORT") == 1
    assert bodies[-1] == {
        "schema": 1,
        "event": "ABORT",
        "reason": "USER_CANCELLED",
        "run_id": "r1",
        "stack": [],
    }


def test_a_cancel_is_heard_while_nobody_reads_the_output(shell: Shell, person: Client) -> None:
    """A full pager must not keep an agent alive."""
    loop = shell.start("loop", "--run-id", "r1", "--grace", "0.3", "--", "sh", "-c", "yes")
    kept = shell.store.parent / "assent.db-runs" / "shop" / "r1" / "0001.log"
    wait_for(lambda: kept.exists() and kept.stat().st_size > 300_000)
    person.cancel("r1")
    loop.wait(PATIENCE)
    assert loop.returncode == 5
    shell.finish(loop)


@proves("I44")
def test_a_killed_loop_is_gone_on_with_still_paused_and_says_what_it_repeats(
    shell: Shell, ledger: Path, person: Client, run: Callable[[str], Run]
) -> None:
    """After kill -9 its agent does not outlive it, the pause does, and the iteration runs again as attempt 2."""
    script = f"echo $ASSENT_ITERATION $ASSENT_ATTEMPT $ASSENT_LOOP >>ledger; {_WAIT}"
    words = ("loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", script)
    first = shell.start(*words)
    _begun(ledger, 1)
    person.pause("r1")
    os.kill(first.pid, signal.SIGKILL)
    shell.finish(first)
    marks = {"ASSENT_RUN_ID": "r1", "ASSENT_LOOP": _lines(ledger)[0].split()[2]}
    wait_for(lambda: not Leftovers(marks).find())
    second = shell.start(*words)
    wait_for(lambda: run("r1").fence == 2)
    assert run("r1").status is Status.PAUSED
    taken = shell.run(*words)
    assert taken.status == 6
    assert f":{second.pid} drives the run r1." in taken.err
    assert len(_lines(ledger)) == 1
    (shell.folder / "go").touch()
    person.resume("r1")
    ended = shell.finish(second)
    assert ended.status == 7
    assert "attempt 2, as it was interrupted before" in ended.err
    assert [line.split()[:2] for line in _lines(ledger)] == [["1", "1"], ["1", "2"], ["2", "1"]]
    again = shell.run(*words)
    assert again.status == 7
    assert "had ended before, and nothing was run" in again.err
    assert len(_lines(ledger)) == 3


def test_a_killed_loop_takes_even_that_along_which_cleared_its_environment(
    shell: Shell, ledger: Path
) -> None:
    """The guard knows the group of the command, and need not find its marks."""
    script = 'env -i PATH="$PATH" sleep 621 & echo $! $$ >>ledger; sleep 622'
    loop = shell.start("loop", "--run-id", "r1", "--grace", "0.3", "--", "sh", "-c", script)
    _begun(ledger, 1)
    os.kill(loop.pid, signal.SIGKILL)
    pids = [int(word) for word in _lines(ledger)[0].split()]
    wait_for(lambda: not any(_is_alive(pid) for pid in pids))
    shell.finish(loop)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_loop_that_is_told_to_stop_ends_its_command_and_leaves_the_run(
    shell: Shell, ledger: Path, run: Callable[[str], Run], number: int
) -> None:
    """Exit status 3, and how to go on."""
    loop = shell.start("loop", "--run-id", "r1", "--", "sh", "-c", "echo $ASSENT_LOOP >>ledger; sleep 615")
    _begun(ledger, 1)
    loop.send_signal(number)
    ended = shell.finish(loop)
    assert ended.status == 3, ended.err
    assert "assent loop --run-id r1" in ended.err
    assert run("r1").status is Status.RUNNING
    assert Leftovers({"ASSENT_RUN_ID": "r1", "ASSENT_LOOP": _lines(ledger)[0]}).find() == []


def test_what_a_command_leaves_in_the_background_does_not_hold_the_loop_up(shell: Shell) -> None:
    """A server that an agent started keeps the pipe open; the iteration is over when its command is."""
    ended = shell.run("loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", "sleep 616 & echo $!")
    assert ended.status == 7
    background = [int(line) for line in ended.out.split()]
    assert len(background) == 2
    for pid in background:
        os.kill(pid, signal.SIGKILL)  # still there: a finished run leaves it alone


def test_a_loop_inside_a_loop_is_a_frame_of_the_same_run(shell: Shell, ledger: Path) -> None:
    """Pushed and popped; what it asks and where it is belongs to the outer run."""
    assent = f"{sys.executable} -m assent"
    inner = (
        f"{assent} loop --mode issue --issue auth-1 --max 2 -- sh -c '{assent} runs --json >>ledger' || true"
    )
    ended = shell.run(
        "loop", "--mode", "grind", "--run-id", "g1", "--max", "1", "--model", "haiku", "--", "sh", "-c", inner
    )
    assert ended.status == 0, ended.err
    runs = [json.loads(line)["runs"] for line in _lines(ledger)]
    assert [[frame["mode"] for frame in run["stack"]] for (run,) in runs] == [["grind", "issue"]] * 2
    assert [run["stack"][1]["iter"] for (run,) in runs] == [1, 2]
    assert runs[0][0]["stack"][1] | {"id": ""} == {
        "id": "",
        "mode": "issue",
        "iter": 1,
        "max": 2,
        "issue_id": "auth-1",
        "model": "haiku",
    }
    assert runs[0][0]["stack"][1]["id"].startswith("issue-auth-1-")
    assert runs[0][0]["run_id"] == runs[0][0]["stack"][0]["id"] == "g1"


def test_the_signal_of_an_inner_loop_does_not_end_the_outer_one(shell: Shell) -> None:
    """Also where both have the same mode; and their outputs are kept apart."""
    assent = f"{sys.executable} -m assent"
    inner = f"{assent} loop --max 3 -- echo '{_DONE}'"
    ended = shell.run("loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", inner)
    assert ended.status == 7, ended.err
    assert ended.out == ""
    assert "done: MAX_ITERATIONS, iteration 2 of 2" in ended.err
    kept = shell.store.parent / "assent.db-runs" / "shop" / "r1"
    assert {path.name for path in kept.iterdir()} >= {"0001.log", "0002.log"}
    inside = [path.read_text() for path in kept.glob("000*-loop-*/0001.log")]
    assert len(inside) == 2
    assert set(inside) == {f"{_DONE}\n"}


def test_each_iterations_output_is_kept_and_belongs_to_its_owner_alone(shell: Shell) -> None:
    """Both streams, in the order in which they came."""
    shell.run(
        "loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", "echo out $ASSENT_ITERATION; echo err >&2"
    )
    kept = shell.store.parent / "assent.db-runs" / "shop" / "r1"
    assert sorted(path.name for path in kept.iterdir()) == ["0001.log", "0002.log"]
    assert sorted((kept / "0002.log").read_text().splitlines()) == ["err", "out 2"]
    assert (kept / "0001.log").stat().st_mode & 0o077 == 0


def test_an_agent_inside_a_loop_can_ask_and_can_steer_nothing(shell: Shell, ledger: Path) -> None:
    """Its question belongs to the run; a resume of its own would be no pause."""
    assent = f"{sys.executable} -m assent"
    script = f"{assent} ask Which? -o A --no-wait >>ledger; {assent} cancel $ASSENT_RUN_ID; echo $? >>ledger"
    ended = shell.run("loop", "--run-id", "r1", "--max", "1", "--", "sh", "-c", script)
    assert ended.status == 7, ended.err
    ask_id, status = _lines(ledger)
    assert status == "4"
    told = shell.run("show", ask_id, "--json").json
    assert told["run_id"] == "r1"
    assert told["state"] == "withdrawn"
    assert told["outcome"]["reason"] == "The run r1 is done (MAX_ITERATIONS)."


def test_taking_over_a_run_leaves_another_projects_run_of_the_same_name_alone(
    shell: Shell, ledger: Path
) -> None:
    """Two projects may share a store, and people call their runs alike."""
    script = "echo $$ >>ledger; sleep 631"
    other = shell.start("--project", "other", "loop", "--run-id", "nightly", "--", "sh", "-c", script)
    _begun(ledger, 1)
    first = shell.start("loop", "--run-id", "nightly", "--grace", "0.3", "--", "sh", "-c", script)
    _begun(ledger, 2)
    os.kill(first.pid, signal.SIGKILL)
    theirs, ours = (int(line) for line in _lines(ledger))
    wait_for(lambda: not _is_alive(ours))
    second = shell.run("loop", "--run-id", "nightly", "--max", "1", "--", "true")
    assert "attempt 2" in second.err
    assert _is_alive(theirs)
    other.send_signal(signal.SIGTERM)
    assert shell.finish(other).status == 3


def test_an_inner_loop_that_outlived_its_iteration_drives_nothing_any_more(
    shell: Shell, ledger: Path
) -> None:
    """Another loop has come to its depth: it is told so, and neither begins nor ends that one's iterations."""
    assent = f"{sys.executable} -m assent"
    old = f"{assent} loop --max 9 -- sh -c 'while [ ! -e go ]; do sleep 0.02; done' 2>>old; echo $? >>old"
    new = f"{assent} loop --max 2 -- sh -c 'echo $ASSENT_ITERATION >>ledger; touch go; until grep -q 6 old; do sleep 0.02; done'"
    script = f"if [ $ASSENT_ITERATION = 1 ]; then ({old}) & until [ -s old ]; do sleep 0.02; done; else {new} || true; fi"
    ended = shell.run("loop", "--run-id", "r1", "--max", "2", "--", "sh", "-c", script)
    assert ended.status == 7, ended.err
    assert _lines(ledger) == ["1", "2"]
    told = (shell.folder / "old").read_text()
    assert "is no longer one of the run r1" in told
    assert told.endswith("6\n")


def test_a_command_that_cannot_be_started_ends_the_run_with_a_reason(shell: Shell) -> None:
    """Found out only when it is tried: the run is aborted, and the status says that it failed."""
    (shell.folder / "agent").write_text("no program at all\n")
    (shell.folder / "agent").chmod(0o700)
    ended = shell.run("loop", "--run-id", "r1", "--", "./agent")
    assert ended.status == 1
    assert "aborted at iteration 1: ./agent cannot be started" in ended.err


def test_output_that_cannot_be_kept_costs_no_run(shell: Shell) -> None:
    """A file is in the way of the folder."""
    shell.run("inbox")
    shell.store.parent.mkdir(exist_ok=True)
    (shell.store.parent / "assent.db-runs").touch()
    ended = shell.run("loop", "--max", "1", "--", "echo", "seen")
    assert ended.status == 7, ended.err
    assert ended.out == "seen\n"
    assert "is not kept" in ended.err


def test_a_loop_with_a_store_of_its_own_inside_a_loop_is_a_run_of_its_own(shell: Shell) -> None:
    """Only a loop of the same store and project is a frame of the outer run."""
    inner = (
        f"{sys.executable} -m assent --store sqlite:///{shell.folder}/other.db loop --max 1 -- true || true"
    )
    ended = shell.run("loop", "--run-id", "r1", "--max", "1", "--", "sh", "-c", inner)
    assert ended.status == 7
    runs = shell.run("--store", f"sqlite:///{shell.folder}/other.db", "runs", "--json", "--ended").json[
        "runs"
    ]
    assert [run["reason"] for run in runs] == ["MAX_ITERATIONS"]


def test_a_loop_whose_run_was_taken_from_it_ends_its_command(
    shell: Shell, ledger: Path, run: Callable[[str], Run]
) -> None:
    """Somebody cleared its hold away and drives the run now: two agents at once would be one too many."""
    script = "echo $$ >>ledger; sleep 641"
    first = shell.start("loop", "--run-id", "r1", "--grace", "0.3", "--", "sh", "-c", script)
    _begun(ledger, 1)
    for hold in shell.store.parent.glob("assent.db-hold-*"):
        hold.unlink()
    second = shell.start("loop", "--run-id", "r1", "--grace", "0.3", "--", "sh", "-c", script)
    _begun(ledger, 2)
    ended = shell.finish(first)
    assert ended.status == 6, ended.err
    old, new = (int(line) for line in _lines(ledger))
    assert not _is_alive(old)
    assert _is_alive(new)
    assert run("r1").fence == 2
    second.send_signal(signal.SIGTERM)
    assert shell.finish(second).status == 3
