"""What a loop must hear at any time: that its run was steered, and that it is to stop by itself.

One pipe wakes whoever waits: a thread writes there when the run has changed in the store, and Python when a signal came.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Self

from assent.client.client import Client
from assent.protocol.error import StillOpen
from assent.protocol.run import Run

__all__ = ["Ear"]

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_SECONDS = 1.0
"""So long the watching thread may outlive the loop."""


class Ear:
    """Watches one run and the signals of this process; belongs to the main thread."""

    def __init__(self, client: Client, run: Run) -> None:
        self._client = client
        self.run = run
        """The run as it was last heard of."""
        self.stops = 0
        """How often this process was told to stop."""
        self.deaths = 0
        """How often a child of this process, or an orphan that came to it, ended."""
        self._is_closed = False
        self._out, self._in = os.pipe()
        os.set_blocking(self._out, False)
        os.set_blocking(self._in, False)
        self._before: dict[int, Any] = {}
        self._wakeup = -1
        self._thread = threading.Thread(target=self._watch, daemon=True, name="assent-ear")

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._in, warn_on_full_buffer=False)
        for number in _STOPPING:
            # What was ignored when we came (nohup) stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_stop)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._on_death)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        for number, before in self._before.items():
            signal.signal(number, before)
        signal.set_wakeup_fd(self._wakeup)
        self._thread.join()
        os.close(self._out)
        os.close(self._in)

    def listen(
        self, descriptors: Sequence[int] = (), seconds: float | None = None, *, into: Sequence[int] = ()
    ) -> list[int]:
        """Wait for a word, for one of `descriptors` to be readable or for room in one of `into`.

        Return the descriptors that are readable.
        """
        poll = select.poll()  # not `select`, which fails from descriptor 1024 on
        for descriptor in (*descriptors, self._out):
            poll.register(descriptor, select.POLLIN)
        for descriptor in into:
            poll.register(descriptor, select.POLLOUT)
        woken = {descriptor for descriptor, _ in poll.poll(None if seconds is None else seconds * 1000)}
        ready = [descriptor for descriptor in (*descriptors, self._out) if descriptor in woken]
        if self._out in ready:
            with suppress(BlockingIOError):
                os.read(self._out, 4096)
        return [descriptor for descriptor in ready if descriptor != self._out]

    def _on_stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - Python's signature
        self.stops += 1

    def _on_death(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - Python's signature
        self.deaths += 1

    def _watch(self) -> None:
        while not self._is_closed:
            try:
                run = self._client.wait_for_run(self.run.run_id, self.run.sequence, _LOOK_SECONDS)
            except StillOpen:
                continue
            except Exception:  # noqa: BLE001 - see below
                # The store is away just now, or whatever it is. A command that cannot be heard must be heard later.
                time.sleep(_LOOK_SECONDS / 10)
                continue
            self.run = run
            with suppress(OSError):  # full, so awake already
                os.write(self._in, b"\0")
