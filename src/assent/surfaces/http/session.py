"""The secret of a session, cut in two: whoever has one half has nothing.

Rule 1: one half is in a cookie. A browser sends it to every port of a host, so whatever else listens there and is opened
        in the same browser gets it.
Rule 2: the other half, the key, is kept by the page, where only pages of the same host and port look. The page shows it
        in a header, which no browser sends by itself; on a socket, where a page can set none, as a subprotocol.
Rule 3: each half has 128 bits of chance, and is of no help to guess the other.
Rule 4: the cookie is called after the port of the server's own socket, so that servers on one host leave each other's
        alone. No accepted `Host` has another port; that of a proxy's name has none.
"""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection

from assent.protocol.token import SECRET_BYTES, SECRET_PREFIX

__all__ = ["KEY_HEADER", "KEY_PROTOCOL", "PROTOCOL", "cookie_name", "cut_secret", "join_secret", "port_of"]

KEY_HEADER = "Assent-Key"
PROTOCOL = "assent"
"""What a socket speaks that is opened with a key."""
KEY_PROTOCOL = "key."
"""Before the key, where it is offered as a subprotocol; it is never chosen."""

_HALF = SECRET_BYTES  # hexadecimal digits: two for each byte, in two halves
_is_half = re.compile(rf"[0-9a-f]{{{_HALF}}}").fullmatch


def cookie_name(port: int) -> str:
    """Return the name of the cookie for a server that listens on this port."""
    return f"assent_session_{port}"


def port_of(connection: HTTPConnection) -> int:
    """Return the port on which a request came in, by the socket and not by what the request says."""
    port: int = connection.scope["server"][1]
    return port


def cut_secret(secret: str) -> tuple[str, str]:
    """Return the halves of a token's secret: what the cookie holds, and the key.

    >>> cut_secret("assent_" + 32 * "0" + 32 * "1")
    ('00000000000000000000000000000000', '11111111111111111111111111111111')
    """
    digits = secret.removeprefix(SECRET_PREFIX)
    return digits[:_HALF], digits[_HALF:]


def join_secret(connection: HTTPConnection) -> str:
    """Return the secret of which a request shows both halves; empty where one is missing."""
    halves = connection.cookies.get(cookie_name(port_of(connection)), ""), _key(connection)
    return SECRET_PREFIX + "".join(halves) if all(map(_is_half, halves)) else ""


def _key(connection: HTTPConnection) -> str:
    if connection.scope["type"] == "http":
        return connection.headers.get(KEY_HEADER, "")
    offered: list[str] = connection.scope["subprotocols"]
    keys = [name.removeprefix(KEY_PROTOCOL) for name in offered if name.startswith(KEY_PROTOCOL)]
    return keys[0] if len(keys) == 1 else ""
