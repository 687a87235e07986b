"""A run that this program drives, with a plain `for`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from assent.client.door import run_call
from assent.client.output import pack_output
from assent.client.turns import Seat, Turn
from assent.protocol.run import DoneReason, Mode, Run

__all__ = ["DrivenRun"]


class DrivenRun(Seat):
    """`with client.run(...) as run: for turn in run: ...`: waits while the run is paused, ends when it is cancelled."""

    def look(self) -> Run:
        """Return the run as it is now."""
        return run_call(self._turns.wheel.look())

    def check(self) -> None:
        """Raise RunEndedError if the run was cancelled, in the middle of a long iteration."""
        run_call(self._turns.check())

    def finish(self, reason: DoneReason | str = DoneReason.COMPLETE) -> None:
        """Say that the loop is over; the `for` gives no further turn."""
        run_call(self._turns.finish(reason))

    def tell(self, text: str | bytes) -> None:
        """Hand on what the work has printed, for people who look at the run; the last of it is kept."""
        run_call(self._turns.wheel.tell(pack_output(text)))

    def nested(self, mode: Mode | str = Mode.ISSUE, **parts: Any) -> DrivenRun:
        """Return a loop inside the current iteration; its parts are those of `Client.run`."""
        return DrivenRun(self._inner(mode, parts))

    def __enter__(self) -> Self:
        run_call(self._turns.enter())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        run_call(self._turns.leave(error))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Turn:
        turn = run_call(self._turns.advance())
        if turn is None:
            raise StopIteration
        return turn
