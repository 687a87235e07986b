"""Any command as a controllable agent loop: run once an iteration, bound by the record of its run.

Rule 1: the loop executes no commands from people. It asks the hub for each iteration, and gets none while the run is
        paused; it hears at once when the run was ended, and ends what it started.
Rule 2: one loop drives a run. A dead one is taken over, and what it left running is ended first.
Rule 3: on an error no further iteration starts: the run is aborted, unless failing commands were said to be no error.
Rule 4: told to stop (Ctrl-C, SIGTERM), the loop ends the command and leaves the run as it is: it can be gone on with.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO, TypeVar

import msgspec

from assent.client.client import Client
from assent.client.door import Call, run_call
from assent.client.wheel import BUSY_PATIENCE_SECONDS, Plan, Rung, Wheel
from assent.hosts import leftover
from assent.hosts.child import Child, Sinks
from assent.hosts.ear import Ear
from assent.hosts.leftover import DONE, GRACE_SECONDS, NOTHING, Leftovers, adopt_orphans
from assent.hosts.output import Echo, Keeper, SignalScan, has_room, output_file, output_folder
from assent.hosts.tail import Teller
from assent.protocol.display import display
from assent.protocol.error import RunTakenError, StoreAwayError, StoreBusyError
from assent.protocol.run import DoneReason, Level, Run, RunId, Status

__all__ = ["Loop", "Orders", "Outer", "Stopped", "substitute"]

R = TypeVar("R")


_GUARD_SECONDS = 5.0
_LAST_SECONDS = 2.0


class Orders(msgspec.Struct, frozen=True):
    """What to run, and how."""

    command: tuple[str, ...]
    environ: Mapping[str, str]
    """What the command inherits."""
    store: str
    """The store's address, for the command's own questions."""
    folder: Path
    """Where the output of runs is kept."""
    prompt: Callable[[], bytes] | None = None
    """Read again for each iteration: people change their prompts while a loop runs."""
    grace_seconds: float = GRACE_SECONDS
    keeps_going: bool = False
    """A command that fails is no error."""
    is_raw: bool = False
    """Show the output as it is, also on a terminal."""


class Outer(msgspec.Struct, frozen=True):
    """The loop that another one is inside of, as it was handed down to its command."""

    run_id: RunId
    fence: int
    rung: Rung


class _CannotRunError(Exception):
    """An iteration's command cannot be run at all."""


class Stopped(Exception):  # noqa: N818 - being told to stop is no error
    """The loop was told to stop; its run goes on when somebody drives it again."""


