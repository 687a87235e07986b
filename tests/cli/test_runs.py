"""`assent runs`: what runs, at a glance, as JSON and live; looking changes nothing."""

import fcntl
import json
import re
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte
import pytest

from tests.cli.drive import Driver, agent_of, begun, leave_behind, look, next_line
from tests.cli.shell import Result, Shell, Terminal, wait_for
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]

RUN = "loop-1703123456-12345"
PUBLIC = ["run_id", "status", "mode", "iteration", "max", "model", "updated_at", "stack"]


def listed(call: Call, *arguments: str) -> dict[str, str]:
    """Return the status of each run by its id."""
    return {run["run_id"]: run["status"] for run in call("runs", "--json", *arguments).json["runs"]}


# Once


@pytest.mark.parametrize(
    ("arguments", "out"),
    [((), "No runs.\n"), (("--all",), "No runs.\n"), (("--json",), '{"runs":[]}\n')],
)
def test_looking_where_no_store_is_makes_none(
    call: Call, shell: Shell, arguments: tuple[str, ...], out: str
) -> None:
    """Empty is not an error, and a look leaves nothing behind."""
    looked = call("runs", *arguments)
    assert (looked.status, looked.out, looked.err) == (0, out, "")
    assert list(shell.folder.iterdir()) == []


def test_json_has_the_public_shape_first(call: Call, shell: Shell) -> None:
    """Readers rely on these; there are more behind them."""
    with begun(shell, RUN, mode="issue", max=10, model="haiku", issue_id="auth-123", title="Auth") as run:
        with agent_of(shell) as client:
            client.open("Which?", ["Red", "Blue"], run_id=RUN)
        found = call("runs", "--json").json["runs"]
        updated_at = run.look().updated_at.isoformat().replace("+00:00", "Z")
    assert len(found) == 1
    assert list(found[0])[: len(PUBLIC)] == PUBLIC
    frame = {"id": RUN, "mode": "issue", "iter": 1, "max": 10, "issue_id": "auth-123", "model": "haiku"}
    values = [RUN, "running", "issue", 1, 10, "haiku", updated_at, [frame]]
    assert [found[0][name] for name in PUBLIC] == values
    assert (found[0]["project"], found[0]["title"], found[0]["waits"]) == ("shop", "Auth", 1)


@proves("I5", "I44")
def test_running_pausing_paused_stale_and_finished_are_told_apart(call: Call, shell: Shell) -> None:
    """In words and as JSON, also of a run whose driver was killed."""
    leave_behind(shell, "old-one", is_over=False)
    driver = Driver(shell)
    driver.says()
    with begun(shell, "other"), begun(shell, "done-soon") as soon:
        assert listed(call)[RUN] == "running"
        call("pause", RUN)
        assert listed(call)[RUN] == "pausing"
        driver.go_on()
        wait_for(lambda: not look(shell, RUN).top.is_open)
        assert listed(call)[RUN] == "paused"
        driver.kill()
        call("cancel", "other")
        soon.finish("COMPLETE")
        assert listed(call) == {RUN: "paused", "old-one": "stale", "other": "aborted", "done-soon": "done"}
        words = [line.split()[0] for line in call("runs").out.splitlines() if line and line[0].islower()]
        assert words == ["paused", "stale", "done", "cancelled"]
        assert "paused by ana" in call("runs").out


def test_what_ended_long_ago_is_shown_on_request(call: Call, shell: Shell) -> None:
    """A day is enough for a glance; --ended and --all show every run."""
    leave_behind(shell, "old-one", is_over=True)
    with begun(shell, "new-one"):
        pass
    assert listed(call) == {"new-one": "done"}
    assert listed(call, "--ended") == listed(call, "--all") == {"new-one": "done", "old-one": "done"}
    assert "Ended within a day" in call("runs").out
    assert "Ended\n" in call("runs", "--ended").out


