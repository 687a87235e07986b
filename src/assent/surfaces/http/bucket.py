"""How often somebody may come without a good credential: a bucket for each address, which fills again with time. And how
often somebody with one may do a thing: a sliding window for each name.

It takes a fixed amount of memory, however many addresses come: the one that was not heard of for the longest time is
forgotten first, and begins anew. So it is with names.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

__all__ = ["MAX_PEERS", "SPARE_TRIES", "TRIES_PER_SECOND", "Bucket", "Window", "peer_of"]

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


class Window:
    """Rate limit by a sliding window: so many in any stretch of so many seconds, for each name. Threads may share it."""

    def __init__(
        self,
        most: int,
        seconds: float,
        *,
        names: int = MAX_PEERS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._names, self._clock = most, seconds, names, clock
        self._taken: OrderedDict[str, deque[float]] = OrderedDict()
        self._turn = threading.Lock()

    def take(self, name: str) -> float:
        """Take one; return 0.0, or after how many seconds there is one again where none is left."""
        with self._turn:
            now = self._clock()
            taken = self._taken.pop(name, None) or deque()
            while taken and now - taken[0] >= self._seconds:
                taken.popleft()
            has_one = len(taken) < self._most
            if has_one:
                taken.append(now)
            self._taken[name] = taken
            if len(self._taken) > self._names:
                self._taken.popitem(last=False)
            return 0.0 if has_one else self._seconds - (now - taken[0])
