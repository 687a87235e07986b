"""A run that this program drives, with a plain `for`."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from assent.client.door import run_call
from assent.client.turns import Turn, Turns
from assent.client.wheel import plan_run
from assent.protocol.run import DoneReason, Mode, Run, RunId

__all__ = ["DrivenRun"]


class DrivenRun:
    """`with client.run(...) as run: for turn in run: ...`: waits while the run is paused, ends when it is cancelled."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    @property
    def state(self) -> Run:
        """The run as it was when it was last looked at."""
        return self._turns.wheel.run

    @property
    def run_id(self) -> RunId:
        """The run's id; give it to the asks of the run, so that they end with it."""
        return self.state.run_id

    def look(self) -> Run:
        """Return the run as it is now."""
        return run_call(self._turns.wheel.look())

    def check(self) -> None:
        """Raise RunEndedError if the run was cancelled, in the middle of a long iteration."""
        run_call(self._turns.check())

    def finish(self, reason: DoneReason | str = DoneReason.COMPLETE) -> None:
        """Say that the loop is over; the `for` gives no further turn."""
        run_call(self._turns.finish(reason))

    def nested(self, mode: Mode | str = Mode.ISSUE, **parts: Any) -> DrivenRun:
        """Return a loop inside the current iteration; its parts are those of `Client.run`."""
        frame = plan_run(mode, **parts).frame
        return DrivenRun(Turns(self._turns.wheel, len(self.state.levels), frame))

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
