"""`assent token`: made by a person, printed once and on standard output alone, listed, revoked; and never an agent's to give."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assent.cli.token import render_tokens
from assent.client.identity import AGENT_MARKS
from assent.protocol.principal import Role
from assent.protocol.token import ALL_PROJECTS, digest_of, looks_like_token
from tests.cli.shell import Result, Shell, Terminal
from tests.samples import NOON
from tests.token_samples import new_token

__all__: list[str] = []

Call = Callable[..., Result]
MANY = 50


def create(call: Call, *arguments: str, role: str = "agent") -> dict[str, Any]:
    """Make a token and return what its JSON says."""
    made = call("token", "create", "--role", role, *arguments, "--json")
    assert (made.status, made.err) == (0, "")
    told: dict[str, Any] = made.json
    return told


def listed(call: Call) -> list[dict[str, Any]]:
    """Return the tokens that the list has."""
    tokens: list[dict[str, Any]] = call("token", "list", "--json").json["tokens"]
    return tokens


def life(told: dict[str, Any]) -> timedelta:
    """Return how long a token lives from now on, to the hour."""
    left = datetime.fromisoformat(told["expires_at"]) - datetime.now(UTC)
    return timedelta(hours=round(left / timedelta(hours=1)))


def test_standard_output_is_the_token_and_nothing_else(shell: Shell) -> None:
    """For a script; what else there is to say goes to standard error, without the secret."""
    made = shell.run("token", "create", "--role", "agent")
    assert made.status == 0
    secret = made.out.removesuffix("\n")
    assert looks_like_token(secret)
    assert secret not in made.err
    assert "agent:agent in shop, until " in made.err
    assert "not shown again" in made.err
    assert "ASSENT_STORE=http" in made.err
    assert "ASSENT_TOKEN=" in made.err


def test_json_has_what_a_program_needs(call: Call) -> None:
    """Exactly these names."""
    told = create(call, "--name", "ci")
    secret, token_id = told.pop("token"), told.pop("token_id")
    expires_at = told.pop("expires_at")
    assert told == {"role": "agent", "name": "ci", "project": "shop", "projects": ["shop"]}
    assert looks_like_token(secret)
    [kept] = listed(call)
    assert (kept["token_id"], kept["expires_at"]) == (token_id, expires_at)


def test_person_at_a_terminal_makes_a_persons_token(shell: Shell) -> None:
    """Who sits there is there, and sees it once with the line that says how it is used."""
    with Terminal(shell, "token", "create", "--role", "human") as terminal:
        done = terminal.end()
    assert done.status == 0
    assert looks_like_token(done.out.strip())
    assert "human:ana in shop" in done.err
    assert "ASSENT_STORE=http://HOST:PORT ASSENT_TOKEN=THE_TOKEN" in done.err
    assert '"assurance":"terminal"' in shell.run("log", "--json").out


def test_terminal_shows_the_token_once(shell: Shell) -> None:
    """On the screen there is one line to copy, and nothing repeats it."""
    with Terminal(shell, "token", "create", "--role", "agent", "--name", "ci", stdout_too=True) as terminal:
        seen = terminal.end().err
    secret, *rest = seen.splitlines()
    assert looks_like_token(secret)
    assert secret not in "".join(rest)


@pytest.mark.parametrize("role", ["human", "operator"])
def test_token_that_answers_or_steers_needs_a_terminal_or_a_word_that_the_log_shows(
    call: Call, role: str
) -> None:
    """A process's word is enough for agents and observers only."""
    refused = call("token", "create", "--role", role)
    assert (refused.status, refused.out) == (4, "")
    assert "needs a person at a terminal" in refused.err
    assert "--unattended" in refused.err
    assert listed(call) == []
    told = create(call, "--unattended", role=role)
    assert (told["role"], told["name"]) == (role, "ana")
    assert (
        f"ana makes a token for {role}:ana in shop until {told['expires_at']} (unattended)" in call("log").out
    )


@pytest.mark.parametrize("role", ["agent", "observer"])
def test_token_of_a_machine_takes_no_more_than_a_word(call: Call, role: str) -> None:
    """It can decide nothing; without a name it is called as its role is."""
    assert create(call, role=role)["name"] == role
    assert "(unattended)" not in call("log").out


