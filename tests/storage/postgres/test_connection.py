"""Connecting, its failures in one plain sentence each, and a password that nobody is told."""

import socket
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from assent.protocol.error import (
    AssentError,
    BadRequestError,
    StoreAwayError,
    StoreReadOnlyError,
    StoreRefusedError,
)
from assent.storage.postgres.connection import Address, connect, is_lost, plain_errors
from assent.storage.postgres.store import PostgresStore
from tests.contract.writing import store_asks
from tests.patience import PATIENCE
from tests.samples import new_ask
from tests.storage.postgres.conftest import OpenStore
from tools.postgres import PostgresServer

__all__: list[str] = []

PASSWORD = "s3cr3t-pass"


def with_password(url: str) -> str:
    """Return the address with a password in it."""
    return url.replace("postgres@", f"postgres:{PASSWORD}@")


def refusal_of(url: str) -> AssentError:
    """Return the error with which a store there cannot be used, after looking for the password in all that it says."""
    store = PostgresStore(url)
    with pytest.raises(AssentError) as caught, store.reading() as reader:
        reader.heads()
    error = caught.value
    told = "".join(traceback.format_exception(error))
    assert PASSWORD not in told
    assert error.message.count(". ") == 0
    assert error.message.endswith(".")
    assert "\n" not in error.message
    return error


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Give a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


@pytest.fixture
def chatty_port() -> Iterator[int]:
    """Give a port on which something listens that is no PostgreSQL."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def chat() -> None:
            while True:
                try:
                    caller, _ = door.accept()
                except OSError:
                    return
                with caller:
                    caller.recv(100)
                    caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=chat, daemon=True)
        thread.start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{PASSWORD}@db.example:5433/assent?sslmode=require",
        f"postgresql://ana@db.example:5433/assent?password={PASSWORD}&sslmode=require",
        f"postgresql://ana:{PASSWORD}@one.example,two.example/assent",
        f"postgres://ana:{PASSWORD}@db.example/assent",
    ],
)
def test_password_is_in_no_name_of_the_store(url: str) -> None:
    """Whatever is shown or logged of a store is one of these."""
    store = PostgresStore(url)
    address = Address(url)
    shown = [
        store.url,
        repr(store),
        str(store),
        address.name,
        address.url,
        repr(address),
        str(vars(store.bell)),
    ]
    assert not any(PASSWORD in text for text in shown)
    assert address.name.endswith("/assent")
    assert "ana@" in address.url


@pytest.mark.parametrize(
    "url", [f"postgresql://ana:{PASSWORD}@[::1/x", f"postgresql://h/x?nonsense={PASSWORD}"]
)
def test_address_that_cannot_be_read_is_refused_without_being_repeated(url: str) -> None:
    """The driver's own words would quote it."""
    with pytest.raises(BadRequestError) as caught:
        PostgresStore(url)
    assert PASSWORD not in caught.value.message


def test_port_on_which_nobody_listens_is_away(silent_port: int) -> None:
    """It may come back, so it is worth trying again."""
    error = refusal_of(f"postgresql://postgres:{PASSWORD}@127.0.0.1:{silent_port}/x")
    assert isinstance(error, StoreAwayError)
    assert f"127.0.0.1:{silent_port}/x" in error.message


def test_port_of_something_else_is_away(chatty_port: int) -> None:
    """What answers there is no database."""
    error = refusal_of(f"postgresql://postgres:{PASSWORD}@127.0.0.1:{chatty_port}/x")
    assert isinstance(error, StoreAwayError)


def test_host_that_does_not_exist_is_away() -> None:
    """A name may also come back: a network that is down knows none."""
    error = refusal_of(f"postgresql://postgres:{PASSWORD}@nowhere.invalid/x")
    assert isinstance(error, StoreAwayError)
    assert "nowhere.invalid/x" in error.message


def test_database_that_does_not_exist_is_refused_by_its_name(postgres_server: PostgresServer) -> None:
    """Trying again would not help."""
    error = refusal_of(with_password(postgres_server.url("no_such_thing")))
    assert isinstance(error, StoreRefusedError)
    assert error.message.startswith("There is no database ")
    assert error.message.endswith("/no_such_thing.")


