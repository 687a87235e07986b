"""A recorded run played back: its REQUESTs come again at once, after a restart, minutes and a day later.

Nothing is executed again, ever. Whoever repeats a request within five minutes of its RESULT gets that again; later, or
with anything changed under the same id, `duplicate`. The clock is ours, so a day takes no time; the restarts are real.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from assent.hub.ids import new_request_id
from torture.judge import BROKEN, Judge
from torture.log import read_log
from torture.nest import Nest, Worker
from torture.replays_roles import PROJECT, RUNS, SPECIAL, Sent, Told
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

REQUESTS = 1_000
KINDS = ("executed again", "wrong replies", *BROKEN, "audit problems")
MOMENTS = (
    ("after a restart", 5.0, True),
    ("after 3 minutes", 180.0, False),
    ("after 6 minutes", 360.0, True),
    ("after a day", 86_400.0, True),
)
"""When all is played back, in seconds after the recording, and whether by a process that was not there before."""
WINDOW = 300.0
PROCESSED = {"status": "failure", "code": "duplicate", "message": "Request ID was already processed"}
_EXPIRY = 31.0


class Request(msgspec.Struct, frozen=True):
    """One request as it was recorded."""

    request_id: str
    command: str
    run_id: str
    model: str = ""

    def text(self, **changed: Any) -> str:
        """Return its message; `changed` replaces fields, None takes them out."""
        message = {
            "schema": 0,
            "type": "REQUEST",
            "request_id": self.request_id,
            "command": self.command,
            "target": {"run_id": self.run_id},
            "timestamp": "2024-12-28T10:00:00Z",
            "payload": {"model": self.model, "reason": "stuck"} if self.model else {},
        }
        kept = {name: value for name, value in (message | changed).items() if value is not None}
        return msgspec.json.encode(kept).decode()

    def sent(self, way: str = "post", **changed: Any) -> Sent:
        """Return it as it is posted."""
        return Sent(self.text(**changed), way)


class Office:
    """The process that posts, and the clock that it goes by."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self.seconds = 0.0
        self._worker = self._open()

    def _open(self) -> Worker:
        role = "torture.replays_roles:office"
        worker = self._nest.start(role, store=str(self._nest.store), seconds=self.seconds)
        worker.hear()
        return worker

    def restart(self) -> None:
        """Kill it and open another."""
        self._worker.kill()
        self._worker = self._open()

    def post(self, *messages: Sent) -> list[Told]:
        """Post messages, one after the other, while the clock goes on."""
        self._worker.say(posts=messages, seconds=self.seconds)
        told = msgspec.convert(self._worker.hear()["told"], list[Told])
        self.seconds = told[-1].at
        return told

    def begin(self, run_id: str) -> None:
        """Begin one more run."""
        self._worker.say(begin=run_id)
        self._worker.hear()

    def types(self, after: int) -> list[str]:
        """Return the types of the events after a number."""
        self._worker.say(types=after)
        types: list[str] = self._worker.hear()["types"]
        return types


class Tape:
    """What was recorded: each request, and its first RESULT with the moment."""

    def __init__(self, tally: Tally, office: Office) -> None:
        self._tally = tally
        self._office = office
        self.results: dict[Request, Told] = {}

    def record(self, *requests: Request) -> None:
        """Send each, and at once again."""
        told = self._office.post(*(request.sent() for request in requests for _ in range(2)))
        for request, first, second in zip(requests, told[::2], told[1::2], strict=True):
            self.results[request] = first
            self._tally.add("recorded")
            self._tally.add("executed", first.is_success)
            self.check(request, second)

    def check(self, request: Request, told: Told, *, is_changed: bool = False) -> None:
        """Compare what a repeated request got with the rule."""
        first = self.results[request]
        is_cached = told.at - first.at < WINDOW and not is_changed
        self._tally.add("cached" if is_cached else "duplicate")
        expected = first.payload if is_cached else PROCESSED
        # Decided rule 1 and I20: the payload again, under a time of its own.
        is_own = None not in (told.timestamp, first.timestamp) and told.timestamp != first.timestamp
        is_right = told.payload == expected and is_own
        self._tally.check(is_right, "wrong replies", (request, told, first))

    def play_back(self, chance: Random) -> None:
        """Send everything again: as it was, spelled otherwise, or with something changed under the same id."""
        sent: list[tuple[Request, Sent, bool]] = []
        for request in self.results:
            sent.append((request, request.sent(), False))
            if chance.random() < 0.3:
                sent.append((request, request.sent(timestamp="2031-05-01T09:00:00+00:00", extra=1), False))
            if chance.random() < 0.5:
                sent.append((request, request.sent(**_change(chance, request)), True))
        told = self._office.post(*(message for _, message, _ in sent))
        for (request, _, is_changed), reply in zip(sent, told, strict=True):
            self._tally.add("played back")
            self._tally.add("changed under its id", is_changed)
            self.check(request, reply, is_changed=is_changed)


def _change(chance: Random, request: Request) -> dict[str, Any]:
    others: list[dict[str, Any]] = [
        {"command": "cancel" if request.command != "cancel" else "pause", "payload": {}},
        {"target": {"run_id": request.run_id, "issue_id": "auth-123"}},
        {"target": {"run_id": f"{request.run_id}-other"}},
        {"payload": {"model": "sonnet", "reason": "stuck"}},
    ]
    return chance.choice(others)


