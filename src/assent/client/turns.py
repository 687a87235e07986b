"""The turns of a run, as calls: what stands between a `for` and the wheel. `driven` blocks on them, `async_driven` awaits.

A turn is over when the next is asked for. Leaving the `with` block ends the run: done if nothing was raised, aborted
on an error. A run that is paused then is held: it is done when somebody resumes it, and needs no driver for that. Ctrl-C,
a cancelled task and whatever else is no `Exception` leave the run as it is, to be gone on with.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from assent.client.door import Call
from assent.client.wheel import Rung, Wheel, plan_run
from assent.protocol.error import BadRequestError, RunEndedError, RunTakenError
from assent.protocol.run import DoneReason, Frame, Level, Mode, Run, RunId

__all__ = ["Seat", "Turn", "Turns", "done_reason"]


class Turn(msgspec.Struct, frozen=True):
    """One iteration of a loop, as it is given to whoever does the work."""

    number: int
    max: int
    model: str | None
    """The model for this iteration: an escalation shows in the next one."""
    attempt: int = 1
    """2 and more: a driver died in the middle of this iteration, and it is begun again."""


class Turns:
    """The iterations of one loop of a run: its own, or one inside that."""

    def __init__(self, wheel: Wheel, *, outer: Rung | None = None, frame: Frame | None = None) -> None:
        self.wheel = wheel
        self._outer = outer
        self._frame = frame
        self._rung: Rung | None = None
        self._is_open = False

    @property
    def rung(self) -> Rung:
        """Where the loop is in the stack."""
        if self._rung is None:
            raise BadRequestError("A loop begins in a with block.")
        return self._rung

    @property
    def is_nested(self) -> bool:
        """It is a loop inside a loop."""
        return self._outer is not None

    def enter(self) -> Call[None]:
        """Start."""
        if self._outer is not None and self._frame is not None:
            self._rung = yield from self.wheel.push(self._frame, self._outer)
        else:
            yield from self.wheel.start()
            self._rung = self.wheel.bottom

    def advance(self) -> Call[Turn | None]:
        """End the open turn and begin the next; None when there is none any more."""
        if self._is_open:
            yield from self.wheel.end(self.rung)
            self._is_open = False
        if not self._is_there():
            return None
        level = yield from self.wheel.begin(self.rung)
        if level is None:
            return None
        self._is_open = True
        return _turn(level)

    def finish(self, reason: DoneReason | str) -> Call[Run]:
        """Say that the loop is over."""
        why = done_reason(reason)
        if self._is_open:
            run = yield from self.wheel.end(self.rung, signal=why)
            self._is_open = False
            return run
        if not self._is_there():
            return self.wheel.run
        if self.is_nested:
            return (yield from self.wheel.pop(self.rung, why))
        return (yield from self.wheel.finish(why))

    def check(self) -> Call[None]:
        """Raise RunEndedError if the run was ended from outside."""
        run = yield from self.wheel.look()
        if not run.is_active:
            raise RunEndedError(f"The run {run.run_id} has ended ({run.reason or run.status}).")

    def leave(self, error: BaseException | None) -> Call[None]:
        """End the loop as the block ended."""
        try:
            if error is None:
                yield from self.finish(DoneReason.COMPLETE)
            elif isinstance(error, Exception):
                yield from self._fail(error)
        finally:
            if not self.is_nested:
                self.wheel.leave()

    def _fail(self, error: Exception) -> Call[None]:
        # Whatever becomes of it, the error of the block itself must come out. Somebody else may drive the run by now.
        with suppress(RunTakenError):
            if not self.is_nested:
                yield from self.wheel.fail(_note(error))
            elif self._is_there():
                # The outer loop may go on, and the next one inside it must not come to stand on this one.
                yield from self.wheel.pop(self.rung, DoneReason.STUCK)

    def _is_there(self) -> bool:
        return self.rung.is_in(self.wheel.run)


class Seat:
    """What a driven run knows without asking; `DrivenRun` and `AsyncDrivenRun` sit here."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    @property
    def state(self) -> Run:
        """The run as it was when it was last looked at."""
        return self._turns.wheel.run

    @property
    def run_id(self) -> RunId:
        """The run's id; give it to the asks of the run, so that they end with it."""
        return self._turns.wheel.run_id

    def _inner(self, mode: Mode | str, parts: dict[str, Any]) -> Turns:
        return Turns(self._turns.wheel, outer=self._turns.rung, frame=plan_run(mode, **parts).frame)


def _note(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - somebody else's __str__, on the way out
        return type(error).__name__


def _turn(level: Level) -> Turn:
    frame = level.frame
    return Turn(frame.iter, frame.max, frame.model, level.attempt)


def done_reason(given: DoneReason | str) -> DoneReason:
    """Return `given` as one of the reasons that the protocol has."""
    try:
        return DoneReason(given)
    except ValueError:
        raise BadRequestError(f'"{given}" is not a reason: use one of {", ".join(DoneReason)}.') from None
