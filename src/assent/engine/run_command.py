"""What can be asked of a run: its driver's commands, and those that steer it. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.run import DoneReason, Frame, RunId

__all__ = [
    "AbortRun",
    "BeginTurn",
    "CancelRun",
    "DriverCommand",
    "EndTurn",
    "EscalateRun",
    "FailRun",
    "FinishRun",
    "PauseRun",
    "PopFrame",
    "PushFrame",
    "ResumeRun",
    "RunCommand",
    "StartRun",
    "SteerCommand",
]


class StartRun(msgspec.Struct, frozen=True):
    """Begin a run, or take over one whose driver is dead. Only who holds the run may send it."""

    run_id: RunId
    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()
    stamp: Stamp = UNSTAMPED


class BeginTurn(msgspec.Struct, frozen=True):
    """Begin the next iteration of the loop at `depth`. A paused or ended run begins none, and says so."""

    run_id: RunId
    fence: int
    depth: int = 0
    stamp: Stamp = UNSTAMPED
    level: int | None = None
    """The number of the loop that is meant: another one may have come to its depth."""


class EndTurn(msgspec.Struct, frozen=True):
    """The iteration is over: as such, with a signal that its loop is over, or with a failure that ends the run."""

    run_id: RunId
    fence: int
    depth: int = 0
    signal: DoneReason | None = None
    failure: str = ""
    stamp: Stamp = UNSTAMPED
    level: int | None = None


class PushFrame(msgspec.Struct, frozen=True):
    """A loop inside the current iteration begins."""

    run_id: RunId
    fence: int
    frame: Frame
    depth: int
    """How many frames are below it."""
    stamp: Stamp = UNSTAMPED
    outer: int | None = None
    """The number of the loop that it is inside of."""


class PopFrame(msgspec.Struct, frozen=True):
    """The loop at `depth` is over; the one below goes on. Of the lowest one: the run is done."""

    run_id: RunId
    fence: int
    depth: int
    reason: DoneReason = DoneReason.COMPLETE
    stamp: Stamp = UNSTAMPED
    level: int | None = None


class FinishRun(msgspec.Struct, frozen=True):
    """The run is done."""

    run_id: RunId
    fence: int
    reason: DoneReason = DoneReason.COMPLETE
    stamp: Stamp = UNSTAMPED


class FailRun(msgspec.Struct, frozen=True):
    """The run cannot go on, says its driver."""

    run_id: RunId
    fence: int
    note: str
    stamp: Stamp = UNSTAMPED


class AbortRun(msgspec.Struct, frozen=True):
    """The run cannot go on, whoever drives it: the hub's own command. An ask may name a run that never began here."""

    run_id: RunId
    note: str
    stamp: Stamp = UNSTAMPED


class _Steer(msgspec.Struct, frozen=True):
    run_id: RunId
    stamp: Stamp = UNSTAMPED


class PauseRun(_Steer, frozen=True):
    """Start no further iteration."""


class ResumeRun(_Steer, frozen=True):
    """Go on."""


class CancelRun(_Steer, frozen=True):
    """End it, whole."""


class EscalateRun(msgspec.Struct, frozen=True):
    """Give the next iteration a more capable model."""

    run_id: RunId
    model: str
    reason: str = ""
    stamp: Stamp = UNSTAMPED


DriverCommand = StartRun | BeginTurn | EndTurn | PushFrame | PopFrame | FinishRun | FailRun | AbortRun
SteerCommand = PauseRun | ResumeRun | CancelRun | EscalateRun
RunCommand = DriverCommand | SteerCommand
