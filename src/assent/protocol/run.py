"""A run: one agent loop, its stack of frames, and how it says where it is (`loop:current`, schema 1).

A frame is one loop of the stack; the last is the current one (I-U3). A run that loops inside a loop has several.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, NewType

import msgspec
from msgspec.structs import replace

from assent.protocol.display import is_encodable, quote
from assent.protocol.error import BadRequestError

__all__ = [
    "CURRENT_SCHEMA",
    "DEFAULT_MAX",
    "MAX_MODEL",
    "MAX_RUN_ID",
    "STALE_SECONDS",
    "AbortReason",
    "DoneReason",
    "Frame",
    "Level",
    "Mode",
    "Run",
    "RunId",
    "StateMessage",
    "Status",
    "check_run_id",
    "is_model",
    "is_stale",
    "render_run",
    "render_shown",
    "state_message",
]

RunId = NewType("RunId", str)
CURRENT_SCHEMA = 1
MAX_RUN_ID = 200
MAX_MODEL = 200
STALE_SECONDS = 7_200
"""A STATE older than this says nothing any more (I-U7), unless the run is paused (I-X7)."""


class Mode(StrEnum):
    """What a frame loops over."""

    LOOP = "loop"
    ISSUE = "issue"
    GRIND = "grind"


DEFAULT_MAX: dict[Mode, int] = {Mode.LOOP: 10, Mode.ISSUE: 10, Mode.GRIND: 100}
"""I-U4."""


class Status(StrEnum):
    """Where a run is in its life. `pausing` and `stale` are how it is shown, and never stored."""

    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    ABORTED = "aborted"


class DoneReason(StrEnum):
    """Why a run ended by itself (I-U2)."""

    COMPLETE = "COMPLETE"
    MAX_ITERATIONS = "MAX_ITERATIONS"
    NO_MORE_ISSUES = "NO_MORE_ISSUES"
    MAX_ISSUES = "MAX_ISSUES"
    STUCK = "STUCK"


class AbortReason(StrEnum):
    """Why a run was ended (I-U1)."""

    USER_CANCELLED = "USER_CANCELLED"
    ERROR = "ERROR"


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """One loop of the stack, as the wire has it (I-U3). What is not known is left out."""

    id: str
    mode: Mode
    iter: int
    """1-based on the wire; 0 in a record before the first iteration has begun."""
    max: int
    prompt_file: str | None = None
    filter: str | None = None
    issue_id: str | None = None
    worktree_path: str | None = None
    branch: str | None = None
    base_ref: str | None = None
    model: str | None = None
    escalation_reason: str | None = None


class Level(msgspec.Struct, frozen=True):
    """A frame with what only its driver's record must know."""

    frame: Frame
    number: int = 0
    """Of the event that began it: tells it from a later loop at the same depth."""
    is_open: bool = False
    """An iteration of it is under way."""
    attempt: int = 0
    """How often the current iteration was begun."""
    is_interrupted: bool = False
    """Its driver died in the middle of an iteration: the same number is begun again, and said to be."""
    begun_at: datetime | None = None
    """When the iteration under way, or the last one, began."""
    is_escalated: bool = False
    """A person gave it its model, with a reason or without."""


