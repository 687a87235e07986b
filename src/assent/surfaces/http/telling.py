"""How a project's events are told to one listener, whatever carries them: page by page, in time, while it may listen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from enum import IntEnum
from typing import Any

from assent.client.news import News, Told
from assent.surfaces.http.site import Caller, Site

__all__ = ["LOOK_SECONDS", "PAGE", "SLOW_SECONDS", "Ending", "first_of", "guard", "in_time", "tell"]

SLOW_SECONDS = 10.0
"""Whoever does not take an event for so long is let go of; and once more so long, it may take notice of that."""
LOOK_SECONDS = 1.0
"""So often it is looked at whether the token is still good (S11: a stream is cut within 2 s)."""
PAGE = 100
"""So many events are read at once for somebody who is behind."""


class Ending(IntEnum):
    """Why a stream ended, as the code that a socket is closed with."""

    ONE_WAY = 1008
    """The other side said something."""
    FAILED = 1011
    """The events could not be read."""
    RESTARTING = 1012
    """The server stops; come again."""
    REVOKED = 4401
    """The token is no longer good."""
    SLOW = 4408
    """The other side did not take what it was sent in time; come again with the last number."""


def in_time() -> asyncio.Timeout:
    """Bound what the other side has to take by the time that it has for it."""
    return asyncio.timeout(SLOW_SECONDS)


async def first_of(*ways: Coroutine[Any, Any, Ending | None]) -> Ending | None:
    """Return how the first of these ended, and end the others; None is the other side's own going."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        done = [task for task in tasks if task.done()]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    endings = [task.result() for task in done]
    return None if None in endings else endings[0]


async def tell(news: News, after: int, say: Callable[[Told], Awaitable[None]], site: Site) -> Ending:
    """Tell what happens, in order, until somebody ends it."""
    site.streams += 1
    try:
        while not site.is_closing:
            page = news.since(after, PAGE)
            for told in page:
                async with in_time():
                    await say(told)
                after = told.sequence
            if not page:
                await news.wait(after, LOOK_SECONDS)
            # Somebody who takes it faster than we read it must not keep everybody else waiting.
            await asyncio.sleep(0)
    except TimeoutError:
        return Ending.SLOW
    finally:
        site.streams -= 1
    return Ending.RESTARTING


async def guard(site: Site, caller: Caller) -> Ending:
    """Watch until the token of whoever listens is no longer good."""
    while await site.nap(LOOK_SECONDS):
        if not await site.is_live(caller.token):
            return Ending.REVOKED
    return Ending.RESTARTING
