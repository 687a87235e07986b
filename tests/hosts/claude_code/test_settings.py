"""The settings file of Claude Code: ours goes in and comes out, and nothing else changes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.hosts.claude_code.settings import (
    Wish,
    are_left,
    connect,
    connect_server,
    disconnect,
    disconnect_server,
    found_words,
    parse_settings,
    render_settings,
)
from assent.protocol.error import BadRequestError

__all__: list[str] = []

WISH = Wish("assent", ("Bash(rm *)",), 540)
OTHER = {"type": "command", "command": "echo assent hook claude-code"}
THEIRS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls)"], "deny": ["Read(.env)"]},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [OTHER]}], "Notification": []},
    "model": "opus",
}
_names = st.sampled_from(["PreToolUse", "Stop", "PermissionRequest", "Else"])
_groups = st.fixed_dictionaries({"hooks": st.lists(st.just(OTHER), max_size=2)})
_settings = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(_names, st.lists(_groups, min_size=1, max_size=2), min_size=1),
        "permissions": st.dictionaries(st.text(), st.lists(st.text())),
        "env": st.dictionaries(st.text(), st.text()),
    },
)


@given(_settings)
def test_what_was_put_in_comes_out_again_and_all_else_stays(settings: dict[str, Any]) -> None:
    """Whatever else is in the file."""
    connected = connect(settings, WISH, "x")
    assert disconnect(connected, "x") == settings
    assert {key: value for key, value in connected.items() if key != "hooks"} == {
        key: value for key, value in settings.items() if key != "hooks"
    }
    assert connect(connected, WISH, "x") == connected


def test_hooks_of_others_stay_also_beside_ours_in_one_group() -> None:
    """Somebody put their own beside ours by hand."""
    connected = connect(THEIRS, WISH, "x")
    connected["hooks"]["Stop"][0]["hooks"].append(OTHER)
    left = disconnect(connected, "x")
    assert left["hooks"]["Stop"] == [{"hooks": [OTHER]}]
    assert left["permissions"] == THEIRS["permissions"]


def test_a_call_that_had_to_be_approved_still_has_to_be_after_the_next_install() -> None:
    """Patterns are added; nothing is loosened but by taking all of it out."""
    once = connect({}, WISH, "x")
    twice = connect(once, Wish("assent", ("Write(.env)",), 60), "x")
    assert found_words(twice, "--ask") == ("Bash(rm *)", "Write(.env)")
    third = connect(twice, Wish("assent", (), 60, ("WebFetch",)), "x")
    assert found_words(third, "--ask") == ("Bash(rm *)", "Write(.env)")
    assert found_words(connect(third, WISH, "x"), "--confirm") == ("WebFetch",)


@pytest.mark.parametrize(
    "written", ["--ask='Bash(rm *)'", '--ask "Bash(rm *)"', "--headless --ask 'Bash(rm *)'"]
)
def test_a_pattern_that_somebody_wrote_by_hand_is_not_lost(written: str) -> None:
    """However it is spelled: what is lost would no longer be asked about."""
    command = f"assent hook claude-code {written} || exit 2"
    settings = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
    }
    connected = connect(settings, Wish("assent", (), 60), "x")
    assert found_words(connected, "--ask") == ("Bash(rm *)",)
    assert disconnect(connected, "x") == {}


@pytest.mark.parametrize(
    ("command", "is_told"),
    [
        ("assent hook claude-code --wait 540s && notify-send done", True),
        ("assent hook claude-code; notify-send done", True),
        ("assent hook claude-code --wait 540s --else x", True),
        ("assent hook claude-code --ask 'x", True),
        ("timeout 60 assent hook claude-code", True),
        ("LOG=1 assent hook claude-code", True),
        ("assent hook claude-code-else", False),
        ("other/notassent hook claude-code", False),
    ],
)
def test_a_command_to_which_somebody_added_something_is_theirs(command: str, *, is_told: bool) -> None:
    """It is neither taken out nor rewritten, and whoever removes ours is told of it."""
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    assert disconnect(theirs, "x") == theirs
    assert disconnect(connect(theirs, WISH, "x"), "x") == theirs
    assert are_left(theirs) is is_told


def test_where_to_ask_stays_until_another_place_is_named() -> None:
    """A store that was named once is not forgotten by the next install."""
    placed = WISH._replace(store="http://127.0.0.1:8484", project="shop")
    once = connect({}, placed, "x")
    assert found_words(connect(once, WISH, "x"), "--store") == ("http://127.0.0.1:8484",)
    moved = connect(once, WISH._replace(store="sqlite:///a b.db"), "x")
    assert found_words(moved, "--store") == ("sqlite:///a b.db",)
    assert found_words(moved, "--project") == ("shop",)


def test_no_permission_is_written() -> None:
    """Not even one that would be convenient."""
    assert set(connect({}, WISH, "x")) == {"hooks"}
    assert connect(THEIRS, WISH, "x")["permissions"] == THEIRS["permissions"]


def test_a_watched_call_is_stopped_where_the_hook_cannot_be_started_and_the_host_waits_longer_than_people() -> (
    None
):
    """The host takes only status 2 for a no, and a hook that it gave up on only where it is told to."""
    before = connect({}, WISH, "x")["hooks"]["PreToolUse"]
    (entry,) = before[1]["hooks"]
    assert before[1]["matcher"] == "Bash"
    assert entry == {
        "type": "command",
        "command": "assent hook claude-code --wait 540s --ask 'Bash(rm *)' || exit 2",
        "timeout": 600,
        "onFailure": "block",
    }


def test_a_pattern_cannot_leave_its_place_in_the_command() -> None:
    """A quote in it stays in it."""
    nasty = "Bash(x'; touch y; ')"
    assert found_words(connect({}, Wish("/a b/assent", (nasty,), 1), "x"), "--ask") == (nasty,)


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", '{"a": 1, "a": 2}', '{"a": 1} // x', "\ufeff{}", "[" * 100_000),
        *('{"a": NaN}', '{"a": -Infinity}', '{"a": 1e400}', '{"a": "\\ud800"}'),
    ],
    ids=range(10),
)
def test_a_file_that_could_not_be_written_back_is_refused(text: str) -> None:
    """It is left as it is, and the sentence says so."""
    with pytest.raises(BadRequestError, match="left as it is"):
        parse_settings(text, "settings.json")


@pytest.mark.parametrize("hooks", [[], {"Stop": {}}, {"Stop": [{}]}, {"Stop": [{"hooks": [1]}]}], ids=str)
def test_hooks_that_are_not_as_the_host_has_them_are_refused(hooks: object) -> None:
    """What is not understood is not rewritten."""
    with pytest.raises(BadRequestError, match="left as it is"):
        connect({"hooks": hooks}, WISH, "settings.json")


def test_the_indent_of_the_file_is_kept_and_its_letters_too() -> None:
    """A diff shows what changed, and not a new hand."""
    text = '{\n\t"name": "Zoë"\n}\n'
    assert render_settings(parse_settings(text, "x"), text) == text
    assert json.loads(render_settings({"a": 1}, "")) == {"a": 1}
    windows = text.replace("\n", "\r\n")
    assert render_settings(parse_settings(windows, "x"), windows) == windows


def test_our_server_is_added_and_removed_and_another_of_its_name_is_left_alone() -> None:
    """The file of a project's MCP servers."""
    theirs = {"mcpServers": {"db": {"command": "db"}}}
    added = connect_server(theirs, WISH, "x")
    assert added["mcpServers"]["assent"] == {"command": "assent", "args": ["mcp"]}
    assert disconnect_server(added) == theirs
    added["mcpServers"]["assent"]["env"] = {"ASSENT_PROJECT": "shop"}
    again = connect_server(added, WISH._replace(program="bin/assent", store="http://x"), "x")
    assert again["mcpServers"]["assent"] == {
        "command": "bin/assent",
        "args": ["mcp", "--store", "http://x"],
        "env": {"ASSENT_PROJECT": "shop"},
    }
    assert connect_server(again, WISH, "x")["mcpServers"]["assent"]["args"] == ["mcp", "--store", "http://x"]
    assert disconnect_server(again) == theirs
    other = {"mcpServers": {"assent": {"command": "other"}}}
    assert disconnect_server(other) == other
    with pytest.raises(BadRequestError, match="another server"):
        connect_server(other, WISH, "x")
