"""The driver's side of a run, once, as calls; `driven` and `async_driven` put a `for` and an `async for` on it.

Whoever drives a run holds it: the hold is the kernel's, and gone with its process. Starting takes over what a dead
driver left, under a new fence. While a run is paused no iteration begins; when it has ended, none does any more.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.hub.command import (
    BeginTurn,
    DriverCommand,
    EndTurn,
    FailRun,
    FinishRun,
    PopFrame,
    PushFrame,
    StartRun,
)
from assent.hub.ids import driver_name, new_command_id, new_frame_id, new_run_id
from assent.hub.record import Hold
from assent.protocol.error import BadRequestError, RunTakenError
from assent.protocol.run import (
    DEFAULT_MAX,
    MAX_MODEL,
    DoneReason,
    Frame,
    Level,
    Mode,
    Run,
    RunId,
    Status,
    check_run_id,
)

__all__ = ["MOST_ITERATIONS", "Plan", "Wheel", "plan_run"]

MOST_ITERATIONS = 1_000_000
_MAX_NOTE = 500


class Plan(msgspec.Struct, frozen=True):
    """What a run is to be."""

    run_id: RunId
    frame: Frame
    title: str = ""
    models: tuple[str, ...] = ()


def plan_run(  # noqa: PLR0913 - the public call: every part of a run has a name
    mode: Mode | str = Mode.LOOP,
    *,
    max: int | None = None,  # noqa: A002 - the protocol's word
    model: str | None = None,
    models: Sequence[str] = (),
    run_id: str | None = None,
    title: str = "",
    issue_id: str | None = None,
    filter: str | None = None,  # noqa: A002 - the protocol's word
    prompt_file: str | None = None,
    worktree_path: str | None = None,
    branch: str | None = None,
    base_ref: str | None = None,
) -> Plan:
    """Return a run for a `with` block (`async with` on an async client), which starts it there.

    Give a `run_id` of your own to find the run again after a crash. It is taken over from the driver that died: still
    paused if it was paused, and with the iteration that was interrupted, as attempt 2.

    Raises:
        BadRequestError: a part of it makes no sense.
    """
    try:
        mode = Mode(mode)
    except ValueError:
        raise BadRequestError(f'"{mode}" is not a mode: use one of {", ".join(Mode)}.') from None
    limit = DEFAULT_MAX[mode] if max is None else max
    if not 1 <= limit <= MOST_ITERATIONS:
        raise BadRequestError(f"A loop has 1 to {MOST_ITERATIONS:,} iterations.")
    for name, text in (("title", title), ("issue", issue_id), ("filter", filter), ("model", model)):
        if text is not None and len(text) > MAX_MODEL:
            raise BadRequestError(f"The {name} of a run has at most {MAX_MODEL} characters.")
    if models and model is not None and model not in models:
        raise BadRequestError(f'The model "{model}" is none of those declared: {", ".join(models)}.')
    full_id = new_run_id(mode) if run_id is None else check_run_id(run_id)
    frame = Frame(
        full_id, mode, 0, limit, prompt_file, filter, issue_id, worktree_path, branch, base_ref, model
    )
    return Plan(full_id, frame, title, tuple(models))


class Wheel:
    """Drives one run from this process. Every method is a call."""

    def __init__(self, calls: Calls, plan: Plan) -> None:
        self._calls = calls
        self._plan = plan
        self._hold: Hold | None = None
        self._run: Run | None = None
        self.fence: int
        """Ours, from the start on. The record's rises when somebody else takes the run; then ours is refused."""

    @property
    def run_id(self) -> RunId:
        """The run's id, also before it is started."""
        return self._plan.run_id

    @property
    def run(self) -> Run:
        """The run as it was when it was last looked at."""
        if self._run is None:
            raise BadRequestError("A run begins in a with block: with client.run(…) as run.")
        return self._run

    def start(self) -> Call[Run]:
        """Begin the run, or take over one whose driver is dead.

        Raises:
            RunTakenError: somebody alive drives it.
        """
        plan, door = self._plan, self._calls.door
        hold = yield from until(door.hold_run(self._calls.project, plan.run_id))
        try:
            command = StartRun(plan.run_id, plan.frame, driver_name(), plan.title, plan.models)
            run = yield from self._send(command)
        except BaseException:
            hold.release()
            raise
        self.fence = run.fence
        if run.is_active:
            self._hold = hold
        else:
            hold.release()
        return run

    def join(self, run_id: str, fence: int) -> Call[Run]:
        """Work for a run that another process drives, in a loop inside its own: its fence was handed down."""
        run = yield from until(self._calls.door.find_run(self._calls.project, check_run_id(run_id)))
        if run is None or run.fence != fence:
            raise RunTakenError(f"The run {run_id} is no longer driven by whoever started this.")
        self._run, self.fence = run, fence
        return run

    def begin(self, depth: int = 0) -> Call[Level | None]:
        """Begin the next iteration, as soon as the run is not paused; None when there is none any more."""
        while True:
            run = yield from self.try_begin(depth)
            if not run.is_active or depth >= len(run.levels):
                return None
            if run.levels[depth].is_open:
                return run.levels[depth]
            yield from self.wait()

    def try_begin(self, depth: int = 0) -> Call[Run]:
        """Begin the next iteration if that is possible now; the run that is returned says whether it was."""
        return (yield from self._send(BeginTurn(self.run.run_id, self.fence, depth)))

    def end(self, depth: int = 0, *, signal: DoneReason | None = None, failure: str = "") -> Call[Run]:
        """End the iteration that is open; nothing happens where the run has ended meanwhile."""
        run = self.run
        note = failure[:_MAX_NOTE]
        return (yield from self._send(EndTurn(run.run_id, self.fence, depth, signal, note)))

    def push(self, frame: Frame, depth: int) -> Call[Run]:
        """Begin a loop inside the current iteration."""
        own = msgspec.structs.replace(frame, id=new_frame_id(frame.mode, frame.issue_id), iter=0)
        return (yield from self._send(PushFrame(self.run.run_id, self.fence, own, depth)))

    def pop(self, depth: int, reason: DoneReason = DoneReason.COMPLETE) -> Call[Run]:
        """End a loop inside another; the outer one goes on."""
        return (yield from self._send(PopFrame(self.run.run_id, self.fence, depth, reason)))

    def finish(self, reason: DoneReason = DoneReason.COMPLETE) -> Call[Run]:
        """End the run: it is done."""
        return (yield from self._send(FinishRun(self.run.run_id, self.fence, reason)))

    def fail(self, note: str) -> Call[Run]:
        """End the run: it cannot go on."""
        return (yield from self._send(FailRun(self.run.run_id, self.fence, note[:_MAX_NOTE])))

    def look(self) -> Call[Run]:
        """Return the run as it is now."""
        run = yield from until(self._calls.door.find_run(self._calls.project, self.run.run_id))
        assert run is not None  # noqa: S101 - it was started, and no run ever goes away
        self._run = run
        return run

    def wait(self, seconds: float | None = None) -> Call[Run]:
        """Return the run as soon as it is another than the one last looked at."""
        door, run = self._calls.door, self.run
        wait = door.until_run_changed(run.run_id, self._calls.project, run.sequence, seconds)
        self._run = yield from until(wait)
        return self._run

    def leave(self) -> None:
        """Let go of the run; whoever comes next may drive it."""
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.release()

    @property
    def is_paused(self) -> bool:
        """Nothing may begin now."""
        return self.run.status is Status.PAUSED

    def _send(self, command: DriverCommand) -> Call[Run]:
        if self._hold is not None and not self._hold.is_held:
            raise RunTakenError("A forked child does not drive its parent's run.")
        calls = self._calls
        told = yield from until(calls.door.send(command, calls.project, calls.principal, new_command_id()))
        assert isinstance(told, Run)  # noqa: S101 - the desk's reply to a driver
        self._run = told
        return told
