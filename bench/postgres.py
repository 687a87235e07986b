"""Both sides of the measurements on PostgreSQL: Assent through its public client, and bare psycopg on the same server.

A side's store is a file that holds the address of its database. A floor's row is as large as what an ask leaves in our
tables, its commit waits for the disk like ours, and it has no logic at all.
"""

from __future__ import annotations

import asyncio
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import psycopg

import assent
from assent.client.async_client import AsyncClient
from assent.client.connect import open_door
from assent.hub.ids import new_ask_id
from assent.protocol.principal import parse_principal
from bench.crowd import drive_lone, drive_threads
from bench.ours import Ours
from bench.workload import AGENT, ANSWER, OPTIONS, PROJECT, TITLE, ask_parts

__all__ = ["BarePostgres", "OursOnPostgres", "create_bare"]

Say = Callable[[dict[str, Any]], None]

_SCHEMA = """
CREATE TABLE bare (
  ask_id text COLLATE "C" PRIMARY KEY,
  state  text COLLATE "C" NOT NULL,
  prompt bytea NOT NULL,
  answer text
);
"""
_INSERT = "INSERT INTO bare (ask_id, state, prompt) VALUES ($1, 'open', $2)"
_INSERT_MANY = "INSERT INTO bare (ask_id, state, prompt) SELECT v, 'open', $2 FROM unnest($1::text[]) AS v"
_UPDATE = "UPDATE bare SET state = 'answered', answer = $1 WHERE ask_id = $2 AND state = 'open'"
_NOTIFY = "SELECT pg_notify('bare', $1)"
_SIZE = "SELECT (SELECT pg_column_size(a.*) FROM asks a LIMIT 1) + (SELECT pg_column_size(e.*) FROM events e LIMIT 1)"
_MOST_CONNECTIONS = 16
"""Commits that each hold a NOTIFY wait for each other, so that more of them would not be faster."""


def create_bare(url: str) -> int:
    """Make the floor's table in an empty database; return how many bytes its row needs to be as large as ours.

    One ask is opened through the client, and what it left is measured.
    """
    with assent.connect(url, project=PROJECT, principal=AGENT) as agent:
        agent.open(TITLE, OPTIONS, **ask_parts("bench-00000000-00000000"))
    with psycopg.connect(url, autocommit=True, options="-c search_path=assent") as connection:
        (size,) = connection.execute(_SIZE).fetchone() or (0,)
        connection.execute(_SCHEMA)
        connection.execute("INSERT INTO bare VALUES (%s, 'open', '', NULL)", (str(new_ask_id()),))
        (least,) = connection.execute("SELECT pg_column_size(b.*) FROM bare b").fetchone() or (0,)
        connection.execute("TRUNCATE bare")
    return max(0, int(size) - int(least))


