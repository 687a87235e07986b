"""`assent demo`: the main job played through, with a person and without one."""

import signal
from pathlib import Path

import pytest

from tests.cli.shell import Shell, Terminal

__all__: list[str] = []


@pytest.mark.parametrize("changes", [{}, {"CLAUDECODE": "1"}])
def test_demo_without_a_terminal_plays_itself_to_the_end(shell: Shell, changes: dict[str, str]) -> None:
    """A scripted person answers by `assent answer`; nothing is left behind."""
    played = shell.run("demo", TMPDIR=str(shell.folder), **changes)
    assert (played.status, played.err) == (0, ""), played.out
    assert 'ana answered: "PostgreSQL"' in played.out
    assert 'ana answered: "Nightly backups, Monitoring"' in played.out
    assert "shopkeeper: CREATE TABLE people (…): done." in played.out
    assert "6 events, each chained to the one before: the record is whole." in played.out
    assert played.out.index("shopkeeper: PostgreSQL, then.") < played.out.index(
        "What should I set up around PostgreSQL?"
    )
    assert list(shell.folder.glob("assent-demo-*")) == []


def test_demo_on_a_terminal_is_answered_there_and_from_elsewhere(shell: Shell, tmp_path: Path) -> None:
    """The follow-up depends on the answer; another terminal really counts."""
    url = f"sqlite:///{tmp_path}/demo.db"
    with Terminal(shell, "demo", "--store", url, stdout_too=True) as terminal:
        terminal.until("Which database should the shop use?")
        terminal.until("> ")
        terminal.type("oracle\n")
        terminal.until('I didn\'t recognize "oracle".')
        terminal.type("b\n")
        terminal.until("What should I set up around SQLite?")
        terminal.type("1, 2\n")
        terminal.until("What should the first table be called?")
        [waiting] = shell.run("inbox", "--json", "--store", url, "--project", "demo-shop").json["asks"]
        assert (
            shell.run("answer", waiting["ask_id"], "people", "--store", url, "--project", "demo-shop").status
            == 0
        )
        ended = terminal.end()
        screen = "\n".join(terminal.screen())
    assert ended.status == 0
    assert "Answered elsewhere: ana answered at " in screen
    assert "shopkeeper: CREATE TABLE people (…): done." in screen
    assert (tmp_path / "demo.db").exists()


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_demo_that_is_left_decides_nothing_and_says_what_it_stopped(shell: Shell, key: str) -> None:
    """Status 3; the agent does not stay behind."""
    with Terminal(shell, "demo", stdout_too=True) as terminal:
        terminal.until("> ")
        terminal.type(key)
        ended = terminal.end()
        screen = "\n".join(terminal.screen())
    assert ended.status == 3
    assert "nothing was decided" in screen
    assert "is stopped." in screen
    assert "Traceback" not in screen
    assert ended.status != -signal.SIGTERM