@pytest.mark.parametrize("arguments", [("create", "--role", "agent"), ("list",), ("revoke", "ci")])
@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
def test_agent_is_refused_with_status_4(
    call: Call, monkeypatch: pytest.MonkeyPatch, mark: str, arguments: tuple[str, ...]
) -> None:
    """Nothing that an agent runs leads to a credential, nor takes one away."""
    create(call, "--name", "ci")
    before = call("log").out
    monkeypatch.setenv(mark, "agent:coder" if mark == "ASSENT_PRINCIPAL" else "1")
    refused = call("token", *arguments)
    assert (refused.status, refused.out) == (4, "")
    assert refused.err.startswith(f"{mark} is set, so an agent runs this command, and only a person can")
    assert call("log").out == before


def test_scope_and_life_are_as_said(call: Call) -> None:
    """Several projects, all of them, or this one; for a day, a month, or as long as was said."""
    assert create(call, "--for", "web", "--for", "shop")["projects"] == ["web", "shop"]
    assert create(call, "--all-projects")["projects"] == [ALL_PROJECTS]
    assert create(call, "--project", "other")["projects"] == ["other"]
    assert life(create(call)) == timedelta(days=1)
    assert life(create(call, role="observer")) == timedelta(days=30)
    assert life(create(call, "--life", "90d")) == timedelta(days=90)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--role", "admin"),
        (),
        ("--role", "agent", "--name", ""),
        ("--role", "agent", "--name", "c\u200bi"),
        ("--role", "agent", "--name", "\x1b[2J"),
        ("--role", "agent", "--name", "n" * 300),
        ("--role", "agent", "--for", "a/b"),
        ("--role", "agent", "--for", "a", "--all-projects"),
        ("--role", "agent", "--life", "soon"),
        ("--role", "agent", "--life", "0.5"),
        ("--role", "agent", "--life", "367d"),
        ("--role", "operator", "--name", "assent", "--unattended"),
    ],
    ids=[
        "role",
        "no_role",
        "no_name",
        "hidden",
        "escape",
        "long",
        "project",
        "both",
        "life",
        "no_time",
        "for_ever",
        "hub",
    ],
)
def test_what_is_no_token_ends_with_2(call: Call, arguments: tuple[str, ...]) -> None:
    """In plain words, and nothing is made."""
    refused = call("token", "create", *arguments)
    assert (refused.status, refused.out) == (2, "")
    assert all(line.expandtabs().isprintable() for line in refused.err.splitlines())
    assert listed(call) == []


# Listing


def test_list_is_a_table_with_a_state_for_each() -> None:
    """Newest first, as they were given; columns stand under each other, whatever the script."""
    lines = render_tokens(
        [
            new_token(3, name="油油油", projects=("shop", "web")),
            new_token(2, role=Role.OBSERVER, expires_at=NOON),
            new_token(1, projects=(ALL_PROJECTS,), revoked_at=NOON, revoked_by="human:ana"),
        ],
        NOON,
    )
    assert lines == [
        "token                   role      name    projects      expires                  state",
        "tok_000000000000000003  agent     油油油  shop, web     2030-01-02 12:00:00 UTC  live",
        "tok_000000000000000002  observer  ci      p             2030-01-01 12:00:00 UTC  expired",
        "tok_000000000000000001  agent     ci      all projects  2030-01-02 12:00:00 UTC  revoked",
    ]


def test_list_shows_what_was_made_here_and_no_secret(call: Call) -> None:
    """In the table and in the JSON, which has the public names."""
    first, second = create(call, "--name", "one"), create(call, "--name", "two")
    create(call, "--name", "theirs", "--project", "other")
    shown = call("token", "list").out
    assert [line.split()[:3] for line in shown.splitlines()[1:]] == [
        [second["token_id"], "agent", "two"],
        [first["token_id"], "agent", "one"],
    ]
    told = call("token", "list", "--json").out
    assert {*json.loads(told)["tokens"][0]} == {
        *("token_id", "role", "name", "project", "projects", "created_at"),
        *("created_by", "expires_at", "revoked_at", "revoked_by", "unattended"),
    }
    for text in (shown, told):
        assert not any(made["token"] in text or digest_of(made["token"]) in text for made in (first, second))


