"""`assent install`: shows what it will change, asks, and changes that and nothing else."""

import json
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from tests.cli.shell import Shell, Terminal

__all__: list[str] = []

INSTALL = ("install", "claude-code")
THEIRS = '{\n    "permissions": {"allow": ["Bash(ls)"]},\n    "model": "opus"\n}\n'


@pytest.fixture(name="settings")
def _settings(shell: Shell) -> Path:
    """Give the place of a project's settings."""
    (shell.folder / ".git").mkdir()
    (shell.folder / ".claude").mkdir()
    return shell.folder / ".claude" / "settings.json"


def test_settings_are_written_after_a_yes_and_what_changes_is_shown_before(
    shell: Shell, settings: Path
) -> None:
    """At a terminal."""
    settings.write_text(THEIRS)
    with Terminal(shell, *INSTALL, "--ask", "Bash(rm *)", stdout_too=True) as terminal:
        terminal.until("Write this? [y/N]")
        assert settings.read_text() == THEIRS
        assert b"assent hook claude-code --wait 540s --ask 'Bash(rm *)' || exit 2" in terminal.seen
        terminal.type("y\n")
        assert terminal.end().status == 0
    written = json.loads(settings.read_text())
    assert written["permissions"] == {"allow": ["Bash(ls)"]}
    assert written["model"] == "opus"
    assert set(written["hooks"]) >= {"PreToolUse", "PermissionRequest", "Stop"}
    assert settings.with_name("settings.json.before-assent").read_text() == THEIRS


def test_nothing_is_written_after_a_no_or_where_nobody_can_be_asked(shell: Shell, settings: Path) -> None:
    """Enter alone is a no; a pipe says nothing."""
    settings.write_text(THEIRS)
    with Terminal(shell, *INSTALL, stdout_too=True) as terminal:
        terminal.until("Write this? [y/N]")
        terminal.type("\n")
        ended = terminal.end()
    assert (ended.status, "Nothing was changed." in ended.err) == (4, True)
    piped = shell.run(*INSTALL, typed="y\n")
    assert piped.status == 2
    assert settings.read_text() == THEIRS
    assert list(settings.parent.iterdir()) == [settings]


def test_a_second_install_changes_nothing_and_a_removal_leaves_what_was_there(
    shell: Shell, settings: Path
) -> None:
    """In meaning: the file's own keys and values."""
    settings.write_text(THEIRS)
    settings.chmod(0o600)
    assert shell.run(*INSTALL, "--yes").status == 0
    first = settings.read_bytes()
    again = shell.run(*INSTALL, "--yes")
    assert (again.status, again.out) == (0, "")
    assert settings.read_bytes() == first
    assert shell.run(*INSTALL, "--remove", "--yes").status == 0
    assert json.loads(settings.read_text()) == json.loads(THEIRS)
    assert settings.stat().st_mode & 0o777 == 0o600


def test_a_removal_puts_every_byte_back_where_nothing_else_changed(shell: Shell, settings: Path) -> None:
    """However the file was written, and however often ours was; what was kept beside it is gone with it."""
    theirs = b'{"permissions": {"allow": ["Bash(ls)"]},   "n": 1.50,\r\n "name": "Zo\\u00eb"}'
    settings.write_bytes(theirs)
    assert shell.run(*INSTALL, "--yes").status == 0
    assert shell.run(*INSTALL, "--ask", "Bash(rm *)", "--mcp", "--yes").status == 0
    assert settings.with_name("settings.json.before-assent").read_bytes() == theirs
    assert shell.run(*INSTALL, "--remove", "--yes").status == 0
    assert settings.read_bytes() == theirs
    assert list(settings.parent.iterdir()) == [settings]


def test_a_removal_keeps_what_was_changed_since(shell: Shell, settings: Path) -> None:
    """The file that was kept is older than what somebody wrote."""
    settings.write_text(THEIRS)
    assert shell.run(*INSTALL, "--yes").status == 0
    changed = json.loads(settings.read_text())
    changed["model"] = "haiku"
    changed["hooks"]["Stop"].append(
        {"hooks": [{"type": "command", "command": "assent hook claude-code; ls"}]}
    )
    settings.write_text(json.dumps(changed))
    ended = shell.run(*INSTALL, "--remove", "--yes")
    assert ended.status == 0
    assert "together with something else" in ended.err
    left = json.loads(settings.read_text())
    assert (left["model"], list(left["hooks"])) == ("haiku", ["Stop"])


