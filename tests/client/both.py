"""One test body for both clients: an async client that is called as if it were a blocking one."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar, cast

import pytest

from assent.client.async_client import AsyncClient, AsyncHandle
from assent.client.async_driven import AsyncDrivenRun
from assent.client.client import Client
from assent.client.turns import Turn
from assent.protocol.principal import Assurance
from assent.testing import FakeClock, ThrowawayStore
from tests.client.served import ServedStore

__all__ = ["Clients", "Door", "NewStore", "Way", "clients_on", "only_on_a_file", "only_once"]

Door = Literal["file", "server"]
Way = Literal["threads", "tasks"]

only_on_a_file = pytest.mark.parametrize("door", ["file"])
"""For a claim about hubs, bells or files, or about what a process says of itself, which a server does not believe."""
only_once = pytest.mark.parametrize(("door", "clients"), [("file", "threads")], indirect=["clients"])
"""For a claim that takes long to prove and is the engine's or the store's own."""
T = TypeVar("T")


class NewStore(Protocol):
    """Makes an empty store; as `assent.testing.throwaway` does."""

    def __call__(self, *, project: str = ..., clock: FakeClock | None = ...) -> ThrowawayStore: ...


class _Awaited:
    """Runs every coroutine of what it wraps to its end, on one event loop."""

    def __init__(self, wrapped: AsyncClient | AsyncHandle | AsyncDrivenRun, runner: asyncio.Runner) -> None:
        self._wrapped = wrapped
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._wrapped, name)
        if inspect.isasyncgenfunction(found):
            return lambda *args, **kwargs: _iterate(found(*args, **kwargs), self._runner)
        if name in {"run", "nested"}:
            return lambda *args, **kwargs: _AwaitedRun(found(*args, **kwargs), self._runner)
        if not inspect.iscoroutinefunction(found):
            return found

        def call(*args: object, **kwargs: object) -> Any:
            value = self._runner.run(found(*args, **kwargs))
            return _Awaited(value, self._runner) if isinstance(value, AsyncHandle) else value

        return call


def _iterate(source: AsyncIterator[T], runner: asyncio.Runner) -> Iterator[T]:
    while True:
        try:
            yield runner.run(source.__anext__())  # type: ignore[arg-type]  # what an async generator gives is one
        except StopAsyncIteration:
            return


class _AwaitedRun(_Awaited):
    """A run for an `async with` and an `async for`, in a plain `with` and `for`."""

    def __init__(self, run: AsyncDrivenRun, runner: asyncio.Runner) -> None:
        super().__init__(run, runner)
        self._run = run

    def __enter__(self) -> Self:
        self._runner.run(self._run.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._run.__aexit__(kind, error, trace))

    def __iter__(self) -> Iterator[Turn]:
        return _iterate(self._run, self._runner)


class Clients:
    """Makes the clients of one test."""

    def __init__(self, store: ThrowawayStore, runner: asyncio.Runner | None) -> None:
        self.store = store
        self._runner = runner

    @property
    def is_served(self) -> bool:
        """They come through a server, which knows them by their tokens and by nothing that they say."""
        return isinstance(self.store, ServedStore)

    def agent(self, name: str = "coder", project: str | None = None) -> Client:
        """Return a client that asks."""
        if self._runner is None:
            return self.store.agent(name, project=project)
        return cast(Client, _Awaited(self.store.async_agent(name, project=project), self._runner))

    def person(self, name: str = "ana", assurance: Assurance = Assurance.DECLARED) -> Client:
        """Return a client that answers."""
        if self._runner is None:
            return self.store.person(name, assurance=assurance)
        return cast(Client, _Awaited(self.store.async_person(name, assurance=assurance), self._runner))


@contextmanager
def clients_on(store: ThrowawayStore, way: Way) -> Iterator[Clients]:
    """Give what makes clients for threads, or for tasks of one loop."""
    if way == "threads":
        yield Clients(store, None)
        return
    with asyncio.Runner() as runner:
        yield Clients(store, runner)
