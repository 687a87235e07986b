"""Runs and controls against a written model: any order of commands, restarts, and steps of the clock both ways."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from assent.hub.audit import verify
from assent.hub.command import (
    BeginTurn,
    EndTurn,
    FinishRun,
    PopFrame,
    PushFrame,
    Request,
    StartRun,
    Tick,
)
from assent.hub.desk import Desk
from assent.hub.hub import Hub
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal
from assent.protocol.run import DoneReason, RunId
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from assent.storage.sqlite.store import SqliteStore
from assent.testing import throwaway
from tests.chance import run_until
from tests.hub.run_model import Model, RefusedError
from tests.proves import proves
from tests.run_samples import new_frame, request_text
from tests.samples import AGENT, ANA, NOON, microseconds
from tests.steering import PROJECT, post, tell

__all__: list[str] = []

RUNS = st.sampled_from(["r1", "r2"])
COMMANDS = st.sampled_from(["pause", "resume", "escalate", "pause", "resume", "escalate", "cancel"])
OLDER = st.integers(0, 8)
"""Which request id is meant: a new one, or how far back an old one."""
MODELS = st.sampled_from(["opus", "sonnet"])
FENCES = st.sampled_from([0, 0, 0, 0, -1])
"""What a driver's fence differs by from the present one: mostly nothing."""
DEPTHS = st.sampled_from([0, 0, 1])
SIGNALS = st.sampled_from([None] * 10 + [reason.value for reason in DoneReason])


