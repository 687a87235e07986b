"""Tokens through the hub: one transaction, one winner, retries, expiry by the store's clock, and an audit that replays them."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from assent.engine.stamp import Stamp
from assent.hub.audit import replay, verify
from assent.hub.command import Request, RevokeToken
from assent.hub.hub import Hub
from assent.protocol.error import AssentError, CommandReusedError, ForbiddenError, NotFoundError
from assent.protocol.principal import Principal, Role
from assent.protocol.token import ALL_PROJECTS, Token, digest_of
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send, tell, tell_group
from tests.samples import AGENT, ANA, BOB, NOON
from tests.token_samples import TOKEN_ID, creating, new_token, secret_number

__all__: list[str] = []

OPS = Principal(Role.OPERATOR, "ops")
WATCHER = Principal(Role.OBSERVER, "wall")


def told(hub: Hub, request: Request, by: Principal = ANA, command_id: str | None = None, **how: Any) -> Token:
    """Send one request and return the token that it is about."""
    token = tell(hub, request, by, command_id, **how)
    assert isinstance(token, Token)
    return token


def found(hub: Hub, number: int = 1) -> Token | None:
    """Return the token of a secret, as a server looks for it."""
    with hub.reading() as reader:
        return reader.token_by_digest(digest_of(secret_number(number)))


def types(hub: Hub) -> list[str]:
    """Return what the log has, in order."""
    with hub.reading() as reader:
        return [record.type for record in reader.records(PROJECT, 0, 100)]


def test_token_is_found_by_its_secret_from_its_creation_on(hub: Hub) -> None:
    """With its row, its event and its number from one transaction."""
    token = told(hub, creating())
    assert token == new_token(project=PROJECT, projects=(PROJECT,), sequence=1)
    assert found(hub) == token
    assert types(hub) == ["token.created"]


def test_token_that_was_revoked_is_found_as_such_in_every_process(store: ThrowawayStore, hub: Hub) -> None:
    """At once, also by who had read it before."""
    token, other = told(hub, creating()), store.hub()
    assert found(other) == token
    ended = told(hub, RevokeToken(TOKEN_ID), BOB)
    assert (ended.revoked_at, ended.revoked_by, ended.sequence) == (NOON, "human:bob", 2)
    assert found(other) == ended
    assert types(hub) == ["token.created", "token.revoked"]


def test_token_expires_by_the_clock_of_the_store(hub: Hub, clock: FakeClock) -> None:
    """Without an event; and one that is made later lives from then on."""
    token = told(hub, creating())
    clock.advance(timedelta(days=1) - timedelta(microseconds=1))
    assert token.is_live(clock.at)
    clock.advance(timedelta(microseconds=1))
    assert not token.is_live(clock.at)
    assert types(hub) == ["token.created"]
    later = told(hub, creating(Role.HUMAN, 2))
    assert later.expires_at == NOON + timedelta(days=31)


def test_command_that_is_sent_again_gets_its_token_and_no_second_event(hub: Hub) -> None:
    """Under one command id, and from another hub; whatever has become of the token meanwhile."""
    token = told(hub, creating(), command_id="cmd_1")
    assert told(hub, creating(), command_id="cmd_1") == token
    ended = told(hub, RevokeToken(TOKEN_ID), command_id="cmd_2")
    assert told(hub, RevokeToken(TOKEN_ID), command_id="cmd_2") == ended
    assert told(hub, RevokeToken(TOKEN_ID), BOB, "cmd_3") == ended
    assert told(hub, creating(), command_id="cmd_1") == ended
    assert types(hub) == ["token.created", "token.revoked"]


def test_id_or_secret_of_another_token_is_refused_and_leaves_nothing(hub: Hub) -> None:
    """Also where the other one is of another project."""
    told(hub, creating())
    before = dump(hub)
    with pytest.raises(CommandReusedError):
        told(hub, creating(name="other"))
    for project in (PROJECT, "other"):
        with pytest.raises(CommandReusedError, match="another token"):
            told(hub, creating(token_id=new_token(2).token_id), project=project)
    assert dump(hub) == before


def test_commands_of_one_group_see_each_other(hub: Hub) -> None:
    """Made, made again and revoked in one transaction; a stranger's command among them fails alone."""
    replies = tell_group(
        hub,
        (creating(), ANA),
        (creating(), ANA),
        (creating(number=2, digest=digest_of(secret_number(1))), ANA),
        (RevokeToken(TOKEN_ID), BOB),
        (creating(number=3), OPS),
    )
    tokens = [reply for reply in replies if isinstance(reply, Token)]
    assert [type(reply) for reply in replies] == [Token, Token, CommandReusedError, Token, Token]
    assert [token.revoked_by for token in tokens] == ["", "", "human:bob", ""]
    assert types(hub) == ["token.created", "token.revoked", "token.created"]
    assert verify(hub.store).problems == ()


