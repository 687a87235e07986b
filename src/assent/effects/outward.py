"""The way out: the one place where Assent connects to an address that a person named.

Rule 1: an address inside (this machine, a private network, a link, a cloud's own services) is refused unless a person
        allowed it for that target: a message must not be aimed at what only this machine can reach.
Rule 2: the check is of the number that is connected to, right before it is: a name that changes its mind in between leads
        nowhere else. A name of which one number is inside is refused whole.
Rule 3: nothing is followed. A redirect is a failure.
Rule 4: everything is bounded: how long it takes in all, and how much is read. No error has the address in it.
"""

from __future__ import annotations

import http.client
import ipaddress
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from assent.protocol.error import BadRequestError, EffectError

__all__ = [
    "MAX_REPLY_BYTES",
    "OUTWARD_SECONDS",
    "OutwardError",
    "OutwardSmtp",
    "Reply",
    "check_outward",
    "is_inside",
    "post",
]

OUTWARD_SECONDS = 15.0
"""For all of one delivery: to connect, to send and to read the reply."""
MAX_REPLY_BYTES = 65_536
"""More of a reply is not read."""
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")


class OutwardError(EffectError):
    """It could not be delivered."""

    code = "outward"


class Reply(msgspec.Struct, frozen=True):
    """What the other side said."""

    status: int
    body: bytes
    retry_after: str = ""


def is_inside(number: str) -> bool:
    """Say whether an address leads to this machine, a private network, or anything else that is not the open internet.

    >>> is_inside("127.0.0.1"), is_inside("::ffff:10.0.0.1"), is_inside("169.254.169.254"), is_inside("93.184.216.34")
    (True, True, True, False)
    """
    try:
        address = ipaddress.ip_address(number.partition("%")[0])
    except ValueError:
        return True  # whatever cannot be read is not let through
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_inside(str(inner))
        if address in _NAT64_LOCAL or int(address) >> 32 == 0:  # ::a.b.c.d, as written long ago
            return True
    return not address.is_global or address.is_multicast or address.is_reserved


def check_outward(host: str, port: int, *, allows_internal: bool) -> list[tuple[int, Any]]:
    """Return the numbers that a host has now: the family and the address of each, all of them allowed.

    Raises:
        OutwardError: it has none, or one that is inside and not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutwardError("The host has no address.") from None
    numbers = [(int(family), address) for family, _, _, _, address in found]
    if not allows_internal and any(is_inside(str(address[0])) for _, address in numbers):
        raise OutwardError(
            "The host leads to an address inside this network, which nobody has allowed (--allow-internal)."
        )
    return numbers


def _connect(host: str, port: int, *, allows_internal: bool, seconds: float) -> socket.socket:
    """Connect to one of the numbers that were checked, and to nothing else."""
    for family, address in check_outward(host, port, allows_internal=allows_internal):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.settimeout(seconds)
            made.connect(address)
        except OSError:
            made.close()
            continue
        return made
    raise OutwardError("Nobody listens there.")


class _Connection(http.client.HTTPConnection):
    """HTTP over a socket that was connected to a checked number; no proxy is asked."""

    def __init__(self, host: str, port: int, *, is_tls: bool, allows_internal: bool, seconds: float) -> None:
        super().__init__(host, port, timeout=seconds)
        self._is_tls, self._allows_internal, self._seconds = is_tls, allows_internal, seconds

    def connect(self) -> None:
        made = _connect(self.host, self.port, allows_internal=self._allows_internal, seconds=self._seconds)
        if self._is_tls:
            try:
                made = ssl.create_default_context().wrap_socket(made, server_hostname=self.host)
            except BaseException:
                made.close()
                raise
        self.sock = made


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allows_internal: bool = False,
    seconds: float = OUTWARD_SECONDS,
    method: str = "POST",
) -> Reply:
    """Send `body` to an address; return what was said to it, whatever that is.

    Raises:
        OutwardError: nobody was reached, or no reply came in time.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise BadRequestError("This is no address to send anything to.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _Connection(
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        is_tls=parts.scheme == "https",
        allows_internal=allows_internal,
        seconds=seconds,
    )
    # A time-out of the socket begins anew with every byte that drips in; this one does not.
    watchdog = threading.Timer(seconds, _cut, (connection,))
    watchdog.daemon = True
    began = time.monotonic()
    watchdog.start()
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        read = response.read(MAX_REPLY_BYTES)
        return Reply(response.status, read, response.getheader("retry-after") or "")
    except ssl.SSLCertVerificationError:
        raise OutwardError("The host's certificate is not to be believed.") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        is_late = time.monotonic() - began >= seconds
        what = "no reply in time" if is_late or isinstance(error, TimeoutError) else type(error).__name__
        raise OutwardError(f"The message did not get through: {what}.") from None
    finally:
        watchdog.cancel()
        connection.close()


def _cut(connection: http.client.HTTPConnection) -> None:
    made = connection.sock
    if made is not None:
        with suppress(OSError):
            made.shutdown(socket.SHUT_RDWR)


class OutwardSmtp(smtplib.SMTP):
    """SMTP over a socket that was connected to a checked number."""

    def __init__(self, *, is_tls: bool, allows_internal: bool, seconds: float = OUTWARD_SECONDS) -> None:
        self._is_tls, self._allows_internal = is_tls, allows_internal
        super().__init__(timeout=seconds)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        made = _connect(host, port, allows_internal=self._allows_internal, seconds=timeout)
        if not self._is_tls:
            return made
        try:
            return ssl.create_default_context().wrap_socket(made, server_hostname=host)
        except BaseException:
            made.close()
            raise
