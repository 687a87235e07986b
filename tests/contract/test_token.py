"""What every store promises of tokens."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from assent.protocol.error import CommandReusedError
from assent.protocol.principal import Role
from assent.protocol.token import ALL_PROJECTS, Token, TokenId
from assent.storage.port import Head, Store, Transaction
from tests.contract.conftest import MakeStore
from tests.contract.writing import AT, writing
from tests.samples import NOON
from tests.token_samples import TOKEN_ID, new_token

__all__: list[str] = []

HOUR = timedelta(hours=1)


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """Give one store."""
    return make_store()


def append_token(transaction: Transaction, head: Head, token: Token) -> Token:
    """Put a token as the hub would; return it with its number."""
    transaction.append(head, "token.created", token.token_id, b"{}")
    token = replace(token, project=head.project, sequence=head.sequence)
    transaction.put_token(head, token)
    return token


def store_tokens(store: Store, *tokens: Token) -> list[Token]:
    """Put tokens, a transaction each."""
    kept = []
    for token in tokens:
        with writing(store) as transaction:
            kept.append(append_token(transaction, transaction.head(token.project, AT), token))
    return kept


def test_token_with_every_part_comes_back_equal(make_store: MakeStore) -> None:
    """To the last field and microsecond, in another process."""
    moment = NOON + timedelta(microseconds=1)
    token = Token(
        TOKEN_ID,
        "p",
        ("p", "магазин"),
        Role.OBSERVER,
        "Öl 油",
        "f" * 64,
        moment,
        "human:ana",
        moment + HOUR,
        moment + 2 * HOUR,
        "operator:ops",
    )
    [kept] = store_tokens(make_store(), token)
    other = make_store()
    with other.reading() as reader:
        assert reader.tokens("p", 10) == [kept]
        assert reader.token_by_digest(token.digest) == kept
    with writing(other) as transaction:
        assert transaction.token("p", TOKEN_ID) == kept


def test_transaction_sees_the_token_that_was_put_in_it(store: Store) -> None:
    """Commands of one group decide on what their neighbours did."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        assert transaction.token("p", TOKEN_ID) is None
        first = append_token(transaction, head, new_token())
        assert transaction.token("p", TOKEN_ID) == first
        second = append_token(transaction, head, replace(first, revoked_at=NOON, revoked_by="human:ana"))
        assert transaction.token("p", TOKEN_ID) == second
    with store.reading() as reader:
        assert reader.tokens("p", 10) == [second]
        assert reader.token_by_digest(second.digest) == second


def test_change_of_a_token_is_seen_by_whoever_reads_next(make_store: MakeStore) -> None:
    """Revocation holds at once, in every process that has the store open."""
    store, other = make_store(), make_store()
    [kept] = store_tokens(store, new_token())
    with other.reading() as reader:
        assert reader.token_by_digest(kept.digest) == kept
        [ended] = store_tokens(store, replace(kept, revoked_at=NOON, revoked_by="human:ana"))
        assert reader.token_by_digest(kept.digest) == ended


def test_token_belongs_to_its_home(store: Store) -> None:
    """Whatever its scope; the same id in two projects is two tokens."""
    ours, theirs = store_tokens(
        store, new_token(projects=(ALL_PROJECTS,)), new_token(2, token_id=TOKEN_ID, project="q")
    )
    with store.reading() as reader:
        assert (reader.tokens("p", 10), reader.tokens("q", 10)) == ([ours], [theirs])
        assert reader.tokens("nowhere", 10) == []
    with writing(store) as transaction:
        assert transaction.token("p", TOKEN_ID) == ours
        assert transaction.token("q", TOKEN_ID) == theirs
        assert transaction.token("nowhere", TOKEN_ID) is None
        assert transaction.token("p", TokenId("tok_nobody")) is None


def test_token_is_found_by_its_digest_in_whichever_project(store: Store) -> None:
    """A server does not know where a secret is at home; and nothing is folded."""
    ours, theirs = store_tokens(store, new_token(1), new_token(2, project="q"))
    with store.reading() as reader:
        assert reader.token_by_digest(ours.digest) == ours
        assert reader.token_by_digest(theirs.digest) == theirs
        for digest in (ours.digest.upper(), ours.digest[:-1], f"{ours.digest} ", "%", "", "\x00"):
            assert reader.token_by_digest(digest) is None


def test_tokens_are_listed_newest_first(store: Store) -> None:
    """Revoked ones too; a change moves none, and a limit cuts the oldest."""
    tokens = store_tokens(store, *(new_token(number) for number in range(1, 5)))
    tokens[0:1] = store_tokens(store, replace(tokens[0], revoked_at=NOON))
    with store.reading() as reader:
        assert reader.tokens("p", 10) == tokens[::-1]
        assert reader.tokens("p", 2) == tokens[:1:-1]


def test_tokens_of_all_projects_are_listed_by_their_creation(store: Store) -> None:
    """One list for whoever looks after a store."""
    first, second, third = store_tokens(
        store,
        new_token(1),
        new_token(2, project="q", created_at=NOON + HOUR),
        new_token(3, created_at=NOON + 2 * HOUR),
    )
    with store.reading() as reader:
        assert reader.tokens(None, 10) == [third, second, first]
        assert reader.tokens(None, 2) == [third, second]


@pytest.mark.parametrize("project", ["p", "q"], ids=["same_project", "other_project"])
def test_secret_belongs_to_one_token(store: Store, project: str) -> None:
    """Two tokens of one secret could not be told apart; the second is refused, and leaves nothing."""
    [kept] = store_tokens(store, new_token())
    with pytest.raises(CommandReusedError, match="another token"):
        store_tokens(store, new_token(2, digest=kept.digest, project=project))
    with store.reading() as reader:
        assert reader.tokens(None, 10) == [kept]
        assert [head.sequence for head in reader.heads()] == [1]


def test_tokens_of_one_transaction_are_all_kept(store: Store) -> None:
    """As many as come together."""
    with writing(store) as transaction:
        head = transaction.head("p", AT)
        tokens = [append_token(transaction, head, new_token(number)) for number in range(1, 76)]
    with store.reading() as reader:
        assert reader.tokens("p", 100) == tokens[::-1]
    assert store.check() == []