class Hands:
    """A clock that stands where the model puts it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def now(self) -> int:
        """Return microseconds since 1970."""
        return microseconds(NOON + timedelta(seconds=self._model.now))


class Steering(RuleBasedStateMachine):
    """A hub that is restarted, beside the model."""

    reached: ClassVar[set[str]] = set()
    """The types of event that came about in any example."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.clock = Hands(self.model)
        self.place = throwaway(project=PROJECT)
        self.hub = self.new_hub()
        self.seen = {CONTROL_TOPIC: 0, CURRENT_TOPIC: 0}
        self.told: dict[str, list[tuple[str, str, str]]] = {CONTROL_TOPIC: [], CURRENT_TOPIC: []}

    def new_hub(self) -> Hub:
        """Open the store anew."""
        return Hub(SqliteStore(self.place.path), self.clock)

    def fence(self, run_id: str, off: int) -> int:
        """Return a fence near the present one."""
        run = self.model.runs.get(run_id)
        return (run.fence if run else 1) + off

    def both(self, expected: Callable[[], None], request: Request, by: Principal = AGENT) -> None:
        """Do the same to the model and to the hub, and compare whether it was refused, and why."""
        with refusal() as wanted:
            expected()
        with refusal() as got:
            tell(self.hub, request, by)
        assert got == wanted

    # Time and crashes

    @rule(seconds=st.sampled_from([1, 5, 29, 30, 31, 120, 290, 310, -40, -400]))
    def step_the_clock(self, seconds: float) -> None:
        """Let time go by, or set the clock back."""
        self.model.now += seconds

    @rule()
    def restart(self) -> None:
        """Another process takes the place of this one."""
        self.hub.close()
        self.hub = self.new_hub()

    @rule()
    def look(self) -> None:
        """Somebody only looks; what is due is done on the way."""
        if self.model.waiting:
            self.model.take_head()
        with self.hub.reading():
            pass

    @rule()
    def tick(self) -> None:
        """A transaction that wants nothing."""
        self.both(self.model.take_head, Tick())

    # The controller

    @rule(back=OLDER, command=COMMANDS, run_id=RUNS, model=MODELS, is_left=st.booleans())
    def post_request(self, back: int, command: str, run_id: str, model: str, is_left: bool) -> None:
        """Post a REQUEST, of an old id or of a new one."""
        self.put(
            self.request_id(back), command, run_id, model if command == "escalate" else "", is_left=is_left
        )

    @rule(back=OLDER, is_left=st.booleans())
    def post_again(self, back: int, is_left: bool) -> None:
        """Replay an old REQUEST, word for word."""
        asked = self.model.asked.get(self.request_id(back))
        if asked is not None:
            self.put(self.request_id(back), asked.command, asked.run_id, asked.model, is_left=is_left)

    @rule(run_id=RUNS, command=st.sampled_from(["pause", "resume"]))
    def steer(self, run_id: str, command: str) -> None:
        """Do both transactions of a command."""
        self.put(self.request_id(0), command, run_id, "", is_left=False)
        self.tick()

    @rule(run_id=RUNS, seconds=st.sampled_from([30, 31]))
    def leave_a_request_lying(self, run_id: str, seconds: float) -> None:
        """Post a REQUEST and let time go by before anybody comes."""
        self.put(self.request_id(0), "pause", run_id, "", is_left=True)
        self.model.now = self.model.at + seconds

    def request_id(self, back: int) -> str:
        """Return a new id, or one of those that were used last."""
        return f"req-{max(0, len(self.model.asked) - back)}"

    def put(self, request_id: str, command: str, run_id: str, model: str, *, is_left: bool) -> None:
        """Post it here and there."""
        payload = {"model": model} if model else {}
        text = request_text(command, request_id=request_id, target={"run_id": run_id}, payload=payload)
        self.model.post(request_id, command, run_id, model, is_left=is_left)
        post(self.hub, text, ANA, is_left=is_left)

    # The driver

    @initialize()
    def start_both(self) -> None:
        """Begin with two runs."""
        for run_id in ("r1", "r2"):
            self.start(run_id, 4)

    @rule(run_id=RUNS, most=st.integers(1, 4))
    def start(self, run_id: str, most: int) -> None:
        """Begin a run, or take it over."""
        command = StartRun(RunId(run_id), new_frame(id=run_id, max=most), "host:1")
        self.both(lambda: self.model.start(run_id, most), command)

    @rule(run_id=RUNS, off=FENCES, depth=DEPTHS)
    def begin(self, run_id: str, off: int, depth: int) -> None:
        """Begin an iteration."""
        fence = self.fence(run_id, off)
        self.both(lambda: self.model.begin(run_id, fence, depth), BeginTurn(RunId(run_id), fence, depth))

    @rule(
        run_id=RUNS,
        off=FENCES,
        depth=DEPTHS,
        signal=SIGNALS,
        failure=st.sampled_from([""] * 12 + ["boom"]),
    )
    def end(self, run_id: str, off: int, depth: int, signal: str | None, failure: str) -> None:
        """End an iteration."""
        fence = self.fence(run_id, off)
        reason = None if signal is None else DoneReason(signal)
        self.both(
            lambda: self.model.end(run_id, fence, depth, signal, failure),
            EndTurn(RunId(run_id), fence, depth, reason, failure),
        )

    @rule(run_id=RUNS, off=FENCES, most=st.integers(1, 3))
    def push(self, run_id: str, off: int, most: int) -> None:
        """Begin a loop inside a loop."""
        fence = self.fence(run_id, off)
        command = PushFrame(RunId(run_id), fence, new_frame(id="inner", max=most), 1)
        self.both(lambda: self.model.push(run_id, fence, most), command)

    @rule(run_id=RUNS, most=st.integers(1, 2))
    def turn_with_a_loop_inside(self, run_id: str, most: int) -> None:
        """Go through a whole iteration with a loop in it, as far as the run lets one."""
        self.begin(run_id, 0, 0)
        self.push(run_id, 0, most)
        self.begin(run_id, 0, 1)
        self.end(run_id, 0, 1, None, "")

    @rule(run_id=RUNS, off=FENCES, depth=st.sampled_from([1, 1, 1, 0, None]))
    def pop_or_finish(self, run_id: str, off: int, depth: int | None) -> None:
        """End a loop, or the run."""
        fence = self.fence(run_id, off)
        if depth is None:
            self.both(lambda: self.model.finish(run_id, fence), FinishRun(RunId(run_id), fence))
        else:
            self.both(lambda: self.model.pop(run_id, fence, depth), PopFrame(RunId(run_id), fence, depth))

    # What must hold

    @invariant()
    def record_is_what_the_model_says(self) -> None:
        """Status, fence and every loop."""
        with self.hub.store.reading() as reader:
            kept = {run.run_id: run for run in reader.runs(PROJECT, 10, active=False)}
        assert kept.keys() == self.model.runs.keys()
        for run_id, wanted in self.model.runs.items():
            run = kept[RunId(run_id)]
            assert (run.status, run.fence, run.reason) == (wanted.status, wanted.fence, wanted.reason)
            loops = [
                (
                    level.frame.max,
                    level.frame.iter,
                    level.is_open,
                    level.attempt,
                    level.is_interrupted,
                    level.frame.model,
                )
                for level in run.levels
            ]
            assert loops == [
                (loop.most, loop.number, loop.is_open, loop.attempt, loop.is_interrupted, loop.model)
                for loop in wanted.loops
            ]

    @invariant()
    def topics_are_what_the_model_says(self) -> None:
        """Every message, in its order."""
        for name, wanted in ((CONTROL_TOPIC, self.model.control), (CURRENT_TOPIC, self.model.current)):
            with self.hub.store.reading() as reader:
                news = reader.messages(PROJECT, name, self.seen[name], 1_000)
            if news:
                self.seen[name] = news[-1].sequence
                self.told[name] += [word_of(json.loads(bytes(message.body))) for message in news]
            assert self.told[name] == wanted

    def teardown(self) -> None:
        """Look at the whole log once more, without the model, and have it audited."""
        try:
            with self.hub.store.reading() as reader:
                records = reader.records(PROJECT, 0, 10_000)
            self.reached.update(record.type for record in records)
            check_log([(record.type, json.loads(record.body or b"{}")) for record in records])
            assert [record.sequence for record in records] == list(range(1, len(records) + 1))
            assert verify(self.hub.store).problems == ()
        finally:
            self.hub.close()
            self.place.close()


