"""A written model of runs and controls: what the protocol text and the decided rules say, in plain Python.

It shares no code with the product. It knows one project, counts seconds, and keeps what should stand on both topics.
"""

from dataclasses import dataclass, field

__all__ = ["Asked", "Loop", "Model", "ModelRun", "RefusedError"]

WINDOW, EXPIRY = 300, 30


class RefusedError(Exception):
    """The command is refused with this code."""


@dataclass
class Loop:
    """One loop of a stack."""

    most: int
    number: int = 0
    is_open: bool = False
    attempt: int = 0
    is_interrupted: bool = False
    model: str | None = None


@dataclass
class ModelRun:
    """One run."""

    loops: list[Loop]
    status: str = "running"
    fence: int = 1
    reason: str | None = None
    held: str | None = None

    @property
    def is_active(self) -> bool:
        """It has not ended."""
        return self.status in {"running", "paused"}


@dataclass
class Asked:
    """One request id that is known."""

    command: str
    run_id: str
    model: str
    posted_at: float
    state: str = "posted"
    outcome: str = ""
    resolved_at: float = 0


@dataclass
class Model:
    """The store as it should be; `now` is the machine's clock, which may step back."""

    now: float = 0
    last: float = float("-inf")
    """When the last event happened: the store's clock never runs before it."""
    runs: dict[str, ModelRun] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    """Ids that wait to be taken up or executed, in the order in which they last changed."""
    control: list[tuple[str, str, str]] = field(default_factory=list)
    """What should stand on `loop:control`: type, request id, outcome."""
    current: list[tuple[str, str, str]] = field(default_factory=list)
    """What should stand on `loop:current`: event, run id, reason or status."""

    # Time

    @property
    def at(self) -> float:
        """The moment of the transaction that begins now."""
        return max(self.now, self.last)

    def happened(self) -> None:
        """Something was written."""
        self.last = self.at

    # Transactions

    def take_head(self) -> None:
        """Do what every transaction does first: go one step on with every control that an earlier one left."""
        for request_id in list(self.waiting):
            asked = self.asked[request_id]
            self.waiting.remove(request_id)
            if asked.state == "accepted":
                self.answer(request_id, self.steer(asked))
                self.end_held(asked.run_id)
            elif self.at - asked.posted_at > EXPIRY:
                asked.state = "expired"
                self.happened()
            else:
                self.receive(request_id)

    def receive(self, request_id: str) -> None:
        """Acknowledge a request, or say that its run is not active."""
        asked = self.asked[request_id]
        run = self.runs.get(asked.run_id)
        if run is None or not run.is_active:
            self.answer(request_id, ("not_found", None))
            return
        asked.state = "accepted"
        self.waiting.append(request_id)
        self.control.append(("ACK", request_id, ""))
        self.happened()

    def answer(self, request_id: str, came: tuple[str, tuple[str, str, str] | None]) -> None:
        """Publish the one RESULT of an id, and behind it the state that it caused."""
        asked, (outcome, state) = self.asked[request_id], came
        asked.state, asked.outcome, asked.resolved_at = "resolved", outcome, self.at
        self.control.append(("RESULT", request_id, outcome))
        if state is not None:
            self.current.append(state)
        self.happened()

    def steer(self, asked: Asked) -> tuple[str, tuple[str, str, str] | None]:
        """Execute a command on its run: the matrix."""
        run = self.runs.get(asked.run_id)
        if run is None or not run.is_active:
            return "not_found", None
        match asked.command:
            case "pause" if run.status == "running":
                run.status = "paused"
            case "resume" if run.status == "paused":
                run.status = "running"
            case "cancel":
                run.status, run.reason = "aborted", "USER_CANCELLED"
            case "escalate" if run.loops[-1].model != asked.model:
                for loop in run.loops:  # it outlives the loop that it was asked in
                    loop.model = asked.model
            case _:
                return "invalid_state", None
        return "success", self.state_of(asked.run_id)

    def end_held(self, run_id: str) -> None:
        """A run whose work was over while it was paused is done as soon as it runs again."""
        run = self.runs.get(run_id)
        if run is not None and run.status == "running" and run.held is not None:
            run.status, run.reason = "done", run.held
            self.say(run_id)

    def state_of(self, run_id: str) -> tuple[str, str, str]:
        """Return what the run says of itself."""
        run = self.runs[run_id]
        if run.is_active:
            return ("STATE", run_id, "paused" if run.status == "paused" else "")
        return ("DONE" if run.status == "done" else "ABORT", run_id, run.reason or "")

    def say(self, run_id: str) -> None:
        """Have the run say where it is."""
        self.current.append(self.state_of(run_id))
        self.happened()

    # The controller

    def post(self, request_id: str, command: str, run_id: str, model: str, *, is_left: bool) -> None:
        """Put a REQUEST into the topic."""
        self.take_head()
        self.control.append(("REQUEST", request_id, ""))
        self.happened()
        known = self.asked.get(request_id)
        if known is None or known.state == "expired":
            self.asked[request_id] = Asked(command, run_id, model, self.at)
            if is_left:
                self.waiting.append(request_id)
            else:
                self.receive(request_id)
            return
        is_same = (known.command, known.run_id, known.model) == (command, run_id, model)
        is_fresh = known.state == "resolved" and self.at - known.resolved_at < WINDOW
        outcome = known.outcome if is_same and is_fresh else "duplicate"
        self.control.append(("RESULT", request_id, outcome))

    # The driver

    def start(self, run_id: str, most: int) -> None:
        """Begin a run, or take it over."""
        self.take_head()
        run = self.runs.get(run_id)
        if run is None:
            self.runs[run_id] = ModelRun([Loop(most)])
            self.say(run_id)
        elif run.is_active:
            run.fence += 1
            lowest = run.loops[0]
            lowest.is_interrupted = lowest.is_open or lowest.is_interrupted
            lowest.is_open = False
            run.loops = [lowest]
            self.say(run_id)

    def driven(self, run_id: str, fence: int) -> ModelRun | None:
        """Return the run for a driver with this fence; None where it has ended."""
        self.take_head()
        run = self.runs.get(run_id)
        if run is None:
            raise RefusedError("not_found")
        if run.fence != fence:
            raise RefusedError("run_taken")
        return run if run.is_active else None

    def begin(self, run_id: str, fence: int, depth: int) -> None:
        """Begin an iteration: never while paused."""
        run = self.driven(run_id, fence)
        if run is None or run.status == "paused":
            return
        loop = self.loop_at(run, depth)
        if loop.is_open:
            raise RefusedError("bad_request")
        if loop.is_interrupted:
            loop.attempt += 1
        elif loop.number >= loop.most:
            self.over(run_id, depth, "MAX_ITERATIONS")
            return
        else:
            loop.number, loop.attempt = loop.number + 1, 1
        loop.is_open, loop.is_interrupted = True, False
        del run.loops[depth + 1 :]
        self.say(run_id)

    def end(self, run_id: str, fence: int, depth: int, signal: str | None, failure: str) -> None:
        """End an iteration."""
        run = self.driven(run_id, fence)
        if run is None or run.held is not None:
            return
        loop = self.loop_at(run, depth)
        if not loop.is_open:
            raise RefusedError("bad_request")
        loop.is_open = False
        del run.loops[depth + 1 :]
        self.happened()
        if failure:
            run.status, run.reason = "aborted", "ERROR"
            self.say(run_id)
        elif signal is not None:
            self.over(run_id, depth, signal)
        elif loop.number >= loop.most:
            self.over(run_id, depth, "MAX_ITERATIONS")

    def push(self, run_id: str, fence: int, most: int) -> None:
        """Begin a loop inside the lowest one."""
        run = self.driven(run_id, fence)
        if run is None:
            return
        if not run.loops[0].is_open:
            raise RefusedError("bad_request")
        run.loops[1:] = [Loop(most, model=run.loops[0].model)]
        self.say(run_id)

    def pop(self, run_id: str, fence: int, depth: int) -> None:
        """End a loop."""
        run = self.driven(run_id, fence)
        if run is not None and run.held is None and depth < len(run.loops):
            self.over(run_id, depth, "COMPLETE")

    def finish(self, run_id: str, fence: int) -> None:
        """End the run."""
        run = self.driven(run_id, fence)
        if run is not None and run.held is None:
            self.over(run_id, 0, "COMPLETE")

    def over(self, run_id: str, depth: int, reason: str) -> None:
        """A loop is over; with the lowest, the run is."""
        run = self.runs[run_id]
        if depth == 0 and run.status == "paused":
            run.held = reason
            run.loops[0].is_open = run.loops[0].is_interrupted = False
            del run.loops[1:]
        elif depth == 0:
            run.status, run.reason = "done", reason
        else:
            del run.loops[depth:]
        self.say(run_id)

    @staticmethod
    def loop_at(run: ModelRun, depth: int) -> Loop:
        """Return the loop at a depth."""
        if depth >= len(run.loops):
            raise RefusedError("bad_request")
        return run.loops[depth]
