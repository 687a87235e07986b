"""Which runs there are: in this project, or in every store that this user opened. Looking never makes a store.

A lookout keeps its stores open, so that it can look again every second, and listens to their bells. A server's bell
cannot be heard, so the log of the project is followed there; of all projects there is no such log, and whoever looks
every second sees what is new all the same.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, Self

from assent.cli.place import Place, is_there
from assent.client.door import Door, Following, run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.hub.record import Record
from assent.protocol.ask import State
from assent.protocol.display import display
from assent.protocol.error import AssentError, UnreachableError
from assent.protocol.run import Run, RunId
from assent.storage.port import Listener
from assent.surfaces.board import BoardRun
from assent.surfaces.wake import uninterrupted

__all__ = ["RECENT", "Lookout"]

RECENT = timedelta(days=1)
"""So long a run that ended is still shown without being asked for."""
_ALL, _NEWEST = 100_000, 1_000
_EAR_SECONDS = 60.0
_JOIN_SECONDS = 2.0
_RETRY_SECONDS = 5.0


class _Ear(Protocol):
    """Tells of what is new, from a thread of its own."""

    def close(self) -> None: ...


class _BellEar:
    """Tells of every ring of a store's bell."""

    def __init__(self, listener: Listener, tell: Callable[[], None]) -> None:
        self._listener, self._tell = listener, tell
        self._is_closed = False
        self._thread = _start(self._listen)

    def _listen(self) -> None:
        while not self._is_closed:
            if self._listener.wait(_EAR_SECONDS) is not None:
                self._tell()

    def close(self) -> None:
        self._is_closed = True
        self._listener.nudge()
        self._thread.join()
        self._listener.close()


class _FeedEar:
    """Tells of every event of a project's log; while it cannot be followed, the seconds that go by have to do."""

    def __init__(self, door: Door, project: str, tell: Callable[[], None]) -> None:
        self._door, self._project, self._tell = door, project, tell
        self._feed: Following[Record] | None = None
        self._last: int | None = None
        with suppress(AssentError):  # as below
            # Here, and not on the thread: what happens once somebody has looked must not be behind us.
            self._last = run_call(until(door.head(project)))
        self._is_closed = threading.Event()
        self._thread = _start(self._listen)

    def _listen(self) -> None:
        while not self._is_closed.is_set():
            try:
                if self._last is None:
                    self._last = run_call(until(self._door.head(self._project)))
                with self._door.follow(self._project, self._last) as self._feed:
                    while not self._is_closed.is_set():
                        found = self._feed.wait(_EAR_SECONDS)
                        if found:
                            self._last = found[-1].sequence
                            self._tell()
            except AssentError:  # looking again says what is wrong
                self._is_closed.wait(_RETRY_SECONDS)

    def close(self) -> None:
        self._is_closed.set()
        if self._feed is not None:
            self._feed.close()
        self._thread.join(
            _JOIN_SECONDS
        )  # and no longer, if the server is silent: the thread ends with the process


def _start(listen: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=listen, daemon=True, name="assent-lookout")
    with uninterrupted():  # Ctrl-C in the middle of a start leaves half a thread
        thread.start()
    return thread


class Lookout:
    """Looks at the runs of a place, as often as one likes.

    Everywhere means all projects of all stores, unless a store or a project was named; on a server it means all
    projects of the caller there. Another store that cannot be read is a trouble; the current one is an error. `tell` is
    called, from any thread, when there is something new.
    """

    def __init__(
        self,
        place: Place,
        *,
        everywhere: bool,
        ended_since: timedelta | None = timedelta(0),
        tell: Callable[[], None] | None = None,
    ) -> None:
        self._place = place
        self._everywhere = everywhere
        self._ended_since = ended_since
        """How long ago a run may have ended; None means ever."""
        self._tell = tell
        self._open: dict[Path | str, tuple[Door, _Ear | None]] = {}
        self._seen: list[BoardRun] | None = None
        """What was there when the current store was last looked at."""
        self.troubles: list[str] = []
        """What could not be looked at the last time."""

    def look(self, now: datetime) -> list[BoardRun]:
        """Return the runs as they are now: the active ones, then those that ended; the newest first."""
        place = self._place
        project = place.project if self._everywhere else place.project_name
        self.troubles = []
        found: list[BoardRun] = []
        here = place.address
        if is_there(here):
            found += self._take_here(here, project, now)
        for path in place.others if self._everywhere else []:
            try:
                found += self._take(path, project, now)
            except AssentError as error:
                self._forget(path)
                place_of_it, told = display(str(path), lines=False), display(error.message, lines=False)
                self.troubles.append(f"{place_of_it}: {told}")
        found.sort(
            key=lambda seen: (seen.run.is_active, seen.run.ended_at or seen.run.started_at), reverse=True
        )
        return found

    def _take_here(self, address: Path | str, project: str | None, now: datetime) -> list[BoardRun]:
        try:
            self._seen = self._take(address, project, now)
        except UnreachableError as error:
            if self._seen is None:
                raise
            # A server that is started anew comes back, and whoever watches it goes on.
            self.troubles.append(display(error.message, lines=False))
        return list(self._seen)

    def _take(self, address: Path | str, project: str | None, now: datetime) -> list[BoardRun]:
        door = self._door(address, project)
        since = self._ended_since
        # Each read is of its own moment: a run that ends between two of them must not be on the board twice, and is
        # shown as the later one found it.
        runs = {_key(run): run for run in run_call(until(door.runs(project, _ALL, active=True)))}
        if since != timedelta(0):
            known = run_call(until(door.runs(project, _ALL if since is None else _NEWEST, active=False)))
            runs |= {_key(run): run for run in known if _key(run) in runs or _ended_within(run, since, now)}
        waiting = Counter(
            (ask.project, ask.run_id) for ask in run_call(until(door.asks(project, State.OPEN, _ALL)))
        )
        return [
            BoardRun(
                run,
                run.is_active and run_call(until(door.is_driven(run.project, run.run_id))),
                waiting[run.project, run.run_id],
            )
            for run in runs.values()
        ]

    def _door(self, address: Path | str, project: str | None) -> Door:
        from assent.client.connect import open_door

        if address in self._open:
            return self._open[address][0]
        door = open_door(address, self._place.environ)
        self._open[address] = door, None
        if self._tell is not None:
            self._open[address] = door, _listen(door, project, self._tell)
        return door

    def _forget(self, address: Path | str) -> None:
        door, ear = self._open.pop(address, (None, None))
        if ear is not None:
            ear.close()
        if door is not None:
            with suppress(AssentError):
                door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for address in list(self._open):
            self._forget(address)


def _key(run: Run) -> tuple[str, RunId]:
    return run.project, run.run_id


def _ended_within(run: Run, since: timedelta | None, now: datetime) -> bool:
    return run.ended_at is not None and (since is None or now - run.ended_at <= since)


def _listen(door: Door, project: str | None, tell: Callable[[], None]) -> _Ear | None:
    """Return what hears of news behind a door, if anything can."""
    if isinstance(door, EmbeddedDoor):
        listener = door.hub.store.bell.listen(follows_feed=True)
        return None if listener is None else _BellEar(listener, tell)
    if project is None:
        return None
    return _FeedEar(door, project, tell)