class Run(msgspec.Struct, frozen=True):
    """One run as it is now."""

    run_id: RunId
    project: str
    status: Status
    levels: tuple[Level, ...]
    """Of a run that has ended: as they were when it did."""
    started_at: datetime
    started_by: str
    updated_at: datetime
    """When it last said where it is."""
    title: str = ""
    models: tuple[str, ...] = ()
    """The models that it may be escalated to; none named means any."""
    driver: str = ""
    fence: int = 1
    """Rises with every driver: what an earlier one still sends is refused."""
    paused_at: datetime | None = None
    paused_by: str = ""
    held: str | None = None
    """Why it is done as soon as somebody resumes it: its work was over while it was paused."""
    held_by: str = ""
    """Who said that its work was over."""
    ended_at: datetime | None = None
    ended_by: str = ""
    reason: str | None = None
    note: str = ""
    """Why it ended, in words."""
    command_id: str = ""
    """The command that changed it last: a retry of it gets the same reply."""
    sequence: int = 0
    """The number of the last event that changed it."""

    @property
    def is_active(self) -> bool:
        """It has not ended."""
        return self.status in {Status.RUNNING, Status.PAUSED}

    @property
    def top(self) -> Level:
        """The current loop."""
        return self.levels[-1]

    @property
    def iteration(self) -> int:
        """The current iteration of the current loop, as the wire has it: 1-based."""
        return max(1, self.top.frame.iter)

    @property
    def model(self) -> str | None:
        """The model that the next iteration gets."""
        return self.top.frame.model

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The frames as the wire has them; a run that has ended has none."""
        if not self.is_active:
            return ()
        return tuple(replace(level.frame, iter=max(1, level.frame.iter)) for level in self.levels)


class StateMessage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a run says on `loop:current`."""

    schema: int
    event: Literal["STATE", "ABORT", "DONE"]
    reason: str | None = None
    run_id: str
    updated_at: datetime | None = None
    stack: tuple[Frame, ...]
    status: Literal["running", "paused"] | None = None
    """Absent means running (I-X6)."""
    paused_at: datetime | None = None


def state_message(run: Run) -> StateMessage:
    """Return what `run` says of itself: STATE while it is active, its last word afterwards."""
    if not run.is_active:
        event: Literal["ABORT", "DONE"] = "DONE" if run.status is Status.DONE else "ABORT"
        return StateMessage(
            schema=CURRENT_SCHEMA, event=event, reason=run.reason, run_id=run.run_id, stack=()
        )
    is_paused = run.status is Status.PAUSED
    return StateMessage(
        schema=CURRENT_SCHEMA,
        event="STATE",
        run_id=run.run_id,
        updated_at=run.updated_at,
        stack=run.stack,
        status="paused" if is_paused else None,
        paused_at=run.paused_at if is_paused else None,
    )


def is_stale(run: Run, *, is_driven: bool, now: datetime) -> bool:
    """Say whether nobody drives it and it has been silent for too long; a paused run never is (I-X7)."""
    is_silent = now - run.updated_at > timedelta(seconds=STALE_SECONDS)
    return run.status is Status.RUNNING and not is_driven and is_silent


def render_shown(run: Run, *, is_driven: bool, now: datetime) -> str:
    """Return the one word that people see: the status, `pausing` or `stale`."""
    if run.status is Status.PAUSED and run.top.is_open and is_driven:
        return "pausing"
    return "stale" if is_stale(run, is_driven=is_driven, now=now) else run.status.value


def render_run(run: Run, *, is_driven: bool, now: datetime) -> dict[str, object]:
    """Return a run as `assent runs --json` has it."""
    frame = run.top.frame
    return {
        "run_id": run.run_id,
        "project": run.project,
        "title": run.title,
        "status": render_shown(run, is_driven=is_driven, now=now),
        "mode": frame.mode,
        "iteration": run.iteration,
        "attempt": max(1, run.top.attempt),
        "max": frame.max,
        "model": frame.model,
        "updated_at": run.updated_at,
        "stack": run.stack,
        "reason": run.reason,
        "note": run.note,
        "driver": run.driver if is_driven else None,
        "started_at": run.started_at,
        "paused_at": run.paused_at if run.status is Status.PAUSED else None,
        "ended_at": run.ended_at,
        "sequence": run.sequence,
    }


def is_model(name: str) -> bool:
    """Say whether a model can be called so."""
    return 1 <= len(name) <= MAX_MODEL and name.isprintable()


def check_run_id(run_id: str) -> RunId:
    """Return `run_id` as one.

    Raises:
        BadRequestError: it is empty, too long, or holds blanks or characters that cannot be seen.
    """
    is_plain = run_id.isprintable() and " " not in run_id  # no other blank counts as printable
    # In an address `.` and `..` are ways, not names: no page could steer such a run.
    is_plain = is_plain and run_id not in (".", "..")
    if not (1 <= len(run_id) <= MAX_RUN_ID and is_plain and is_encodable(run_id)):
        raise BadRequestError(
            f'"{quote(run_id, 60)}" is no run id: it has 1 to {MAX_RUN_ID} visible characters and no blanks.'
        )
    return RunId(run_id)
