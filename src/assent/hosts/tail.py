"""Hands the output of a loop's command on to the store, for boards on other machines.

Rule 1: the loop never waits for it. A thread of its own hands on what has come, at most twice a second, and the last
        of it when the loop is over.
Rule 2: no failure of it reaches the loop: a store that is away is tried again, and one that refuses is left alone.
Rule 3: more than is kept is not sent; what was left out is counted.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable
from contextlib import suppress

from assent.client.door import run_call
from assent.client.output import Output, pack_output
from assent.client.wheel import Wheel
from assent.protocol.error import (
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    RunTakenError,
    UnauthorisedError,
)
from assent.protocol.tail import MAX_TAIL_BYTES, cut_front

__all__ = ["TELL_SECONDS", "Teller"]

TELL_SECONDS = 0.5
"""So long at least lies between two pieces of output that are handed on."""
_LAST_SECONDS = 2.0
"""So long the loop's end may wait for the last piece."""
_FINAL = (RunTakenError, NotFoundError, ForbiddenError, UnauthorisedError, BadRequestError)
"""What will be said again, however often it is tried."""


class Teller:
    """Takes output from the loop's thread, and hands it on from another."""

    def __init__(self, wheel: Wheel) -> None:
        self._wheel = wheel
        # One for each stream: the two may be cut in the middle of a character at the same time.
        self._decoders = tuple(codecs.getincrementaldecoder("utf-8")("replace") for _ in range(2))
        self._text = b""
        self._skipped = 0
        self._is_closing = False
        self._is_over = False
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def write(self, piece: bytes, *, is_error: bool = False) -> None:
        """Take a piece of output; from standard error, or not."""
        text = self._decoders[is_error].decode(piece).encode()
        with self._news:
            if self._is_over or not text:
                return
            joined = self._text + text
            self._text = cut_front(joined, MAX_TAIL_BYTES)
            self._skipped += len(joined) - len(self._text)
            self._news.notify_all()
        if self._thread is None:
            thread = threading.Thread(target=self._hand_on, daemon=True, name="assent-teller")
            with suppress(RuntimeError):  # there is no room for one more just now
                thread.start()
                self._thread = thread

    def close(self) -> None:
        """Hand on the last of it, unless that takes too long."""
        with self._news:
            self._is_closing = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join(_LAST_SECONDS)
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def _hand_on(self) -> None:
        while (output := self._next()) is not None:
            while not self._tell(output):
                if self._rest(lambda: self._is_over):
                    return
            self._rest(lambda: self._is_closing)

    def _next(self) -> Output | None:
        """Return what has come, as soon as there is something; None when the loop is over and has said all."""
        with self._news:
            self._news.wait_for(lambda: self._text or self._is_closing)
            if self._is_over or not self._text:
                return None
            output = pack_output(self._text, self._skipped)
            self._text, self._skipped = b"", 0
            return output

    def _tell(self, output: Output) -> bool:
        """Hand it on; say whether nothing more is to be done about it."""
        try:
            run_call(self._wheel.tell(output))
        except _FINAL:
            with self._news:
                self._is_over = True
        except Exception:  # noqa: BLE001 - rule 2: the store is away just now, or whatever it is
            return False
        return True

    def _rest(self, is_enough: Callable[[], bool]) -> bool:
        """Wait before the next piece, or until that makes no sense any more; say whether it does not."""
        with self._news:
            return self._news.wait_for(is_enough, TELL_SECONDS)
