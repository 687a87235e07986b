"""A shell whose programs are forked: they end, fail and are interrupted as those that it would start itself."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.terminal import Terminal
from tools.warm import COLD

__all__: list[str] = []

ENDS = """\
python -c 'import sys; sys.exit(3)'; echo $?
python -c 'import os; os.kill(os.getpid(), 15)'; echo $?
python -c 'import os; print(os.getpgrp() == os.tcgetpgrp(0), os.getsid(0) == os.getpgid(os.getsid(0)))'
python -c 'import json; print(json.dumps(1))' | cat
python < /dev/null; echo $?
PYTHONOPTIMIZE=1 python -c 'import sys; print(sys.flags.optimize)'
python -c 'import subprocess as s; s.run(["python", "-c", "import os; print(os.getsid(0) == os.getpid())"], start_new_session=True)'
kept=$(X=Ä python -c 'import os; print(os.environ["X"], os.getcwd()[-4:])'); echo $kept
python mine.py a 'b c'
assent inbox < /dev/null 2>&1
assent ask Tea? --no-wait > ask; wc -l < ask
"""
NAP = "import time; print('here', flush=True); [time.sleep(0.1) for _ in range(6000)]"
"""In small steps: a signal that comes in the moment before a sleep is heard only after it."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Give a terminal in an empty folder."""
    made = open_terminal(tmp_path)
    yield made
    made.close()


def open_terminal(folder: Path) -> Terminal:
    """Open a terminal in a folder `shop`."""
    for name in ("shop", "programs"):
        (folder / name).mkdir(parents=True)
    (folder / "shop" / "mine.py").write_text("import sys; print(__name__, sys.argv, sys.path[0][-4:])")
    programs = Path(sys.executable).parent
    environ = {
        **os.environ,
        "PS1": "$ ",
        "PS2": "",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    environ["PATH"] = f"{programs}{os.pathsep}{environ['PATH']}"
    return Terminal(folder / "shop", environ, folder / "programs")


def test_forked_programs_of_a_shell_end_as_started_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status, streams, arguments, session and settings are the same; what cannot be forked is started."""
    shown = []
    for way in ("forked", "started"):
        terminal = open_terminal(tmp_path / way)
        for line in ENDS.splitlines():
            terminal.await_prompt("$")
            terminal.type(line + "\n")
        terminal.await_prompt("$")
        shown.append(terminal.take())
        terminal.close()
        monkeypatch.setenv(COLD, "1")
    assert shown[0] == shown[1]
    assert (tmp_path / "forked" / "programs" / "assent").exists()
    assert not list((tmp_path / "started" / "programs").iterdir())


def test_interrupt_and_kill_reach_the_fork(terminal: Terminal) -> None:
    """They are sent to the group of the command, and nothing of it is left."""
    for end, sign in ((terminal.interrupt, "KeyboardInterrupt"), (terminal.kill, "Killed")):
        terminal.await_prompt("$")
        terminal.type(f'python -c "{NAP}"\n')
        terminal.until(lambda: "here" in terminal.fresh().splitlines(), waits=True)
        end()
        terminal.await_prompt("$")
        assert sign in terminal.take()


def test_signal_to_the_program_alone_ends_its_fork(terminal: Terminal) -> None:
    """A request is handed on; where the program is killed the fork is, too."""
    for name, sign in (("TERM", "Terminated"), ("KILL", "Killed")):
        terminal.await_prompt("$")
        terminal.type(f'python -c "{NAP}" > said &\n')
        terminal.await_prompt("$")
        terminal.type("until grep -qs here said; do :; done; rm said\n")
        terminal.await_prompt("$")
        terminal.type(f"kill -{name} $!; wait $!; echo over\n")
        terminal.await_prompt("$")
        shown = terminal.take()
        assert sign in shown
        assert "over" in shown
