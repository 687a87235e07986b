"""Credentials through both clients: given once, kept as a digest, listed, revoked, and made by people only."""

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.protocol.error import BadRequestError, CommandReusedError, ForbiddenError, NotFoundError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.token import ALL_PROJECTS, Token, digest_of, looks_like_token
from assent.testing import FakeClock, ThrowawayStore
from tests.client.both import Clients, only_on_a_file
from tests.patience import PATIENCE
from tests.samples import NOON
from tests.work_samples import happened

__all__: list[str] = []

MANY = 50


def look_up(store: ThrowawayStore, secret: str) -> Token | None:
    """Return the token of a secret, as a server finds it."""
    with store.hub().reading() as reader:
        return reader.token_by_digest(digest_of(secret))


def bare(*tokens: Token | None) -> list[Token]:
    """Return tokens without what is the store's own and not shown by a server: digest and number."""
    return [replace(token, digest="", sequence=0) for token in tokens if token is not None]


@pytest.mark.parametrize("role", list(Role))
def test_person_at_a_terminal_makes_a_token_of_any_role(clients: Clients, role: Role) -> None:
    """It comes with its secret, by which it is found; and it is in the list."""
    person = clients.person(assurance=Assurance.TERMINAL)
    token, secret = person.create_token(role, name="x")
    assert looks_like_token(secret)
    assert token.digest == digest_of(secret)
    assert token.principal == Principal(role, "x")
    assert (token.created_by, token.created_at, token.projects) == ("human:ana", NOON, ("test",))
    assert bare(look_up(clients.store, secret)) == bare(*person.tokens()) == bare(token)


def test_token_is_for_the_projects_and_the_time_that_were_said(clients: Clients) -> None:
    """A part of a second is none."""
    person = clients.person()
    made, _ = person.create_token(
        "agent", name="ci", projects=["shop", "web"], life=timedelta(hours=2, milliseconds=900)
    )
    assert made.projects == ("shop", "web")
    assert made.expires_at == NOON + timedelta(hours=2)
    everywhere, _ = person.create_token("agent", name="ci", projects=[ALL_PROJECTS])
    assert everywhere.reaches("anywhere")


@only_on_a_file
@pytest.mark.parametrize("role", ["human", "operator"])
def test_token_that_answers_or_steers_takes_more_than_the_word_of_a_process(
    clients: Clients, role: str
) -> None:
    """And whoever says that nobody is there is in the log; an agent's token takes no more than a word."""
    declared = clients.person()
    with pytest.raises(ForbiddenError, match="terminal"):
        declared.create_token(role, name="x")
    assert happened(clients.store.agent()) == []
    declared.create_token("agent", name="x")
    declared.create_token(role, name="x", is_unattended=True)
    last = clients.store.agent().log()[-1]
    assert last.body is not None
    assert msgspec.json.decode(last.body)["is_unattended"] is True


@pytest.mark.parametrize("role", list(Role))
def test_agent_makes_and_revokes_no_token(clients: Clients, role: Role) -> None:
    """Decided rule 8: not even one of its own role."""
    token, _ = clients.person(assurance=Assurance.TERMINAL).create_token("agent", name="coder")
    before = happened(clients.store.agent())
    for is_unattended in (False, True):
        with pytest.raises(ForbiddenError):
            clients.agent().create_token(role, name="x", is_unattended=is_unattended)
    with pytest.raises(ForbiddenError):
        clients.agent().revoke_token(token.token_id)
    assert happened(clients.store.agent()) == before


@pytest.mark.parametrize(
    "parts",
    [
        {"role": "admin"},
        {"name": ""},
        {"name": "c\u200bi"},
        {"projects": ["a/b"]},
        {"life": timedelta(milliseconds=900)},
        {"life": timedelta(days=367)},
    ],
    ids=["role", "no_name", "hidden", "project", "no_time", "for_ever"],
)
def test_what_is_no_token_is_refused(clients: Clients, parts: dict[str, Any]) -> None:
    """In one sentence, and nothing is kept."""
    given = {"role": "agent", "name": "ci"} | parts
    with pytest.raises(BadRequestError):
        clients.person().create_token(given.pop("role"), **given)
    assert happened(clients.store.agent()) == []


