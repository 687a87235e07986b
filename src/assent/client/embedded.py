"""The door to a hub in this process, on a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from assent.client.door import Following, Wait
from assent.client.grip import beside
from assent.client.watch import MAX_COUNTED_PROJECTS, Figures, Watch
from assent.hub.allowance import Allowance
from assent.hub.audit import Ahead, Audit, find_ahead, verify
from assent.hub.command import Request, Told
from assent.hub.desk import instant
from assent.hub.future import Future, LightFuture
from assent.hub.hub import Hub
from assent.hub.record import Hold, Reader, Record, Step, Waits
from assent.protocol.ask import Ask, AskId, State
from assent.protocol.ask_limits import AskLimits
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

__all__ = ["EmbeddedDoor"]

T = TypeVar("T")


class EmbeddedDoor:
    """Fits `client.door.Door`."""

    def __init__(self, hub: Hub, allowance: Allowance | None = None, secret: bytes = b"") -> None:
        self.hub = hub
        self._secret = secret
        self._allowance = allowance

    def limited(self, limits: AskLimits, take: Callable[[], float]) -> EmbeddedDoor:
        """Return the same door for one request of somebody who may ask so much; see `hub.allowance`."""
        return EmbeddedDoor(self.hub, Allowance(limits, take), self.secret())

    @property
    def url(self) -> str:
        """The address of the store."""
        return self.hub.store.url

    @property
    def waits(self) -> Waits:
        """Which asks are waited for by whoever asked: a server's own business, and no part of the door."""
        return self.hub.store.waits

    def who(self) -> Wait[Principal | None]:
        """Say nothing: whoever opens a file says who they are."""
        return self._at_once(lambda: None)

    def now(self) -> datetime:
        """Return the moment by the store's clock."""
        return instant(self.hub.clock.now())

    def secret(self) -> bytes:
        """Return what ids are derived from beside a sender's own key."""
        if not self._secret:
            with self.hub.store.reading() as reader:
                self._secret = reader.secret()
        return self._secret

    def send(self, request: Request, project: str, principal: Principal, command_id: str) -> Wait[Told]:
        """Send one request to the hub."""

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[Told]:
            return self.hub.handle(
                request,
                project=project,
                principal=principal,
                command_id=command_id,
                allowance=self._allowance,
                loop=loop,
            )

        return Wait(start)

    def until_ended(
        self, ask_id: AskId, project: str, seconds: float | None, by: Principal | None = None
    ) -> Wait[Ask]:
        """Wait until the ask has ended, in whichever process."""

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[Ask]:
            return self.hub.wait(ask_id, project, loop, "" if by is None else str(by))

        def give_up(future: Future[Ask]) -> None:
            self.hub.waiters.discard(ask_id, future)

        return Wait(start, seconds=seconds, give_up=give_up)

    def find(self, ask_id: str, project: str | None) -> Wait[list[Ask]]:
        """Find asks by id, or by the end of one."""

        def read(reader: Reader) -> list[Ask]:
            exact = reader.ask(ask_id, project)
            return [exact] if exact is not None else reader.asks_ending_in(ask_id, project)

        return self._at_once(lambda: self.hub.mark(self._look(read)))

    def asks(self, project: str | None, state: State | None, limit: int) -> Wait[list[Ask]]:
        """List asks, newest first."""
        return self._at_once(
            lambda: self.hub.mark(self._look(lambda reader: reader.asks(project, state, limit)))
        )

    def count(self, project: str | None) -> Wait[int]:
        """Count what waits."""
        return self._read(lambda reader: reader.count_open(project))

    def records(self, project: str, after: int, limit: int) -> Wait[list[Record]]:
        """Read the log."""
        return self._read(lambda reader: reader.records(project, after, limit))

    def steps(self, project: str, flow_id: str) -> Wait[list[Step]]:
        """Read a flow's journal."""
        return self._read(lambda reader: reader.steps(project, flow_id))

    def beginners(self, project: str, flow_ids: Sequence[str]) -> Wait[dict[str, str]]:
        """Tell who began flows: a server's own business, and no part of the door."""
        return self._read(lambda reader: reader.beginners(project, flow_ids))

    def hold(self, project: str, flow_id: str) -> Wait[Hold]:
        """Take the right to drive a flow."""
        return self._at_once(lambda: self.hub.hold(flow_id, project))

    def until_run_changed(self, run_id: RunId, project: str, after: int, seconds: float | None) -> Wait[Run]:
        """Wait until the run has changed, in whichever process."""

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[Run]:
            return self.hub.wait_for_run(run_id, project, after, loop)

        def give_up(future: Future[Run]) -> None:
            self.hub.waiters.discard_for_run(run_id, project, future)

        return Wait(start, seconds=seconds, give_up=give_up)

    def find_run(self, project: str, run_id: RunId) -> Wait[Run | None]:
        """Find a run by its id."""
        return self._read(lambda reader: reader.run(project, run_id))

    def runs(self, project: str | None, limit: int, *, active: bool) -> Wait[list[Run]]:
        """List runs, newest first."""
        return self._read(lambda reader: reader.runs(project, limit, active=active))

    def tail(self, project: str, run_id: RunId, after: int) -> Wait[Tail | None]:
        """Read the tail of a run's output; None where there is no such run."""

        def read(reader: Reader) -> Tail | None:
            return None if reader.run(project, run_id) is None else reader.tail(project, run_id, after)

        return self._read(read)

    def is_driven(self, project: str, run_id: RunId) -> Wait[bool]:
        """Say whether somebody alive drives the run."""
        return self._at_once(lambda: self.hub.is_driven(run_id, project))

    def hold_run(self, project: str, run_id: RunId) -> Wait[Hold]:
        """Take the right to drive a run."""
        return self._at_once(lambda: self.hub.hold_run(run_id, project))

    def messages(self, project: str, topic: str, after: int, limit: int) -> Wait[list[Message]]:
        """Read a topic."""
        return self._read(lambda reader: reader.messages(project, topic, after, limit))

    def notification(self, project: str, notification_id: str) -> Wait[Notification | None]:
        """Find a notification by its id."""
        return self._read(lambda reader: reader.notification(notification_id, project))

    def notifications(self, project: str | None, limit: int, *, is_open: bool) -> Wait[list[Notification]]:
        """List notifications, newest first."""
        return self._read(lambda reader: reader.notifications(project, limit, is_open=is_open))

    def notifications_about(self, project: str, source: Source, source_id: str) -> Wait[list[Notification]]:
        """List all notifications about one thing, oldest first."""
        return self._read(lambda reader: reader.notifications_about(project, source, source_id))

    def count_notifications(self, project: str | None) -> Wait[int]:
        """Count what is open."""
        return self._read(lambda reader: reader.count_notifications(project))

    def task(self, project: str, task_id: str) -> Wait[Task | None]:
        """Find a task by its id."""
        return self._read(lambda reader: reader.task(project, task_id))

    def tasks(self, project: str | None, limit: int, *, is_live: bool) -> Wait[list[Task]]:
        """List tasks."""
        return self._read(lambda reader: reader.tasks(project, limit, is_live=is_live))

    def policy(self, project: str) -> Wait[ProjectPolicy | None]:
        """Find a project's policy."""
        return self._read(lambda reader: reader.policy(project))

    def receipt(self, project: str, receipt_id: str) -> Wait[Receipt | None]:
        """Find a receipt by its id."""
        return self._read(lambda reader: reader.receipt(project, receipt_id))

    def tokens(self, project: str, limit: int) -> Wait[list[Token]]:
        """List the tokens that were made in a project, newest first."""
        return self._read(lambda reader: reader.tokens(project, limit))

    def token_by_digest(self, digest: str) -> Wait[Token | None]:
        """Find the token whose secret has this digest: a server's own question, and no part of the door."""
        return self._read(lambda reader: reader.token_by_digest(digest))

    def asks_by_key(self, project: str, keys: Sequence[str]) -> Wait[list[Ask]]:
        """Find the asks that hold these keys."""
        return self._read(lambda reader: reader.asks_by_key(project, keys))

    def head(self, project: str) -> Wait[int]:
        """Return the number of the last event of a project."""
        return self._read(lambda reader: reader.head_sequence(project))

    def projects(self) -> Wait[list[str]]:
        """List the projects that have something in their log."""
        return self._read(lambda reader: [head.project for head in reader.heads()])

    def follow(self, project: str, after: int) -> Following[Record]:
        """Follow a project's log."""
        return self.hub.follow(project, after)

    def follow_topic(self, project: str, topic: str, after: int) -> Following[Message]:
        """Follow a topic."""
        return self.hub.follow_topic(project, topic, after)

    def verify(self) -> Wait[Audit]:
        """Check the whole store."""
        return beside(lambda: verify(self.hub.store, self.now()))

    def find_ahead(self) -> list[Ahead]:
        """Return what is dated ahead of the clock; for whoever looks after the store, and no part of the door."""
        return find_ahead(self.hub.store, self.now())

    def watch(self, watch: Watch) -> None:
        """Let somebody see how the hub's commands go: a server's own business."""
        self.hub.watch = watch

    def figures(self) -> Wait[Figures]:
        """Return how the hub stands now: a server's own question, and no part of the door."""
        waiters, store = self.hub.waiters, self.hub.store
        connections = store.connections_in_use  # before this look takes one itself

        def read(reader: Reader) -> Figures:
            latest = sorted(reader.heads(), key=lambda head: head.high, reverse=True)[:MAX_COUNTED_PROJECTS]
            return Figures(
                waits=waiters.count,
                ring_wakes=waiters.ring_wakes,
                clock_wakes=waiters.net_wakes,
                connections=connections,
                open_asks=reader.count_open(None),
                open_by_project={head.project: reader.count_open(head.project) for head in latest},
            )

        return self._read(read)

    def keep_time(self) -> None:
        """Apply what is due when it is due, also while nobody waits or looks: a server's own business."""
        self.hub.waiters.listen()

    def close(self) -> None:
        """Close the hub and its store."""
        self.hub.close()

    async def aclose(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close the hub and its store, from whichever loop."""
        del loop
        self.hub.close()

    def _read(self, read: Callable[[Reader], T]) -> Wait[T]:
        return self._at_once(lambda: self._look(read))

    def _look(self, read: Callable[[Reader], T]) -> T:
        with self.hub.reading() as reader:
            return read(reader)

    def _at_once(self, act: Callable[[], T]) -> Wait[T]:
        # What is short is done at once, also on an event loop: 20 rows take less than a hand-over to a thread.
        def start(loop: asyncio.AbstractEventLoop | None) -> Future[T]:
            value = act()
            if loop is None:
                light: LightFuture[T] = LightFuture()
                light.set(value, None)
                return light
            future: asyncio.Future[T] = loop.create_future()
            future.set_result(value)
            return future

        return Wait(start)