def test_a_store_that_is_named_is_where_the_hook_asks(shell: Shell, settings: Path) -> None:
    """An option that had no effect would send the questions elsewhere."""
    store = ("--store", "http://127.0.0.1:8484", "--project", "shop")
    assert shell.run(*INSTALL, "--mcp", *store, "--yes").status == 0
    written = json.loads(settings.read_text())
    (entry,) = written["hooks"]["Stop"][0]["hooks"]
    assert entry["command"].endswith("--store http://127.0.0.1:8484 --project shop")
    servers = json.loads((shell.folder / ".mcp.json").read_text())
    assert servers["mcpServers"]["assent"]["args"] == ["mcp", *store]
    assert shell.run(*INSTALL, "--remove", "--yes").status == 0
    assert not settings.exists()


def test_a_password_is_not_written_into_settings(shell: Shell, settings: Path) -> None:
    """Others read them, and they are kept in the repository."""
    ended = shell.run(*INSTALL, "--store", "postgresql://ana:secret@db.example/assent", "--yes")
    assert ended.status == 2
    assert "secret" not in ended.err
    assert not settings.exists()


def test_what_was_made_from_nothing_is_gone_after_its_removal(shell: Shell, settings: Path) -> None:
    """Also the server that the agent's tools come from."""
    assert shell.run(*INSTALL, "--mcp", "--yes").status == 0
    servers = shell.folder / ".mcp.json"
    assert json.loads(servers.read_text()) == {
        "mcpServers": {"assent": {"command": "assent", "args": ["mcp"]}}
    }
    assert shell.run(*INSTALL, "--remove", "--yes").status == 0
    assert not settings.exists()
    assert not servers.exists()


def test_settings_of_a_person_are_in_their_home(shell: Shell, settings: Path) -> None:
    """For all projects; this one's are left alone."""
    assert shell.run(*INSTALL, "--user", "--yes").status == 0
    home = Path(shell.environ()["HOME"])
    assert "hooks" in json.loads((home / ".claude" / "settings.json").read_text())
    assert not settings.exists()


@pytest.mark.parametrize("mark", AGENT_MARKS)
def test_an_agent_cannot_connect_or_disconnect_a_host(shell: Shell, settings: Path, mark: str) -> None:
    """What must be approved is for people to say."""
    settings.write_text(THEIRS)
    ended = shell.run(*INSTALL, "--remove", "--yes", **{mark: "1"})
    assert (ended.status, ended.out) == (4, "")
    assert ended.err.startswith(f"{mark} is set")
    assert settings.read_text() == THEIRS


@pytest.mark.parametrize("text", ["{", '{"a": 1, "a": 2}', "// x\n{}", '{"hooks": []}'], ids=range(4))
def test_a_file_that_is_not_understood_is_left_as_it_is(shell: Shell, settings: Path, text: str) -> None:
    """One sentence says why."""
    settings.write_text(text)
    ended = shell.run(*INSTALL, "--yes")
    assert (ended.status, len(ended.err.splitlines())) == (2, 1)
    assert settings.read_text() == text
    assert list(settings.parent.iterdir()) == [settings]


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_link_out_of_the_project_is_not_followed(
    shell: Shell, settings: Path, tmp_path: Path, place: str
) -> None:
    """A repository must not have our settings written into somebody's home."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text(THEIRS)
    if place == "file":
        settings.symlink_to(outside / "settings.json")
    else:
        settings.parent.rmdir()
        settings.parent.symlink_to(outside)
    ended = shell.run(*INSTALL, "--yes")
    assert ended.status != 0
    assert "leads out of" in ended.err
    assert (outside / "settings.json").read_text() == THEIRS


def test_a_backup_that_is_a_link_is_replaced_and_not_written_through(
    shell: Shell, settings: Path, tmp_path: Path
) -> None:
    """Links come with a repository."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    settings.write_text(THEIRS)
    settings.with_name("settings.json.before-assent").symlink_to(victim)
    assert shell.run(*INSTALL, "--yes").status == 0
    assert victim.read_text() == "precious"


def test_a_category_stands_behind_the_patterns_and_stays(shell: Shell, settings: Path) -> None:
    """The policy decides about those calls; one that there is not is refused, and nothing is written."""
    refused = shell.run(*INSTALL, "--ask", "Bash(rm *)", "--category", "everything", "--yes")
    assert (refused.status, settings.exists()) == (2, False)
    assert shell.run(*INSTALL, "--ask", "Bash(rm *)", "--category", "scopeChanges", "--yes").status == 0
    assert shell.run(*INSTALL, "--ask", "Bash(git push *)", "--yes").status == 0
    entries = [
        hook["command"]
        for groups in json.loads(settings.read_text())["hooks"].values()
        for group in groups
        for hook in group["hooks"]
        if "--ask" in hook["command"]
    ]
    assert len(entries) == 1
    assert "--ask 'Bash(rm *)' --ask 'Bash(git push *)' --category scopeChanges" in entries[0]
