"""Which runs there are: in this project, or in every store that this user opened. Looking never makes a store.

A lookout keeps its stores open, so that it can look again every second, and listens to their bells.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from assent.cli.place import Place, is_there
from assent.hub.hub import Hub
from assent.protocol.ask import State
from assent.protocol.display import display
from assent.protocol.error import AssentError
from assent.storage.port import Listener
from assent.surfaces.board import BoardRun
from assent.surfaces.wake import uninterrupted

__all__ = ["RECENT", "Lookout"]

RECENT = timedelta(days=1)
"""So long a run that ended is still shown without being asked for."""
_ALL, _NEWEST = 100_000, 1_000
_EAR_SECONDS = 60.0


class _Ear:
    """Tells of every ring of a store's bell, from a thread of its own."""

    def __init__(self, listener: Listener, tell: Callable[[], None]) -> None:
        self._listener, self._tell = listener, tell
        self._is_closed = False
        self._thread = threading.Thread(target=self._listen, daemon=True, name="assent-lookout")
        with uninterrupted():  # Ctrl-C in the middle of a start leaves half a thread
            self._thread.start()

    def _listen(self) -> None:
        while not self._is_closed:
            if self._listener.wait(_EAR_SECONDS) is not None:
                self._tell()

    def close(self) -> None:
        self._is_closed = True
        self._listener.nudge()
        self._thread.join()
        self._listener.close()


class Lookout:
    """Looks at the runs of a place, as often as one likes.

    Everywhere means all projects of all stores, unless a store or a project was named. Another store that cannot be
    read is a trouble; the current one is an error. `tell` is called, from any thread, when there is something new.
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
        self._open: dict[Path, tuple[Hub, _Ear | None]] = {}
        self.troubles: list[str] = []
        """What could not be looked at the last time."""

    def look(self, now: datetime) -> list[BoardRun]:
        """Return the runs as they are now: the active ones, then those that ended; the newest first."""
        place = self._place
        project = place.project if self._everywhere else place.project_name
        self.troubles = []
        found: list[BoardRun] = []
        if is_there(place.path):
            found += self._take(place.path, project, now)
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

    def _take(self, path: Path, project: str | None, now: datetime) -> list[BoardRun]:
        hub = self._hub(path)
        since = self._ended_since
        # One moment for all of it: a run that ends between two reads must not be on the board twice.
        with hub.reading() as reader, reader.snapshot():
            runs = reader.runs(project, _ALL, active=True)
            if since != timedelta(0):
                known = reader.runs(project, _ALL if since is None else _NEWEST, active=False)
                runs += [
                    run for run in known if run.ended_at and (since is None or now - run.ended_at <= since)
                ]
            waiting = Counter((ask.project, ask.run_id) for ask in reader.asks(project, State.OPEN, _ALL))
        return [
            BoardRun(
                run,
                run.is_active and hub.is_driven(run.run_id, run.project),
                waiting[run.project, run.run_id],
            )
            for run in runs
        ]

    def _hub(self, path: Path) -> Hub:
        from assent.client.connect import open_hub

        if path in self._open:
            return self._open[path][0]
        hub = open_hub(path, self._place.environ)
        tell = self._tell
        listener = hub.store.bell.listen(follows_feed=True) if tell is not None else None
        self._open[path] = hub, _Ear(listener, tell) if listener is not None and tell is not None else None
        return hub

    def _forget(self, path: Path) -> None:
        hub, ear = self._open.pop(path, (None, None))
        if ear is not None:
            ear.close()
        if hub is not None:
            with suppress(AssentError):
                hub.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in list(self._open):
            self._forget(path)
