"""What a host asks of people during one session: each request is an ask of its own, and is told to the host once.

Rule 1: the host's session, what was asked and how often that was told already make the key. So a host that was stopped
        and resumed finds its ask, and the same question asked again later is a new one.
Rule 2: a request that the host takes back is withdrawn. One that is left because our own process ends stays open.
Rule 3: nothing here decides: an ask that ended without an answer is for the adapter to tell as "no decision".
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from assent.client.approving import ApprovalParts
from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.client.journal import Returned, make_step
from assent.hosts.form import headline
from assent.hosts.permission import Permission, ask_permission
from assent.protocol.ask import Ask, AskId
from assent.protocol.canonical import Json, canonical, digest
from assent.protocol.error import AssentError, FlowDivergedError
from assent.protocol.prompt import Prompt

__all__ = ["Request", "Requests", "Work"]

_LONGEST_SESSION = 200
_TRIES = 5
"""So often somebody else may have written in the journal in the same moment."""

T = TypeVar("T")


class Request:
    """One request, while people are asked."""

    def __init__(self, calls: Calls, key: str, run_id: str | None) -> None:
        self._calls = calls
        self.key = key
        self._run_id = run_id
        self.ask_id: AskId | None = None
        """The ask that waits for it."""
        self.dropped: str | None = None
        """Why the host does not want it any more."""
        self._after: Request | None = None

    async def ask(self, prompt: Prompt) -> Ask:
        """Ask, and return the ask once it has ended."""
        opened = await self._unbroken(await_call(self._calls.open(prompt, key=self.key, run_id=self._run_id)))
        if not opened.is_open:
            return opened
        return await await_call(self._calls.wait(opened.ask_id))

    async def permit(
        self, title: str, action: Json, *, body: str = "", risk: str | None = None
    ) -> Permission:
        """Ask whether `action` may happen, and spend the yes."""
        title, body = headline(title, body)
        parts: ApprovalParts = {
            "action": action,
            "body": body,
            "risk": risk,
            "key": self.key,
            "run_id": self._run_id,
        }
        told = await self._unbroken(await_call(ask_permission(self._calls, title, wait=0.0, **parts)))
        if not told.is_open:
            return told
        return await await_call(ask_permission(self._calls, title, **parts))

    def next(self) -> Request:
        """Return what is asked after this one, for the same request of the host."""
        request = Request(self._calls, f"{self.key}:next", self._run_id)
        self._after = request
        return request

    async def withdraw(self) -> None:
        """Take the ask back."""
        if self._after is not None:
            self._after.dropped = self.dropped
            await self._after.withdraw()
        if self.ask_id is not None and self.dropped is not None:
            with suppress(AssentError):  # somebody was faster, and it has ended
                await await_call(self._calls.withdraw(self.ask_id, self.dropped))

    async def _unbroken(self, opening: Coroutine[Any, Any, T]) -> T:
        """Open to the end, also where the host takes it back meanwhile: only what is known can be withdrawn."""
        task = asyncio.ensure_future(opening)
        try:
            told = await asyncio.shield(task)
        except asyncio.CancelledError:
            told = await task
            self._know(told)
            raise
        self._know(told)
        return told

    def _know(self, told: object) -> None:
        ask = told.ask if isinstance(told, Permission) else told
        self.ask_id = ask.ask_id if isinstance(ask, Ask) and ask.is_open else None


Work = Callable[[Request], Awaitable[None]]
"""Asks people for a request, and tells the host what came of it. Whatever goes wrong is told, too, and never raised."""


class Requests:
    """All requests of one session of a host."""

    def __init__(
        self, calls: Calls, host: str, session: str, *, run_id: str | None = None, is_noted: bool = True
    ) -> None:
        self._calls = calls
        self._run_id = run_id
        self._is_noted = is_noted
        """What was told is kept. A host that never uses a name twice does without."""
        session = session if len(session) <= _LONGEST_SESSION else digest(session.encode())
        self._flow_id = f"host:{host}:{session}"
        self._told: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._step = 0
        self._writing = asyncio.Lock()
        self._tasks: dict[str, tuple[Request, asyncio.Task[None]]] = {}

    async def load(self) -> None:
        """Learn what was told in earlier processes."""
        if not self._is_noted:
            return
        steps = await await_call(self._calls.steps(self._flow_id))
        self._told = Counter(step.digest for step in steps)
        self._step = len(steps)

    def start(self, name: str, content: Json, work: Work) -> None:
        """Begin to ask people for what the host calls `name`; the same `content` is the same request."""
        what = digest(canonical(content))
        self._open[what] += 1
        number = self._told[what] + self._open[what]
        request = Request(self._calls, f"{self._flow_id}:{what[-32:]}:{number}", self._run_id)
        task = asyncio.ensure_future(self._carry(name, what, request, work))
        self._tasks[name] = (request, task)

    async def drop(self, name: str, reason: str) -> None:
        """The host does not want this one any more; nothing happens where it was told already."""
        found = self._tasks.get(name)
        if found is not None:
            await self._drop(*found, reason)

    async def drop_all(self, reason: str) -> None:
        """The host wants none of them any more."""
        for request, task in list(self._tasks.values()):
            await self._drop(request, task, reason)

    async def leave(self) -> None:
        """Stop waiting; the asks stay open, to be found again."""
        tasks = [task for _, task in self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def settle(self) -> None:
        """Wait until every request is told."""
        while self._tasks:
            await asyncio.gather(*(task for _, task in self._tasks.values()), return_exceptions=True)

    @property
    def names(self) -> frozenset[str]:
        """What the host calls those that people are asked for now."""
        return frozenset(self._tasks)

    async def _drop(self, request: Request, task: asyncio.Task[None], reason: str) -> None:
        request.dropped = reason
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _carry(self, name: str, what: str, request: Request, work: Work) -> None:
        is_over = False
        try:
            await work(request)
            is_over = True
        except asyncio.CancelledError:
            is_over = request.dropped is not None
            await request.withdraw()
        finally:
            self._tasks.pop(name, None)
            self._open[what] -= 1
            if is_over:
                await self._note(what)

    async def _note(self, what: str) -> None:
        """Keep that it was told. Where that fails, a resumed session finds the old answer: never more than was said."""
        if not self._is_noted:
            return
        self._told[what] += 1
        async with self._writing:
            for _ in range(_TRIES):
                step = make_step(self._flow_id, self._step, Returned(None), what)
                try:
                    await await_call(self._calls.write_step(step, is_own=True))
                except FlowDivergedError:
                    self._step = len(await await_call(self._calls.steps(self._flow_id)))
                except AssentError:
                    return
                else:
                    self._step += 1
                    return
