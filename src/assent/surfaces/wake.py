"""Waiting for several things at once, so that neither another thread nor Ctrl-C is ever missed.

A signal that arrives in the moment before a thread goes to sleep does not wake it by itself. While we wait, Python
therefore writes the signal's number into the same pipe that other threads write into.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

__all__ = ["Wake"]

_CALL = b"\0"  # no signal has this number


class Wake:
    """Something to wait on. `wait` belongs to one thread; `call` may be called from any."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def call(self) -> None:
        """End the wait, or the next one."""
        with suppress(OSError):  # full, so awake already; or closed, so nobody waits
            os.write(self._in, _CALL)

    def wait(self, descriptors: Sequence[int] = (), seconds: float | None = None) -> list[int] | None:
        """Return those of `descriptors` that can be read, none after `seconds`; None when `call` was called."""
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.set_wakeup_fd(self._in, warn_on_full_buffer=False) if is_main else -1
        try:
            ready = select.select([*descriptors, self._out], [], [], seconds)[0]
        finally:
            if is_main:
                signal.set_wakeup_fd(before)
        if self._out in ready:
            ready.remove(self._out)
            if self.rest():
                return None
        return ready

    def rest(self) -> bool:
        """Forget calls; say whether there were any."""
        called = b""
        with suppress(BlockingIOError):
            called = os.read(self._out, 4_096)
        return _CALL in called

    def close(self) -> None:
        """Let the pipe go."""
        writing, self._in = self._in, -1
        os.close(writing)
        os.close(self._out)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
