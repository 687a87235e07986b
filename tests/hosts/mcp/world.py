"""An agent's host and a person, around an MCP server in this process."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp import Client as HostClient
from mcp.client._memory import InMemoryTransport
from mcp.types import CallToolResult, ElicitRequestFormParams, ElicitResult, Implementation, TextContent

from assent import Ask, Client
from assent.client.calls import Calls
from assent.hosts.mcp.server import SEAL_SECONDS, Desk, make_server
from assent.hosts.mcp.tools import Room
from assent.protocol.gate import CONTEXTS
from assent.testing import ThrowawayStore, throwaway
from tests.cli.shell import wait_for
from tests.patience import PATIENCE

__all__ = [
    "ERAS",
    "KEY",
    "LEGACY",
    "MODERN",
    "QUESTION",
    "Host",
    "World",
    "make_world",
    "text_of",
]

LEGACY, MODERN = "legacy", "2026-07-28"
ERAS = (LEGACY, MODERN)
KEY = "a key for tests that nobody else has"
QUESTION: dict[str, Any] = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}

Fill = Callable[[ElicitRequestFormParams], Awaitable[ElicitResult]]


def text_of(result: CallToolResult) -> str:
    """Return what an agent reads."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


class Host:
    """A connection of an agent's host."""

    def __init__(self, client: HostClient) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Call a tool, as the host's agent does."""
        with anyio.fail_after(PATIENCE):
            return await self.client.call_tool(tool, arguments)

    async def told(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return the object that came."""
        content: dict[str, Any] | None = (await self.call(tool, **arguments)).structured_content
        assert content is not None
        return content


class World:
    """A store, an agent and a person."""

    def __init__(self, store: ThrowawayStore, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.agent: Client = store.agent("coder")
        self.person: Client = store.person("ana")
        self.forms: list[ElicitRequestFormParams] = []
        """What hosts were asked to show."""

    def open(self) -> list[Ask]:
        """Return what waits."""
        return self.person.inbox()

    async def only_open(self) -> Ask:
        """Return the one ask that waits, once it is there."""
        await anyio.to_thread.run_sync(wait_for, lambda: len(self.open()) == 1)
        return self.open()[0]

    @asynccontextmanager
    async def host(
        self,
        era: str,
        fill: Fill | None = None,
        *,
        wait: float = 0.2,
        seal_seconds: float = SEAL_SECONDS,
        calls: Calls | None = None,
        name: str = "host",
    ) -> AsyncIterator[Host]:
        """Give a host with a server of its own, as each host has; `fill` is how its dialogs are filled in."""
        acting = calls or self.agent.calls

        async def find(_: object) -> Calls:
            return acting

        desk = Desk(find, Room(self.folder, self.folder / ".assent", CONTEXTS), wait)
        server = make_server(desk, KEY, "0", seal_seconds)
        more: dict[str, Any] = {"client_info": Implementation(name=name, version="1")}
        if fill is not None:

            async def show(_: object, params: Any) -> ElicitResult:
                self.forms.append(params)
                return await fill(params)

            more["elicitation_callback"] = show
        try:
            async with HostClient(InMemoryTransport(server), mode=era, **more) as client:
                yield Host(client)
        finally:
            desk.close()


@contextmanager
def make_world(folder: Path) -> Iterator[World]:
    """Give a world in a folder."""
    with throwaway() as store:
        yield World(store, folder)