class OursOnPostgres(Ours):
    """One agent's, one person's or one server's process on a database."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        self._url = store.read_text(encoding="utf-8")
        super().__init__(self._url, role, say)
        self._waiting: list[asyncio.Task[Any]] = []
        self._door: Any = None
        self._crowd: dict[str, AsyncClient] = {}

    def write_projects(self, projects: list[str], callers: int, seconds: float) -> dict[str, Any]:
        """Open asks in these projects at full speed, so many callers each; return how many, and the CPU seconds."""
        if self._door is None:
            self._door = open_door(self._url, {})
        for project in projects:
            if project not in self._crowd:
                self._crowd[project] = AsyncClient(self._door, project, parse_principal(AGENT))
        count = 0

        async def caller(client: AsyncClient, until: float) -> None:
            nonlocal count
            while time.perf_counter() < until:
                await client.open(TITLE, OPTIONS, **ask_parts(self._key()))
                count += 1

        async def all_callers() -> float:
            began = time.perf_counter()
            crowd = [self._crowd[project] for project in projects for _ in range(callers)]
            await asyncio.gather(*(caller(client, began + seconds) for client in crowd))
            return time.perf_counter() - began

        before = time.process_time()
        took = asyncio.run_coroutine_threadsafe(all_callers(), self._own_loop()).result()
        return {"count": count, "seconds": took, "cpu_seconds": time.process_time() - before}

    def hold_tasks(self, count: int) -> dict[str, Any]:
        """Open so many asks and wait for each in a task; return their ids and the memory that this took, in MiB."""

        async def one(key: str) -> assent.AsyncHandle:
            return await (await self._async_client()).open(TITLE, OPTIONS, **ask_parts(key))

        async def hold() -> list[str]:
            opened: list[str] = []
            for start in range(0, count, 500):
                keys = [self._key() for _ in range(min(500, count - start))]
                handles = await asyncio.gather(*map(one, keys))
                self._waiting += [asyncio.create_task(handle.value()) for handle in handles]
                opened += [handle.ask_id for handle in handles]
            return opened

        before = self.rest(0.0)["mebibytes"]
        ask_ids = asyncio.run_coroutine_threadsafe(hold(), self._own_loop()).result()
        return {"ask_ids": ask_ids, "mebibytes": self.rest(1.0)["mebibytes"] - before}

    def woken(self, seconds: float) -> dict[str, Any]:
        """Wait until all that wait are woken, so long at most; return how many are."""

        async def wait() -> int:
            done, _ = await asyncio.wait(self._waiting, timeout=seconds)
            return sum(task.exception() is None for task in done)

        return {"woken": asyncio.run_coroutine_threadsafe(wait(), self._own_loop()).result()}


class BarePostgres:
    """One process on the floor: a connection, prepared statements, and a listening thread where somebody waits."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        self._url, size = store.read_text(encoding="utf-8").split("\n")
        self._prompt = b"x" * int(size)
        self._say = say
        self._connection = self._connect()
        self._waiting: dict[str, None] = {}
        if role == "listener":
            is_heard = threading.Event()
            threading.Thread(target=self._listen, args=(is_heard,), daemon=True).start()
            is_heard.wait(10)

    def open(self, waiter: str) -> dict[str, Any]:  # noqa: ARG002 - nothing waits here but the listening thread
        """Store a row and wait for it; the wake is told later, with its moment taken in the listening thread."""
        ask_id = str(new_ask_id())
        began = time.monotonic_ns()
        self._connection.execute(_INSERT, (ask_id, self._prompt), prepare=True)
        ended = time.monotonic_ns()
        self._waiting[ask_id] = None
        return {"ask_id": ask_id, "began": began, "ended": ended}

    def answer(self, ask_id: str) -> dict[str, Any]:
        """Commit the answer with a NOTIFY in the same commit, all of it one trip to the server."""
        began = time.monotonic_ns()
        with self._connection.pipeline():
            self._connection.execute("BEGIN")
            self._connection.execute(_UPDATE, (ANSWER, ask_id), prepare=True)
            self._connection.execute(_NOTIFY, (ask_id,), prepare=True)
            self._connection.execute("COMMIT")
        return {"began": began, "ended": time.monotonic_ns()}

    def asks(self, count: int, callers: int, how: Literal["batched", "notify"]) -> dict[str, Any]:
        """Store so many rows: as many a commit as there would be callers, or one a commit with a NOTIFY in it."""
        ask_ids = [str(new_ask_id()) for _ in range(count)]
        if how == "batched":
            groups = {str(start): ask_ids[start : start + callers] for start in range(0, count, callers)}

            def write(start: str) -> None:
                values = (groups[start], self._prompt)
                self._connection.execute(_INSERT_MANY, values, prepare=True, binary=True)

            return {"seconds": drive_lone(groups, write)}
        own = threading.local()
        opened: list[psycopg.Connection[Any]] = []

        def write_alone(ask_id: str) -> None:
            if not hasattr(own, "connection"):
                own.connection = connections.pop()
            with own.connection.pipeline():
                own.connection.execute("BEGIN")
                own.connection.execute(_INSERT, (ask_id, self._prompt), prepare=True)
                own.connection.execute(_NOTIFY, (ask_id,), prepare=True)
                own.connection.execute("COMMIT")

        lines = min(callers, _MOST_CONNECTIONS)
        opened += [self._connect() for _ in range(lines)]
        connections = list(opened)
        try:
            return {"seconds": drive_threads(lines, ask_ids, write_alone)}
        finally:
            for connection in opened:
                connection.close()

    def _listen(self, is_heard: threading.Event) -> None:
        connection = self._connect()
        connection.execute("LISTEN bare")
        is_heard.set()
        raw = connection.pgconn
        while True:
            select.select([raw.socket], [], [])
            raw.consume_input()
            while (told := raw.notifies()) is not None:
                woke = time.monotonic_ns()
                heard = told.extra.decode()
                if heard in self._waiting:
                    del self._waiting[heard]
                    self._say({"ask_id": heard, "woke": woke})

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            self._url, autocommit=True, cursor_factory=psycopg.RawCursor, options="-c search_path=assent"
        )
