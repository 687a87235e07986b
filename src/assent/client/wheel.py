"""The driver's side of a run, once, as calls; `driven` and `async_driven` put a `for` and an `async for` on it.

Whoever drives a run holds it: the hold is the kernel's, and gone with its process. Starting takes over what a dead
driver left, under a new fence. While a run is paused no iteration begins; when it has ended, none does any more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.client.output import Output
from assent.hub.command import (
    BeginTurn,
    DriverCommand,
    EndTurn,
    FailRun,
    FinishRun,
    PopFrame,
    PushFrame,
    StartRun,
    TellOutput,
    Told,
)
from assent.hub.ids import driver_name, new_command_id, new_frame_id, new_run_id
from assent.hub.record import Hold
from assent.protocol.error import BadRequestError, RunTakenError, StoreBusyError
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
    is_model,
)
from assent.protocol.tail import Tail

__all__ = ["BUSY_PATIENCE_SECONDS", "MOST_ITERATIONS", "Plan", "Rung", "Wheel", "check_plan", "plan_run"]

MOST_ITERATIONS = 1_000_000
BUSY_PATIENCE_SECONDS = 60.0
"""So long a driver tries again where another process holds the store: its work is worth waiting for."""
_MAX_NOTE = 500
_MOST_MODELS = 100


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
    full_id = new_run_id(mode) if run_id is None else check_run_id(run_id)
    frame = Frame(
        full_id, mode, 0, limit, prompt_file, filter, issue_id, worktree_path, branch, base_ref, model
    )
    try:
        # What is written is read again by everybody: a part of the wrong kind would spoil the whole list of runs.
        plan = msgspec.convert(msgspec.to_builtins(Plan(full_id, frame, title, tuple(models))), Plan)
    except (msgspec.ValidationError, TypeError) as error:
        raise BadRequestError(f"A part of the run is of the wrong kind: {error}.") from None
    check_plan(plan)
    return plan


def check_plan(plan: Plan) -> None:
    """Refuse a run that makes no sense.

    Raises:
        BadRequestError: a part of it is too long, too many, or no such thing.
    """
    frame = plan.frame
    if not 1 <= frame.max <= MOST_ITERATIONS:
        raise BadRequestError(f"A loop has 1 to {MOST_ITERATIONS:,} iterations.")
    for name, text in (("title", plan.title), ("issue", frame.issue_id), ("filter", frame.filter)):
        if text is not None and len(text) > MAX_MODEL:
            raise BadRequestError(f"The {name} of a run has at most {MAX_MODEL} characters.")
    for model in (*plan.models, *([] if frame.model is None else [frame.model])):
        if not is_model(model):
            raise BadRequestError(f"A model's name has 1 to {MAX_MODEL} visible characters.")
    if len(plan.models) > _MOST_MODELS:
        raise BadRequestError(f"A run declares at most {_MOST_MODELS} models.")
    if plan.models and frame.model is not None and frame.model not in plan.models:
        raise BadRequestError(
            f'The model "{frame.model}" is none of those declared: {", ".join(plan.models)}.'
        )


def _record_note(text: str) -> str:
    """Return a note that any record can hold: it may come from a file's name or from somebody else's error."""
    return text.encode("utf-8", "backslashreplace").decode()[:_MAX_NOTE]


class Rung(msgspec.Struct, frozen=True):
    """One loop of a run's stack: where it is, and which of those that were ever there."""

    depth: int
    number: int

    def is_in(self, run: Run) -> bool:
        """Whether the loop is still one of the run's."""
        levels = run.levels
        return run.is_active and self.depth < len(levels) and levels[self.depth].number == self.number


class Wheel:
    """Drives one run from this process. Every method is a call."""

    def __init__(self, calls: Calls, plan: Plan, *, patience: float = BUSY_PATIENCE_SECONDS) -> None:
        self._calls = calls
        self._plan = plan
        self._patience = patience
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

    @property
    def bottom(self) -> Rung:
        """The run's own loop."""
        return Rung(0, self.run.levels[0].number)

    def begin(self, rung: Rung) -> Call[Level | None]:
        """Begin the next iteration, as soon as the run is not paused; None when there is none any more."""
        while True:
            run = yield from self.try_begin(rung)
            if not rung.is_in(run):
                return None
            if run.levels[rung.depth].is_open:
                return run.levels[rung.depth]
            if run.status is Status.PAUSED:  # else it was resumed while a server said that it was not
                yield from self.wait()

    def try_begin(self, rung: Rung) -> Call[Run]:
        """Begin the next iteration if that is possible now; the run that is returned says whether it was."""
        return (yield from self._send(BeginTurn(self.run_id, self.fence, rung.depth, level=rung.number)))

    def end(self, rung: Rung, *, signal: DoneReason | None = None, failure: str = "") -> Call[Run]:
        """End the iteration that is open; nothing happens where the run has ended meanwhile."""
        note = _record_note(failure)
        command = EndTurn(self.run_id, self.fence, rung.depth, signal, note, level=rung.number)
        return (yield from self._send(command))

    def push(self, frame: Frame, outer: Rung) -> Call[Rung]:
        """Begin a loop inside the current iteration of another."""
        own = msgspec.structs.replace(frame, id=new_frame_id(frame.mode, frame.issue_id), iter=0)
        depth = outer.depth + 1
        run = yield from self._send(PushFrame(self.run_id, self.fence, own, depth, outer=outer.number))
        return Rung(depth, run.levels[depth].number if run.is_active else 0)

    def pop(self, rung: Rung, reason: DoneReason = DoneReason.COMPLETE) -> Call[Run]:
        """End a loop inside another; the outer one goes on."""
        command = PopFrame(self.run_id, self.fence, rung.depth, reason, level=rung.number)
        return (yield from self._send(command))

    def finish(self, reason: DoneReason = DoneReason.COMPLETE) -> Call[Run]:
        """End the run: it is done."""
        return (yield from self._send(FinishRun(self.run_id, self.fence, reason)))

    def fail(self, note: str) -> Call[Run]:
        """End the run: it cannot go on."""
        return (yield from self._send(FailRun(self.run_id, self.fence, _record_note(note))))

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

    def tell(self, output: Output) -> Call[Tail]:
        """Hand on what the work has printed, for boards elsewhere; only the last of it is kept.

        Nothing that is known of the run changes by it, so another thread may do this meanwhile.
        """
        command = TellOutput(self.run.run_id, self.fence, output.text, output.skipped)
        told = yield from self._order(command, output.command_id)
        assert isinstance(told, Tail)  # noqa: S101 - the desk's reply to it
        return told

    def leave(self) -> None:
        """Let go of the run; whoever comes next may drive it."""
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.release()

    def _send(self, command: DriverCommand) -> Call[Run]:
        told = yield from self._order(command)
        assert isinstance(told, Run)  # noqa: S101 - the desk's reply to a driver
        self._run = told
        return told

    def _order(self, command: DriverCommand | TellOutput, command_id: str = "") -> Call[Told]:
        if self._hold is not None and not self._hold.is_held:
            raise RunTakenError("A forked child does not drive its parent's run.")
        calls, command_id = self._calls, command_id or new_command_id()
        until_when = time.monotonic() + self._patience
        while True:
            try:
                return (
                    yield from until(calls.door.send(command, calls.project, calls.principal, command_id))
                )
            except StoreBusyError:
                if time.monotonic() >= until_when:
                    raise
