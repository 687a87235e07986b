"""A page's session: how a server shows that it is the one which signed somebody in, and how the page signs what it sends.

Rule 1: a session has a name and a key. The name goes with every request, and the store keeps its digest. The key is
        derived from the name and the store's secret: a name without that store, and a store without the name, open
        nothing. The key travels once, in the reply to whoever signs in, and a page keeps it where no script can read it.
Rule 2: before a page sends anything else it sends a nonce. Only who can derive the key can prove it for that nonce, and
        a server proves it for its own name alone. With the proof it names its boot, which is another at every start.
Rule 3: a request is signed with its method, address, digest of the body, origin, boot, tab and number, and so is a
        socket, where a page can set no header and the signature is offered as a subprotocol.
Rule 4: a tab counts what it sends, and each number is good once. Requests overtake each other, so the last WINDOW
        numbers of a tab are remembered one by one, and what is older is refused.
Rule 5: what is remembered is bounded. Where there are too many tabs, another boot begins: all have to ask for a proof.
"""

from __future__ import annotations

import hmac
import re

import msgspec
from starlette.requests import HTTPConnection

from assent.client.boot import new_boot_id
from assent.protocol.error import ReplayedError, UnprovenError
from assent.protocol.token import SECRET_BYTES

__all__ = [
    "MAX_TABS",
    "PROTOCOL",
    "SESSION_HEADER",
    "SIGNED_PROTOCOL",
    "WINDOW",
    "Boot",
    "Signature",
    "derive_key",
    "is_nonce",
    "is_origin_of",
    "is_session_name",
    "prove",
    "read_signature",
]

SESSION_HEADER = "Assent-Session"
PROTOCOL = "assent"
"""What a socket speaks that is opened by a page."""
SIGNED_PROTOCOL = "signed."
"""Before the signature, where it is offered as a subprotocol; it is never chosen."""
WINDOW = 4_096
"""So many numbers of a tab may be on their way at once."""
MAX_TABS = 10_000
"""So many tabs are remembered, each since it was loaded."""

_SCHEMES = ("http", "https")
_is_name = re.compile(rf"[0-9a-f]{{{2 * SECRET_BYTES}}}").fullmatch
_is_nonce = re.compile(r"[0-9a-f]{64}").fullmatch
_read = re.compile(
    r"(?P<name>[0-9a-f]{64})\.(?P<boot>[0-9a-f]{16})\.(?P<tab>[0-9a-f]{32})\.(?P<number>[1-9][0-9]{0,14})"
    r"\.(?P<digest>[0-9a-f]{64})\.(?P<mac>[0-9a-f]{64})",
    re.ASCII,
).fullmatch


def is_session_name(text: str) -> bool:
    """Say whether `text` could be the name of a session."""
    return _is_name(text) is not None


def is_nonce(text: str) -> bool:
    """Say whether `text` is what a page may have a proof made of."""
    return _is_nonce(text) is not None


def derive_key(secret: bytes, name: str) -> bytes:
    """Return the key of a session, by the secret of the store."""
    return _mac(secret, "assent session key", name)


def prove(key: bytes, nonce: str, origin: str, boot: str) -> str:
    """Return what shows a page that came from this origin who is here."""
    return _mac(key, "assent proof", nonce, origin, boot).hex()


def is_origin_of(connection: HTTPConnection, origin: str) -> bool:
    """Say whether a page at this origin would send this: to the name under which it came in."""
    return origin in _origins(connection)


class Signature(msgspec.Struct, frozen=True):
    """What a page shows with a request."""

    name: str
    boot: str
    tab: str
    number: int
    digest: str
    """Of the body."""
    mac: str

    def is_of(self, connection: HTTPConnection, key: bytes) -> bool:
        """Say whether it was made with this key, for this request."""
        scope = connection.scope
        method = scope["method"] if scope["type"] == "http" else "WEBSOCKET"
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        told = (method, target.decode("latin-1"), self.digest)
        counted = (self.boot, self.tab, str(self.number))
        made = [_mac(key, "assent request", *told, origin, *counted).hex() for origin in _origins(connection)]
        return any([hmac.compare_digest(each, self.mac) for each in made])  # noqa: C419 - all, whichever fits


def read_signature(connection: HTTPConnection) -> Signature | None:
    """Return what a request shows of a session; None where it is nothing, or cannot be read."""
    found = _read(_shown(connection))
    if found is None:
        return None
    return Signature(
        found["name"], found["boot"], found["tab"], int(found["number"]), found["digest"], found["mac"]
    )


def _shown(connection: HTTPConnection) -> str:
    if connection.scope["type"] == "http":
        shown = connection.headers.getlist(SESSION_HEADER)
    else:
        offered: list[str] = connection.scope["subprotocols"]
        shown = [each.removeprefix(SIGNED_PROTOCOL) for each in offered if each.startswith(SIGNED_PROTOCOL)]
    return shown[0] if len(shown) == 1 else ""


def _origins(connection: HTTPConnection) -> list[str]:
    """Return what a page that sends this may have as its origin. The guard has seen that the host is a name of ours.

    Whether it came over TLS only a proxy knows that stands in front; a name and port speak one of both.
    """
    host = connection.headers.get("host", "")
    return [f"{scheme}://{host}" for scheme in _SCHEMES]


def _mac(key: bytes, *parts: str) -> bytes:
    return hmac.digest(key, "\n".join(parts).encode(), "sha256")


class Boot:
    """One start of a server, with the numbers that pages have used since."""

    def __init__(self) -> None:
        self._used: dict[tuple[str, str], tuple[int, int]] = {}
        """By session and tab: the highest number, and of those up to it a bit for each one that was used."""
        self.name = new_boot_id()

    def use(self, shown: Signature) -> None:
        """Use up the number of a request.

        Raises:
            UnprovenError: it was signed for another boot.
            ReplayedError: it was used before, or is so old that nobody knows.
        """
        if shown.boot != self.name:
            raise UnprovenError
        tab = shown.name, shown.tab
        if tab not in self._used and len(self._used) >= MAX_TABS:
            self._used.clear()
            self.name = new_boot_id()
            raise UnprovenError
        highest, used = self._used.get(tab, (0, 0))
        behind = highest - shown.number
        if behind < 0:
            used = 1 | (used << -behind if -behind < WINDOW else 0)
            self._used[tab] = shown.number, used & ((1 << WINDOW) - 1)
        elif behind >= WINDOW or used >> behind & 1:
            raise ReplayedError
        else:
            self._used[tab] = highest, used | 1 << behind
