"""What ends the terminal inbox from outside: SIGTERM, SIGHUP, and a terminal that is gone.

Rule 1: a signal only asks to leave. The terminal is given back as by any other end, and then the signal ends the process.
Rule 2: a terminal that is gone ends it, too, where SIGHUP is ignored, as under nohup: nothing can be read there any more,
        and every read returns at once.
Rule 3: a second signal of the same kind ends it at once.
"""

from __future__ import annotations

import os
import select
import signal
import termios
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

__all__ = ["GONE", "Hangup"]

GONE = 128 + signal.SIGHUP
"""The exit status of a program whose terminal is gone: as a shell tells of one that SIGHUP ended."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Hangup:
    """Notices that it is time to leave, from entering it to leaving it, and says so once, from any thread."""

    def __init__(self, keyboard: int) -> None:
        self._keyboard = keyboard
        self._before: dict[signal.Signals, Any] = {}
        self._leave: Callable[[], None] | None = None
        self._thread: threading.Thread | None = None
        self._out = self._in = -1
        self.is_gone = False
        """The terminal is gone: nothing that is written to it is seen."""
        self.number: signal.Signals | None = None
        """The first signal that came."""

    @property
    def is_over(self) -> bool:
        """It is time to leave."""
        return self.is_gone or self.number is not None

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._take)
        self._out, self._in = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="assent-hangup")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._in)
        if self._thread is not None:
            self._thread.join()
        os.close(self._out)
        for number, before in self._before.items():
            signal.signal(number, before)

    def tell(self, leave: Callable[[], None]) -> None:
        """Have `leave` called when it is time to leave, at once if it is already; from any thread, perhaps twice."""
        self._leave = leave
        if self.is_over:
            leave()

    def lose(self) -> None:
        """Note that the terminal cannot be read or written any more."""
        self.is_gone = True
        if self._leave is not None:
            self._leave()

    def _take(self, number: int, _: FrameType | None) -> None:
        self.number = self.number or signal.Signals(number)
        signal.signal(number, signal.SIG_DFL)
        if self._leave is not None:
            self._leave()

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._keyboard, 0)  # its end is told unasked, and keys are for others
        poll.register(self._out, 0)
        found = {descriptor for descriptor, _ in poll.poll()}
        if self._out not in found and _is_gone(self._keyboard):
            self.lose()

    def finish(self, status: int) -> int:
        """Return the exit status; where a signal came, end by it instead."""
        if self.number is not None:
            signal.signal(self.number, signal.SIG_DFL)
            os.kill(os.getpid(), self.number)
        return GONE if self.is_gone else status


def _is_gone(terminal: int) -> bool:
    """Say whether it is no terminal any more; not every system can poll one that is."""
    try:
        termios.tcgetattr(terminal)
    except termios.error:
        return True
    return False
