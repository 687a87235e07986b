"""Asks a Chromium over its pipe how large a word is: what tells one that works from one that only starts.

Rule 1: only the standard library. It is the way in that playwright takes as well, so what works here works there.
Rule 2: it is over within its seconds, and the browser and all that it started are gone afterwards.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

__all__ = ["can_draw"]

_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe")
# Between this process and the browser, for files are handed on under their own numbers only; by way of numbers that
# neither of the two can have.
_START = """
import fcntl, os, sys
theirs, told = (fcntl.fcntl(int(number), fcntl.F_DUPFD_CLOEXEC, 10) for number in sys.argv[1:3])
os.dup2(theirs, 3)
os.dup2(told, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_MEASURE = """
(() => {
  const word = document.body.appendChild(document.createElement("b"));
  word.textContent = "word";
  return word.offsetWidth * word.offsetHeight;
})()
"""


def can_draw(browser: str | Path, seconds: float) -> bool:
    """Tell whether a browser starts, runs a script, and finds that a word has a size."""
    with tempfile.TemporaryDirectory(prefix="assent-browser-", ignore_cleanup_errors=True) as profile:
        try:
            with _Pipe(str(browser), profile, seconds) as pipe:
                target = pipe.ask("Target.createTarget", url="about:blank")["targetId"]
                session = pipe.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
                told = pipe.ask("Runtime.evaluate", session, expression=_MEASURE)
        except (OSError, ValueError, KeyError):
            return False
    size = told.get("result", {}).get("value")
    return isinstance(size, int) and size > 0


class _Pipe:
    """A browser, and the two files over which it is spoken to: 3 is what it reads, and 4 what it writes."""

    def __init__(self, browser: str, profile: str, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._rest = b""
        self._number = 0
        theirs, self._out = os.pipe()
        self._in, told = os.pipe()
        between = (sys.executable, "-I", "-S", "-c", _START, str(theirs), str(told))
        try:
            self._process = subprocess.Popen(
                [*between, browser, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs, told),
                start_new_session=True,
            )
        finally:
            os.close(theirs)
            os.close(told)

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command, and return what it gives.

        Raises:
            ValueError: the browser refuses it, or is gone.
            TimeoutError: the time is over.
        """
        self._number += 1
        sent: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        os.write(self._out, json.dumps(sent | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            message = json.loads(self._next())
            if message.get("id") == self._number:
                if "error" in message:
                    raise ValueError(message["error"])
                result: dict[str, Any] = message["result"]
                return result

    def _next(self) -> bytes:
        while b"\0" not in self._rest:
            left = self._until - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError
            came = os.read(self._in, 65_536)
            if not came:
                raise ValueError("It is gone.")
            self._rest += came
        message, _, self._rest = self._rest.partition(b"\0")
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # a group of its own, with all that it started
        self._process.wait()
