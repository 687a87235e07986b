"""The guard over libraries that connect by themselves: what they connect to is checked as they do.

Python tells an audit hook of every connection right before it is made, with the number that it goes to (PEP 578). So a name
that changes its mind, or a redirect, leads such a library nowhere that `outward` would not go.

Rule 1: guarded is what runs inside `guarded`, on this thread and in contexts that are copied from it; nobody else notices.
        A library that starts threads of its own, without its context, or that connects past Python, is not guarded.
Rule 2: a hook cannot be taken off again, so there is one for the life of the process, and only where it was needed once.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from assent.effects.outward import OUTWARD_SECONDS, Alarm, is_inside, refuse_inside

__all__ = ["guarded"]

_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_CONNECT = "socket.connect"
_NUMBERED = frozenset({socket.AF_INET, socket.AF_INET6})


class _InsideError(OSError):
    """It would lead inside. A library takes it for a connection that could not be made."""


class _Guard:
    def __init__(self, alarm: Alarm, *, allows_internal: bool) -> None:
        self._alarm, self._allows_internal = alarm, allows_internal
        self.has_refused = False

    def check(self, made: socket.socket, address: Any) -> None:
        is_numbered = made.family in _NUMBERED and isinstance(address, tuple)
        if self._allows_internal or (is_numbered and not is_inside(str(address[0]))):
            return
        self.has_refused = True
        raise _InsideError

    def watch(self, made: socket.socket) -> None:
        self._alarm.watch(made)


_guard: ContextVar[_Guard | None] = ContextVar("assent_outward_guard", default=None)
_installing = threading.Lock()
_is_installed: list[bool] = []


def _hear(event: str, details: tuple[Any, ...]) -> None:
    if event not in _EVENTS:
        return
    guard = _guard.get()
    if guard is not None:
        guard.check(details[0], details[1])
        if event == _CONNECT:
            guard.watch(details[0])


@contextmanager
def guarded(*, allows_internal: bool, seconds: float = OUTWARD_SECONDS) -> Iterator[None]:
    """Let what runs inside connect only to where a target may lead, and for so long.

    Raises:
        OutwardError: it tried to connect to an address inside, whatever it made of the refusal.
    """
    with _installing:
        if not _is_installed:
            sys.addaudithook(_hear)
            _is_installed.append(True)
    with Alarm(seconds) as alarm:
        guard = _Guard(alarm, allows_internal=allows_internal)
        former = _guard.set(guard)
        try:
            yield
        finally:
            _guard.reset(former)
            if guard.has_refused:
                raise refuse_inside()
