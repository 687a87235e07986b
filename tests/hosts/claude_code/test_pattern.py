"""Patterns find the calls that must be approved, and rather one too many than one too few."""

from pathlib import Path

import pytest

from assent.hosts.claude_code.pattern import MAX_MATCHED, check_pattern, is_match, matcher_of, must_ask
from tests.effort import MUCH, effort

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
        "rm$IFS-rf$IFS-x",
        "{rm,-rf,x}",
        "r\\\nm x",
        "RM x",
        "/bin/rm* x",
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
    ("pattern", "command"),
    [
        ("git push *", "git -C x push"),
        ("git push *", "git -C 'my shop' push origin"),
        ("git push *", 'git -C "my shop" -c a=b push'),
        ("git push *", "git --git-dir=/x/.git --work-tree /x push"),
        ("git push *", "GIT_SSH=x git --no-pager push"),
        ("git push *", "git -c x=y \\\n  push"),
        ("git push", "git -v push"),
        ("git push --force *", "git push origin main --force"),
        ("git push --force *", "git -C x push -f"),
        ("git push -f *", "git push origin --force-with-lease"),
        ("kubectl delete *", "kubectl -n prod delete pod x"),
        ("kubectl delete *", "kubectl --namespace prod --context=eu delete pod x"),
        ("terraform apply *", "terraform -chdir=x apply"),
        ("npm publish", "npm --prefix web publish"),
        ("make deploy", "make -C web ENV=prod deploy"),
        ("docker compose down", "docker compose -f a.yml -f b.yml down"),
        ("git * push", "git push"),
        ("git * push", "git -C x push"),
        ("rm -rf *", "rm -fr x"),
        ("rm -rf *", "rm -r -f x"),
        ("rm -rf *", "rm x -rf"),
        ("rm -rf *", "rm --recursive --force x"),
        ("rm -rf *", "rm -v -Rf x"),
        ("rm -rf *", "rm$IFS-rf$IFS-x"),
        ("aws s3 rm --recursive *", "aws --profile p s3 rm s3://x --recursive"),
        ("deploy --env=prod", "deploy now --env prod"),
    ],
)
def test_a_command_is_found_with_its_options_in_any_place_and_spelling(pattern: str, command: str) -> None:
    assert is_match(f"Bash({pattern})", "Bash", {"command": command})


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git push *", "git -C x status"),
        ("git push *", "git commit -m 'push'"),
        ("git push *", "git -C x; push"),
        ("git push --force *", "git push origin main"),
        ("git push --force *", "git push origin main; ls --force"),
        ("kubectl delete *", "kubectl -n prod get pods"),
        ("rm -rf *", "rm -r x"),
        ("rm -rf *", "rm x && ls -rf"),
        ("git * push", "git pushed"),
    ],
)
def test_another_command_with_options_is_not_found(pattern: str, command: str) -> None:
    """Twin: options do not make everything match."""
    assert not is_match(f"Bash({pattern})", "Bash", {"command": command})


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
        ("Edit(app/[id]/page.tsx)", "Edit", {"file_path": "/srv/app/[id]/page.tsx"}, True),
        ("Edit(app/[id]/page.tsx)", "Edit", {"file_path": "/srv/app/i/page.tsx"}, True),
        ("Edit(app/[id]/page.tsx)", "Edit", {"file_path": "/srv/app/x/page.tsx"}, False),
        ("Edit(src/**/*.sql)", "Edit", {"file_path": "/srv/src/a.sql"}, True),
        ("Edit(src/**/*.sql)", "Edit", {"file_path": "/srv/src/a/b/c.sql"}, True),
        ("Edit(src/**/*.sql)", "Edit", {"file_path": "/srv/src/a/c.py"}, False),
        ("Write(./.env)", "Write", {"file_path": "/srv/shop/.env"}, True),
        ("Write(~/.ssh/*)", "Write", {"file_path": "/srv/ana/.ssh/config"}, True),
        ("Write(//etc/passwd)", "Write", {"file_path": "/etc/passwd"}, True),
        ("Write(../other/*)", "Write", {"file_path": "/srv/other/x"}, True),
        ("Write(src/db.py)", "Write", {"file_path": "/srv/src/../src//./db.py"}, True),
        ("Write(.env)", "Write", {"file_path": "/srv/.ENV"}, True),
        ("Write(.env)", "Write", {"file_path": "/srv/\0"}, False),
        ("Edit(.env)", "Write", {"file_path": "/srv/.env"}, True),
        ("Edit", "NotebookEdit", {"notebook_path": "/srv/a.ipynb"}, True),
        ("Write(.env)", "Edit", {"file_path": "/srv/.env"}, True),
        ("MultiEdit(.env)", "Write", {"file_path": "/srv/.env"}, True),
        ("Read(.env)", "Edit", {"file_path": "/srv/.env"}, False),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com/x"}, True),
        ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.org/x"}, False),
        ("mcp__shop", "mcp__shop__refund", {}, True),
        ("mcp__shop", "mcp__shopping__refund", {}, False),
        ("mcp__shop(big*)", "mcp__shop__refund", {"a": "bigger"}, True),
        ('Bash(git  commit -m "x" *)', "Bash", {"command": "git commit -m 'x' -a"}, True),
        ("Bash(a[\\Z]b)", "Bash", {"command": "a[\\Z]b"}, True),
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
    with effort() as spent:
        long, slow = "git " * MAX_MATCHED, "git " * (MAX_MATCHED // 4)
        assert must_ask(["Bash(git * --force)"], "Bash", {"command": long})
        assert not must_ask(["Bash(git * * * --force)"], "Bash", {"command": slow})
        for piece in ("git -a ", "git a=1 -b ", "git -a 'b' ", "git -", "git  "):
            slow = piece * (MAX_MATCHED // len(piece))
            assert not must_ask(["Bash(git push -xyz now * then)"], "Bash", {"command": slow})
    assert spent.loops < MUCH


def test_many_texts_are_no_way_around_the_limit_of_one() -> None:
    """What a hook cannot look at in time, the host would let pass: then a person is asked."""
    with effort() as spent:
        many = {"rows": ["git " * (MAX_MATCHED // 4)] * 2_000}
        assert must_ask(["mcp__shop(git * * --force)"], "mcp__shop__sync", many)
        assert must_ask(["mcp__shop(never)"], "mcp__shop__sync", {"rows": [""] * (MAX_MATCHED + 1)})
        assert not must_ask(["mcp__shop(never)"], "mcp__shop__sync", {"rows": ["", 1, None]})
    assert spent.loops < MUCH


def test_a_file_is_found_by_where_its_path_leads(tmp_path: Path) -> None:
    """A link that an agent made is no other name for what must be approved."""
    (tmp_path / ".env").write_text("x")
    (tmp_path / "notes.txt").symlink_to(".env")
    assert is_match("Write(.env)", "Write", {"file_path": str(tmp_path / "notes.txt")})
    assert not is_match("Write(.env)", "Write", {"file_path": str(tmp_path / "other.txt")})


@pytest.mark.parametrize("pattern", ["", "Bash(", "(rm)", "Bash rm", "Bash(rm) x"])
def test_what_is_no_pattern_is_refused_where_it_is_written(pattern: str) -> None:
    """A slip of the finger must not look as if something were watched."""
    with pytest.raises(ValueError, match="is no pattern"):
        check_pattern(pattern)


def test_the_host_is_told_by_one_expression_which_tools_are_watched() -> None:
    """Each tool once; the hook is not even started for another one."""
    assert matcher_of(["Bash(rm *)", "Bash(git *)", "mcp__shop__*"]) == "Bash|mcp__shop__.*"
    assert matcher_of(["Edit(.env)", "mcp__db"]) == "Edit|MultiEdit|Write|NotebookEdit|mcp__db|mcp__db__.*"
