"""What a call may wait for, and the small driver that blocks a thread; `awaiting` has the one that awaits.

A call is a generator that yields `Wait`s and receives what came of them. It is written once; the clients make a
blocking and an awaiting method of it. Behind the door is a hub of this process, or a server: both yield the same waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from assent.hub.audit import Audit
from assent.hub.command import Request, Told
from assent.hub.future import Future, LightFuture
from assent.hub.record import Hold, Record, Step
from assent.protocol.ask import Ask, AskId, State
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.notification import Notification, Source
from assent.protocol.policy import ProjectPolicy
from assent.protocol.principal import Principal
from assent.protocol.receipt import Receipt
from assent.protocol.run import Run, RunId
from assent.protocol.tail import Tail
from assent.protocol.task import Task
from assent.protocol.token import Token
from assent.protocol.topic import Message

if TYPE_CHECKING:
    import asyncio

__all__ = ["Call", "Door", "Following", "Wait", "run_call", "until"]

T = TypeVar("T")
R = TypeVar("R")
N = TypeVar("N")


class Wait(Generic[T]):
    """Something that is on its way."""

    __slots__ = ("give_up", "seconds", "start")

    def __init__(
        self,
        start: Callable[[asyncio.AbstractEventLoop | None], Future[T]],
        *,
        seconds: float | None = None,
        give_up: Callable[[Future[T]], None] | None = None,
    ) -> None:
        self.start = start
        """Begins it, for a thread (None) or for a task of this loop."""
        self.seconds = seconds
        """How long to wait; the call then receives StillOpen."""
        self.give_up = give_up


Call = Generator[Wait[Any], Any, R]


def until(wait: Wait[T]) -> Call[T]:
    """Wait inside a call, and keep the type of what comes."""
    value: T = yield wait
    return value


class Following(Protocol[N]):
    """What comes after a number, live. Resumable: remember the last number and come again."""

    def wait(self, seconds: float) -> list[N]: ...
    def __iter__(self) -> Iterator[N]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def close(self) -> None: ...


class Door(Protocol):
    """What stands behind a client: an embedded hub, or a server."""

    @property
    def url(self) -> str: ...
    def who(self) -> Wait[Principal | None]:
        """Who acts by the credential that a server was shown; None on a file, where every process says so itself."""

    def now(self) -> datetime: ...
    def secret(self) -> bytes:
        """What ids are derived from beside a sender's own key; empty where a server mints them."""

    def send(self, request: Request, project: str, principal: Principal, command_id: str) -> Wait[Told]: ...
    def until_ended(
        self, ask_id: AskId, project: str, seconds: float | None, by: Principal | None = None
    ) -> Wait[Ask]:
        """Wait until the ask has ended; if `by` asked it, whoever looks can see that they wait, or died."""

    def find(self, ask_id: str, project: str | None) -> Wait[list[Ask]]: ...
    def asks(self, project: str | None, state: State | None, limit: int) -> Wait[list[Ask]]: ...
    def asks_by_key(self, project: str, keys: Sequence[str]) -> Wait[list[Ask]]: ...
    def count(self, project: str | None) -> Wait[int]: ...
    def head(self, project: str) -> Wait[int]: ...
    def records(self, project: str, after: int, limit: int) -> Wait[list[Record]]: ...
    def steps(self, project: str, flow_id: str) -> Wait[list[Step]]: ...
    def hold(self, project: str, flow_id: str) -> Wait[Hold]: ...
    def until_run_changed(
        self, run_id: RunId, project: str, after: int, seconds: float | None
    ) -> Wait[Run]: ...
    def find_run(self, project: str, run_id: RunId) -> Wait[Run | None]: ...
    def runs(self, project: str | None, limit: int, *, active: bool) -> Wait[list[Run]]: ...
    def tail(self, project: str, run_id: RunId, after: int) -> Wait[Tail | None]: ...
    def is_driven(self, project: str, run_id: RunId) -> Wait[bool]: ...
    def hold_run(self, project: str, run_id: RunId) -> Wait[Hold]: ...
    def messages(self, project: str, topic: str, after: int, limit: int) -> Wait[list[Message]]: ...
    def notification(self, project: str, notification_id: str) -> Wait[Notification | None]: ...
    def notifications(
        self, project: str | None, limit: int, *, is_open: bool
    ) -> Wait[list[Notification]]: ...
    def notifications_about(
        self, project: str, source: Source, source_id: str
    ) -> Wait[list[Notification]]: ...
    def count_notifications(self, project: str | None) -> Wait[int]: ...
    def task(self, project: str, task_id: str) -> Wait[Task | None]: ...
    def tasks(self, project: str | None, limit: int, *, is_live: bool) -> Wait[list[Task]]: ...
    def policy(self, project: str) -> Wait[ProjectPolicy | None]: ...
    def receipt(self, project: str, receipt_id: str) -> Wait[Receipt | None]: ...
    def tokens(self, project: str, limit: int) -> Wait[list[Token]]: ...
    def projects(self) -> Wait[list[str]]: ...
    def follow(self, project: str, after: int) -> Following[Record]: ...
    def follow_topic(self, project: str, topic: str, after: int) -> Following[Message]: ...
    def verify(self) -> Wait[Audit]: ...
    def close(self) -> None: ...
    async def aclose(self, loop: asyncio.AbstractEventLoop) -> None: ...


def run_call(call: Call[R]) -> R:
    """Drive a call on this thread."""
    try:
        wait = next(call)
        while True:
            try:
                future = wait.start(None)
            except AssentError as error:
                wait = call.throw(error)
                continue
            assert isinstance(future, LightFuture)  # noqa: S101 - no loop was given
            try:
                has_come = future.wait(wait.seconds)
            except BaseException:
                if wait.give_up is not None:
                    wait.give_up(future)
                raise
            if not has_come:
                if wait.give_up is not None:
                    wait.give_up(future)
                wait = call.throw(StillOpen())
                continue
            try:
                value = future.result()
            except AssentError as error:
                wait = call.throw(error)
            else:
                wait = call.send(value)
    except StopIteration as stop:
        result: R = stop.value
        return result
    finally:
        call.close()  # whatever ended it: what it holds is let go of now, not when it is collected
