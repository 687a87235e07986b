"""Which runs there are: in this project, or in all stores of this user. Looking never makes a store.

A lookout keeps its stores open, so that it can look again every second, and listens to their bells. A server's bell
cannot be heard, so the log of the project is followed there, or the logs of all its projects; where there are too many
of them, the seconds that go by have to do.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from assent.cli.place import Place, is_there, now
from assent.client.door import Door, Following, run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.effects.interrupt import uninterrupted
from assent.hub.record import Record
from assent.protocol.ask import Ask, State
from assent.protocol.display import display
from assent.protocol.error import AssentError, UnreachableError
from assent.protocol.run import Run, RunId
from assent.storage.port import Listener
from assent.surfaces.board import BoardRun

__all__ = ["RECENT", "Lookout", "Sight", "sort_runs"]

RECENT = timedelta(days=1)
"""So long a run that ended is still shown without being asked for."""
_ALL, _NEWEST = 100_000, 1_000
_EAR_SECONDS = 60.0
_JOIN_SECONDS = 2.0
_RETRY_SECONDS = 5.0
_PROJECTS_SECONDS = 3.0
"""So often a server is asked which projects it has."""
_MOST_FOLLOWED = 50
"""Projects of a server that are followed; with more than these it is looked at every second."""
_POLL_SECONDS = 1.0


class Sight(NamedTuple):
    """What was seen of one store."""

    door: Door
    runs: list[BoardRun]
    asks: list[Ask]
    """All that wait."""


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

    def stop(self) -> None:
        """Hear nothing any more, soon."""
        self._is_closed.set()
        if self._feed is not None:
            self._feed.close()

    def close(self) -> None:
        self.stop()
        # And no longer, if the server is silent: the thread ends with the process.
        self._thread.join(_JOIN_SECONDS)


class _ServerEar:
    """Tells of every event of one or every project of a server, as far as they can be followed, and of its absence."""

    def __init__(self, door: Door, project: str | None, tell: Callable[[], None]) -> None:
        self._door, self._project, self._tell = door, project, tell
        self._ears: dict[str, _FeedEar] = {}
        self._is_closed = threading.Event()
        self._thread = _start(self._listen)

    def _listen(self) -> None:
        while True:
            try:
                self._follow(run_call(until(self._door.projects())))
            except AssentError:
                self._tell()  # looking again says what is wrong
            is_deaf = len(self._ears) >= _MOST_FOLLOWED
            if self._is_closed.wait(_POLL_SECONDS if is_deaf else _PROJECTS_SECONDS):
                return
            if is_deaf:
                self._tell()

    def _follow(self, projects: list[str]) -> None:
        wanted = projects if self._project is None else [self._project]
        fresh = [name for name in wanted if name not in self._ears][: _MOST_FOLLOWED - len(self._ears)]
        for name in fresh:
            self._ears[name] = _FeedEar(self._door, name, self._tell)
        if fresh:
            self._tell()  # of what happened before they were followed

    def close(self) -> None:
        self._is_closed.set()
        for ear in list(self._ears.values()):
            ear.stop()  # and nobody waits for fifty of them: they end with the process


class _ClockEar:
    """Hears nothing, and tells of every second that goes by."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._is_closed = threading.Event()
        self._thread = _start(self._listen)

    def _listen(self) -> None:
        while not self._is_closed.wait(_POLL_SECONDS):
            self._tell()

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()


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
        reads: bool = True,
    ) -> None:
        self._place = place
        self._reads = reads
        """Whoever uses it only looks, and does nothing in the stores."""
        self._everywhere = everywhere
        self._ended_since = ended_since
        """How long ago a run may have ended; None means ever."""
        self._tell = tell
        self._open: dict[Path | str, tuple[Door, _Ear | None]] = {}
        self._files: dict[Path | str, tuple[int, int] | None] = {}
        """Which file each was when it was opened."""
        self._seen: Sight | None = None
        """What was there when the current store was last looked at."""
        self.away: UnreachableError | None = None
        """Why the current store, which was there before, did not answer the last time."""
        self._was_here = False
        """The current store was there once: if it is not now, it is gone, and not still to be made."""
        self.troubles: list[str] = []
        """What could not be looked at the last time."""

    def now(self) -> datetime:
        """Return the moment by the clock of the current store; before it was looked at, by this machine's."""
        door, _ = self._open.get(self._place.address, (None, None))
        return now() if door is None else door.now()

    def look(self, now: datetime) -> list[BoardRun]:
        """Return the runs as they are now: the active ones, then those that ended; the newest first."""
        return sort_runs([run for seen in self.look_each(now) for run in seen.runs])

    def look_each(self, now: datetime) -> list[Sight]:
        """Return the runs as they are now, and what waits, by store."""
        place = self._place
        project = place.project if self._everywhere else place.project_name
        self.troubles, self.away = [], None
        found: list[Sight] = []
        here = place.address
        if is_there(here) if self._was_here else place.is_there():
            found.append(self._take_here(here, project, now))
            self._was_here = True
        elif self._was_here:
            self._forget(here)
            self.away = UnreachableError(f"{display(str(here), lines=False)} is gone.")
        for path in place.others if self._everywhere else []:
            try:
                found.append(self._take(path, project, now))
            except AssentError as error:
                self._forget(path)
                place_of_it, told = display(str(path), lines=False), display(error.message, lines=False)
                self.troubles.append(f"{place_of_it}: {told}")
        return found

    def _take_here(self, address: Path | str, project: str | None, now: datetime) -> Sight:
        try:
            self._seen = self._take(address, project, now)
        except UnreachableError as error:
            if self._seen is None:
                raise
            # A server that is started anew comes back, and whoever watches it goes on.
            self.away = error
            self.troubles.append(display(error.message, lines=False))
        return self._seen

    def _take(self, address: Path | str, project: str | None, now: datetime) -> Sight:
        door = self._door(address, project)
        since = self._ended_since
        # Each read is of its own moment: a run that ends between two of them must not be on the board twice, and is
        # shown as the later one found it.
        runs = {_key(run): run for run in run_call(until(door.runs(project, _ALL, active=True)))}
        if since != timedelta(0):
            known = run_call(until(door.runs(project, _ALL if since is None else _NEWEST, active=False)))
            runs |= {_key(run): run for run in known if _key(run) in runs or _ended_within(run, since, now)}
        asks = run_call(until(door.asks(project, State.OPEN, _ALL)))
        waiting = Counter((ask.project, ask.run_id) for ask in asks)
        board = [
            BoardRun(
                run,
                run.is_active and run_call(until(door.is_driven(run.project, run.run_id))),
                waiting[run.project, run.run_id],
            )
            for run in runs.values()
        ]
        return Sight(door, board, asks)

    def _door(self, address: Path | str, project: str | None) -> Door:
        if address in self._open:
            if _file_at(address) == self._files[address]:
                return self._open[address][0]
            self._forget(
                address
            )  # another file is in its place, and the door would show the one that is gone
        door = self._place.open_door(address, reads=self._reads)
        self._open[address] = door, None
        self._files[address] = _file_at(address)
        if self._tell is not None:
            self._open[address] = door, _listen(door, project, self._tell, is_lasting=self._everywhere)
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


def sort_runs(runs: list[BoardRun]) -> list[BoardRun]:
    """Return runs as a board shows them: the active ones, then those that ended; the newest first."""
    return sorted(
        runs, key=lambda seen: (seen.run.is_active, seen.run.ended_at or seen.run.started_at), reverse=True
    )


def _key(run: Run) -> tuple[str, RunId]:
    return run.project, run.run_id


def _ended_within(run: Run, since: timedelta | None, now: datetime) -> bool:
    return run.ended_at is not None and (since is None or now - run.ended_at <= since)


def _listen(door: Door, project: str | None, tell: Callable[[], None], *, is_lasting: bool) -> _Ear:
    """Return what hears of news behind a door."""
    if isinstance(door, EmbeddedDoor):
        listener = door.hub.store.bell.listen(follows_feed=True)
        return _ClockEar(tell) if listener is None else _BellEar(listener, tell)
    if project is None or is_lasting:
        return _ServerEar(door, project, tell)
    return _FeedEar(door, project, tell)


def _file_at(address: Path | str) -> tuple[int, int] | None:
    """Return which file is there, if it is a file."""
    if isinstance(address, str):
        return None
    try:
        found = address.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