def run(plan: Plan) -> Verdict:
    """Record, play back, and compare replies and log with the rule."""
    tally = Tally(KINDS)
    chance = plan.chance()
    count = plan.count(REQUESTS, 30)
    with Nest(plan.twin, in_memory=True) as nest:
        office = Office(nest)
        tape = Tape(tally, office)
        tape.record(*_script(chance, count))
        _record_misfortunes(tally, office, tape)
        recorded_at = office.seconds
        for name, after, is_restarted in MOMENTS:
            office.seconds = max(office.seconds, recorded_at + after)
            if is_restarted:
                office.restart()
                tally.add("restarts")
            # In whatever state the runs are: what is played back would do something to some of them.
            first = office.post(*_stir())[-1].sequence
            tape.play_back(chance)
            for type_ in office.types(first):
                tally.check(not type_.startswith("run."), "executed again", (name, type_))
            plan.progress(f"played back {name}: {tally.counts['played back']:,}")
        log = read_log(nest, PROJECT)
    Judge(tally).hear_all(log.entries)
    for problem in log.problems:
        tally.fault("audit problems", problem)
    tally.require("recorded", count)
    tally.require("executed", count * 6 // 10)
    tally.require("played back", count * len(MOMENTS))
    tally.require("restarts", 3)
    for name in ("cached", "duplicate", "changed under its id"):
        tally.require(name, count // 2)
    for name in ("in flight", "expired, then executed", "corrected, then executed", "refused, then possible"):
        tally.require(name)
    return tally.verdict()


def _script(chance: Random, count: int) -> list[Request]:
    """Steer the runs back and forth, sensibly but for a few; some are cancelled at the end."""
    requests: list[Request] = []
    is_paused, models = dict.fromkeys(RUNS, False), dict.fromkeys(RUNS, "haiku")
    for _ in range(count - len(RUNS) // 3):
        run_id = chance.choice(RUNS)
        fitting = "resume" if is_paused[run_id] else "pause"
        kind = chance.choices(("steer", "escalate", "wrong"), (5, 4, 1))[0]
        if kind == "escalate":
            models[run_id] = "haiku" if models[run_id] == "opus" else "opus"
            requests.append(Request(new_request_id(), "escalate", run_id, models[run_id]))
        elif kind == "steer":
            is_paused[run_id] = not is_paused[run_id]
            requests.append(Request(new_request_id(), fitting, run_id))
        else:
            refused = "pause" if is_paused[run_id] else "resume"
            requests.append(Request(new_request_id(), refused, run_id))
    cancels = [Request(new_request_id(), "cancel", run_id) for run_id in RUNS[::3]]
    return [*requests, *cancels]


def _stir() -> list[Sent]:
    """Turn every run round: what was paused goes on, what ran is paused."""
    commands = ("resume", "pause")
    steps = [Request(new_request_id(), command, run_id) for run_id in RUNS[1::3] for command in commands]
    steps += [
        Request(new_request_id(), command, run_id) for run_id in RUNS[2::3] for command in commands[::-1]
    ]
    return [step.sent() for step in steps]


def _record_misfortunes(tally: Tally, office: Office, tape: Tape) -> None:
    """Requests whose first try came to nothing, or came in the middle of another."""
    late = Request(new_request_id(), "pause", SPECIAL)
    office.post(late.sent("leave"))
    office.seconds += _EXPIRY
    tape.record(late)  # nobody took it up in time: an id as good as new
    tally.add("expired, then executed", tape.results[late].is_success)

    wrong = Request(new_request_id(), "resume", SPECIAL)
    for told in office.post(*[wrong.sent(payload=None)] * 2):
        tally.check(told.code == "bad_request", "wrong replies", told)
    tape.record(wrong)
    tally.add("corrected, then executed", tape.results[wrong].is_success)

    early = Request(new_request_id(), "pause", "loop-later-archive")
    tape.record(early)
    office.begin(early.run_id)
    for told in office.post(*[early.sent()] * 2):
        tape.check(early, told)
    tally.add("refused, then possible", tape.results[early].code == "not_found")

    for command in ("pause", "resume") * 3:
        twice = Request(new_request_id(), command, SPECIAL)
        told = office.post(twice.sent("twice"))[0]
        tape.results[twice] = told
        is_in_flight = told.is_success and told.repeat == "duplicate"
        tally.add("in flight", is_in_flight)
        # In one transaction with the first the second is too early, in a later one it gets the RESULT.
        tally.check(is_in_flight or told.repeat == "success", "wrong replies", told)


TRIAL = Trial(
    "replays",
    "a recorded REQUEST sent again, at once, after restarts, after six minutes or a day, is never executed again",
    run,
    (
        Twin("forget-requests-at-restart", "request ids are kept in the store", "executed again", 0.03),
        Twin("forget-requests-after-the-window", "request ids are kept for ever", "executed again", 0.03),
        Twin("repeat-results-for-ever", "a RESULT is repeated for five minutes", "wrong replies", 0.03),
    ),
)