def test_runs_here_and_all_differ_by_project_and_store(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As for the inbox: without a terminal it is this project, --all is everything that this user opened."""
    with begun(shell, "here"), begun(shell, "annexed", project="annex"):
        assert listed(call).keys() == {"here"}
        other = tmp_path / "other"
        other.mkdir()
        monkeypatch.chdir(other)
        assert listed(call, "--all").keys() == {"here", "annexed"}
        assert listed(call, "--all", "--project", "annex").keys() == {"annexed"}
        assert listed(call, "--here") == {}
        assert list(other.iterdir()) == []
        elsewhere = Shell(other)
        with Terminal(elsewhere, "runs", stdout_too=True) as terminal:
            assert terminal.end().status == 0
            assert any("annexed" in line for line in terminal.screen())
        elsewhere.close()


def test_store_that_cannot_be_opened_does_not_hide_the_others(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is named on standard error."""
    broken = tmp_path / "broken.db"
    call("ask", "There?", "--no-wait", "--store", f"sqlite:///{broken}")
    for path in tmp_path.glob("broken.db*"):
        path.unlink()
    broken.write_bytes(b"not a database at all, and longer than a header of sixteen bytes" * 20)
    with begun(shell, RUN):
        found = call("runs", "--all")
        assert (found.status, RUN in found.out) == (0, True)
        assert f"Not looked at: {broken}: " in found.err
        refused = call("pause", "nosuch")
        assert "Not looked at: " in refused.err
    monkeypatch.setenv("ASSENT_STORE", f"sqlite:///{broken}")
    assert call("runs").status == 1


def test_loops_inside_a_loop_are_shown_below_it(call: Call, shell: Shell) -> None:
    """The current one is the last."""
    with begun(shell, RUN, mode="grind", max=40) as run, run.nested("issue", issue_id="shop-92") as inner:
        next(inner)
        lines = call("runs").out.splitlines()
        found = call("runs", "--json").json["runs"][0]
    assert lines[0].split()[:3] == ["running", "grind", "1/40"]
    assert lines[1].split() == ["└", "issue", "1/10", "shop-92"]
    assert (found["mode"], found["max"]) == ("issue", 10)
    assert [frame["mode"] for frame in found["stack"]] == ["grind", "issue"]


def test_doctor_counts_runs_and_those_without_a_driver(call: Call, shell: Shell) -> None:
    """No fault, but nothing happens until somebody comes."""
    leave_behind(shell, "old-one", is_over=False)
    with begun(shell, RUN):
        found = {check["name"]: check for check in call("doctor", "--json").json["checks"]}["runs"]
    assert (found["ok"], found["value"]) == (True, "2 active runs in this store, 1 without a live driver")
    assert "assent cancel" in found["remedy"]


# Live, on a terminal


def screen_of(terminal: Terminal, since: int = 0, columns: int | None = None, rows: int = 40) -> list[str]:
    """Return what a terminal makes of what was written, from a place on."""
    screen = pyte.Screen(columns or terminal.columns, rows)
    pyte.ByteStream(screen).feed(terminal.seen[since:])
    return [line.rstrip() for line in screen.display]


def until_shown(
    terminal: Terminal, words: str, since: int = 0, columns: int | None = None, rows: int = 40
) -> list[str]:
    """Wait until the screen shows these words; return it."""
    until = time.monotonic() + PATIENCE
    while not any(words in line for line in screen_of(terminal, since, columns, rows)):
        assert time.monotonic() < until, screen_of(terminal, since, columns, rows)
        assert terminal._read(0.5)
    return screen_of(terminal, since, columns, rows)


def is_given_back(terminal: Terminal) -> bool:
    """Whether the terminal echoes and edits lines again."""
    modes = termios.tcgetattr(terminal.master)[3]
    return bool(modes & termios.ICANON and modes & termios.ECHO)


def resize(terminal: Terminal, columns: int, rows: int) -> None:
    """Make the window another size, as a person does with the mouse."""
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@proves("I5")
def test_watch_shows_changes_of_other_processes_in_place(shell: Shell) -> None:
    """Nobody presses a key; the board stays one board; q leaves, and the terminal is as it was."""
    driver = Driver(shell)
    driver.says()
    with Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        until_shown(terminal, "running  loop  1/9  haiku  Fix the tests")
        wait_for(lambda: not is_given_back(terminal))
        shell.run("pause", RUN)
        until_shown(terminal, "iteration 1 still open")
        driver.go_on()
        screen = until_shown(terminal, "paused   loop  1/9  haiku  Fix the tests")
        assert screen[0].startswith("Runs  1 paused")
        assert [line for line in screen if "Fix the tests" in line] == [
            "paused   loop  1/9  haiku  Fix the tests"
        ]
        driver.kill()
        until_shown(terminal, "no live driver")
        terminal.type("q")
        assert terminal.end().status == 0
        assert is_given_back(terminal)


@pytest.mark.parametrize("leave", ["\x03", "q", "\x04"])
def test_watch_ends_with_0_by_any_way_out(shell: Shell, leave: str) -> None:
    """Ctrl-C, q and Ctrl-D: looking is never a failure. The last board stays readable."""
    with begun(shell, RUN), Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        until_shown(terminal, RUN)
        terminal.type(leave)
        assert terminal.end().status == 0
        assert is_given_back(terminal)
        assert any(RUN in line for line in screen_of(terminal))


def test_watch_that_is_terminated_gives_the_terminal_back(shell: Shell) -> None:
    """A shell that is left without echo is a nuisance."""
    with begun(shell, RUN), Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        until_shown(terminal, RUN)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.end().status == 128 + signal.SIGTERM
        assert is_given_back(terminal)


def test_watch_in_a_resized_window_fits_it(shell: Shell) -> None:
    """Drawn anew within the new width and height, with a word on what has no room."""
    title = "A title that is much longer than a narrow window has columns for"
    with (
        begun(shell, RUN, title=title),
        begun(shell, "loop-2"),
        begun(shell, "loop-3"),
        Terminal(shell, "runs", "--watch", stdout_too=True) as terminal,
    ):
        until_shown(terminal, RUN)
        since = len(terminal.seen)
        resize(terminal, 30, 9)
        screen = until_shown(terminal, "more lines", since, 30, 9)
        assert screen[0].startswith("Runs  3 running")
        assert all(len(line) < 30 for line in screen)
        since = len(terminal.seen)
        resize(terminal, 120, 40)
        screen = until_shown(terminal, "columns for", since, 120, 40)
        assert any("q leaves  r looks again" in line for line in screen)
        terminal.type("q")
        assert terminal.end().status == 0


def test_watch_looks_again_at_once_on_r(shell: Shell) -> None:
    """Twenty looks take less than the twenty seconds that its own clock would need, and no key is echoed."""
    with begun(shell, RUN), Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        until_shown(terminal, RUN)
        wait_for(lambda: not is_given_back(terminal))
        began = time.monotonic()
        for _ in range(20):
            drawn = terminal.seen.count(b"Runs")
            terminal.type("r")
            terminal.until("Runs", drawn + 1)
        assert time.monotonic() - began < 15
        terminal.type("q")
        assert terminal.end().status == 0
        assert not any(line.endswith(("r", "q")) for line in screen_of(terminal) if RUN in line)


def test_watch_before_there_is_a_store_sees_it_come(shell: Shell) -> None:
    """It waits without making anything, and shows the first run once there is one."""
    with Terminal(shell, "runs", "--watch", stdout_too=True) as terminal:
        until_shown(terminal, "No runs.")
        assert list(shell.folder.iterdir()) == []
        with begun(shell, RUN):
            until_shown(terminal, RUN)
        terminal.type("q")
        assert terminal.end().status == 0


OURS = re.compile(rb"\x1b\[(?:[0-9]{0,2}m|[0-9]*A|K|J|2J|H|\?7[lh])")


@pytest.mark.parametrize("watch", [(), ("--watch",)])
def test_hostile_words_of_a_run_are_inert_on_a_terminal(shell: Shell, watch: tuple[str, ...]) -> None:
    """Title, model, issue and branch are an agent's words; what is obeyed is ours alone."""
    text = "\x1b[2J\x1b[H\x1b]0;t\x07\u202e\x9b2J\r\nrunning  fake"
    hostile = {"title": text, "model": "hai\u3164ku", "issue_id": text, "filter": text}
    with (
        begun(shell, "loop-\u3164-1", **hostile),
        Terminal(shell, "runs", *watch, stdout_too=True) as terminal,
    ):
        screen = until_shown(terminal, "loop-<U+3164>-1")
        if watch:
            terminal.type("q")
        assert terminal.end().status == 0
        left = OURS.sub(b"", terminal.seen).decode()
    assert {sign for sign in left if not sign.isprintable() and sign not in "\r\n"} == set()
    assert not any(line.startswith("running  fake") for line in screen)
    assert any("<U+001B>[2J" in line for line in screen)


# Live, without one


def test_watch_without_a_terminal_is_a_line_a_change(shell: Shell) -> None:
    """For those who read changes and not a screen; Ctrl-C ends it with 0."""
    with begun(shell, RUN, model="haiku", title="Fix"):
        watching = shell.start("runs", "--watch")
        told = [re.sub(r"^[0-9:]{8}  ", "", next_line(watching))]
        for arguments in (("pause", RUN), ("escalate", RUN, "--reason", "stuck"), ("cancel", RUN)):
            assert shell.run(*arguments).status == 0
            told.append(re.sub(r"^[0-9:]{8}  ", "", next_line(watching)))
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0
    reason = 'escalated: "stuck"'
    assert told == [
        f"running  {RUN}  loop 1/10  haiku  Fix",
        f"pausing  {RUN}  loop 1/10  haiku  Fix  iteration 1 still open  paused by ana",
        f"pausing  {RUN}  loop 1/10  opus, escalated  Fix  iteration 1 still open  paused by ana  {reason}",
        f"cancelled  {RUN}  loop 1/10  opus, escalated  Fix  USER_CANCELLED by ana",
    ]


def test_watch_as_json_is_an_object_a_change(shell: Shell) -> None:
    """The same shape as in the list."""
    with begun(shell, RUN):
        watching = shell.start("runs", "--watch", "--json")
        assert json.loads(next_line(watching))["status"] == "running"
        shell.run("pause", RUN)
        changed = json.loads(next_line(watching))
        assert list(changed)[: len(PUBLIC)] == PUBLIC
        assert (changed["status"], changed["paused_by"]) == ("pausing", "human:ana")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(PATIENCE) == 0


def test_watch_into_a_closed_pipe_ends_in_silence(shell: Shell) -> None:
    """As `| head` does it."""
    with begun(shell, RUN):
        watching = shell.start("runs", "--watch")
        next_line(watching)
        assert watching.stdout is not None
        watching.stdout.close()
        shell.run("pause", RUN)
        watching.wait(PATIENCE)
        assert watching.stderr is not None
        assert watching.stderr.read() == b""


def test_watch_in_the_background_leaves_the_terminal_alone(shell: Shell) -> None:
    """A job that is not in front is neither stopped for reading nor takes what is typed to others."""
    assent = f"{sys.executable} -m assent"
    script = f"{assent} runs --watch & read line; echo got $line; kill -INT %1; wait %1; echo ended with $?"
    with (
        begun(shell, RUN),
        Terminal(shell, program=("/bin/bash", "-mc", script), stdout_too=True) as terminal,
    ):
        until_shown(terminal, RUN)
        terminal.type("hello\n")
        terminal.until("got hello")
        terminal.until("ended with 0")
        assert is_given_back(terminal)
        assert terminal.end().status == 0
