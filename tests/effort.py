"""What a piece of work costs, counted in a loop that this very machine has just run: no test knows how fast it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["MUCH", "Effort", "effort"]

MUCH = 2_000.0
"""Loops that no input of a legal size may cost; one that goes round in circles costs a thousand times as much."""
_LOOP = 100_000


class Effort:
    """How much processor time something took, in loops."""

    loops = 0.0


@contextmanager
def effort() -> Iterator[Effort]:
    """Measure a block; what other threads and processes do does not count."""
    told = Effort()
    began = time.thread_time()
    yield told
    spent = time.thread_time() - began
    told.loops = spent / max(_loop_seconds() for _ in range(3))


def _loop_seconds() -> float:
    began = time.thread_time()
    count = 0
    for number in range(_LOOP):
        count += number
    return time.thread_time() - began
