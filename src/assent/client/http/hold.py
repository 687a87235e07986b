"""The right to drive something that a server keeps for us: for as long as a reply of its is open.

A thread reads that reply. Where the server goes away it asks for the right again, under the same key: a server that has
not noticed yet that the connection is dead gives it on. Whoever took it meanwhile has it, and our next command is refused
by its fence.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

import httpx2
import msgspec

from assent.client.http.exchange import FIRST_SECONDS, RETRY_SECONDS, describe_absence
from assent.client.http.line import ServerLine
from assent.client.verbs import VERBS
from assent.hub.ids import new_command_id
from assent.protocol.error import AssentError, UnreachableError
from assent.protocol.wire_error import parse_error
from assent.protocol.wire_run import HoldBody

__all__ = ["ServerHold"]

_SILENCE_SECONDS = 30.0
"""Longer than several of the server's beats: then the connection is dead."""
_RELEASE_SECONDS = 2.0
"""A server that does not answer in that time will notice by itself that we are gone."""
_PAUSE_SECONDS = 0.2
_HELD = 200


class ServerHold:
    """Fits `storage.port.Hold`."""

    def __init__(self, line: ServerLine, project_path: str, body: HoldBody) -> None:
        """Take the right.

        Raises:
            FlowTakenError: somebody alive has it.
            RunTakenError: the same of a run.
        """
        self._line, self._path, self._body = line, f"{project_path}/holds", msgspec.json.encode(body)
        self._key = new_command_id()
        self._pid = os.getpid()
        self._is_released = threading.Event()
        self._response = self._take_first()
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
        with suppress(httpx2.HTTPError, OSError, RuntimeError, UnreachableError):
            # Said aloud, and answered: whoever comes next finds it free. The open reply ends by that, too.
            self._line.client.delete(f"{self._path}/{self._key}", timeout=_RELEASE_SECONDS)
        with suppress(httpx2.HTTPError, OSError, RuntimeError):
            self._response.close()

    def _take_first(self) -> httpx2.Response:
        """Take it; a server that is away for a moment is tried again, as with any other request."""
        patience = RETRY_SECONDS if self._line.has_answered else FIRST_SECONDS
        until = time.monotonic() + patience - _PAUSE_SECONDS
        while True:
            try:
                return self._take()
            except UnreachableError:
                if time.monotonic() >= until:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def _take(self) -> httpx2.Response:
        timeout = httpx2.Timeout(5.0, read=_SILENCE_SECONDS)
        request = self._line.client.build_request(
            "POST",
            self._path,
            content=self._body,
            headers={"content-type": "application/json", "idempotency-key": self._key},
            timeout=timeout,
        )
        try:
            response = self._line.client.send(request, stream=True)
            if not _is_hold(response):  # a page of somebody in between is no right to drive anything
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
                    # A client that was closed drives nothing; and another server may come to listen there.
                    left = 0.0 if self._line.is_closed else left - _PAUSE_SECONDS
                except AssentError:
                    left = 0.0  # somebody else has it now
                if left <= 0:
                    self._is_released.set()  # a driver that looks learns that it drives no longer
        with suppress(httpx2.HTTPError, OSError, RuntimeError):
            self._response.close()  # it may have been taken again in the moment in which it was released


def _is_hold(response: httpx2.Response) -> bool:
    media = response.headers.get("content-type", "").partition(";")[0].strip()
    return response.status_code == _HELD and media == VERBS["hold"].media
