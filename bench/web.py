"""The two servers of a measurement, each in a thread of a process of its own: ours, and a bare echo under the same uvicorn.

The echo has the same paths, so the same callers talk to both. It keeps nothing and checks nothing: a request is held until
another one releases it, and what is released is told to every socket.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

import assent
from assent.protocol.principal import Role
from assent.surfaces.http.serve import open_socket
from assent.testing.server import ThrowawayServer
from assent.testing.store import ThrowawayStore
from bench.workload import AGENT, OPTIONS, PROJECT, TITLE, ask_parts

__all__ = ["Echo", "Served", "allow_many_files", "resident_mebibytes"]

Say = Callable[[dict[str, Any]], None]
_ASKS = f"/projects/{PROJECT}/asks"


def allow_many_files() -> None:
    """Let this process have as many connections as the system lets it have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def resident_mebibytes() -> float:
    """Return the memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class _StoreHere(ThrowawayStore):
    """A store at a place of ours; the session removes it."""

    def __init__(self, path: Path) -> None:
        self.project, self.clock, self.path = PROJECT, None, path
        self.database, self._maker, self._hubs = None, 0, []


class Served:
    """Our server on a store."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del role, say
        allow_many_files()
        self._store = _StoreHere(store)
        self._server = ThrowawayServer(self._store)

    def address(self) -> dict[str, Any]:
        """Return where it listens, and a token for either side."""
        agent, person = (self._server.token(role, "bench") for role in (Role.AGENT, Role.HUMAN))
        return {"port": self._server.port, "agent": agent, "person": person}

    def open_many(self, count: int) -> dict[str, Any]:
        """Put so many asks into the store, without a request for each."""

        async def open_all() -> list[str]:
            async with await assent.connect_async(
                self._store.path, project=PROJECT, principal=AGENT
            ) as client:
                opened = []
                for start in range(0, count, 500):
                    keys = (f"many-{number}" for number in range(start, min(count, start + 500)))
                    handles = await asyncio.gather(
                        *(client.open(TITLE, OPTIONS, **ask_parts(key)) for key in keys)
                    )
                    opened += [str(handle.ask_id) for handle in handles]
                return opened

        return {"ask_ids": asyncio.run(open_all())}

    def resident(self) -> dict[str, Any]:
        """Return the memory of this process in MiB."""
        return {"mebibytes": resident_mebibytes()}


class Echo:
    """The floor."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del store, role, say
        allow_many_files()
        self._numbers = itertools.count()
        self._released: dict[str, asyncio.Event] = {}
        self._sockets: set[WebSocket] = set()
        listening = open_socket("127.0.0.1", 0)
        self._port: int = listening.getsockname()[1]
        routes = [
            Route(_ASKS, self._open, methods=["POST"]),
            Route(f"{_ASKS}/{{ask}}/answer", self._hold, methods=["GET"]),
            Route(f"{_ASKS}/{{ask}}/answer", self._release, methods=["POST"]),
            WebSocketRoute(f"/projects/{PROJECT}/events", self._listen),
        ]
        # The settings that cost or save time are those of our own server.
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            ws="websockets-sansio",
        )
        server = uvicorn.Server(config)
        threading.Thread(
            target=lambda: asyncio.run(server._serve([listening])),
            daemon=True,
        ).start()

    def address(self) -> dict[str, Any]:
        """Return where it listens; nobody shows a token."""
        return {"port": self._port, "agent": "", "person": ""}

    def open_many(self, count: int) -> dict[str, Any]:
        """Return so many names of things that can be waited for."""
        return {"ask_ids": [self._name() for _ in range(count)]}

    def resident(self) -> dict[str, Any]:
        """Return the memory of this process in MiB."""
        return {"mebibytes": resident_mebibytes()}

    def _name(self) -> str:
        name = f"echo-{next(self._numbers)}"
        self._released[name] = asyncio.Event()
        return name

    async def _open(self, request: Request) -> Response:
        body = msgspec.json.decode(await request.body())
        return _json({"ask_id": self._name(), **body}, 201)

    async def _hold(self, request: Request) -> Response:
        name = request.path_params["ask"]
        await self._released[name].wait()
        return _json({"ask_id": name, "state": "answered"})

    async def _release(self, request: Request) -> Response:
        name = request.path_params["ask"]
        body = msgspec.json.decode(await request.body())
        self._released[name].set()
        told = msgspec.json.encode({"type": "ask.answered", "data": {"ask_id": name}}).decode()
        for socket in self._sockets:
            await socket.send_text(told)
        return _json({"ask_id": name, **body})

    async def _listen(self, socket: WebSocket) -> None:
        await socket.accept()
        self._sockets.add(socket)
        try:
            await socket.receive()
        except WebSocketDisconnect:
            pass
        finally:
            self._sockets.discard(socket)


def _json(value: dict[str, Any], status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
