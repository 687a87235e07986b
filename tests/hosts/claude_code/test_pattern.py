"""Patterns find the calls that must be approved, and rather one too many than one too few."""

import time

import pytest

from assent.hosts.claude_code.pattern import MAX_MATCHED, check_pattern, is_match, matcher_of, must_ask

__all__: list[str] = []


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "rm",
        "rm -rf build",
        "cd a && rm x",
        "cd a;rm x",
        "ls | xargs rm x",
        "sudo rm x",
        "/bin/rm x",
        "bash -c 'rm x'",
        'sh -c "rm x"',
        "r''m x",
        "r\\m x",
        "echo `rm x`",
        "echo $(rm x)",
        "A=1 rm x",
        "rm\tx",
        "true\nrm x",
        "{ rm x; }",
    ],
)
def test_a_command_is_found_wherever_it_stands_in_the_line(command: str) -> None:
    """A shell has many ways to begin a word."""
    assert is_match("Bash(rm *)", "Bash", {"command": command})


@pytest.mark.parametrize("command", ["ls", "farm x", "rmdir x", "git status", "./norm x"])
def test_another_command_is_not_found(command: str) -> None:
    """Twin: what is plainly something else is not asked about."""
    assert not is_match("Bash(rm *)", "Bash", {"command": command})


@pytest.mark.parametrize(
    ("pattern", "tool", "given", "is_found"),
    [
        ("Bash", "Bash", {"command": "ls"}, True),
        ("Bash", "Read", {"file_path": "x"}, False),
        ("Bash()", "Bash", {"command": "ls"}, True),
        ("Bash(*)", "Bash", {"command": "ls"}, True),
        ("Bash(git push:*)", "Bash", {"command": "git push --force"}, True),
        ("Bash(git push)", "Bash", {"command": "git push"}, True),
        ("Bash(git push)", "Bash", {"command": "git pushed"}, False),
        ("Bash(git * --force)", "Bash", {"command": "git push origin main --force"}, True),
        ("Write(.env)", "Write", {"file_path": "/srv/shop/.env", "content": "x"}, True),
        ("Write(.env)", "Write", {"file_path": "/srv/shop/a.py", "content": "see .env"}, False),
        ("Edit(*.sql)", "Edit", {"file_path": "/srv/a/b.sql"}, True),
        ("Edit(*.sql)", "Edit", {"file_path": "/srv/a/b.py"}, False),
        ("mcp__shop__*", "mcp__shop__refund", {}, True),
        ("mcp__shop__*", "mcp__other__refund", {}, False),
        ("mcp__shop__refund(big*)", "mcp__shop__refund", {"a": [{"b": "bigger"}]}, True),
        ("mcp__shop__refund(big*)", "mcp__shop__refund", {"a": [{"b": "small"}]}, False),
        ("*", "Anything", None, True),
        ("Bash(rm *)", "Bash", {"command": 7}, True),
        ("Bash(rm *)", "Bash", None, True),
        ("Bash(", "Read", {}, True),
    ],
    ids=str,
)
def test_a_pattern_matches_the_calls_that_it_means(
    pattern: str, tool: str, given: object, *, is_found: bool
) -> None:
    """By the tool's name, and by the part of its input that is the matter; an input that nobody can judge matches."""
    assert is_match(pattern, tool, given) is is_found


def test_a_hostile_text_is_looked_at_in_no_time_or_asked_about() -> None:
    """A text that is made to be slow must not outlast the patience of the host, which would let it pass."""
    began = time.monotonic()
    long, slow = "git " * MAX_MATCHED, "git " * (MAX_MATCHED // 4)
    assert must_ask(["Bash(git * --force)"], "Bash", {"command": long})
    assert not must_ask(["Bash(git * * * --force)"], "Bash", {"command": slow})
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("pattern", ["", "Bash(", "(rm)", "Bash rm", "Bash(rm) x"])
def test_what_is_no_pattern_is_refused_where_it_is_written(pattern: str) -> None:
    """A slip of the finger must not look as if something were watched."""
    with pytest.raises(ValueError, match="is no pattern"):
        check_pattern(pattern)


def test_the_host_is_told_by_one_expression_which_tools_are_watched() -> None:
    """Each tool once; the hook is not even started for another one."""
    assert matcher_of(["Bash(rm *)", "Bash(git *)", "mcp__shop__*"]) == "Bash|mcp__shop__.*"
