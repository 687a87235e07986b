"""`assent doctor` on agent hosts: which are here, which are connected, what they can show; read, never started."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Result, Shell
from tests.cli.test_doctor import checks

__all__: list[str] = []

Call = Callable[..., Result]
OURS = {
    "hooks": {
        "PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "assent hook claude-code"}]}]
    }
}


def program(folder: Path, name: str) -> Path:
    """Make a program that leaves a mark if anybody starts it."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ntouch '{folder}/started'\n")
    path.chmod(0o755)
    return path


def test_host_on_the_path_is_told_with_what_it_shows_and_how_to_connect_it(shell: Shell) -> None:
    """It is looked for and not started."""
    folder = shell.folder.parent / "bin"
    claude = program(folder, "claude")
    found = shell.run("doctor", "--json", PATH=str(folder))
    told = checks(found)["claude-code"]
    assert told["value"] == (
        f"{claude}; not connected; shows 4 questions of 2 to 4 options, several of each, and words of your own;"
        " the rest is folded"
    )
    assert told["remedy"] == "Connect it with: assent install claude-code"
    assert found.json["ok"], "a host that is not connected is nothing wrong"
    assert not (folder / "started").exists()


@pytest.mark.parametrize(
    ("file", "content", "host"),
    [
        (".claude/settings.json", json.dumps(OURS), "claude-code"),
        (".mcp.json", '{"mcpServers": {"assent": {"command": "assent", "args": ["mcp"]}}}', "claude-code"),
        (
            ".codex/config.toml",
            '[mcp_servers.assent]\ncommand = "/usr/bin/assent"\nargs = ["mcp"]\n',
            "codex",
        ),
        ("opencode.json", '{"mcp": {"assent": {"type": "local", "command": ["assent", "mcp"]}}}', "opencode"),
        (".gemini/settings.json", '{"mcpServers": {"a": {"command": "assent", "args": ["mcp"]}}}', "gemini"),
    ],
    ids=["hook", "mcp", "codex", "opencode", "gemini"],
)
def test_host_whose_settings_name_our_command_is_connected(
    call: Call, shell: Shell, file: str, content: str, host: str
) -> None:
    """In the project's settings; the file is named."""
    path = shell.folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    told = checks(call("doctor", "--json"))[host]
    assert f"connected by {file};" in str(told["value"])
    assert told["remedy"] == ""


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        '{"a": ' * 5_000,
        '{"hooks": "assent"}',
        '{"note": "run assent"}',
        '{"command": "not-assent x"}',
        '{"command": "\'assent"}',
        '{"command": 7}',
        "\xff",
    ],
    ids=["empty", "words", "deep", "no-command", "note", "other", "open-quote", "number", "bytes"],
)
def test_settings_that_do_not_name_our_command_connect_nothing(shell: Shell, content: str) -> None:
    """Whatever is in them; nothing stops the looking."""
    (shell.folder / ".claude").mkdir()
    (shell.folder / ".claude/settings.json").write_text(content, encoding="latin-1")
    folder = shell.folder.parent / "bin"
    program(folder, "claude")
    found = shell.run("doctor", "--json", PATH=str(folder))
    assert "not connected" in str(checks(found)["claude-code"]["value"])


def test_frameworks_are_told_with_their_versions(call: Call) -> None:
    """They are libraries of the same environment."""
    assert "langgraph 1." in str(checks(call("doctor", "--json"))["frameworks"]["value"])
