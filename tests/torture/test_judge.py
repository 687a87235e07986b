"""The judge of run control: it is content with a right log, and finds each broken promise in a wrong one."""

from typing import Any

import pytest

from torture.judge import BROKEN, Judge
from torture.log import Entry
from torture.trial import Tally

__all__: list[str] = []

RUN = "loop-1-test"


class Story:
    """A log in the making."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.frame = {"id": RUN, "mode": "loop", "iter": 1, "max": 10, "model": "haiku"}

    def add(self, type_: str, subject: str = RUN, **body: Any) -> None:
        """Add one event."""
        self.entries.append(Entry(len(self.entries) + 1, type_, subject, None, body))

    def run(self, type_: str, *, event: str = "STATE", status: str | None = None, **body: Any) -> None:
        """Add an event of the run, with what it says on its topic."""
        stack = [dict(self.frame)] if event == "STATE" else []
        said = {"schema": 1, "event": event, "run_id": RUN, "stack": stack}
        self.add(type_, message=said | ({"status": status} if status else {}), **body)

    def start(self) -> None:
        """Begin the run."""
        self.run("run.started", frame=self.frame, driver="vm:1")

    def turn(self, number: int = 1, attempt: int = 1, **said: Any) -> None:
        """Begin an iteration."""
        self.frame["iter"] = number
        self.run("run.turn_begun", number=number, attempt=attempt, **said)

    def ask(self, name: str, command: str) -> None:
        """Post a REQUEST and acknowledge it."""
        self.add("control.requested", name, request={"command": command, "run_id": RUN, "payload": {}})
        self.add("control.acknowledged", name)

    def tell(self, name: str, **payload: Any) -> None:
        """Give it its RESULT."""
        self.add("control.resolved", name, message={"payload": {"status": "success"} | payload})

    def pause(self, name: str = "p") -> None:
        """Pause the run as it should be done."""
        self.ask(name, "pause")
        self.tell(name, message=f"Loop paused at iteration {self.frame['iter']}")
        self.run("run.paused", status="paused")

    def cancel(self, name: str = "c") -> None:
        """Cancel it as it should be done."""
        self.ask(name, "cancel")
        self.tell(name)
        self.run("run.aborted", event="ABORT", reason="USER_CANCELLED")


def found(story: Story) -> dict[str, int]:
    """Return what the judge finds wrong."""
    tally = Tally(BROKEN)
    Judge(tally).hear_all(story.entries)
    return {kind: number for kind, number in tally.verdict().faults.items() if number}


def test_judge_of_a_right_log_finds_nothing() -> None:
    """Pause, takeover, resume, an interrupted iteration, a refusal, an ask and a cancel: all as it must be."""
    story = Story()
    story.start()
    story.turn()
    story.pause()
    story.run("run.taken", status="paused", fence=2, driver="vm:2")
    story.ask("q", "pause")
    story.tell("q", status="failure", code="invalid_state")
    story.ask("r", "resume")
    story.tell("r")
    story.run("run.resumed")
    story.turn(1, 2)
    story.add("run.turn_ended", number=1)
    story.turn(2)
    story.add("ask.opened", "ask_1", run_id=RUN)
    story.cancel()
    story.add("ask.withdrawn", "ask_1")
    story.add("control.requested", "late", request={"command": "resume", "run_id": RUN, "payload": {}})
    story.tell("late", status="failure", code="not_found")
    assert found(story) == {}


def begun_while_paused(story: Story) -> None:
    """An iteration begins in the pause."""
    story.pause()
    story.turn(status="paused")


def after_the_end(story: Story) -> None:
    """A message after ABORT."""
    story.cancel()
    story.run("run.done", event="DONE", reason="COMPLETE")


def wrong_numbers(story: Story) -> None:
    """An iteration is left out."""
    story.turn(2)


def two_drivers(story: Story) -> None:
    """A new driver under the fence of the old one."""
    story.run("run.taken", fence=1, driver="vm:2")


def executed_twice(story: Story) -> None:
    """A second RESULT for one request."""
    story.pause()
    story.tell("p", message="Loop paused at iteration 1")


def out_of_order(story: Story) -> None:
    """The state event comes without the RESULT that causes it."""
    story.run("run.paused", status="paused")


def effect_left_out(story: Story) -> None:
    """A RESULT that says success, and no state event behind it."""
    story.ask("p", "pause")
    story.tell("p", message="Loop paused at iteration 1")
    story.turn()


def wrong_verdict(story: Story) -> None:
    """A running loop cannot be resumed."""
    story.ask("r", "resume")
    story.tell("r")
    story.run("run.resumed")


def without_result(story: Story) -> None:
    """Acknowledged, and never answered."""
    story.ask("p", "pause")


def state_differs(story: Story) -> None:
    """Paused, and the topic does not say so."""
    story.ask("p", "pause")
    story.tell("p", message="Loop paused at iteration 1")
    story.run("run.paused")


def ask_left_open(story: Story) -> None:
    """The run has ended, and its ask waits on."""
    story.add("ask.opened", "ask_1", run_id=RUN)
    story.cancel()


WRONG = {
    begun_while_paused: "begun while paused",
    after_the_end: "after the end",
    wrong_numbers: "wrong numbers",
    two_drivers: "two drivers at once",
    executed_twice: "executed twice",
    out_of_order: "out of order",
    effect_left_out: "out of order",
    wrong_verdict: "wrong verdicts",
    without_result: "without RESULT",
    state_differs: "STATE differs",
    ask_left_open: "asks left open",
}


@pytest.mark.parametrize(("spoil", "kind"), WRONG.items(), ids=[spoil.__name__ for spoil in WRONG])
def test_judge_of_a_wrong_log_finds_what_is_wrong(spoil: Any, kind: str) -> None:
    """Each kind of broken promise is found where it is made, and only that one."""
    story = Story()
    story.start()
    spoil(story)
    assert set(found(story)) == {kind}


def test_every_kind_that_the_judge_can_find_is_made_here() -> None:
    """No check of the judge is one that cannot fail."""
    assert set(WRONG.values()) == set(BROKEN)
