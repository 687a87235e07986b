"""Callers: one after the other, many tasks of one event loop, or many threads; all take from one list of inputs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

__all__ = ["Callers", "drive_lone", "drive_tasks", "drive_threads"]

Callers = Literal["lone", "tasks", "threads", "plain"]
"""`plain` is a floor's own form: ready-made groups and nobody who waits for them."""


def drive_lone(inputs: Iterable[str], work: Callable[[str], object]) -> float:
    """Do all the work one after the other; return the seconds it took."""
    began = time.perf_counter()
    for value in inputs:
        work(value)
    return time.perf_counter() - began


def drive_tasks(callers: int, inputs: Iterable[str], work: Callable[[str], Awaitable[object]]) -> float:
    """Do the work in so many tasks of a new event loop; return the seconds it took."""
    left = iter(inputs)

    async def caller() -> None:
        for value in left:
            await work(value)

    async def all_callers() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(callers)))
        return time.perf_counter() - began

    return asyncio.run(all_callers())


def drive_threads(callers: int, inputs: Iterable[str], work: Callable[[str], object]) -> float:
    """Do the work in so many threads; return the seconds from the common start to the last one's end."""
    left = iter(list(inputs))  # a list's iterator gives each value once, whichever threads take from it
    gate = threading.Barrier(callers + 1)

    def caller() -> None:
        gate.wait()
        for value in left:
            work(value)

    threads = [threading.Thread(target=caller, daemon=True) for _ in range(callers)]
    for thread in threads:
        thread.start()
    gate.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began