def substitute(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Put the values where `{name}` stands, and leave all other braces alone.

    >>> substitute(["agent", "--model={model}", "{}"], {"model": "opus"})
    ['agent', '--model=opus', '{}']
    """
    # In one go: a value that holds {prompt} itself stays as it is.
    names = re.compile("|".join(re.escape(f"{{{name}}}") for name in values))
    return [names.sub(lambda found: values[found[0][1:-1]], word) for word in command]


class Loop:
    """Drives one run with a command."""

    def __init__(
        self,
        client: Client,
        plan: Plan,
        orders: Orders,
        *,
        outer: Outer | None = None,
    ) -> None:
        self._client = client
        self._plan = plan
        self._orders = orders
        self._outer = outer
        # The loop itself tries again, as it must hear signals in between and say what it waits for.
        self._wheel = Wheel(client.calls, plan, patience=0.0)
        self._rung = Rung(0, 0)
        self.reason: DoneReason | None = None
        """How a loop inside a loop ended; its run goes on."""
        self.was_over = False
        """The run had ended before, and nothing was run."""
        self._err = Echo(_descriptor(sys.stderr), is_raw=orders.is_raw)
        # A loop inside a loop has nothing on its standard output: the outer one would take its signals for its own.
        own = Echo(_descriptor(sys.stdout), is_raw=orders.is_raw)
        self._out = own if outer is None else self._err
        # What a loop inside a loop shows is output of the outer one's command, which hands it on.
        self._teller = Teller(self._wheel) if outer is None else None
        self._guard: subprocess.Popen[bytes] | None = None
        self._ear: Ear | None = None

    @property
    def run(self) -> Run:
        """The run as it was last heard of."""
        return self._wheel.run

    def drive(self) -> Run:
        """Run iterations until the loop is over; return the run as it is then.

        Raises:
            Stopped: a signal came.
            RunTakenError: somebody alive drives the run.
        """
        adopt_orphans()
        self._begin()
        if not self._is_there():
            self.was_over = True
            return self.run
        self._announce()
        try:
            self._end_leftovers()
            self._guard = self._start_guard()
            with Ear(self._client, self.run) as ear:
                self._ear = ear
                self._go_round(ear)
        finally:
            self._ear = None
            self._dismiss_guard()
            if self._teller is not None:
                self._teller.close()
            self._wheel.leave()
            self._show_rest()
        return self.run

    # Starting

    def _begin(self) -> None:
        outer = self._outer
        if outer is None:
            self._do(self._wheel.start)
            self._rung = self._wheel.bottom
            return
        run = self._do(lambda: self._wheel.join(outer.run_id, outer.fence))
        if run.is_active:
            self._rung = self._do(lambda: self._wheel.push(self._plan.frame, outer.rung))

    def _announce(self) -> None:
        run, frame = self.run, self.run.levels[self._rung.depth].frame
        limit = "one iteration" if frame.max == 1 else f"up to {frame.max} iterations"
        if self._outer is not None:
            self._tell(f"a loop inside {run.run_id}, {limit}")
            return
        kept = self._folder()
        kept = kept.relative_to(Path.cwd()) if kept.is_relative_to(Path.cwd()) else kept
        goes_on = "goes on with " if run.fence > 1 else ""
        self._tell(f"{goes_on}run {run.run_id}, {limit}; output is kept in {kept}")
        self._tell(f"steer it from anywhere: assent pause {run.run_id} (or resume, cancel, escalate)")

    def _folder(self) -> Path:
        levels, inner = self.run.levels, ""
        if self._outer is not None:
            depth = self._rung.depth
            inner = f"{levels[depth - 1].frame.iter:04}-{levels[depth].frame.id}"
        return output_folder(self._orders.folder, self._client.project, self.run.run_id, inner)

    def _is_there(self) -> bool:
        return self._rung.is_in(self.run)

    def _is_ours(self, run: Run) -> bool:
        """Whether the command may go on: its loop is still there, and nobody else has taken the run."""
        return self._rung.is_in(run) and run.fence == self._wheel.fence

    def _end_leftovers(self) -> None:
        """End what a dead driver of this run left running, before anything is run again."""
        if self._outer is not None or self.run.fence == 1:
            return
        # Of any of them: the last one may have been killed before it had ended what the one before it left. We have
        # started nothing yet, so whatever carries the marks of this run is not ours.
        marks = self._marks()
        marks.pop("ASSENT_LOOP")
        earlier = Leftovers(marks)
        left = earlier.find()
        if left:
            self._tell(f"ending {len(left)} processes that an earlier driver left running")
            earlier.end(self._orders.grace_seconds)

    def _marks(self) -> dict[str, str]:
        return {
            "ASSENT_RUN_ID": self.run.run_id,
            "ASSENT_STORE": self._orders.store,
            "ASSENT_PROJECT": self._client.project,
            "ASSENT_LOOP": str(os.getpid()),
        }

    def _start_guard(self) -> subprocess.Popen[bytes] | None:
        words = [sys.executable, "-I", "-S", leftover.__file__, str(self._orders.grace_seconds)]
        words += [f"{name}={value}" for name, value in self._marks().items()]
        with suppress(OSError):  # without a guard, the next driver ends what is left
            return subprocess.Popen(  # noqa: S603 - our own file
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={},
                cwd="/",
            )
        return None

    def _brief_guard(self, line: bytes, guard: subprocess.Popen[bytes] | None = None) -> None:
        guard = guard or self._guard
        if guard is not None and guard.stdin is not None:
            with suppress(OSError):
                guard.stdin.write(line + b"\n")
                guard.stdin.flush()

    def _dismiss_guard(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            self._brief_guard(DONE, guard)
            with suppress(OSError):
                guard.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                guard.wait(_GUARD_SECONDS)

    # Going round

    def _go_round(self, ear: Ear) -> None:
        is_told = False
        while self._is_there():
            if ear.stops:
                raise Stopped
            run = self._do(lambda: self._wheel.try_begin(self._rung))
            if not self._is_there():
                break
            level = run.levels[self._rung.depth]
            if level.is_open:
                is_told = False
                self._iterate(ear, level)
                continue
            if run.status is Status.RUNNING:
                continue  # somebody resumed it while a server said that it was paused
            if not is_told:
                what = "goes on" if run.held is None else f"ends it: {run.held}"
                self._tell(f"paused; assent resume {run.run_id} {what}")
                is_told = True
            self._await_change(ear, run)
        if not self.run.is_active:
            self._sweep(ear)
        elif self.reason is None:
            raise RunTakenError(f"This loop is no longer one of the run {self.run.run_id}.")

    def _await_change(self, ear: Ear, run: Run) -> None:
        while ear.run.sequence <= run.sequence and not ear.stops:
            ear.listen()

    def _iterate(self, ear: Ear, level: Level) -> None:
        frame = level.frame
        begun = time.monotonic()
        name = f"iteration {frame.iter} of {frame.max}"
        model = f", {frame.model}" if frame.model else ""
        again = f"; attempt {level.attempt}, as it was interrupted before" if level.attempt > 1 else ""
        self._tell(f"{name}{model}{again}")
        try:
            status, sinks = self._run_child(ear, level)
        except _CannotRunError as error:
            note = str(error)
            self._do(lambda: self._wheel.end(self._rung, failure=note))
            return
        seconds = time.monotonic() - begun
        if status is None:
            return  # the run was ended from outside, and the command with it
        how = f"exit status {status}" if status >= 0 else f"signal {-status}"
        self._tell(f"{name} ended after {seconds:.1f} s, {how}")
        failure = "" if status == 0 or self._orders.keeps_going else f"The command ended with {how}."
        signal_ = None if failure else sinks.scan.signal
        self._do(lambda: self._wheel.end(self._rung, signal=signal_, failure=failure))
        if self.run.is_active and not self._is_there():
            self.reason = signal_ or DoneReason.MAX_ITERATIONS

    def _run_child(self, ear: Ear, level: Level) -> tuple[int | None, Sinks]:
        frame = level.frame
        path = output_file(self._folder(), frame.iter, level.attempt)
        keeper = Keeper(path)
        if keeper.trouble:
            self._tell(f"the output of this iteration is not kept: {keeper.trouble}")
        sinks = Sinks(self._out, self._err, keeper, SignalScan(frame.mode), self._teller)
        child: Child | None = None
        try:
            child = self._start_child(level, sinks)
            self._brief_guard(str(child.pid).encode())
            deaths = ear.deaths
            while True:
                status = child.attend(ear)
                if ear.deaths != deaths:
                    deaths = ear.deaths
                    self._leftovers(child.pid).reap()
                if status is not None:
                    return status, sinks
                if ear.stops:
                    self._tell("stopping the command; the run stays as it is")
                    self._end_child(child, ear)
                    raise Stopped
                if not self._is_ours(ear.run):
                    what = "somebody else drives it now" if ear.run.is_active else "the run was ended"
                    self._tell(f"{what}; stopping the command")
                    self._end_child(child, ear)
                    self._do(self._wheel.look)
                    return None, sinks
        finally:
            if child is not None:
                self._brief_guard(NOTHING)  # its number may be another program's from now on
                child.close()
            sinks.close()
            self._leftovers().reap()

    def _start_child(self, level: Level, sinks: Sinks) -> Child:
        frame = level.frame
        prompt = self._read_prompt()
        values = {"model": frame.model or "", "iteration": str(frame.iter), "run_id": self.run.run_id}
        is_argument = any("{prompt}" in word for word in self._orders.command)
        if is_argument:
            values["prompt"] = (prompt or b"").decode("utf-8", "surrogateescape")
        environ = {
            **self._orders.environ,
            **self._marks(),
            "ASSENT_ITERATION": str(frame.iter),
            "ASSENT_ATTEMPT": str(level.attempt),
            "ASSENT_FENCE": str(self._wheel.fence),
            "ASSENT_LEVEL": f"{self._rung.depth}.{self._rung.number}",
            "ASSENT_MODEL": frame.model or "",
        }
        command = substitute(self._orders.command, values)
        try:
            return Child(command, environ, None if is_argument else prompt, sinks)
        except (OSError, ValueError) as error:
            raise _CannotRunError(f"{command[0]} cannot be started: {_reason(error)}.") from None

    def _read_prompt(self) -> bytes | None:
        if self._orders.prompt is None:
            return None
        try:
            return self._orders.prompt()
        except OSError as error:
            raise _CannotRunError(f"The prompt cannot be read: {_reason(error)}.") from None

    # Ending

    def _end_child(self, child: Child, ear: Ear) -> None:
        if not child.end(self._leftovers(), self._orders.grace_seconds, ear):
            left = ", ".join(map(str, self._leftovers().find()))
            self._tell(f"not all of it could be ended; still there: {left or 'a process that hides'}")

    def _show_rest(self) -> None:
        """Show all that is left; a run that did not end by itself waits only a moment for whoever reads along."""
        is_patient = self.run.status is Status.DONE or self.reason is not None
        until = time.monotonic() + (threading.TIMEOUT_MAX if is_patient else _LAST_SECONDS)
        for echo in (self._out, self._err):
            while echo.is_pending and echo.descriptor is not None and time.monotonic() < until:
                has_room(echo.descriptor, _LAST_SECONDS)
                echo.pass_on()

    def _leftovers(self, *spared: int) -> Leftovers:
        guard = [self._guard.pid] if self._guard is not None else []
        return Leftovers(self._marks(), ancestor=os.getpid(), spared=[*guard, *spared])

    def _sweep(self, ear: Ear) -> None:
        """A cancelled run leaves nothing behind, not even what earlier iterations left in the background."""
        if self.run.status is Status.ABORTED and self._leftovers().find():
            self._leftovers().end(self._orders.grace_seconds, is_impatient=lambda: ear.stops > 0)

    def _do(self, call: Callable[[], Call[R]]) -> R:
        """Do a call; where the store is busy or its database away, say so and try again for a while."""
        until = time.monotonic() + BUSY_PATIENCE_SECONDS
        while True:
            try:
                return run_call(call())
            except (StoreBusyError, StoreAwayError) as error:  # either way, nothing of it was saved
                if time.monotonic() >= until:
                    raise
                if self._ear is not None and self._ear.stops:
                    raise Stopped from None
                is_away = isinstance(error, StoreAwayError)
                who = "the database does not answer" if is_away else "another process holds the store"
                self._tell(f"{who}; trying again")

    def tell(self, line: str) -> None:
        """Show a last line of our own."""
        self._tell(line)
        self._show_rest()

    def _tell(self, line: str) -> None:
        self._out.finish_line()
        self._err.tell(f"assent: {display(line, lines=False)}")


def _descriptor(stream: TextIO | None) -> int | None:
    """Return the descriptor of one of our own streams; None where there is none."""
    if stream is None:
        return None
    try:
        stream.flush()
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
