"""A real server on a throw-away store, on a free port of loopback, in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
from typing import Self

from starlette.types import ASGIApp, Receive, Scope, Send

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.client.embedded import EmbeddedDoor
from assent.client.http.door import HttpDoor
from assent.hub.hub import Hub
from assent.protocol.ask_limits import AskLimits
from assent.protocol.principal import Assurance, Principal, Role
from assent.surfaces.http.app import build_app
from assent.surfaces.http.bucket import Bucket
from assent.surfaces.http.guard import Guard
from assent.surfaces.http.names import names_of
from assent.surfaces.http.serve import AssentServer, make_server, open_socket
from assent.surfaces.http.site import Site
from assent.surfaces.http.watch import Scrape, SiteWatch
from assent.testing.store import ThrowawayStore

__all__ = ["ThrowawayServer"]

_PATIENCE = 30.0
_MANY = 1_000_000
"""A test may guess more often than a stranger."""


class ThrowawayServer:
    """A server for a test, with clients for agents and people that speak to it over HTTP.

    It can be stopped and started again on the same store and port, as a server that is upgraded is. Many tests can
    share one: `move` turns it to the next one's store.
    """

    def __init__(
        self,
        store: ThrowawayStore,
        *,
        port: int = 0,
        bucket: Bucket | None = None,
        watch: SiteWatch | None = None,
        scrape: Scrape | None = None,
        limits: AskLimits | None = None,
    ) -> None:
        self.store = store
        self._watch, self._scrape = watch, scrape
        self._limits = limits
        self.port = port
        self._bucket = Bucket(_MANY) if bucket is None else bucket
        self._server: AssentServer | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._site: Site | None = None
        self._app: ASGIApp | None = None
        self._doors: list[HttpDoor] = []
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def waiting(self) -> int:
        """How many requests it keeps waiting."""
        return 0 if self._site is None else len(self._site._lingering)  # noqa: SLF001 - to be seen by tests only

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return 0 if self._server is None else len(self._server.server_state.connections)

    def start(self) -> None:
        """Listen."""
        ready = threading.Event()
        failed: list[BaseException] = []

        def run() -> None:
            try:
                asyncio.run(self._serve(ready))
            except BaseException as error:  # noqa: BLE001 - whoever waits for it must learn of it
                failed.append(error)
                ready.set()

        self._thread = threading.Thread(target=run, daemon=True, name="assent-server")
        self._thread.start()
        if not ready.wait(_PATIENCE) or failed:
            raise RuntimeError("The server did not start.") from (failed[0] if failed else None)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        hub, site = self._open()

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            assert self._app is not None  # noqa: S101 - it is there before the first request
            await self._app(scope, receive, send)

        listening = open_socket("127.0.0.1", self.port)
        self.port = listening.getsockname()[1]
        guarded = Guard(respond, names_of("127.0.0.1", self.port), self._bucket)
        self._server = make_server(guarded, site, on_ready=ready.set)
        # A ping is a number of this process's chance, and Hypothesis takes that for a strategy's.
        self._server.config.ws_ping_interval = None
        # By its inner half: the outer one would take over the signals, which only a main thread can.
        await self._server._serve([listening])  # noqa: SLF001 - see above
        self._site = None
        hub.close()

    def _open(self) -> tuple[Hub, Site]:
        hub = self.store.hub()
        site = self._site = Site(EmbeddedDoor(hub), self._watch, self._scrape, self._limits)
        self._app = build_app(site)
        return hub, site

    def move(self, store: ThrowawayStore) -> None:
        """Serve another store from now on, on the same port; who waited on the old one is let go."""
        self._let_go()
        self.store = store
        self._open()

    def _let_go(self) -> None:
        for door in self._doors:
            door.close()
        self._doors.clear()
        if self._loop is not None and self._site is not None and self._loop.is_running():
            asyncio.run_coroutine_threadsafe(_close(self._site), self._loop).result(_PATIENCE)

    def stop(self) -> None:
        """Stop it as a signal would, and wait until it is gone."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(_PATIENCE)

    def token(
        self,
        role: Role | str,
        name: str = "ana",
        *,
        projects: tuple[str, ...] = ("*",),
        project: str | None = None,
    ) -> str:
        """Return the secret of a new token."""
        minter = self.store.person("minter", project=project, assurance=Assurance.TERMINAL)
        _, secret = minter.create_token(role, name=name, projects=projects)
        return secret

    def door(self, secret: str) -> HttpDoor:
        """Return a door to it; the clocks of both agree."""
        door = HttpDoor(self.url, secret, self.store.clock)
        self._doors.append(door)
        return door

    def client(self, role: Role | str, name: str, *, project: str | None = None) -> Client:
        """Return a client that speaks to it with a new token."""
        principal = Principal(Role(role), name)
        return Client(self.door(self.token(role, name)), project or self.store.project, principal)

    def agent(self, name: str = "coder", *, project: str | None = None) -> Client:
        """Return a client that asks."""
        return self.client(Role.AGENT, name, project=project)

    def person(self, name: str = "ana", *, project: str | None = None) -> Client:
        """Return a client that answers."""
        return self.client(Role.HUMAN, name, project=project)

    def async_client(self, role: Role | str, name: str, *, project: str | None = None) -> AsyncClient:
        """Return a client for tasks."""
        principal = Principal(Role(role), name)
        return AsyncClient(self.door(self.token(role, name)), project or self.store.project, principal)

    def close(self) -> None:
        """Stop it, and let go of its clients; the store is its owner's to close."""
        self._let_go()
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _close(site: Site) -> None:
    site.close()
