"""Running a command that is asked something on standard input, and hearing what it says.

Rule 1: no shell. The command is a list of words; what is asked is only ever standard input.
Rule 2: it is bounded in time and output, and ended with its whole group, however this ends.
Rule 3: it runs under an agent's name, so that nothing it starts can answer.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from assent.effects.child import child_of
from assent.protocol.display import is_blank, quote
from assent.protocol.error import EffectError

__all__ = ["Order", "Speech", "check_status", "run_command"]

_LOOK_SECONDS = 0.1
"""How soon it is seen that a command ended whose own children still hold its output."""
_PIPE_BYTES = 64 << 10
_LAST_BYTES = 4 << 10
"""What is kept of the end of its complaints: enough for the sentence that says what went wrong."""


class Order(msgspec.Struct, frozen=True):
    """How a command is run."""

    command: Sequence[str]
    folder: Path
    environ: Mapping[str, str]
    principal: str
    """Who it is, as `agent:NAME`."""
    seconds: float
    limit: int
    """How many bytes are kept of what it says."""
    keeps_errors_apart: bool = False
    """Its standard error is not what it says: only the end of it is kept, to tell what went wrong."""


class Speech(msgspec.Struct, frozen=True):
    """What a command said, and how it ended."""

    said: bytes
    size: int
    """How many bytes it said in all."""
    complaint: bytes
    """The end of its standard error, where that was kept apart."""
    status: int


class _Ear:
    """Hears one output of a child, and keeps the first or the last of it."""

    def __init__(self, limit: int, *, keeps_last: bool = False) -> None:
        self._limit, self._keeps_last = limit, keeps_last
        self.kept, self.size = b"", 0

    def hear(self, more: bytes) -> None:
        self.size += len(more)
        if self._keeps_last:
            self.kept = (self.kept + more)[-self._limit :]
        else:
            self.kept += more[: self._limit - len(self.kept)]


def run_command(order: Order, asked: bytes) -> Speech:
    """Run a command to its end; it gets `asked` on standard input.

    Raises:
        EffectError: it cannot be run, or took too long. The sentence names the program.
    """
    program = quote(order.command[0])
    voice, complaint = _Ear(order.limit), _Ear(_LAST_BYTES, keeps_last=True)
    try:
        with child_of(
            order.command,
            {**order.environ, "ASSENT_PRINCIPAL": order.principal},
            stderr=subprocess.PIPE if order.keeps_errors_apart else subprocess.STDOUT,
            folder=order.folder,
        ) as child:
            ears = {child.stdout: voice, child.stderr: complaint}
            status = _talk(child, asked, ears, time.monotonic() + order.seconds)
    except TimeoutError:
        raise EffectError(f'"{program}" took longer than {order.seconds:g} s.') from None
    except OSError as error:
        raise EffectError(f'"{program}" cannot be run: {error.strerror}.') from error
    return Speech(voice.kept, voice.size, complaint.kept, status)


def check_status(order: Order, speech: Speech) -> None:
    """Make sure that a command ended well.

    Raises:
        EffectError: it did not. The sentence has what it said last: that is where most programs say what went wrong.
    """
    if speech.status:
        words = _last_line(speech.complaint) or _last_line(speech.said)
        raise EffectError(
            f'"{quote(order.command[0])}" ended with status {speech.status}{words and f": {words}"}.'
        )


def _last_line(text: bytes) -> str:
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if not is_blank(line)]
    return quote(lines[-1]).rstrip(".") if lines else ""


def _talk(
    child: subprocess.Popen[bytes], asked: bytes, ears: Mapping[IO[bytes] | None, _Ear], until: float
) -> int:
    """Tell the child what is asked, and hear it until it has ended; return its status.

    What is left of its words when it has ended is heard; what its own children say later is not waited for.
    """
    stdin = child.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe
    os.set_blocking(stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(stdin, selectors.EVENT_WRITE)
        for stream, ear in ears.items():
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, ear)
        while True:
            status = child.poll()
            if time.monotonic() >= until:
                raise TimeoutError
            has_heard = False
            for key, _ in selector.select(_LOOK_SECONDS if status is None else 0):
                if key.fileobj is stdin:
                    asked = _tell(key.fd, asked)
                    if not asked:
                        selector.unregister(stdin)
                        stdin.close()
                elif more := os.read(key.fd, _PIPE_BYTES):
                    key.data.hear(more)
                    has_heard = True
                else:
                    selector.unregister(key.fileobj)
            if status is not None and not has_heard:
                return status


def _tell(descriptor: int, text: bytes) -> bytes:
    """Write what fits; return the rest, nothing where nobody listens."""
    try:
        return text[os.write(descriptor, text) :]
    except BlockingIOError:
        return text
    except BrokenPipeError:
        return b""
