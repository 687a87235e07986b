"""A door to the database that fails by chance, and always at the worst moment: around a COMMIT.

Before: the server never hears of it. During: every connection breaks at once while it is on its way, and the server has
heard it or not. After: it is done, and nobody is told so. Everything else passes as it is.
"""

from __future__ import annotations

import random
import threading
from collections import Counter

from tools.fault_proxy import FaultProxy

__all__ = ["CUTS", "CuttingProxy"]

CUTS = ("before", "during", "after")
_COMMIT = b"COMMIT"
_LONGEST = 0.002
"""Seconds in which a COMMIT is on its way, about."""


class CuttingProxy(FaultProxy):
    """Hands everything on, until a COMMIT has bad luck."""

    def __init__(self, target_port: int, *, seed: int, share: float) -> None:
        """Stand before the port; cut at this share of all COMMITs while `is_cutting`."""
        self._chance = random.Random(seed)
        self._share = share
        self._luck_lock = threading.Lock()
        self.is_cutting = True
        self.cuts: Counter[str] = Counter()
        super().__init__(target_port)

    def take_plan(self, statement: bytes):  # type: ignore[no-untyped-def]
        """Plan a cut for this statement, if it is a COMMIT and has bad luck."""
        if statement.rstrip(b"\0") == _COMMIT:
            self._try_luck()
        return super().take_plan(statement)

    def _try_luck(self) -> None:
        with self._luck_lock:
            if not self.is_cutting or self._chance.random() >= self._share:
                return
            how = self._chance.choice(CUTS)
            self.cuts[how] += 1
            moment = self._chance.uniform(0, _LONGEST)
        if how == "before":
            self.cut_before(_COMMIT)
        elif how == "after":
            self.cut_after(_COMMIT)
        else:
            threading.Timer(moment, self.cut_all).start()
