"""Our side of every measurement: Assent through its public client, in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assent
from bench.crowd import Callers, drive_lone, drive_tasks, drive_threads
from bench.workload import AGENT, ANSWER, OPTIONS, PERSON, PROJECT, TITLE, ask_parts

__all__ = ["Ours"]

Say = Callable[[dict[str, Any]], None]


class Ours:
    """One agent's or one person's process."""

    def __init__(self, store: Path | str, role: str, say: Say) -> None:
        self._store = store
        self._who = PERSON if role == "person" else AGENT
        self._say = say
        self._client = assent.connect(store, project=PROJECT, principal=self._who)
        self._async: assent.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._numbers = itertools.count()
        self._held: list[object] = []

    # One at a time, for wakes

    def open(self, waiter: str) -> dict[str, Any]:
        """Open an ask and begin to wait for it, in a thread or a task; the wake is told later."""
        if waiter == "task":
            return asyncio.run_coroutine_threadsafe(self._open_task(), self._own_loop()).result()
        key = self._key()
        began = time.monotonic_ns()
        handle = self._client.open(TITLE, OPTIONS, **ask_parts(key))
        ended = time.monotonic_ns()
        threading.Thread(target=self._wait, args=(handle,), daemon=True).start()
        return {"ask_id": handle.ask_id, "began": began, "ended": ended}

    def answer(self, ask_id: str) -> dict[str, Any]:
        """Answer one ask."""
        began = time.monotonic_ns()
        self._client.answer(ask_id, ANSWER)
        return {"began": began, "ended": time.monotonic_ns()}

    def wakes(self) -> dict[str, Any]:
        """Return how many waits a ring woke and how many only the look by the clock did."""
        holder = self._async or self._client
        return {"ring": holder.hub.waiters.ring_wakes, "net": holder.hub.waiters.net_wakes}

    def _wait(self, handle: assent.Handle) -> None:
        handle.value()
        self._say({"ask_id": handle.ask_id, "woke": time.monotonic_ns()})

    async def _open_task(self) -> dict[str, Any]:
        client = await self._async_client()
        key = self._key()
        began = time.monotonic_ns()
        handle = await client.open(TITLE, OPTIONS, **ask_parts(key))
        ended = time.monotonic_ns()
        self._held.append(asyncio.create_task(self._wait_task(handle)))
        return {"ask_id": handle.ask_id, "began": began, "ended": ended}

    async def _wait_task(self, handle: assent.AsyncHandle) -> None:
        await handle.value()
        self._say({"ask_id": handle.ask_id, "woke": time.monotonic_ns()})

    # Many at once, for rates

    def asks(self, count: int, callers: int, how: Callers) -> dict[str, Any]:
        """Open so many asks; return the seconds and the ids."""
        opened: list[str] = []
        keys = [self._key() for _ in range(count)]

        def open_one(key: str) -> None:
            opened.append(self._client.open(TITLE, OPTIONS, **ask_parts(key)).ask_id)

        async def open_task(key: str) -> None:
            client = await self._async_client()
            opened.append((await client.open(TITLE, OPTIONS, **ask_parts(key))).ask_id)

        return {"seconds": _drive(how, callers, keys, open_one, open_task), "ask_ids": opened}

    def answers(self, ask_ids: list[str], callers: int, how: Callers) -> dict[str, Any]:
        """Answer these asks; return the seconds."""

        async def answer_task(ask_id: str) -> None:
            await (await self._async_client()).answer(ask_id, ANSWER)

        def answer_one(ask_id: str) -> None:
            self._client.answer(ask_id, ANSWER)

        return {"seconds": _drive(how, callers, ask_ids, answer_one, answer_task)}

    def write_for(self, seconds: float) -> dict[str, Any]:
        """Open asks at full speed; return how many, and how long the longest took."""
        count, longest = 0, 0.0
        moment = time.perf_counter()
        until = moment + seconds
        while moment < until:
            self._client.open(TITLE, OPTIONS, **ask_parts(self._key()))
            began, moment = moment, time.perf_counter()
            longest = max(longest, moment - began)
            count += 1
        return {"count": count, "longest": longest}

    def write_without_end(self, callers: int) -> dict[str, Any]:
        """Write as hard as so many tasks can, until this process is killed."""

        async def open_task(key: str) -> None:
            client = await self._async_client()
            await client.open(TITLE, OPTIONS, **ask_parts(key))

        endless = (self._key() for _ in itertools.count())
        threading.Thread(target=drive_tasks, args=(callers, endless, open_task), daemon=True).start()
        return {}

    # Nothing to do, for idling

    def hold(self, count: int, waiter: str) -> dict[str, Any]:
        """Open so many asks and keep their handles (one of them waited for), or wait for each in a task."""

        async def open_task(key: str) -> assent.AsyncHandle:
            return await (await self._async_client()).open(TITLE, OPTIONS, **ask_parts(key))

        async def open_all() -> list[assent.AsyncHandle]:
            handles: list[assent.AsyncHandle] = []
            for start in range(0, count, 500):
                keys = (self._key() for _ in range(min(500, count - start)))
                handles.extend(await asyncio.gather(*map(open_task, keys)))
            if waiter == "task":
                self._held.extend(asyncio.create_task(handle.value()) for handle in handles)
            return handles

        loop = self._own_loop()
        handles = asyncio.run_coroutine_threadsafe(open_all(), loop).result()
        self._held.extend(handles)
        if waiter == "handle":
            asyncio.run_coroutine_threadsafe(self._open_task(), loop).result()
        return {"held": len(handles)}

    def rest(self, seconds: float) -> dict[str, Any]:
        """Do nothing; return the CPU seconds that this process used meanwhile, and its memory in MiB."""
        before = time.process_time()
        time.sleep(seconds)
        used = time.process_time() - before
        return {"cpu_seconds": used, "mebibytes": _resident()}

    # Inside

    def _key(self) -> str:
        return f"bench-{os.getpid():08d}-{next(self._numbers):08d}"

    async def _async_client(self) -> assent.AsyncClient:
        if self._async is None:
            self._async = await assent.connect_async(self._store, project=PROJECT, principal=self._who)
        return self._async

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return self._loop


def _drive(
    how: Callers,
    callers: int,
    inputs: list[str],
    one: Callable[[str], None],
    task: Callable[[str], Any],
) -> float:
    if how == "tasks":
        return drive_tasks(callers, inputs, task)
    return drive_threads(callers, inputs, one) if how == "threads" else drive_lone(inputs, one)


def _resident() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
