"""The right to drive something that a server keeps for us: for as long as a reply of its is open.

A thread reads that reply. Where the server goes away it asks for the right again; whoever took it meanwhile has it, and
our next command is refused by its fence.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import httpx2
import msgspec

from assent.client.http.exchange import RETRY_SECONDS, describe_absence
from assent.client.http.line import ServerLine
from assent.protocol.error import AssentError, FlowTakenError, UnreachableError
from assent.protocol.wire import HoldBody
from assent.protocol.wire_error import parse_error

__all__ = ["ServerHold"]

_SILENCE_SECONDS = 30.0
"""Longer than several of the server's beats: then the connection is dead."""
_PAUSE_SECONDS = 0.2
_FAILED = 400


class ServerHold:
    """Fits `storage.port.Hold`."""

    def __init__(self, line: ServerLine, project_path: str, body: HoldBody) -> None:
        """Take the right.

        Raises:
            FlowTakenError: somebody alive has it.
            RunTakenError: the same of a run.
        """
        self._line, self._path, self._body = line, f"{project_path}/holds", msgspec.json.encode(body)
        self._pid = os.getpid()
        self._is_released = threading.Event()
        self._response = self._take()
        threading.Thread(target=self._keep, daemon=True, name="assent-hold").start()

    @property
    def is_held(self) -> bool:
        """Whether this process has the right; not so in a forked child."""
        return not self._is_released.is_set() and self._pid == os.getpid()

    def release(self) -> None:
        """Let the next one in."""
        if self._pid != os.getpid() or self._is_released.is_set():
            return
        self._is_released.set()
        with suppress(httpx2.HTTPError, OSError):
            self._response.close()

    def _take(self) -> httpx2.Response:
        timeout = httpx2.Timeout(5.0, read=_SILENCE_SECONDS)
        request = self._line.client.build_request(
            "POST",
            self._path,
            content=self._body,
            headers={"content-type": "application/json"},
            timeout=timeout,
        )
        try:
            response = self._line.client.send(request, stream=True)
            if response.status_code >= _FAILED:
                raise parse_error(response.status_code, response.read())
        except httpx2.RequestError as error:
            raise UnreachableError(describe_absence(self._line, error)) from None
        return response

    def _keep(self) -> None:
        while not self._is_released.is_set():
            with suppress(httpx2.HTTPError, httpx2.StreamError, OSError, RuntimeError):
                for _ in self._response.iter_raw():
                    pass
            left = RETRY_SECONDS
            while not self._is_released.wait(_PAUSE_SECONDS):
                try:
                    self._response = self._take()
                    break
                except UnreachableError:
                    left -= _PAUSE_SECONDS
                except (AssentError, FlowTakenError):
                    return  # somebody else has it now
                if left <= 0:
                    return
