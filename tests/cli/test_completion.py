"""Shell completion: commands, options, and the ids of open asks; quick, and quiet when something is wrong."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.cli.drive import begun
from tests.cli.shell import Result, Shell
from tests.missing import MISSING, RecordProperty
from tests.patience import PATIENCE

__all__: list[str] = []

Call = Callable[..., Result]


def complete(shell: Shell, *words: str, **changes: str | None) -> list[str]:
    """Return what zsh would offer for the last word: value and description by turns, after the type."""
    done = shell.run(
        _ASSENT_COMPLETE="zsh_complete",
        COMP_WORDS=" ".join(("assent", *words)),
        COMP_CWORD=str(len(words)),
        **changes,
    )
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_script_is_accepted_by_its_shell(
    call: Call, shell: Shell, name: str, record_property: RecordProperty
) -> None:
    """Printed by the command, read by the shell where there is one; the run says where there is none."""
    printed = call("completion", name)
    assert printed.status == 0
    assert "_ASSENT_COMPLETE" in printed.out
    program = shutil.which(name)
    if program is None:
        record_property(MISSING, f"{name}, so its completion script was printed and not read by it")
    else:
        script = shell.folder / "script"
        script.write_text(printed.out)
        checked = subprocess.run(
            [program, "-n", str(script)], capture_output=True, timeout=PATIENCE, check=False
        )
        assert checked.returncode == 0, checked.stderr


def test_completion_offers_commands_with_their_help(shell: Shell) -> None:
    """From the table alone."""
    assert "answer" in complete(shell, "an")
    assert "Answer an ask, or decline it." in complete(shell, "an")


@pytest.mark.parametrize("command", ["show", "answer", "claim", "withdraw"])
def test_completion_offers_the_ids_of_open_asks(shell: Shell, command: str) -> None:
    """With the title beside it, hostile characters made visible."""
    ask_id = shell.open("Which \x1b[2J database?")
    offered = complete(shell, command, ask_id[-6:-3])
    assert offered[:3] == ["plain", ask_id[-6:], "Which <U+001B>[2J database?"]


def test_completion_on_a_broken_store_offers_nothing_in_silence(shell: Shell) -> None:
    """A key press must not print an error into the command line."""
    shell.store.parent.mkdir(mode=0o700)
    shell.store.write_bytes(b"no database " * 500)
    assert complete(shell, "show", "") in ([], [""])


def test_completion_where_no_store_is_makes_none(shell: Shell) -> None:
    """Looking only."""
    complete(shell, "show", "")
    assert list(shell.folder.iterdir()) == []


def test_completion_offers_the_runs_that_a_command_can_be_used_on(shell: Shell) -> None:
    """Running ones to pause, paused ones to resume, both to cancel; with place and title beside the id."""
    with begun(shell, "loop-1", title="First \x1b[2J"), begun(shell, "loop-2"):
        assert shell.run("pause", "loop-2").status == 0
        assert complete(shell, "pause", "loop")[:3] == ["plain", "loop-1", "loop 1/10  First <U+001B>[2J"]
        offered = {
            command: complete(shell, command, "") for command in ("pause", "resume", "cancel", "escalate")
        }
        found = {command: {"loop-1", "loop-2"} & set(lines) for command, lines in offered.items()}
    both = {"loop-1", "loop-2"}
    assert found == {"pause": {"loop-1"}, "resume": {"loop-2"}, "cancel": both, "escalate": both}