def test_revoked_token_is_dead_and_stays_in_the_list(clients: Clients) -> None:
    """Who revokes it again is told who did."""
    token, secret = clients.person().create_token("agent", name="ci")
    ended = clients.person("bob").revoke_token(token.token_id)
    assert (ended.revoked_at, ended.revoked_by) == (NOON, "human:bob")
    assert clients.person().revoke_token(token.token_id) == ended
    assert bare(look_up(clients.store, secret)) == bare(*clients.person().tokens()) == bare(ended)
    assert not ended.is_live(NOON)


@pytest.mark.parametrize("token_id", ["tok_000000000000000009", "", "ci", "\x1b[2J", "%"])
def test_token_that_is_not_there_is_not_found(clients: Clients, token_id: str) -> None:
    """The sentence repeats nothing."""
    clients.person().create_token("agent", name="ci")
    with pytest.raises(NotFoundError, match=r"^There is no such (token|thing) here\.$"):
        clients.person().revoke_token(token_id)


def test_token_lapses_by_the_clock(clients: Clients, clock: FakeClock) -> None:
    """An agent's after 24 hours, a person's after 30 days."""
    person = clients.person(assurance=Assurance.TERMINAL)
    agents, _ = person.create_token("agent", name="ci")
    persons, _ = person.create_token("human", name="ana")
    clock.advance(timedelta(hours=24))
    assert [token.is_live(clock.at) for token in (agents, persons)] == [False, True]
    clock.advance(timedelta(days=29))
    assert not persons.is_live(clock.at)


def test_command_that_is_sent_again_is_told_that_its_secret_is_gone(clients: Clients) -> None:
    """There is one token, and it is not given to whoever repeats the command."""
    person = clients.person()
    token, _ = person.create_token("agent", name="ci", command_id="once")
    with pytest.raises(CommandReusedError, match="shown only once"):
        person.create_token("agent", name="ci", command_id="once")
    assert bare(*person.tokens()) == bare(token)
    ended = person.revoke_token(token.token_id, command_id="end")
    assert person.revoke_token(token.token_id, command_id="end") == ended


def test_two_tokens_have_nothing_in_common(clients: Clients) -> None:
    """Also where they are for one and the same."""
    person = clients.person()
    (first, one), (second, two) = (person.create_token("agent", name="ci") for _ in range(2))
    assert one != two
    assert (first.token_id, first.digest) != (second.token_id, second.digest)
    assert bare(*person.tokens()) == bare(second, first)


def test_token_is_listed_where_it_was_made(clients: Clients) -> None:
    """Not in the projects in which it holds."""
    clients.person().create_token("agent", name="ci", projects=["other"])
    assert clients.store.person(project="other").tokens() == []


def read_files(folder: Path) -> bytes:
    """Return all that lies in a folder, read by another process: in ours that would drop the store's locks."""
    files = sorted(str(path) for path in folder.rglob("*") if path.is_file())
    return subprocess.run(["cat", *files], capture_output=True, check=True, timeout=PATIENCE).stdout


def test_store_that_is_stolen_holds_no_secret(clients: Clients) -> None:
    """S14: not in the file, its WAL or anything beside it, nor in the log; and what is shown has none."""
    person = clients.person(assurance=Assurance.TERMINAL)
    made = [person.create_token(role, name="x") for role in Role for _ in range(MANY // len(Role) + 1)]
    assert len(made) >= MANY
    person.revoke_token(made[0][0].token_id)
    folder = clients.store.path.parent
    assert clients.store.path.with_name(f"{clients.store.path.name}-wal").stat().st_size > 0
    open_bytes = read_files(folder)
    log = b"".join(record.body or b"" for record in clients.store.person().log(limit=1_000))
    shown = repr(person.tokens()).encode()
    for stored in (open_bytes, log, shown):
        for token, secret in made:
            assert token.token_id.encode() in stored  # the search finds what is there
            assert secret.encode() not in stored
            assert secret.removeprefix("assent_").encode() not in stored
            assert bytes.fromhex(secret.removeprefix("assent_")) not in stored


@pytest.mark.parametrize("name", ["create_token", "tokens", "revoke_token"])
def test_both_clients_have_the_same_calls(name: str) -> None:
    """One body for both; a call that only one of them had would be missed by its users."""
    assert getattr(Client, name).__doc__
    assert getattr(AsyncClient, name).__doc__ == getattr(Client, name).__doc__
