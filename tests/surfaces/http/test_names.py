"""What a server is called: a fixed set of names, and what is loopback."""

import pytest

from assent.protocol.error import BadRequestError
from assent.surfaces.http.names import check_host_name, is_loopback, names_of

__all__: list[str] = []


def test_loopback_server_has_three_names_with_its_port() -> None:
    """And pages that came from there may speak to it."""
    names = names_of("127.0.0.1", 8484)
    assert names.hosts == {b"127.0.0.1:8484", b"localhost:8484", b"[::1]:8484"}
    assert names.origins == {b"http://" + host for host in names.hosts}


def test_default_port_may_be_left_out() -> None:
    """As browsers do."""
    assert b"localhost" in names_of("127.0.0.1", 80).hosts
    assert b"https://localhost" in names_of("127.0.0.1", 443, is_tls=True).origins
    assert b"localhost" not in names_of("127.0.0.1", 443).hosts


def test_further_name_counts_with_and_without_the_port() -> None:
    """A proxy in front has a port of its own, and may speak TLS where the server does not."""
    plain = names_of("127.0.0.1", 8484, ["a.example"])
    assert {b"a.example", b"a.example:8484"} <= plain.hosts
    assert {b"https://a.example", b"http://a.example:8484"} <= plain.origins
    safe = names_of("0.0.0.0", 8484, ["a.example"], is_tls=True)
    assert not [origin for origin in safe.origins if origin.startswith(b"http:")]
    assert b"0.0.0.0:8484" not in safe.hosts


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_is_known(host: str) -> None:
    """All of 127/8 is this machine."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.0.7", "a.example", "::ffff:127.0.0.1", "LOCALHOST.", "127.1", ""]
)
def test_everything_else_is_public(host: str) -> None:
    """Also what may be this machine only today."""
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("A.example", "a.example"),
        ("::1", "[::1]"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("10.0.0.7", "10.0.0.7"),
    ],
)
def test_name_is_written_as_browsers_do(given: str, name: str) -> None:
    """Small letters, and brackets around what has colons."""
    assert check_host_name(given) == name


@pytest.mark.parametrize(
    "given",
    [
        "",
        "a b",
        "a.example:80",
        "http://a",
        "*",
        "*.example",
        "a..b",
        "-a",
        "a.",
        "10.0.0",
        "é.example",
        "a/b",
    ],
)
def test_what_is_no_name_of_a_host_is_refused(given: str) -> None:
    """In one sentence."""
    with pytest.raises(BadRequestError, match="is no name of a host"):
        check_host_name(given)
