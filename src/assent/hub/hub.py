"""The hub: one door for every command, one transaction each, on a store.

Commands that come together share a transaction. A command decides before it writes, so a refusal has nothing to
undo; if a write fails, the group is rolled back and its commands run again one by one, so that only the culprit fails.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, suppress
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from assent.hub.allowance import Allowance
from assent.hub.authorise import authorise
from assent.hub.clock import Clock, SystemClock, boot_milliseconds
from assent.hub.command import PostMessage, Request, Tick, Told
from assent.hub.desk import Desk, Envelope, SpoiledError
from assent.hub.feed import Feed, Numbered
from assent.hub.future import Future, LightFuture, settle
from assent.hub.ids import new_command_id
from assent.hub.patience import Patience
from assent.hub.waiters import NET_SECONDS, Waiters, run_name
from assent.hub.watch import Transacted, Watch, see_command, see_end
from assent.protocol.ask import Ask, AskId
from assent.protocol.error import (
    AssentError,
    ControlExpiredError,
    FlowTakenError,
    RunTakenError,
    StoreAwayError,
    StoreBusyError,
    StoreError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.run import Run, RunId
from assent.protocol.topic import Message
from assent.storage.port import Hold, Reader, Record, Store
from assent.storage.writer import Writer

if TYPE_CHECKING:
    import asyncio

__all__ = ["BUSY_SECONDS", "Hub", "Work"]

BUSY_SECONDS = 5.0
"""How long a command may wait for a store that another process holds, before it is given up untouched."""
AWAY_SECONDS = 4.0
"""How long a command is tried again while the database is away: a restart is not worth an error."""
_PAUSE = 0.05

N = TypeVar("N", bound=Numbered)

_SELF = Principal(Role.OPERATOR, "assent")


class Work:
    """A command on its way, and the future of its reply."""

    __slots__ = ("_tokens", "envelope", "future", "is_taken", "sender")

    def __init__(self, envelope: Envelope, future: Future[Told], sender: object = None) -> None:
        self.envelope = envelope
        self.future = future
        self.sender = sender
        """As `Watch.sender` has it."""
        self.is_taken = False
        self._tokens = [None]

    def take(self) -> bool:
        """Begin it; False when its caller has given it up."""
        self.is_taken = self.is_taken or self.abandon()
        return self.is_taken

    def abandon(self) -> bool:
        """Give it up; False when it has been begun. Either happens once: taking from a list is atomic."""
        try:
            self._tokens.pop()
        except IndexError:
            return False
        return True


Reply = tuple[Work, Told, AssentError | None]


def _give_up(work: Work) -> None:
    """Tell whoever sent `work` that the store is busy, unless it has been begun."""
    if work.abandon():
        settle([(work.future, None, StoreBusyError())])


class Hub:
    """Handles commands on one store, for all threads and event loops of this process."""

    def __init__(self, store: Store, clock: Clock | None = None, *, is_strict: bool = False) -> None:
        self.store = store
        self.is_strict = is_strict
        """Only UUIDs are request ids (I-X1)."""
        self.clock: Clock = clock or store.clock or SystemClock()
        """The one that was given, else the store's own, else this machine's."""
        self._is_stores = self.clock is store.clock
        """The store reads it with what it looks up: nobody tells it the moment."""
        self.watch: Watch | None = None
        """Who is told how it goes; set by whoever composes."""
        self._fresh()
        _hubs.add(self)

    def _fresh(self) -> None:
        self._writers: dict[threading.Lock, Writer[Work]] = {}
        """One for all projects that share a lock: those of a file have one, those of a database one each."""
        self._writing = threading.Lock()
        self.waiters = Waiters(self.store, self._lapse)
        self.feeds: weakref.WeakSet[Feed[Any]] = weakref.WeakSet()
        self._feeding = threading.Lock()
        self._patience: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Patience[Work]] = (
            weakref.WeakKeyDictionary()
        )
        self._turns: dict[asyncio.AbstractEventLoop, list[Work]] = {}

    # Doors

    def handle(
        self,
        request: Request,
        *,
        project: str,
        principal: Principal,
        command_id: str | None = None,
        allowance: Allowance | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> Future[Told]:
        """Send one request; return the future of what it is about.

        A caller on a thread gets a light future and may do the commit itself; a caller on an event loop never
        blocks. The same `command_id` sent again gets the reply that it got, or would have got, before. What the sender
        may ask is within its `allowance`, where it has one.
        """
        authorise(principal, request)
        envelope = Envelope(command_id or new_command_id(), project, principal, request, allowance)
        sender = None if self.watch is None else self.watch.sender()
        if loop is not None:
            future = loop.create_future()
            self._submit_soon(Work(envelope, future, sender), loop)
            return future
        light: LightFuture[Told] = LightFuture()
        work = Work(envelope, light, sender)
        self._writer_of(project).submit(work, may_lead=True)
        if not light.wait(BUSY_SECONDS):
            _give_up(work)
        return light

    def wait(
        self, ask_id: AskId, project: str, loop: asyncio.AbstractEventLoop | None = None, by: str = ""
    ) -> Future[Ask]:
        """Return the future of the ask as it ends; while its own asker waits, their death can be seen."""
        future: Future[Ask] = LightFuture() if loop is None else loop.create_future()
        self.waiters.add(ask_id, project, future, by)
        return future

    def wait_for_run(
        self, run_id: RunId, project: str, after: int, loop: asyncio.AbstractEventLoop | None = None
    ) -> Future[Run]:
        """Return the future of the run as soon as an event after number `after` has changed it."""
        future: Future[Run] = LightFuture() if loop is None else loop.create_future()
        self.waiters.add_for_run(run_id, project, after, future)
        return future

    def follow(self, project: str, after: int) -> Feed[Record]:
        """Return the project's log after a number, live."""
        return self._feed(lambda reader, last, limit: reader.records(project, last, limit), after)

    def follow_topic(self, project: str, topic: str, after: int) -> Feed[Message]:
        """Return a topic's messages after a number, live."""
        return self._feed(lambda reader, last, limit: reader.messages(project, topic, last, limit), after)

    def listen(self, read: Callable[[Reader, int, int], list[N]]) -> Feed[N]:
        """Return what a read of the caller's own finds, looked at anew with whatever comes into any log."""
        return self._feed(read, 0)

    def _feed(self, read: Callable[[Reader, int, int], list[N]], after: int) -> Feed[N]:
        feed = Feed(self.store, read, after)
        with self._feeding:
            self.feeds.add(feed)
        return feed

    def hold(self, flow_id: str, project: str) -> Hold:
        """Take the right to drive a flow.

        Raises:
            FlowTakenError: somebody alive has it.
        """
        return self.store.hold(f"{project}\n{flow_id}")

    def hold_run(self, run_id: RunId, project: str) -> Hold:
        """Take the right to drive a run.

        Raises:
            RunTakenError: somebody alive has it; the sentence names them.
        """
        try:
            return self.store.hold(_run_hold(project, run_id))
        except FlowTakenError:
            with self.store.reading() as reader:
                run = reader.run(project, run_id)
            driver = run.driver if run is not None else "Another process"
            raise RunTakenError(f"{driver} drives the run {run_id}.") from None

    def is_driven(self, run_id: RunId, project: str) -> bool:
        """Say whether somebody alive on this machine drives the run."""
        return self.store.is_held(_run_hold(project, run_id))

    def mark(self, asks: Iterable[Ask]) -> list[Ask]:
        """Return these asks; those of which somebody died who waited for them say so."""
        found = list(asks)
        waiting = {ask.ask_id for ask in found if ask.is_open}
        gone = self.store.waits.gone(waiting) if waiting else ()
        if not gone:
            return found
        return [replace(ask, is_asker_gone=True) if ask.ask_id in gone else ask for ask in found]

    def reading(self) -> AbstractContextManager[Reader]:
        """Give short reads; what is due is applied first if that is possible at once: a look waits for nobody."""
        self._apply_due()
        return self.store.reading()

    def _apply_due(self) -> None:
        for project in self._due_projects():
            mutex = self.store.mutex_of(project)
            if mutex.acquire(blocking=False):
                try:
                    envelope = Envelope(new_command_id(), project, _SELF, Tick())
                    self._perform([Work(envelope, LightFuture())], False)
                finally:
                    mutex.release()

    def tick(self) -> None:
        """Apply the deadlines that have passed, in every project."""
        for project in self._due_projects():
            future = self.handle(Tick(), project=project, principal=_SELF)
            assert isinstance(future, LightFuture)  # noqa: S101 - no loop was given
            future.result()

    def close(self) -> None:
        """Finish what was submitted and let everything go."""
        self.waiters.close()
        late = [work for loop in list(self._turns) for work in self._turns.pop(loop, ())]
        self._submit_all(late)
        # Another process may hold the store for ever. What is not begun by then is given up; the thread, which
        # cannot be woken, stays behind with nothing to do.
        until = time.monotonic() + BUSY_SECONDS
        with self._writing:
            writers = list(self._writers.items())
        busy = [mutex for mutex, writer in writers if not writer.close(max(0.0, until - time.monotonic()))]
        for work in late:
            _give_up(work)
        for feed in self._all_feeds():
            feed.close()
        if not busy:
            with ExitStack() as held:
                for mutex, _ in writers:
                    held.enter_context(mutex)
                self.store.close()

    def after_fork(self) -> None:
        """In a forked child: the writer thread does not exist here, and the handles are the parent's."""
        self.store.after_fork()
        self._fresh()

    # Inside

    def _all_feeds(self) -> list[Feed[Any]]:
        # A set that grows while it is walked stops the walk, and a commit that is done must be acknowledged.
        with self._feeding:
            return list(self.feeds)

    def _due_projects(self) -> list[str]:
        with self.store.reading() as reader:
            return reader.has_due(None if self._is_stores else self.clock.now())

    def _submit_soon(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        # A loop's commands are queued together at the end of its turn. Queued one by one, the first would wake the
        # writer thread, and the two would fight for the interpreter over every statement.
        turn = self._turns.get(loop)
        if turn is None:
            turn = self._turns[loop] = []
            loop.call_soon(self._submit_turn, loop)
        turn.append(work)

    def _submit_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        turn = self._turns.pop(loop, ())  # nothing is left where the hub was closed meanwhile
        patience = self._patience_of(loop)
        for work in turn:
            patience.watch(loop, work, BUSY_SECONDS)
        self._submit_all(turn)

    def _submit_all(self, group: Iterable[Work]) -> None:
        lanes: dict[Writer[Work], list[Work]] = {}
        for work in group:
            lanes.setdefault(self._writer_of(work.envelope.project), []).append(work)
        for writer, together in lanes.items():
            writer.submit_all(together)

    def _writer_of(self, project: str) -> Writer[Work]:
        mutex = self.store.mutex_of(project)
        writer = self._writers.get(mutex)
        if writer is None:
            with self._writing:
                writer = self._writers.setdefault(mutex, Writer(mutex, self._perform))
        return writer

    def _patience_of(self, loop: asyncio.AbstractEventLoop) -> Patience[Work]:
        patience = self._patience.get(loop)
        if patience is None:
            patience = self._patience[loop] = Patience(_give_up)
        return patience

    def _lapse(self) -> float | None:
        # A project that somebody else has must not keep the others from their deadlines.
        self._apply_due()
        with self.store.reading() as reader:
            due = reader.next_deadline()
        if due is None:
            return None
        left = (due - self.clock.now()) / 1e6
        return left if left > 0 else NET_SECONDS

    def _perform(self, group: list[Work], may_wait: bool) -> bool:
        """Do a group of commands in one transaction; see `Writer` for what the result means."""
        began = time.monotonic()
        while True:
            try:
                return self._try(group, may_wait, began)
            except StoreAwayError as away:
                # Nothing of it was saved. Who leads is a caller's own thread, which must not sleep.
                if not may_wait:
                    return False
                if time.monotonic() > began + AWAY_SECONDS:
                    self._fail(group, away, began)
                    return True
                time.sleep(_PAUSE)

    def _try(self, group: list[Work], may_wait: bool, began: float) -> bool:
        try:
            with self.store.transaction(may_wait=may_wait) as transaction:
                now = None if self._is_stores else self.clock.now()
                desk = Desk(transaction, now, is_strict=self.is_strict)
                group = [work for work in group if work.take()]
                replies = self._replies(desk, group)
        except StoreBusyError as busy:
            if not may_wait:
                return False
            self._fail(group, busy, began)
        except StoreAwayError:
            raise
        except StoreError as error:
            self._fail(group, error, began)
        except Exception as error:  # noqa: BLE001 - whatever spoils a group must not take its neighbours along
            self._alone(group, error, may_wait, began)
        else:
            names: list[str] = [ask.ask_id for ask in desk.ended]
            if desk.runs:
                names += [run_name(project, run_id) for project, run_id in desk.runs]
            with suppress(
                Exception
            ):  # a hint, and no more: the commands are saved, and their senders must learn so
                self.store.bell.ring(names, desk.has_news)
            if self.watch is not None:
                self._tell(self.watch, began, replies, desk=desk)
            settle([(work.future, told, error) for work, told, error in replies])
            self.waiters.deliver(desk.ended)
            if desk.runs:
                self.waiters.deliver_runs(desk.runs.values())
            if desk.has_news and self.feeds:
                for feed in self._all_feeds():
                    feed.nudge()
        return True

    def _replies(self, desk: Desk, group: list[Work]) -> list[Reply]:
        if group:
            desk.gather([work.envelope for work in group])
        replies: list[Reply] = []
        for work in group:
            try:
                _check_in_time(work.envelope.request)
                replies.append((work, desk.perform(work.envelope), None))
            except AssentError as refusal:
                replies.append((work, None, refusal))
        return replies

    def _alone(self, group: list[Work], error: Exception, may_wait: bool, began: float) -> None:
        if len(group) > 1:
            for work in group:
                if not self._perform([work], may_wait):
                    self._perform([work], True)
            return
        cause = error.__cause__ if isinstance(error, SpoiledError) else error
        known = cause if isinstance(cause, AssentError) else AssentError(f"The command failed: {cause!r}.")
        known.__cause__ = None if known is cause else cause
        self._fail(group, known, began)

    def _fail(self, group: list[Work], error: AssentError, began: float) -> None:
        # A copy for each: raised in several threads, one error would gather the traces of all of them.
        failed: list[Reply] = [(work, None, _copy(error)) for work in group if work.take()]
        if self.watch is not None:
            self._tell(self.watch, began, failed, error=error)
        settle([(work.future, told, own) for work, told, own in failed])

    def _tell(
        self,
        watch: Watch,
        began: float,
        replies: list[Reply],
        *,
        desk: Desk | None = None,
        error: AssentError | None = None,
    ) -> None:
        with suppress(Exception):  # a fault of whoever counts must not keep a commit from being acknowledged
            if not watch.is_awake:
                return
            seconds = time.monotonic() - began
            watch.transacted(
                Transacted(
                    self.clock.now() - round(seconds * 1e6),
                    seconds,
                    tuple(see_command(work.envelope, refusal, work.sender) for work, _, refusal in replies),
                    () if desk is None else tuple(ask.kind for ask in desk.opened),
                    () if desk is None else tuple(map(see_end, desk.ended)),
                    error.code if isinstance(error, StoreError) else "",
                )
            )


def _check_in_time(request: Request) -> None:
    # Here, where the store is ours: it may have been somebody else's for longer than the sender waited.
    not_after = request.not_after if isinstance(request, PostMessage) else None
    if not_after is not None and boot_milliseconds() > not_after:
        raise ControlExpiredError


def _run_hold(project: str, run_id: RunId) -> str:
    return f"{project}\nrun\n{run_id}"


def _copy(error: AssentError) -> AssentError:
    own = copy(error)
    own.__cause__ = error.__cause__
    return own


_hubs: weakref.WeakSet[Hub] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for hub in list(_hubs):
        hub.after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
