"""Where workers are born: one child that has loaded the package forks a fresh one for each role.

A life then begins within milliseconds, so a thousand of them can be ended. The nursery itself opens no store and
starts no thread, so a fork copies nothing but loaded modules. It is told what to do over a socket; each worker gets
a socket of its own, whose end tells the other side that the worker is gone.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import select
import signal
import socket
import threading
import traceback
from contextlib import suppress
from types import ModuleType
from typing import Any

import msgspec

from assent.client import connect
from torture.twins import TWIN, plant

__all__ = ["HEAD", "LOADED", "OBITUARY", "Wire", "main"]

LOADED = (connect,)
"""Loaded here once, for all workers."""


HEAD = 12
"""An order begins with its length in so many digits."""
OBITUARY = "worker {} ended with {}\n"
"""Said of each, with its status or, below zero, the signal that killed it."""
_LONGEST_LIFE = 1_800
"""Seconds after which a worker ends by itself, should nobody be left to end it."""


class Wire:
    """A worker's side of the talk with the trial: one JSON object a line."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._lock = threading.Lock()
        self._left = b""

    def say(self, **message: Any) -> None:
        """Tell the trial something. It is there as soon as this returns, whatever then becomes of us."""
        line = msgspec.json.encode(message) + b"\n"
        with self._lock:
            self._socket.sendall(line)

    def hear(self, seconds: float = _LONGEST_LIFE) -> dict[str, Any]:
        """Return what the trial says next; end this worker when it says no more."""
        while b"\n" not in self._left:
            ready, _, _ = select.select([self._socket], [], [], seconds)
            piece = self._socket.recv(1 << 16) if ready else b""
            if not piece:
                os._exit(0)
            self._left += piece
        line, _, self._left = self._left.partition(b"\n")
        heard: dict[str, Any] = msgspec.json.decode(line)
        return heard


def main(descriptor: int) -> None:
    """Fork a worker for every order that comes in, until nobody orders any more."""
    signal.signal(signal.SIGCHLD, _bury)
    plant(os.environ.get(TWIN, ""))
    orders = socket.socket(fileno=descriptor)
    while True:
        head, descriptors, _, _ = socket.recv_fds(orders, HEAD, 1)
        if not head:
            return
        order = msgspec.json.decode(orders.recv(int(head), socket.MSG_WAITALL))
        # Loaded here once, for all workers of this role.
        role = importlib.import_module(order["role"].partition(":")[0])
        assert threading.active_count() == 1
        child = os.fork()
        if child == 0:
            orders.close()
            _live(socket.socket(fileno=descriptors[0]), role, order)
        os.close(descriptors[0])
        orders.sendall(b"%d\n" % child)


def _bury(*_: object) -> None:
    """Take the dead away. The trial hears of a death by the socket; how it came about is said where all workers write."""
    with suppress(ChildProcessError):
        while (dead := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            os.write(2, OBITUARY.format(dead[0], os.waitstatus_to_exitcode(dead[1])).encode())


def _live(connection: socket.socket, role: ModuleType, order: dict[str, Any]) -> None:
    wire = Wire(connection)
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.alarm(_LONGEST_LIFE)
        faulthandler.enable()
        os.environ.clear()
        os.environ.update(order["environ"])
        getattr(role, order["role"].partition(":")[2])(wire, **order["setting"])
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the trial must hear of it
        wire.say(error=traceback.format_exc())
    finally:
        os._exit(status)
