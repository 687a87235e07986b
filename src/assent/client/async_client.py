"""The client for tasks. In a file of its own, as importing asyncio takes longer than all the rest of Assent."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from assent.client import approving, steer, work
from assent.client import tokens as credentials
from assent.client.async_driven import AsyncDrivenRun
from assent.client.awaiting import await_call
from assent.client.calls import Calls, Value, value_of
from assent.client.client import Holder, late
from assent.client.connect import find_parts
from assent.client.door import Call, until
from assent.client.durable import drive_durably
from assent.client.label import label_finder
from assent.client.turns import Turns
from assent.client.wheel import Plan, Wheel, plan_run
from assent.hub.audit import Audit
from assent.hub.record import Record
from assent.protocol.ask import Ask, AskId
from assent.protocol.topic import Message

if TYPE_CHECKING:
    from assent.client.reviewing import review_document

__all__ = ["AsyncClient", "AsyncHandle", "awaiting", "connect_async"]

P = ParamSpec("P")
R = TypeVar("R")
_LOOK_SECONDS = 1.0
"""So long a thread may outlive a feed that nobody reads any more."""


async def connect_async(
    store: str | Path | None = None, *, project: str | None = None, principal: str | None = None
) -> AsyncClient:
    """Return an async client; everything else as `connect`."""
    door, name, who = find_parts(store, project, principal)
    return AsyncClient(
        door, name, who, run_id=os.environ.get("ASSENT_RUN_ID") or None, find_label=label_finder(os.environ)
    )


def awaiting(
    call: Callable[Concatenate[Calls, P], Call[R]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, R]]:
    """Return a call as a method of the client for tasks, or as a function that takes such a client."""

    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await await_call(call(self.calls, *args, **kwargs))

    functools.update_wrapper(method, call)
    return method


def _late_async(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return a method as `late` does; a coroutine function, as all the others are."""
    call = late(name)

    async def method(self: AsyncClient, /, *args: Any, **kwargs: Any) -> Any:
        return await call(self, *args, **kwargs)

    method.__doc__ = call.__doc__
    return method


def _opening_async(
    call: Callable[Concatenate[Calls, P], Call[Ask]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, AsyncHandle]]:
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncHandle:
        return AsyncHandle(self, await await_call(call(self.calls, *args, **kwargs)))

    functools.update_wrapper(method, call)
    return method


def _driving_async(plan: Callable[P, Plan]) -> Callable[Concatenate[AsyncClient, P], AsyncDrivenRun]:
    def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncDrivenRun:
        return AsyncDrivenRun(Turns(Wheel(self.calls, plan(*args, **kwargs))))

    functools.update_wrapper(method, plan)
    return method


class AsyncClient(Holder):
    """Asks and answers from tasks of any event loop; nothing here blocks a loop for longer than a short read."""

    ask = awaiting(Calls.ask)
    ask_all = awaiting(Calls.ask_all)
    wait = awaiting(Calls.wait)
    answer = awaiting(Calls.answer)
    decline = awaiting(Calls.decline)
    withdraw = awaiting(Calls.withdraw)
    claim = awaiting(Calls.claim)
    report_undelivered = awaiting(Calls.report_undelivered)
    show = awaiting(Calls.show)
    inbox = awaiting(Calls.inbox)
    count = awaiting(Calls.count)
    log = awaiting(Calls.log)
    steps = awaiting(Calls.steps)
    write_step = awaiting(Calls.write_step)
    drive = awaiting(drive_durably)
    control = awaiting(steer.control)
    pause = awaiting(steer.pause)
    resume = awaiting(steer.resume)
    cancel = awaiting(steer.cancel)
    escalate = awaiting(steer.escalate)
    find_run = awaiting(steer.find_run)
    runs = awaiting(steer.list_runs)
    is_driven = awaiting(steer.is_driven)
    wait_for_run = awaiting(steer.wait_for_run)
    read_output = awaiting(steer.read_output)
    post = awaiting(steer.post)
    post_text = awaiting(steer.post_text)
    read = awaiting(steer.read_topic)
    hand_in = awaiting(work.hand_in)
    add_notification = awaiting(work.add_notification)
    find_notification = awaiting(work.find_notification)
    notifications = awaiting(work.list_notifications)
    count_notifications = awaiting(work.count_notifications)
    resolve = awaiting(work.resolve)
    dismiss = awaiting(work.dismiss)
    clear_notifications = awaiting(work.clear_notifications)
    create_task = awaiting(work.create_task)
    update_task = awaiting(work.update_task)
    block_task = awaiting(work.block_task)
    find_task = awaiting(work.find_task)
    tasks = awaiting(work.list_tasks)
    ready = awaiting(work.list_ready)
    chat = awaiting(work.chat_of)
    clarify = awaiting(work.clarify)
    answers = awaiting(work.list_answers)
    policy = awaiting(work.find_policy)
    approve = awaiting(approving.approve)
    redeem = awaiting(approving.redeem)
    find_receipt = awaiting(approving.find_receipt)
    set_policy = awaiting(work.set_policy)
    create_token = awaiting(credentials.create_token)
    tokens = awaiting(credentials.list_tokens)
    revoke_token = awaiting(credentials.revoke_token)
    open = _opening_async(Calls.open)
    run = _driving_async(plan_run)
    if TYPE_CHECKING:
        review = awaiting(review_document)
    else:
        review = _late_async("review_async")

    async def follow_topic(self, topic: str, after: int = 0) -> AsyncGenerator[Message, None]:
        """Yield a topic's messages after a number, as they come, without end."""
        with self.door.follow_topic(self.project, topic, after) as feed:
            while True:
                for message in await asyncio.to_thread(feed.wait, _LOOK_SECONDS):
                    yield message

    async def verify(self) -> Audit:
        """Check the whole store: its chain, its numbers, its rows."""
        return await await_call(until(self.door.verify()))

    async def follow(self, after: int = 0) -> AsyncGenerator[Record, None]:
        """Yield the project's events after a number, as they come, without end."""
        with self.door.follow(self.project, after) as feed:
            while True:
                for record in await asyncio.to_thread(feed.wait, _LOOK_SECONDS):
                    yield record

    async def close(self) -> None:
        """Let go of the store."""
        await self.door.aclose(asyncio.get_running_loop())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncHandle:
    """An ask that was opened; its answer may take a day."""

    __slots__ = ("_client", "ask")

    def __init__(self, client: AsyncClient, ask: Ask) -> None:
        self._client = client
        self.ask = ask

    @property
    def ask_id(self) -> AskId:
        """The ask's id."""
        return self.ask.ask_id

    async def wait(self, seconds: float | None = None) -> Ask:
        """Return the ask once it has ended."""
        if self.ask.is_open:
            self.ask = await self._client.wait(self.ask_id, seconds)
        return self.ask

    async def value(self, seconds: float | None = None) -> Value:
        """Return the answer's value, as `AsyncClient.ask` does."""
        return value_of(await self.wait(seconds))

    async def withdraw(self, reason: str = "") -> Ask:
        """Take it back."""
        self.ask = await self._client.withdraw(self.ask_id, reason)
        return self.ask
