"""The command line as its users meet it: a child with pipes or with a terminal of its own, run to its end.

The commands run in forks of a worker that has them loaded, so that hundreds of them take seconds.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from assent.cli import exit as cli
from assent.cli.group import root
from assent.cli.table import COMMANDS

__all__ = ["Ran", "Step", "run_command", "run_in_terminal", "store_url"]

_PATIENCE = 120.0

for _name in COMMANDS:
    root.get_command(None, _name)  # type: ignore[arg-type]  # loaded before the fork; no command looks at its context


class Ran(msgspec.Struct, frozen=True):
    """How a command ended, and what it said."""

    status: int
    """The exit status; minus the signal that killed it."""
    out: bytes
    err: bytes
    seconds: float


def run_command(arguments: list[str], stdin: bytes = b"") -> Ran:
    """Run `assent` with pipes; standard input ends after `stdin`."""
    ends = [os.pipe() for _ in range(3)]
    began = time.monotonic()

    def child() -> None:
        for descriptor, (out, into) in enumerate(ends):
            os.dup2(out if descriptor == 0 else into, descriptor)
        os.closerange(3, 256)

    pid = _fork(child, arguments)
    os.close(ends[0][0])
    os.close(ends[1][1])
    os.close(ends[2][1])
    said = _talk(ends[0][1], stdin, [ends[1][0], ends[2][0]])
    return Ran(_end(pid), said[0], said[1], time.monotonic() - began)


def _fork(set_up: Callable[[], None], arguments: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 99
    try:
        signal.alarm(round(2 * _PATIENCE))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        set_up()
        # As a fresh interpreter would make them.
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
        status = cli.run(arguments)
    except BaseException:  # noqa: BLE001 - a stack trace is what no user may see, so it is told with its own status
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _talk(into: int, stdin: bytes, outs: list[int]) -> list[bytes]:
    said = dict.fromkeys(outs, b"")
    left, until = set(outs), time.monotonic() + _PATIENCE
    os.set_blocking(into, False)
    is_open = True
    while left and time.monotonic() < until:
        ready, wanting, _ = select.select(list(left), [into] if is_open else [], [], 1)
        if wanting:
            try:
                stdin = stdin[os.write(into, stdin) :] if stdin else stdin
            except BrokenPipeError:
                stdin = b""
            if not stdin:
                os.close(into)
                is_open = False
        for out in ready:
            piece = os.read(out, 1 << 16)
            said[out] += piece
            if not piece:
                left.discard(out)
    for out in outs:
        os.close(out)
    if is_open:
        os.close(into)
    return list(said.values())


def _end(pid: int) -> int:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -99


Step = tuple[str, str]
"""What happens at a terminal: `expect` a text, `type` one, `hang up`, `kill` the command."""


def run_in_terminal(arguments: list[str], steps: list[Step]) -> Ran:
    """Run `assent` in a terminal of its own and do `steps`; all that it showed is in `out`."""
    terminal, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    began = time.monotonic()

    def child() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        for descriptor in range(3):
            os.dup2(theirs, descriptor)
        os.closerange(3, 256)

    pid = _fork(child, arguments)
    os.close(theirs)
    shown = b""
    is_open = True
    for what, text in steps:
        if what == "expect":
            shown += _expect(terminal, text.encode())
        elif what == "type":
            os.write(terminal, text.encode())
        elif what == "kill":
            os.kill(pid, signal.SIGKILL)
        elif what == "hang up":
            os.close(terminal)
            is_open = False
    if is_open:
        shown += _expect(terminal, None)
        os.close(terminal)
    return Ran(_end(pid), shown, b"", time.monotonic() - began)


def _expect(terminal: int, text: bytes | None) -> bytes:
    """Return what is shown up to and with `text`; with nothing to expect, up to the end."""
    shown, until = b"", time.monotonic() + _PATIENCE
    while time.monotonic() < until and (text is None or text not in shown):
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:
                break  # the other side is gone
            if not piece:
                break
            shown += piece
    return shown


def store_url(store: Path) -> str:
    """Return the address of a store's file."""
    return f"sqlite:///{store}"
