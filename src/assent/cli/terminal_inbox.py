"""`assent` alone, on a terminal: the inbox, full screen, over all stores of this user.

The stores are looked at in a thread, while what draws is loaded; the first screen is drawn before Textual is, which takes
longest to load. A server that does not answer keeps nobody waiting: the inbox opens and says so.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from assent.cli.exit import DONE
from assent.cli.place import Place, now
from assent.client.identity import agent_mark, person
from assent.client.place import state_folder
from assent.protocol.error import AssentError, UnreachableError

if TYPE_CHECKING:
    from assent.cli.feed import StoreFeed
    from assent.surfaces.tui.hangup import Hangup
    from assent.surfaces.tui.view import Snapshot

__all__ = ["INSTALL", "can_open", "is_for_people", "open_inbox"]

INSTALL = "pip install 'assent[tui]' makes this an inbox that you answer from."
_FIRST_SECONDS = 1.0
"""So long the first look may take before the inbox opens without it."""


def is_for_people(place: Place) -> bool:
    """Say whether a person sits at this terminal, and can be shown a whole screen."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    is_terminal = all(stream is not None and stream.isatty() for stream in streams)
    return is_terminal and os.environ.get("TERM", "dumb") != "dumb" and agent_mark(place.environ) is None


def can_open() -> bool:
    """Say whether what the inbox is made of is installed."""
    return find_spec("textual") is not None


def open_inbox(place: Place) -> int:
    """Open the inbox until somebody leaves it."""
    from assent.cli.feed import StoreFeed
    from assent.surfaces.tui.hangup import Hangup

    feed, hangup = StoreFeed(place), Hangup(sys.stdin.fileno())
    try:
        with hangup:
            _sit(place, _Glance(feed.look), feed, hangup)
    except KeyboardInterrupt:
        pass  # before there was anything to leave
    finally:
        feed.close()
    return hangup.finish(DONE)


def _sit(place: Place, glance: _Glance, feed: StoreFeed, hangup: Hangup) -> None:
    from assent.surfaces.tui.curtain import Curtain
    from assent.surfaces.tui.draft import Drafts
    from assent.surfaces.tui.screen import compose, is_wide
    from assent.surfaces.tui.sitting import Sitting

    folder = state_folder(place.environ)
    drafts = Drafts(None if folder is None else folder / "drafts")
    drafts.sweep(time.time())  # noqa: TID251 - as files have it
    sitting = Sitting(drafts, person(place.environ).name, time.monotonic)
    snapshot = glance.wait(_FIRST_SECONDS)
    is_plain = bool(place.environ.get("NO_COLOR"))
    with Curtain(sys.stdin.fileno(), sys.stderr, is_plain=is_plain) as curtain:
        if snapshot is not None:
            sitting.take(snapshot, now() + snapshot.ahead)
            width, height = curtain.size
            if is_wide(width, height) and sitting.view.current:
                sitting.show_card()
            curtain.draw(compose(sitting.view, width, height))
        from assent.surfaces.tui.app import InboxApp

        seen = None if snapshot is None else sitting
        app = InboxApp(feed, drafts, sitting.view.who, sitting=seen, hangup=hangup)
        if hangup.is_over:
            return
        curtain.hand_over()
        for name in ("COLUMNS", "LINES"):  # a size that a parent once exported is not that of the window
            os.environ.pop(name, None)
        app.run(mouse=False)  # so that what is on the screen can be marked and copied as anywhere


class _Glance:
    """The first look, in a thread of its own."""

    def __init__(self, look: Callable[[], Snapshot]) -> None:
        self._look = look
        self._seen: Snapshot | None = None
        self._error: AssentError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="assent-glance")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._seen = self._look()
        except UnreachableError:
            return  # the inbox says so, and tries again
        except AssentError as error:
            self._error = error

    def wait(self, seconds: float) -> Snapshot | None:
        """Return what was seen, if it came in time.

        Raises:
            AssentError: the store cannot be read, and will not be the next time.
        """
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return self._seen