@pytest.mark.parametrize("arguments", [("list",), ("revoke", "ci")])
def test_looking_makes_no_store(call: Call, shell: Shell, arguments: tuple[str, ...]) -> None:
    """Where there is none there are no tokens."""
    assert call("token", *arguments).out == ""
    assert list(shell.folder.iterdir()) == []


def test_empty_list_says_so(call: Call) -> None:
    """To people on standard error; to programs as an empty list."""
    assert call("token", "list") == Result(0, "", "There are no tokens here.\n")
    assert call("token", "list", "--json").json == {"tokens": []}


# Revoking


@pytest.mark.parametrize(
    "name_of",
    [
        lambda made: made["token_id"],
        lambda made: made["token_id"][-6:],
        lambda made: made["name"],
        lambda made: f"{made['role']}:{made['name']}",
    ],
    ids=["id", "end", "name", "principal"],
)
def test_token_is_revoked_by_its_id_or_its_name(call: Call, name_of: Callable[[Any], str]) -> None:
    """And the list and the log show it."""
    made = create(call, "--name", "ci")
    create(call, "--name", "other")
    done = call("token", "revoke", name_of(made))
    assert done == Result(0, f"ana revoked {made['token_id']} (agent:ci).\n", "")
    states = {token["token_id"]: token["revoked_by"] for token in listed(call)}
    assert states.pop(made["token_id"]) == "human:ana"
    assert [*states.values()] == [None]
    assert "ana revoked it" in call("log").out


def test_token_that_was_revoked_stays_so(call: Call) -> None:
    """By its id that is no mistake; its name is free for another."""
    made = create(call, "--name", "ci")
    call("token", "revoke", "ci")
    before = call("log").out
    assert call("token", "revoke", made["token_id"]).out.startswith("ana had revoked ")
    gone = call("token", "revoke", "ci")
    assert (gone.status, gone.out) == (1, "")
    assert call("log").out == before
    again = create(call, "--name", "ci")
    assert again["token_id"] in call("token", "revoke", "ci").out


def test_name_of_several_tokens_revokes_none(call: Call) -> None:
    """It says which there are."""
    first, second = (create(call, "--name", "ci") for _ in range(2))
    refused = call("token", "revoke", "ci")
    assert (refused.status, refused.out) == (2, "")
    assert first["token_id"] in refused.err
    assert second["token_id"] in refused.err
    assert [token["revoked_at"] for token in listed(call)] == [None, None]


@pytest.mark.parametrize("which", ["nobody", "", "a", "tok_000000000000000009", "\x1b[2J", "%"])
def test_token_that_is_not_there_ends_with_1(call: Call, which: str) -> None:
    """In one line that a terminal may show."""
    create(call, "--name", "ci")
    refused = call("token", "revoke", which)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.removesuffix("\n").isprintable()
    assert listed(call)[0]["revoked_at"] is None


# Secrets


def everything_in(*folders: Path) -> bytes:
    """Return the bytes of all files; no process has them open."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files)


def test_secret_is_found_nowhere_but_where_it_was_printed(call: Call, shell: Shell) -> None:
    """S14: not in the store's files, in the home, in the log, in its JSON or in the audit; 50 tokens."""
    made = [create(call, "--name", f"n{number}") for number in range(MANY)]
    call("token", "revoke", "n7")
    home = Path(os.environ["HOME"])
    home.mkdir(exist_ok=True)
    log = call("log", "--json").out.encode()
    stored = everything_in(shell.folder, home)
    shown = "".join(
        part for name in (["log"], ["audit", "verify"], ["token", "list"]) for part in call(*name)[1:]
    ).encode()
    assert call("audit", "verify").status == 0
    for each in made:
        secret: str = each["token"]
        assert digest_of(secret).encode() in stored  # the search finds what is there
        assert digest_of(secret).encode() in log
        for text in (stored, log, shown):
            assert secret.removeprefix("assent_").encode() not in text
            assert bytes.fromhex(secret.removeprefix("assent_")) not in text


def test_store_with_tokens_is_for_its_owner_alone(shell: Shell) -> None:
    """S14: under any umask."""
    before = os.umask(0)
    try:
        assert shell.run("token", "create", "--role", "agent").status == 0
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in shell.store.parent.glob("assent.db*")} == {0o600}
    assert shell.store.parent.stat().st_mode & 0o777 == 0o700