def test_token_is_revoked_in_its_home_only(hub: Hub) -> None:
    """Whatever its scope: from another project it looks like none."""
    told(hub, creating(projects=(ALL_PROJECTS,)))
    before = dump(hub)
    with pytest.raises(NotFoundError) as foreign:
        told(hub, RevokeToken(TOKEN_ID), project="other")
    with pytest.raises(NotFoundError) as missing:
        told(hub, RevokeToken(new_token(9).token_id))
    assert foreign.value.message == missing.value.message
    assert dump(hub) == before


@pytest.mark.parametrize("by", [AGENT, WATCHER], ids=["agent", "observer"])
@pytest.mark.parametrize("role", Role)
def test_agent_and_observer_leave_no_trace(hub: Hub, by: Principal, role: Role) -> None:
    """Whatever they say of themselves; the guard stands before the transaction."""
    token = told(hub, creating(Role.HUMAN))
    before = dump(hub)
    requests: list[Request] = [
        creating(role, 2),
        creating(role, 2, is_unattended=True, projects=(ALL_PROJECTS,)),
        RevokeToken(token.token_id),
    ]
    for request in requests:
        with pytest.raises(ForbiddenError):
            hub.handle(request, project=PROJECT, principal=by)
    assert dump(hub) == before


def test_stamp_that_a_caller_brings_is_not_believed(hub: Hub) -> None:
    """Who acts is what the door says, and not what the command says."""
    forged = replace(creating(Role.HUMAN, 2), stamp=Stamp(NOON, ANA, "cmd_forged"))
    with pytest.raises(ForbiddenError):
        told(hub, forged, OPS)
    agents = replace(creating(), stamp=Stamp(NOON, ANA, "cmd_forged"))
    assert told(hub, agents, OPS).created_by == "operator:ops"


# Audit


def test_replay_gives_the_rows_of_tokens(hub: Hub) -> None:
    """Beside everything else that the log has."""
    send(hub, opening())
    told(hub, creating())
    told(hub, creating(Role.HUMAN, 2, projects=("a", "b")))
    told(hub, RevokeToken(TOKEN_ID), OPS)
    with hub.reading() as reader:
        rows = replay(PROJECT, reader.records(PROJECT, 0, 100)).rows["token"]
        assert rows == {token.token_id: token for token in reader.tokens(PROJECT, 100)}
    assert len(rows) == 2
    assert verify(hub.store).problems == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        (
            'UPDATE tokens SET record = CAST(replace(CAST(record AS TEXT), \'"revoked_at":"\', \'"gone":"\') AS BLOB)',
            "the row of token tok_000000000000000001 is not what the log says.",
        ),
        (
            "UPDATE tokens SET record = CAST(replace(CAST(record AS TEXT), '\"agent\"', '\"human\"') AS BLOB)",
            "the row of token tok_000000000000000001 is not what the log says.",
        ),
        ("DELETE FROM tokens", "the row of token tok_000000000000000001 is not what the log says."),
    ],
    ids=["unrevoked", "promoted", "deleted"],
)
def test_row_that_was_bent_is_found_by_the_audit(
    store: ThrowawayStore, hub: Hub, statement: str, problem: str
) -> None:
    """A revoked token brought back, an agent's made a person's, and one that is gone."""
    told(hub, creating())
    told(hub, RevokeToken(TOKEN_ID))
    hub.close()
    assert problems(store.path) == ()
    bend(store.path, statement)
    assert any(problem in found for found in problems(store.path))


def test_token_that_the_log_does_not_know_is_found_by_the_audit(store: ThrowawayStore, hub: Hub) -> None:
    """A row that somebody wrote into the file opens a door that nobody made."""
    told(hub, creating())
    hub.close()
    copy = (
        "INSERT INTO tokens (project_number, token_id, digest, record) SELECT project_number, 'tok_forged', 'f', "
        "CAST(replace(CAST(record AS TEXT), 'tok_000000000000000001', 'tok_forged') AS BLOB) FROM tokens"
    )
    bend(store.path, copy)
    assert any("tok_forged" in problem for problem in problems(store.path))


def test_token_whose_event_was_erased_is_not_compared(store: ThrowawayStore, hub: Hub) -> None:
    """The chain holds; what has lost a body gives no row."""
    told(hub, creating())
    hub.close()
    connection = apsw.Connection(str(store.path))
    [(body,)] = connection.execute("SELECT body FROM events").fetchall()
    assert isinstance(body, bytes)
    connection.execute("UPDATE events SET body = NULL, digest = ?", (sha256(body).digest(),))
    connection.close()
    assert problems(store.path) == ()


def bend(path: Path, statement: str) -> None:
    """Change the file behind the store's back."""
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    assert connection.changes() > 0
    connection.close()


def problems(path: Path) -> tuple[str, ...]:
    """Return what an audit finds wrong with a file that nobody has open."""
    store = SqliteStore(path)
    try:
        return verify(store).problems
    except AssentError as error:
        return (error.message,)
    finally:
        store.close()
