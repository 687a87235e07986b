"""What a server has: its door, who may come in, and whom it still keeps waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from assent.client.awaiting import await_wait
from assent.client.calls import Calls
from assent.client.embedded import EmbeddedDoor
from assent.client.news import News
from assent.protocol.ask_limits import AskLimits
from assent.protocol.error import TooManyError
from assent.protocol.principal import Assurance
from assent.protocol.token import Token, digest_of, digest_of_session, looks_like_token
from assent.protocol.wire_run import HoldBody
from assent.surfaces.http.ask_rates import AskRates
from assent.surfaces.http.leases import AskLeases
from assent.surfaces.http.presence import Presence
from assent.surfaces.http.prose import KeptProse
from assent.surfaces.http.session import Boot
from assent.surfaces.http.watch import Scrape, SiteWatch

__all__ = ["MAX_FOLLOWED", "Caller", "Held", "Holding", "Site"]

T = TypeVar("T")

MAX_FOLLOWED = 500
"""So many projects are followed at once, by however many clients."""


class Caller(msgspec.Struct, frozen=True):
    """Who sent a request, as the store knows the token that came with it."""

    token: Token
    is_session: bool = False
    """It is of somebody who signed in: a page signed the request."""

    def calls(self, door: EmbeddedDoor, project: str, via: str) -> Calls:
        """Return what this caller can do in a project."""
        return Calls(
            door,
            project,
            self.token.principal,
            via,
            Assurance.TOKEN,
            is_unattended=self.token.is_unattended,
        )


class Held(Protocol):
    """The right to drive something, as the store gives it."""

    def release(self) -> None: ...


class Holding:
    """What is kept for a client that drives something alone."""

    def __init__(self, hold: Held, body: HoldBody) -> None:
        self.hold = hold
        self.body = body
        """What it is."""
        self.is_over = asyncio.Event()
        """Set when it was let go of, or goes on in another reply."""


class Site:
    """One server on one store."""

    def __init__(
        self,
        door: EmbeddedDoor,
        watch: SiteWatch | None = None,
        scrape: Scrape | None = None,
        limits: AskLimits | None = None,
    ) -> None:
        self.door = door
        self._rates = None if limits is None else AskRates(limits)
        self.watch = watch
        """Who sees every request and, by the door, every command."""
        self.scrape = scrape
        """Who has counted them; None where the extra `metrics` is not installed."""
        if watch is not None:
            door.watch(watch)
        self._closing = asyncio.Event()
        self._lingering: set[asyncio.Task[Any]] = set()
        self._news: dict[str, tuple[News, int]] = {}
        """By project: what happens there, and how many follow it."""
        self.boot = Boot()
        """What pages have sent since this server began."""
        self.presence = Presence()
        self.prose = KeptProse()
        self.leases = AskLeases(door)
        """Whose waits for their own asks go on here, over several requests."""
        self.holdings: dict[str, Holding] = {}
        """By the id of the command that took it: what clients drive alone."""
        self.waits = 0
        """How many requests are kept waiting now."""
        self.slack_secret = ""
        """With which Slack signs what it sends; empty where it sends nothing."""
        self.messages: Callable[[], dict[str, int]] = dict
        """What came of the messages to targets, by this process."""
        self.streams = 0
        """How many sockets and streams are told of events now."""

    def door_for(self, token: Token) -> EmbeddedDoor:
        """Return the door for whoever holds a token, who may ask as much as the server takes of one."""
        return self.door if self._rates is None else self._rates.door_for(token, self.door)

    @property
    def is_closing(self) -> bool:
        """The server stops."""
        return self._closing.is_set()

    def now(self) -> datetime:
        """Return the moment by the store's clock."""
        return self.door.now()

    async def find_token(self, secret: str) -> Token | None:
        """Return the token of this secret, if it is good now. It is looked up every time: a revoked one is shut at once."""
        return await self._find(digest_of(secret)) if looks_like_token(secret) else None

    async def find_session(self, name: str) -> Token | None:
        """Return the token of a session of this name, if it is good now."""
        return await self._find(digest_of_session(name))

    async def _find(self, digest: str) -> Token | None:
        token = await await_wait(self.door.token_by_digest(digest))
        return token if token is not None and token.is_live(self.now()) else None

    async def is_live(self, token: Token) -> bool:
        """Say whether a token that was good is still good."""
        known = await await_wait(self.door.token_by_digest(token.digest))
        return known is not None and known.is_live(self.now())

    async def linger(self, wait: Coroutine[Any, Any, T]) -> T | None:
        """Wait for something that may take a minute; None when the server closes first."""
        if self._closing.is_set():
            wait.close()
            return None
        task = asyncio.create_task(wait)
        self._lingering.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._closing.is_set():
                return None
            raise
        finally:
            self._lingering.discard(task)

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Keep hold of something that goes on behind a reply, until it is done or the server closes."""
        self._lingering.add(task)
        task.add_done_callback(self._lingering.discard)

    async def nap(self, seconds: float) -> bool:
        """Let some time go by; say whether the server goes on."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return not self.is_closing

    @contextmanager
    def following(self, project: str) -> Iterator[News]:
        """Give the news of a project; those who follow it at the same time share them.

        Raises:
            TooManyError: as many projects are followed as there may be; each takes a thread.
        """
        if project not in self._news and len(self._news) >= MAX_FOLLOWED:
            raise TooManyError("Too many projects are followed at once; try again a little later.")
        news, count = self._news.get(project) or (News(self.door, project, asyncio.get_running_loop()), 0)
        self._news[project] = news, count + 1
        try:
            yield news
        finally:
            news, count = self._news.pop(project)
            if count > 1:
                self._news[project] = news, count - 1
            else:
                news.close()

    def close(self) -> None:
        """Let everybody go who waits: the server stops. Safe to call twice; the door is the owner's to close."""
        self._closing.set()
        self.leases.close()
        for task in list(self._lingering):
            task.cancel()
        for news, _ in self._news.values():
            news.close()
