"""How often somebody may come without a good credential: a bucket for each address, which fills again with time.

It takes a fixed amount of memory, however many addresses come: the one that was not heard of for the longest time is
forgotten first, and begins anew.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["MAX_PEERS", "SPARE_TRIES", "TRIES_PER_SECOND", "Bucket", "peer_of"]

SPARE_TRIES = 60
"""So many requests without a good credential may come from one address at once."""
TRIES_PER_SECOND = 5.0
"""And so many more in each second."""
MAX_PEERS = 10_000
"""So many addresses are remembered."""
_NETWORK = 64
"""Bits of an IPv6 address that say whose it is; the others are its owner's to choose."""


def peer_of(address: str) -> str:
    """Return what counts as one sender: an address, of IPv6 the network that one subscriber has.

    >>> peer_of("192.0.2.7"), peer_of("2001:db8:1:2:3:4:5:6")
    ('192.0.2.7', '2001:db8:1:2::')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> _NETWORK << _NETWORK))


class Bucket:
    """The buckets of all addresses."""

    def __init__(
        self,
        spare: int = SPARE_TRIES,
        per_second: float = TRIES_PER_SECOND,
        *,
        most: int = MAX_PEERS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spare, self._per_second, self._most, self._clock = spare, per_second, most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By address: what was left, and when that was."""

    def __len__(self) -> int:
        return len(self._left)

    def take(self, peer: str) -> float:
        """Take one try; return 0.0, or after how many seconds there is one again where none is left."""
        now = self._clock()
        left, seen_at = self._left.pop(peer, (float(self._spare), now))
        left = min(self._spare, left + (now - seen_at) * self._per_second)
        has_one = left >= 1
        self._left[peer] = left - has_one, now
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return 0.0 if has_one else (1 - left) / self._per_second