def word_of(body: dict[str, Any]) -> tuple[str, str, str]:
    """Return a message as the model keeps it."""
    if body["schema"] == 1:
        return body["event"], body["run_id"], body.get("reason") or body.get("status") or ""
    payload = body["payload"]
    outcome = payload.get("code") or payload.get("status", "") if body["type"] == "RESULT" else ""
    return body["type"], body["request_id"], outcome


@contextmanager
def refusal() -> Iterator[list[str]]:
    """Give the code with which what is done inside is refused, if it is."""
    codes: list[str] = []
    try:
        yield codes
    except RefusedError as error:
        codes.append(str(error))
    except AssentError as error:
        codes.append(error.code)


def check_log(log: list[tuple[str, dict[str, Any]]]) -> None:
    """Check the claims that need no model.

    One execution an id, its RESULT right before what it causes, nothing begun while paused, nothing after an end.
    """
    executed = Counter(body["request_id"] for kind, body in log if kind == "control.resolved")
    assert all(count == 1 for count in executed.values())
    for (kind, body), (before, told) in zip(log, [("", {}), *log], strict=False):
        if kind in {"run.paused", "run.resumed", "run.escalated"} or body.get("reason") == "USER_CANCELLED":
            assert before == "control.resolved"
            assert (told["message"]["payload"]["status"], told["message"]["target"]["run_id"]) == (
                "success",
                body["run_id"],
            )
    paused: dict[str, bool] = {}
    ended: set[str] = set()
    for kind, body in log:
        if not kind.startswith("run."):
            continue
        run_id = body["run_id"]
        assert run_id not in ended
        assert not (kind in {"run.turn_begun", "run.done"} and paused.get(run_id))
        if kind in {"run.paused", "run.resumed"}:
            paused[run_id] = kind == "run.paused"
        elif kind in {"run.done", "run.aborted"}:
            ended.add(run_id)


@proves("I5", "I9", "I10", "I11", "I31", "I32", "I44", "I45")
def test_runs_and_controls_behave_as_the_model_says() -> None:
    """Whatever comes in whichever order; each example ends with an audit."""
    bounds = settings(max_examples=50, stateful_step_count=40)
    rare = {"control.expired", "control.replied", "run.taken", "run.resumed", "run.held"}
    run_until(Steering, bounds, lambda: Steering.reached >= rare)
    assert Steering.reached >= rare


def test_model_notices_a_machine_that_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin: a hub that executes nothing of what it accepted is found out."""
    monkeypatch.setattr(Desk, "_catch_up", lambda *_: None)
    bounds = settings(
        max_examples=40,
        stateful_step_count=40,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        print_blob=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Steering, settings=bounds)
