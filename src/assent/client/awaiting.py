"""The driver that awaits: a call in a task of an event loop."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from assent.client.door import Call, Wait, until
from assent.protocol.error import AssentError, StillOpen

__all__ = ["await_call", "await_wait"]

R = TypeVar("R")
T = TypeVar("T")


async def await_call(call: Call[R]) -> R:
    """Drive a call in this task."""
    loop = asyncio.get_running_loop()
    try:
        wait = next(call)
        while True:
            try:
                future = wait.start(loop)
            except AssentError as error:
                wait = call.throw(error)
                continue
            assert isinstance(future, asyncio.Future)  # noqa: S101 - a loop was given
            try:
                if wait.seconds is not None and not future.done():
                    await asyncio.wait({future}, timeout=wait.seconds)
                    if not future.done():
                        if wait.give_up is not None:
                            wait.give_up(future)
                        future.cancel()
                        wait = call.throw(StillOpen())
                        continue
                value = await future
            except AssentError as error:
                wait = call.throw(error)
            except BaseException:
                if wait.give_up is not None:
                    wait.give_up(future)
                raise
            else:
                wait = call.send(value)
    except StopIteration as stop:
        result: R = stop.value
        return result
    finally:
        call.close()  # whatever ended it: what it holds is let go of now, not when it is collected


async def await_wait(wait: Wait[T]) -> T:
    """Wait for one thing in this task."""
    return await await_call(until(wait))
