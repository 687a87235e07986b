"""The judge: a small model of runs and controls, written from the protocol's text and not from the machines.

It hears a project's log in order. What a REQUEST must get follows from what was heard before it, so whoever was told
something else, and whatever happened that no REQUEST or driver explains, is a broken promise. It knows runs without
loops inside them, which is what the trials drive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from torture.log import Entry
from torture.trial import Tally

__all__ = ["BROKEN", "EFFECTS", "Judge", "Request", "Run"]

BROKEN = (
    "begun while paused",
    "after the end",
    "wrong numbers",
    "two drivers at once",
    "executed twice",
    "out of order",
    "wrong verdicts",
    "without RESULT",
    "STATE differs",
    "asks left open",
)
"""What the judge can find."""

EFFECTS = {
    "pause": "run.paused",
    "resume": "run.resumed",
    "cancel": "run.aborted",
    "escalate": "run.escalated",
}
"""What each command does to its run, right behind its RESULT."""


class Run:
    """One run as the log has told it so far."""

    def __init__(self, entry: Entry) -> None:
        self.run_id = entry.subject
        self.status = "running"
        self.model: str | None = entry.body["frame"].get("model")
        self.driver: str = entry.body["driver"]
        self.fence = 1
        self.number = 0
        self.attempt = 0
        self.is_open = False
        self.is_interrupted = False
        self.asks: set[str] = set()
        self.ends: Counter[str] = Counter()

    @property
    def is_active(self) -> bool:
        """It can still be steered."""
        return self.status in ("running", "paused")


class Request:
    """One request id as the log has told it so far."""

    def __init__(self, entry: Entry) -> None:
        self.request_id = entry.subject
        self.command: str = entry.body["request"]["command"]
        self.run_id: str = entry.body["request"]["run_id"]
        self.model: str = entry.body["request"]["payload"].get("model", "")
        self.state = "posted"
        self.is_acknowledged = False
        self.result: dict[str, Any] = {}


class Judge:
    """Hears events; counts what breaks a promise, and how much there was to look at."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.runs: dict[str, Run] = {}
        self.requests: dict[str, Request] = {}
        self._due: tuple[int, str, str] | None = None
        """The effect that must come right behind the RESULT just heard."""
        self._hears: dict[str, Callable[[Entry], None]] = {
            "control.requested": self._requested,
            "control.acknowledged": self._acknowledged,
            "control.resolved": self._resolved,
            "control.expired": self._expired,
            "ask.opened": self._ask_opened,
            "run.started": self._started,
        }
        self._moves: dict[str, Callable[[Run, Entry], None]] = {
            "run.taken": self._taken,
            "run.turn_begun": self._begun,
            "run.turn_ended": self._ended,
            "run.paused": self._paused,
            "run.resumed": self._resumed,
            "run.escalated": self._escalated,
            "run.aborted": self._aborted,
            "run.done": self._done,
        }

    def hear_all(self, entries: Iterable[Entry]) -> Judge:
        """Hear a whole log, and what is left undone at its end."""
        for entry in entries:
            self.hear(entry)
        self.close()
        return self

    def hear(self, entry: Entry) -> None:
        """Hear the next event."""
        due, self._due = self._due, None
        found = (entry.sequence, entry.type, entry.subject)
        if due is not None:
            self._tally.check(found == due, "out of order", ("due", due, "came", found))
        if entry.type in self._moves:
            self._move(entry, is_due=found == due)
        elif entry.type in self._hears:
            self._hears[entry.type](entry)
        elif entry.type.startswith("ask."):
            for run in self.runs.values():
                run.asks.discard(entry.subject)

    def close(self) -> None:
        """Nothing comes any more: look at what was left undone."""
        for request in self.requests.values():
            self._tally.check(request.state != "accepted", "without RESULT", request.request_id)
        for run in self.runs.values():
            self._tally.check(run.is_active or not run.asks, "asks left open", (run.run_id, run.asks))

    # Controls

    def _requested(self, entry: Entry) -> None:
        known = self.requests.get(entry.subject)
        # An id counts as new again only when nobody took its REQUEST up in time.
        is_new = known is None or known.state == "expired"
        self._tally.check(is_new, "executed twice", (entry.sequence, entry.subject))
        self.requests[entry.subject] = Request(entry)

    def _acknowledged(self, entry: Entry) -> None:
        request = self.requests[entry.subject]
        run = self.runs.get(request.run_id)
        is_right = request.state == "posted" and run is not None and run.is_active
        self._tally.check(
            is_right, "wrong verdicts", (entry.sequence, "an ACK", request.state, request.run_id)
        )
        request.state, request.is_acknowledged = "accepted", True

    def _resolved(self, entry: Entry) -> None:
        request = self.requests[entry.subject]
        payload = entry.message["payload"]
        if request.state == "resolved":
            self._tally.fault("executed twice", (entry.sequence, entry.subject, payload))
            return
        run = self.runs.get(request.run_id)
        expected = _verdict(request, run)
        told = payload.get("code") or payload["status"]
        # What names no active run gets its RESULT at once, without an ACK; all else is acknowledged first.
        is_acknowledged = request.state == "accepted" or expected == "not_found"
        is_right = told == expected and is_acknowledged and _is_well_worded(request, run, payload)
        self._tally.check(is_right, "wrong verdicts", (entry.sequence, request.command, payload, expected))
        request.state, request.result = "resolved", payload
        if told == "success":
            self._due = (entry.sequence + 1, EFFECTS[request.command], request.run_id)

    def _expired(self, entry: Entry) -> None:
        self.requests[entry.subject].state = "expired"

    # Runs

    def _started(self, entry: Entry) -> None:
        self._tally.check(entry.subject not in self.runs, "wrong numbers", (entry.sequence, "started twice"))
        self.runs[entry.subject] = Run(entry)

    def _move(self, entry: Entry, *, is_due: bool) -> None:
        run = self.runs[entry.subject]
        is_steered = entry.type in EFFECTS.values() and entry.body.get("reason") != "ERROR"
        is_explained = is_due or not is_steered
        self._tally.check(is_explained, "out of order", (entry.sequence, entry.type, entry.subject))
        self._tally.check(run.is_active, "after the end", (entry.sequence, entry.type, entry.subject))
        self._moves[entry.type](run, entry)
        self._check_state(run, entry)

    def _taken(self, run: Run, entry: Entry) -> None:
        fence = entry.body["fence"]
        self._tally.check(fence == run.fence + 1, "two drivers at once", (entry.sequence, fence, run.fence))
        run.fence, run.driver = fence, entry.body["driver"]
        run.is_interrupted, run.is_open = run.is_open or run.is_interrupted, False

    def _begun(self, run: Run, entry: Entry) -> None:
        self._tally.check(run.status != "paused", "begun while paused", (entry.sequence, run.run_id))
        self._tally.check(not run.is_open, "two drivers at once", (entry.sequence, run.run_id, "is open"))
        expected = (run.number, run.attempt + 1) if run.is_interrupted else (run.number + 1, 1)
        run.number, run.attempt = entry.body["number"], entry.body["attempt"]
        self._tally.check((run.number, run.attempt) == expected, "wrong numbers", (entry.sequence, expected))
        self._tally.add("begun again", run.attempt > 1)
        run.is_open, run.is_interrupted = True, False

    def _ended(self, run: Run, entry: Entry) -> None:
        is_right = run.is_open and entry.body["number"] == run.number
        self._tally.check(
            is_right, "wrong numbers", (entry.sequence, "ended", entry.body["number"], run.number)
        )
        run.is_open = False

    def _paused(self, run: Run, _: Entry) -> None:
        run.status = "paused"

    def _resumed(self, run: Run, _: Entry) -> None:
        run.status = "running"

    def _escalated(self, run: Run, entry: Entry) -> None:
        run.model = entry.body["model"]

    def _aborted(self, run: Run, _: Entry) -> None:
        run.status = "aborted"
        run.ends["ABORT"] += 1

    def _done(self, run: Run, _: Entry) -> None:
        run.status = "done"
        run.ends["DONE"] += 1

    def _check_state(self, run: Run, entry: Entry) -> None:
        """Compare what the run says of itself on its topic with what the events add up to."""
        if entry.type == "run.turn_ended":
            return
        said = entry.message
        stack = said["stack"]
        word = {"done": "DONE", "aborted": "ABORT"}.get(run.status, "STATE")
        is_right = said["event"] == word and said["run_id"] == run.run_id and bool(stack) == run.is_active
        if run.is_active and is_right:
            is_right = (said.get("status", "running"), stack[-1]["iter"], stack[-1].get("model")) == (
                run.status,
                max(1, run.number),
                run.model,
            )
        self._tally.check(is_right, "STATE differs", (entry.sequence, run.status, run.number, said))

    def _ask_opened(self, entry: Entry) -> None:
        run = self.runs.get(entry.body["run_id"] or "")
        if run is not None:
            self._tally.check(run.is_active, "asks left open", (entry.sequence, "opened for an ended run"))
            run.asks.add(entry.subject)


def _verdict(request: Request, run: Run | None) -> str:
    """Return the code that the request must get now, or `success`: the state matrix of I-X9."""
    if run is None or not run.is_active:
        return "not_found"
    can = {
        "pause": run.status == "running",
        "resume": run.status == "paused",
        "cancel": True,
        "escalate": run.model != request.model,
    }
    return "success" if can[request.command] else "invalid_state"


def _is_well_worded(request: Request, run: Run | None, payload: dict[str, Any]) -> bool:
    """Say whether a success names what the text wants named (I27, I28)."""
    if run is None or payload["status"] != "success":
        return True
    if request.command == "pause":
        return payload.get("message") == f"Loop paused at iteration {max(1, run.number)}"
    if request.command == "escalate":
        return (payload["previous_model"], payload["new_model"]) == (run.model, request.model)
    return True
