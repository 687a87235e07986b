"""What a server is called: the hosts that it answers to, and the pages whose requests it takes.

Rule 1: a name is one of a fixed set, compared byte by byte. Nothing is parsed, so nothing can be parsed in two ways: no
        other spelling of an address, no trailing dot, no capital letter is another way to say the same.
Rule 2: a page may only send requests here if it came from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError

__all__ = ["Names", "check_host_name", "is_loopback", "names_of"]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - to know it, not to listen there
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_HOST_NAME = 253
_label = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_host_name = re.compile(rf"({_label}\.)*[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?").fullmatch


class Names(msgspec.Struct, frozen=True):
    """The names of one server."""

    hosts: frozenset[bytes]
    """As they may stand in `Host`."""
    origins: frozenset[bytes]
    """As they may stand in `Origin`."""


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches what listens there; a name that has to be looked up may lead anywhere."""
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    is_mapped = isinstance(address, IPv6Address) and address.ipv4_mapped is not None
    return address.is_loopback and not is_mapped


def check_host_name(text: str) -> str:
    """Return a further name of a server as a browser writes it: in small letters, an IPv6 address in brackets.

    Raises:
        BadRequestError: it is no name of a host; a port is not part of it.
    """
    name = text.lower()
    try:
        return _bracketed(str(ip_address(name.strip("[]"))))
    except ValueError:
        pass
    if len(name) > _MAX_HOST_NAME or _host_name(name) is None:
        raise BadRequestError(f'"{quote(text, 60)}" is no name of a host, such as assent.example.com.')
    return name


def names_of(host: str, port: int, others: Iterable[str] = (), *, is_tls: bool = False) -> Names:
    """Return what a server is called that listens at `host` and `port`, and is known by `others`, too.

    Those others may be the names of a proxy that stands in front of it, which has a port of its own and may speak TLS
    where the server does not.
    """
    scheme = "https" if is_tls else "http"
    own = dict.fromkeys(_LOOPBACK if host in _EVERYWHERE else (*_LOOPBACK, _bracketed(host)))
    hosts = {f"{name}:{port}" for name in own}
    if port == _DEFAULT_PORTS[scheme]:
        hosts |= own.keys()
    origins = {f"{scheme}://{name}" for name in hosts}
    for name in others:
        hosts |= {name, f"{name}:{port}"}
        origins |= {f"{scheme}://{name}", f"{scheme}://{name}:{port}", f"https://{name}"}
    return Names(
        frozenset(name.encode("ascii") for name in hosts),
        frozenset(name.encode("ascii") for name in origins),
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
