"""Ctrl-C at a moment of our choosing: never in the middle of what must be whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uninterrupted"]


@contextmanager
def uninterrupted(*, is_final: bool = False) -> Iterator[None]:
    """Hold Ctrl-C back for a moment. It is not lost: it strikes at the end.

    After something final it is too late, and Ctrl-C is forgotten: what was done is told. Not by blocking the signal:
    another thread would take it, and Python would still interrupt the main one.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held and not is_final:
            before(held[0], None)
