"""The two drivers of an exchange, on one connection pool each: for a thread, and for the tasks of an event loop."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2

from assent.client.door import Wait
from assent.client.http.exchange import Exchange, Line, Pause, Sent
from assent.hub.future import Future, LightFuture
from assent.protocol.error import BadRequestError, UnreachableError

if TYPE_CHECKING:
    import asyncio

__all__ = ["ServerLine"]

T = TypeVar("T")
Farewell = tuple[str, dict[str, str]]
"""The path and the query of a request that says that nobody waits any more."""
_CONNECT_SECONDS = 5.0
_SPARE_SECONDS = 15.0
"""Beyond what a reply may take by itself."""
_FAREWELL_SECONDS = 2.0
"""A server that does not answer in that time learns by itself that we are gone."""
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=32)


class ServerLine(Line):
    """The way to one server, with one token."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(_check_url(url))
        self._headers = {"authorization": f"Bearer {_check_token(token)}"} if token else {}
        self._options: dict[str, Any] = {
            "base_url": self.url,
            "headers": self._headers,
            "limits": _LIMITS,
            "timeout": _CONNECT_SECONDS,
            "trust_env": not _is_loopback(self.url),  # nobody's proxy knows our loopback
            # Without TLS there is nothing to verify, and to read all authorities takes longer than most commands do.
            "verify": not self.url.startswith("http://"),
        }
        self._client: httpx2.Client | None = None
        self.is_closed = False
        """Nobody needs it any more: what goes on behind its owner's back ends."""
        self._making = threading.Lock()
        self._pid = os.getpid()
        self._farewells: list[Farewell] = []
        """What the server is told if the waits of threads are broken off."""
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept] = WeakKeyDictionary()

    @property
    def client(self) -> httpx2.Client:
        """The pool for threads.

        Raises:
            UnreachableError: it was closed.
        """
        self._leave_parents()
        with self._making:
            if self.is_closed:
                raise UnreachableError("The client was closed.")
            if self._client is None:
                self._client = httpx2.Client(**self._options)
            return self._client

    async def _client_of(self, loop: asyncio.AbstractEventLoop) -> httpx2.AsyncClient:
        """Return the pool for the tasks of a loop."""
        self._leave_parents()
        kept = self._loops.get(loop)
        if kept is None or kept[0].is_closed:
            client = httpx2.AsyncClient(**self._options)
            keeper = _keep(client)
            await anext(keeper)
            kept = self._loops[loop] = client, keeper
        return kept[0]

    def _leave_parents(self) -> None:
        # A forked child has pools of its own: two processes on one connection hear each other's replies.
        if self._pid != os.getpid():
            self._client, self._pid = None, os.getpid()
            self._loops = WeakKeyDictionary()
            self._making = threading.Lock()  # of the parent's, nobody here would ever let go
            self._farewells = []

    def waits(self, dialogue: Exchange[T], farewell: Farewell | None = None) -> Wait[T]:
        """Return an exchange as something to wait for; if it is broken off here, the server is told by a `farewell`."""

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[T]:
            if loop is not None:
                return loop.create_task(self._converse(dialogue, loop, farewell))
            light: LightFuture[T] = LightFuture()
            if farewell is None:
                light.set(self.talk(dialogue), None)
                return light
            self._farewells.append(farewell)
            try:
                light.set(self.talk(dialogue), None)
            except Exception:
                raise  # the server's word, or that there is no server
            except BaseException:
                with suppress(UnreachableError):
                    self._part(self.client, farewell)
                raise
            finally:
                with suppress(ValueError):  # by `close`
                    self._farewells.remove(farewell)
            return light

        return Wait(start, give_up=_give_up)

    def _part(self, client: httpx2.Client, farewell: Farewell) -> None:
        with suppress(httpx2.HTTPError, OSError, RuntimeError):
            client.get(farewell[0], params=farewell[1], timeout=_FAREWELL_SECONDS)

    def talk(self, dialogue: Exchange[T]) -> T:
        """Drive an exchange on this thread."""
        client = self.client
        came: httpx2.Response | Exception | None = None
        try:
            step = next(dialogue)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    came = None
                else:
                    try:
                        came = client.request(**_request(step))
                    except httpx2.RequestError as error:
                        came = error
                step = dialogue.send(came)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            dialogue.close()

    async def _converse(
        self, dialogue: Exchange[T], loop: asyncio.AbstractEventLoop, farewell: Farewell | None = None
    ) -> T:
        client = await self._client_of(loop)
        came: httpx2.Response | Exception | None = None
        try:
            step = next(dialogue)
            while True:
                if isinstance(step, Pause):
                    await _sleep(loop, step.seconds)
                    came = None
                else:
                    try:
                        came = await client.request(**_request(step))
                    except httpx2.RequestError as error:
                        came = error
                step = dialogue.send(came)
        except StopIteration as stop:
            result: T = stop.value
            return result
        except Exception:
            raise  # as above
        except BaseException:
            if farewell is not None:
                with suppress(httpx2.HTTPError, OSError, RuntimeError):
                    await client.get(farewell[0], params=farewell[1], timeout=_FAREWELL_SECONDS)
            raise
        finally:
            dialogue.close()

    def close(self) -> None:
        """Let go of the connections of threads. Those of an event loop end with it, or by `aclose`."""
        self._leave_parents()
        with self._making:
            self.is_closed = True
            client, self._client = self._client, None
        if client is not None:
            while self._farewells:  # of threads that still wait, and hear nothing more
                self._part(client, self._farewells.pop())
            client.close()

    async def aclose(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let go of the connections of this loop, and of threads."""
        self._leave_parents()
        kept = self._loops.pop(loop, None)
        if kept is not None:
            await kept[1].aclose()
        self.close()


_Kept = tuple[httpx2.AsyncClient, AsyncGenerator[None, None]]


async def _keep(client: httpx2.AsyncClient) -> AsyncGenerator[None, None]:
    """Close the pool when the loop ends: a loop that is shut down ends the generators that were begun on it."""
    try:
        yield
    finally:
        await client.aclose()


def _request(sent: Sent) -> dict[str, Any]:
    if sent.limit is None:
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=sent.seconds + _SPARE_SECONDS)
    else:
        timeout = httpx2.Timeout(min(_CONNECT_SECONDS, sent.limit), read=sent.limit)
    return {
        "method": sent.method,
        "url": sent.path,
        "params": sent.query,
        "content": sent.content,
        "headers": sent.headers,
        "timeout": timeout,
    }


def _sleep(
    loop: asyncio.AbstractEventLoop, seconds: float
) -> Coroutine[Any, Any, None] | asyncio.Future[None]:
    # Without asyncio's own: importing it takes longer than all the rest, and whoever has a loop has it already.
    future: asyncio.Future[None] = loop.create_future()
    loop.call_later(seconds, _wake, future)
    return future


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _give_up(future: Future[Any]) -> None:
    if not isinstance(future, LightFuture):
        future.cancel()


def _check_url(url: str) -> str:
    parts = urlsplit(url)
    try:
        is_plain = parts.port is None or parts.port > 0
    except ValueError:
        is_plain = False
    if not (is_plain and parts.hostname and not parts.username and not parts.query and not parts.fragment):
        raise BadRequestError("A server's address is http://host:port or https://host, and nothing more.")
    return url.rstrip("/")


def _check_token(token: str) -> str:
    token = token.strip()
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise BadRequestError("ASSENT_TOKEN is no token: assent token create makes one.")
    return token


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
