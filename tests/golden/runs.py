"""Stories of runs: driven, steered in the four example flows and beyond, and left by drivers and senders that died."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta

import pytest

from assent.engine.run import BeginTurn, EndTurn, FinishRun, StartRun
from assent.protocol.error import AssentError
from assent.protocol.run import DoneReason
from assent.protocol.topic import CONTROL_TOPIC
from tests.golden.stage import Stage
from tests.run_samples import REQUEST_ID, RUN_ID, new_frame, request_text
from tests.steering import drive, execute, post

__all__ = ["STORIES"]


def run_goes_to_its_end(stage: Stage) -> None:
    """Three iterations, and no more."""
    with stage.coder.run(run_id=RUN_ID, max=3, model="haiku", title="Tidy up") as run:
        for _ in run:
            stage.clock.advance(1)


def run_is_finished_early(stage: Stage) -> None:
    """By its agent, with output that was told."""
    with stage.coder.run(run_id=RUN_ID) as run:
        for _ in run:
            run.tell("half done\n")
            run.finish("COMPLETE")


def run_breaks(stage: Stage) -> None:
    """An error ends it, in its own words."""
    with suppress(ZeroDivisionError), stage.coder.run(run_id=RUN_ID) as run:
        for _ in run:
            raise ZeroDivisionError("by nothing")


def run_has_a_frame_inside(stage: Stage) -> None:
    """An issue inside a loop."""
    with stage.coder.run(run_id=RUN_ID, max=1) as run:
        for _ in run:
            with run.nested(issue_id="iss-7", max=1) as inner:
                for _ in inner:
                    stage.clock.advance(1)


def _begin(stage: Stage) -> None:
    drive(stage.hub, StartRun(RUN_ID, new_frame(model="haiku"), "host:1"))
    drive(stage.hub, BeginTurn(RUN_ID, 1))


def run_is_paused_and_resumed(stage: Stage) -> None:
    """Flows A and B: by somebody in another process, between two iterations."""
    _begin(stage)
    stage.ana.control(RUN_ID, "pause", request_id="req-pause-001")
    stage.clock.advance(1)
    drive(stage.hub, EndTurn(RUN_ID, 1))
    stage.ana.control(RUN_ID, "resume", request_id="req-resume-001", issue_id="iss-1")
    drive(stage.hub, BeginTurn(RUN_ID, 1))


def run_is_paused_in_its_last_iteration(stage: Stage) -> None:
    """It is held before its end, and ends when it is resumed."""
    drive(stage.hub, StartRun(RUN_ID, new_frame(max=1), "host:1"))
    drive(stage.hub, BeginTurn(RUN_ID, 1))
    stage.ana.control(RUN_ID, "pause", request_id="req-pause-001")
    drive(stage.hub, EndTurn(RUN_ID, 1))
    stage.ana.control(RUN_ID, "resume", request_id="req-resume-001")


def run_is_cancelled(stage: Stage) -> None:
    """Flow C: what it asked is withdrawn."""
    _begin(stage)
    stage.coder.open("Which database?", ["PostgreSQL", "SQLite"], run_id=RUN_ID)
    stage.ana.control(RUN_ID, "cancel", request_id="req-cancel-001")


def run_is_escalated(stage: Stage) -> None:
    """Flow D: to a model that is named, then to the default."""
    _begin(stage)
    stage.ana.escalate(RUN_ID, model="sonnet", reason="it repeats itself")
    drive(stage.hub, EndTurn(RUN_ID, 1))
    drive(stage.hub, BeginTurn(RUN_ID, 1))
    stage.ana.control(RUN_ID, "escalate", request_id="req-escalate-002")


def command_does_not_fit(stage: Stage) -> None:
    """Resumed while it runs, paused twice, and after its end."""
    _begin(stage)
    for command in ("resume", "pause", "pause"):
        stage.ana.control(RUN_ID, command)
    drive(stage.hub, EndTurn(RUN_ID, 1))
    stage.ana.control(RUN_ID, "cancel")
    stage.ana.control(RUN_ID, "pause")


def request_has_fields_that_nobody_knows(stage: Stage) -> None:
    """They stay on the topic as they were written; a request for no run of ours is told so."""
    _begin(stage)
    told = json.loads(request_text("pause"))
    text = json.dumps(told | {"trace": {"b": 1, "a": [1.0, "ü"]}}, indent=1).encode()
    post(stage.hub, text)
    execute(stage.hub, REQUEST_ID)
    stage.ana.post_text(
        CONTROL_TOPIC, request_text("pause", request_id="other", target={"run_id": "no-such-run"})
    )
    with pytest.raises(AssentError):
        stage.ana.post_text(CONTROL_TOPIC, b'{"type":"REQUEST"}')


def sender_dies_between_the_two_transactions(stage: Stage) -> None:
    """What was acknowledged is executed by whoever takes the project's head next."""
    _begin(stage)
    post(stage.hub, request_text("pause"))
    stage.clock.advance(1)
    stage.coder.open("Which database?", ["PostgreSQL", "SQLite"])


def request_is_taken_by_nobody(stage: Stage) -> None:
    """Left on the topic, it is too old after half a minute."""
    _begin(stage)
    post(stage.hub, request_text("pause"), is_left=True)
    stage.clock.advance(timedelta(seconds=31))
    drive(stage.hub, EndTurn(RUN_ID, 1))


def request_is_sent_twice(stage: Stage) -> None:
    """Executed once; its RESULT comes again."""
    _begin(stage)
    for _ in range(2):
        stage.ana.control(RUN_ID, "pause", request_id=REQUEST_ID)


def topic_of_ones_own_is_posted_on(stage: Stage) -> None:
    """As JSON and as text."""
    stage.coder.post("deploys", {"b": [1, 2.5, None], "a": "ü"})
    stage.coder.post_text("deploys", b'{ "as": "written" }')


def run_is_taken_over(stage: Stage) -> None:
    """The second driver has the next fence, and the first is refused."""
    _begin(stage)
    stage.clock.advance(timedelta(minutes=10))
    drive(stage.hub, StartRun(RUN_ID, new_frame(model="haiku"), "host:2"))
    with pytest.raises(AssentError):
        drive(stage.hub, EndTurn(RUN_ID, 1))
    drive(stage.hub, BeginTurn(RUN_ID, 2))
    drive(stage.hub, EndTurn(RUN_ID, 2))
    drive(stage.hub, FinishRun(RUN_ID, 2, DoneReason.COMPLETE))


STORIES = (
    run_goes_to_its_end,
    run_is_finished_early,
    run_breaks,
    run_has_a_frame_inside,
    run_is_paused_and_resumed,
    run_is_paused_in_its_last_iteration,
    run_is_cancelled,
    run_is_escalated,
    command_does_not_fit,
    request_has_fields_that_nobody_knows,
    sender_dies_between_the_two_transactions,
    request_is_taken_by_nobody,
    request_is_sent_twice,
    topic_of_ones_own_is_posted_on,
    run_is_taken_over,
)