def test_user_that_does_not_exist_is_refused(postgres_server: PostgresServer) -> None:
    """The same for a user."""
    url = postgres_server.url().replace("postgres@", f"nobody_here:{PASSWORD}@")
    error = refusal_of(url)
    assert isinstance(error, StoreRefusedError)
    assert error.message.endswith("does not know this user or password.")


def test_wrong_password_is_refused(postgres_server: PostgresServer, bare_database: str) -> None:
    """The server asks for one from this user only."""
    home: Path = postgres_server.home
    rules = home / "data" / "pg_hba.conf"
    before = rules.read_text(encoding="utf-8")
    with psycopg.connect(bare_database, autocommit=True) as connection:
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        rules.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{before}", encoding="utf-8")
        try:
            connection.execute("SELECT pg_reload_conf()")
            wait_until_guarded(bare_database)
            error = refusal_of(bare_database.replace("postgres@", f"guarded:{PASSWORD}@"))
            missing = refusal_of(bare_database.replace("postgres@", "guarded@"))
        finally:
            rules.write_text(before, encoding="utf-8")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE guarded")
    for refused in (error, missing):
        assert isinstance(refused, StoreRefusedError)
        assert refused.message.endswith("does not know this user or password.")


def test_user_that_may_not_come_in_from_here_is_refused(bare_database: str) -> None:
    """The database is there and takes others."""
    name = bare_database.rpartition("/")[2]
    with psycopg.connect(bare_database, autocommit=True) as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
        try:
            connection.execute(f'REVOKE CONNECT ON DATABASE "{name}" FROM PUBLIC')
            error = refusal_of(bare_database.replace("postgres@", f"stranger:{PASSWORD}@"))
        finally:
            connection.execute("DROP ROLE stranger")
    assert isinstance(error, StoreRefusedError)
    assert error.message.endswith("does not let this user in from here.")


def wait_until_guarded(url: str) -> None:
    """Wait until the server has read its new rules."""
    for _ in range(500):
        try:
            psycopg.connect(url.replace("postgres@", "guarded@")).close()
        except psycopg.OperationalError:
            return
    raise AssertionError("The server still lets everybody in.")


def test_database_in_another_encoding_is_refused(postgres_server: PostgresServer) -> None:
    """It could not keep every text that a person types."""
    url = postgres_server.new_database(
        is_bare=True, settings="TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
    )
    try:
        error = refusal_of(with_password(url))
    finally:
        postgres_server.drop_database(url)
    assert isinstance(error, StoreRefusedError)
    assert error.message.endswith("keeps LATIN1; Assent needs UTF8.")


@pytest.mark.parametrize(
    ("set_to", "used"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")]
)
def test_commit_waits_for_the_disk_whatever_the_database_says(
    own_database: str, set_to: str, used: str
) -> None:
    """Less would acknowledge what a crash can take back; more is the owner's choice and stays."""
    name = own_database.rpartition("/")[2]
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = {set_to}')
    with connect(Address(own_database)) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (used,)


def test_store_that_can_only_be_read_says_so(own_database: str, open_store: OpenStore) -> None:
    """The owner has made the database read-only: reading goes on."""
    store_asks(open_store(own_database), new_ask())
    name = own_database.rpartition("/")[2]
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    store = open_store(f"{own_database}?target_session_attrs=any")
    with pytest.raises(StoreReadOnlyError):
        store_asks(store, new_ask(2))
    with store.reading() as reader:
        assert len(reader.asks("p", None, 10)) == 1


def test_reader_may_have_the_rights_to_read_only(postgres_server: PostgresServer) -> None:
    """What a user may not do is said in a sentence, and is nobody's damage."""
    url = postgres_server.url()
    with pytest.raises(StoreRefusedError, match="does not let this user"), plain_errors(Address(url)):
        raise psycopg.errors.InsufficientPrivilege
    assert not is_lost(psycopg.errors.InsufficientPrivilege())


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:x/{PASSWORD}@host/db",
        f"postgresql://me:se@{PASSWORD}@host/db",
        f"postgresql://me:100%{PASSWORD}@host/db",
    ],
    ids=["slash", "at", "percent"],
)
def test_password_that_is_not_escaped_is_refused_and_not_told(url: str) -> None:
    """What libpq would take for a host or a database may be the half of it."""
    with pytest.raises(BadRequestError) as caught:
        Address(url)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
