"""What an agent of the demo stands on: a client, a folder, time that passes, and an end that may come at any moment.

Rule 1: one ask of an agent is open at a time, and something passes before the next: a person is never flooded.
Rule 2: an ask that ends without an answer is None here. It is no mishap, and the story goes on without it.
Rule 3: whoever leaves takes back what is open and ends what runs.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import assent

__all__ = ["Stage", "until_let_go"]

_BREATH_SECONDS = 2.5
"""From an answer to what the agent does next: long enough to see that it went away, short enough to wait for."""
_BREAK_SECONDS = 25.0
"""From the end of a story to the next."""


class Stage:
    """What one agent has."""

    def __init__(self, client: assent.Client, name: str, folder: Path) -> None:
        self.client, self.name, self.folder = client, name, folder

    def rest(self, seconds: float = _BREATH_SECONDS) -> None:
        """Let time pass, as it does for one who works."""
        time.sleep(seconds)

    def pause(self) -> None:
        """Let a while pass between two stories."""
        self.rest(_BREAK_SECONDS)

    def ask(self, title: str, options: Iterable[str | assent.Option] = (), **parts: Any) -> Any:
        """Ask, and return the answer after a breath; None where there is none."""
        try:
            answer = self.client.ask(title, options, **parts)
        except assent.NoAnswer:
            answer = None
        self.rest()
        return answer

    def keep(self, play: Callable[[Stage], None]) -> None:
        """Let the agent play; one that was refused something, by a policy or by somebody who was there first, begins anew."""
        while True:
            with suppress(assent.AssentError):
                play(self)
            self.clear()
            self.pause()

    def clear(self) -> None:
        """Take back the asks of this agent, and end its runs."""
        own = f"agent:{self.name}"
        for ask in self.client.inbox():
            if ask.asker == own:
                with suppress(assent.AssentError):  # answered in this moment
                    self.client.withdraw(ask.ask_id, "The demo is over.")
        for run in self.client.runs():
            if run.started_by == own:
                with suppress(assent.AssentError, _Over), self.client.run(run_id=run.run_id) as left:
                    if run.status == "paused":
                        raise _Over  # to finish it would only hold it for whoever resumes it
                    left.finish()


class _Over(Exception):  # noqa: N818 - no error
    """The demo is over."""


@contextmanager
def until_let_go() -> Iterator[None]:
    """Leave the block, wherever it is, when standard input closes or the agent is told to end."""

    def leave(_: int, __: FrameType | None) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # once: the way out is not to be left
        raise KeyboardInterrupt

    # Set anew: whoever starts a server in the background of a script has it ignore Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    main = threading.main_thread().ident

    def watch() -> None:
        while os.read(0, 1):
            pass
        if main is not None:
            signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=watch, daemon=True, name="assent-demo").start()
    with suppress(KeyboardInterrupt):
        yield
