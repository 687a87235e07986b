"""The halves of a session: what each is, and where the document says that they go."""

from typing import Any

import msgspec
import pytest
from starlette.requests import HTTPConnection

from assent.hub.ids import new_token_secret
from assent.protocol.token import SECRET_BYTES
from assent.surfaces.http.openapi import render_openapi
from assent.surfaces.http.session import KEY_HEADER, cookie_name, cut_secret, join_secret

__all__: list[str] = []

PORT = 8484


def request(cookie: str, key: str, *, port: int = PORT, host: str = "127.0.0.1:8484") -> HTTPConnection:
    """Return a request that shows these, at a server on this port."""
    headers = {"host": host, "cookie": f"{cookie_name(PORT)}={cookie}", KEY_HEADER.lower(): key}
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    return HTTPConnection({"type": "http", "server": ("127.0.0.1", port), "headers": encoded})


def test_halves_of_a_secret_have_half_of_its_chance_each() -> None:
    """128 bits, and no digit of one is part of the other; together they are the secret."""
    secret = new_token_secret()
    halves = cut_secret(secret)
    assert [4 * len(half) for half in halves] == [SECRET_BYTES * 4, SECRET_BYTES * 4]
    assert SECRET_BYTES * 4 >= 128
    assert join_secret(request(*halves)) == secret


@pytest.mark.parametrize("host", ["127.0.0.1:8484", "assent.example.com", "localhost:1", ""])
def test_cookie_is_called_after_the_port_of_the_socket_whatever_the_host(host: str) -> None:
    """A name of a proxy has no port; and what a request says of itself decides nothing."""
    halves = cut_secret(new_token_secret())
    assert join_secret(request(*halves, host=host))
    assert join_secret(request(*halves, host=host, port=PORT + 1)) == ""


@pytest.mark.parametrize("wrong", ["", "0" * 31, "0" * 33, "0" * 64, "Z" * 32, "٣" * 32, "0" * 31 + "\n"])
def test_what_is_no_half_is_joined_to_nothing(wrong: str) -> None:
    """Neither in the cookie nor in the key."""
    half, key = cut_secret(new_token_secret())
    assert join_secret(request(half, wrong)) == ""
    assert join_secret(request(wrong, key)) == ""


def test_document_wants_both_halves_or_a_token() -> None:
    """Of a server on any port; both in one entry, for each alone opens nothing."""
    document: dict[str, Any] = msgspec.json.decode(render_openapi("1", 9_000))
    schemes = document["components"]["securitySchemes"]
    assert (schemes["session"]["name"], schemes["key"]["name"]) == ("assent_session_9000", KEY_HEADER)
    assert document["security"] == [{"token": []}, {"session": [], "key": []}]
    refusal = document["paths"]["/asks"]["get"]["responses"]["401"]
    assert refusal["headers"]["WWW-Authenticate"]["schema"] == {"const": "Bearer"}
