"""The way out: the one place where Assent connects to an address that a person named.

Rule 1: an address inside (this machine, a private network, a link, a cloud's own services) is refused unless a person
        allowed it for that target: a message must not be aimed at what only this machine can reach.
Rule 2: the check is of the number that is connected to, right before it is: a name that changes its mind in between leads
        nowhere else. A name of which one number is inside is refused whole.
Rule 3: nothing is followed. A redirect is a failure.
Rule 4: everything is bounded: how long it takes in all, from the look-up of the name to the last byte, and how much is
        read. No error has the address in it.
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
from typing import Any, Self
from urllib.parse import quote, urlsplit

import msgspec

from assent.protocol.error import BadRequestError, EffectError

__all__ = [
    "MAX_REPLY_BYTES",
    "OUTWARD_SECONDS",
    "Alarm",
    "OutwardError",
    "OutwardSmtp",
    "Reply",
    "check_outward",
    "is_inside",
    "post",
    "refuse_inside",
]

OUTWARD_SECONDS = 15.0
"""For all of one delivery: to connect, to send and to read the reply."""
MAX_REPLY_BYTES = 65_536
"""More of a reply is not read."""
_PORTS = {"http": 80, "https": 443}
_PATH = "/%:@!$&'()*+,;=~?"
"""What stays as it is in the path of an address; whatever else is not plain is spelled in bytes."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNSEEN = tuple(
    map(
        ipaddress.ip_network,
        ("64:ff9b:1::/48", "fec0::/10", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24"),
    )
)
"""Networks of somebody's own, or of nobody, that not every Python knows as such."""
_LATE = "no reply in time"
_NO_ADDRESS = "This is no address to send anything to."


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
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_inside(str(inner))
    is_unseen = any(address in network for network in _UNSEEN)
    return is_unseen or not address.is_global or address.is_multicast or address.is_reserved


def refuse_inside() -> OutwardError:
    """Return what is said of an address inside."""
    return OutwardError(
        "The host leads to an address inside this network, which nobody has allowed (--allow-internal)."
    )


def check_outward(
    host: str, port: int, *, allows_internal: bool, seconds: float = OUTWARD_SECONDS
) -> list[tuple[int, Any]]:
    """Return the numbers that a host has now: the family and the address of each, all of them allowed.

    Raises:
        OutwardError: it has none, or one that is inside and not allowed.
    """
    numbers = _look_up(host, port, seconds)
    if not allows_internal and any(is_inside(str(address[0])) for _, address in numbers):
        raise refuse_inside()
    return numbers


def _look_up(host: str, port: int, seconds: float) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []

    def look() -> None:
        with suppress(OSError, UnicodeError):
            told = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend((int(family), address) for family, _, _, _, address in told)

    # A name server that says nothing keeps whoever asks for half a minute, and nothing can interrupt that.
    looking = threading.Thread(target=look, name="assent-look-up", daemon=True)
    looking.start()
    looking.join(seconds)
    if looking.is_alive() or not found:
        raise OutwardError("The host has no address.")
    return found


class Alarm:
    """The time of one delivery: once it is over, whatever was connected is cut.

    A time-out of a socket begins anew with every byte that drips in; this one does not.
    """

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._lines: list[socket.socket] = []
        self._changing = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self.is_over = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._changing:
            while self._lines:
                self._lines.pop().close()

    @property
    def left(self) -> float:
        """So many seconds are left; some always are, as a socket takes none for ever so many."""
        return max(self._until - time.monotonic(), 0.001)

    def watch(self, made: socket.socket) -> None:
        """Cut this one, too, also when it was handed on to TLS."""
        with self._changing:
            self._lines.append(made.dup())
        if self.is_over:
            self._cut()

    def _cut(self) -> None:
        self.is_over = True
        with self._changing:
            for line in self._lines:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)


def _connect(host: str, port: int, alarm: Alarm, *, is_tls: bool, allows_internal: bool) -> socket.socket:
    """Connect to one of the numbers that were checked, and to nothing else."""
    for family, address in check_outward(host, port, allows_internal=allows_internal, seconds=alarm.left):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.settimeout(alarm.left)
            made.connect(address)
        except OSError:
            made.close()
            continue
        try:
            alarm.watch(made)
            return ssl.create_default_context().wrap_socket(made, server_hostname=host) if is_tls else made
        except BaseException:
            made.close()
            raise
    raise OutwardError("Nobody listens there.")


class _Connection(http.client.HTTPConnection):
    """HTTP over a socket that was connected to a checked number; no proxy is asked."""

    def __init__(self, host: str, port: int, alarm: Alarm, *, is_tls: bool, allows_internal: bool) -> None:
        super().__init__(host, port)
        self.default_port = _PORTS["https" if is_tls else "http"]  # which the Host header does not name
        self._alarm, self._is_tls, self._allows_internal = alarm, is_tls, allows_internal

    def connect(self) -> None:
        self.sock = _connect(
            self.host, self.port, self._alarm, is_tls=self._is_tls, allows_internal=self._allows_internal
        )


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
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        raise BadRequestError(_NO_ADDRESS) from None
    if not host or parts.scheme not in _PORTS:
        raise BadRequestError(_NO_ADDRESS)
    path = quote(parts.path or "/", safe=_PATH) + (
        f"?{quote(parts.query, safe=_PATH)}" if parts.query else ""
    )
    with Alarm(seconds) as alarm:
        connection = _Connection(
            host,
            port,
            alarm,
            is_tls=parts.scheme == "https",
            allows_internal=allows_internal,
        )
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            read = response.read(MAX_REPLY_BYTES)
            return Reply(response.status, read, response.getheader("retry-after") or "")
        except ssl.SSLCertVerificationError:
            raise OutwardError("The host's certificate is not to be believed.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            what = _LATE if alarm.is_over or isinstance(error, TimeoutError) else type(error).__name__
            raise OutwardError(f"The message did not get through: {what}.") from None
        finally:
            connection.close()


class OutwardSmtp(smtplib.SMTP):
    """SMTP over a socket that was connected to a checked number."""

    def __init__(self, *, is_tls: bool, allows_internal: bool, seconds: float = OUTWARD_SECONDS) -> None:
        self._is_tls, self._allows_internal = is_tls, allows_internal
        self.alarm = Alarm(seconds)
        # Named as smtplib names whoever has no name; to look for one could take long, and tells of this network.
        super().__init__(local_hostname="[127.0.0.1]", timeout=seconds)

    def __enter__(self) -> Self:
        self.alarm.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with suppress(OSError, smtplib.SMTPException):
                self.quit()  # what was sent is sent, however the other side takes its leave
        finally:
            self.close()
            self.alarm.__exit__()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002 - the alarm has it
        return _connect(host, port, self.alarm, is_tls=self._is_tls, allows_internal=self._allows_internal)
