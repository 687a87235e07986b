"""A run's messages on `loop:current`, key by key; how it is shown; and which ids are ids."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.protocol.run import (
    CURRENT_SCHEMA,
    DEFAULT_MAX,
    MAX_RUN_ID,
    STALE_SECONDS,
    AbortReason,
    DoneReason,
    Frame,
    Level,
    Mode,
    Run,
    StateMessage,
    Status,
    check_run_id,
    is_stale,
    render_run,
    render_shown,
    state_message,
)
from tests.proves import proves
from tests.run_samples import RUN_ID, new_frame, new_run
from tests.samples import NOON

__all__: list[str] = []

LATE = NOON + timedelta(seconds=STALE_SECONDS)
TICK = timedelta(microseconds=1)


def said(run: Run) -> list[tuple[str, Any]]:
    """Return what a run says of itself, key by key in order."""
    return list(json.loads(msgspec.json.encode(state_message(run))).items())


def framed(frame: Frame) -> list[tuple[str, Any]]:
    """Return a frame as the wire has it."""
    return list(json.loads(msgspec.json.encode(frame)).items())


# On the topic


@proves("I1", "I2", "I36")
def test_running_run_says_state_with_its_stack_and_no_status() -> None:
    """I-U1, I-X6: five keys, schema 1; absent status means running."""
    run = new_run(new_frame(mode=Mode.ISSUE, iter=5, model="opus", escalation_reason="Stuck"))
    assert said(run) == [
        ("schema", 1),
        ("event", "STATE"),
        ("run_id", RUN_ID),
        ("updated_at", "2030-01-01T12:00:00Z"),
        (
            "stack",
            [
                {
                    "id": RUN_ID,
                    "mode": "issue",
                    "iter": 5,
                    "max": 10,
                    "model": "opus",
                    "escalation_reason": "Stuck",
                }
            ],
        ),
    ]
    assert CURRENT_SCHEMA == 1


@proves("I44")
def test_paused_run_says_so_and_since_when() -> None:
    """I-X6: the flag is on the run and not on a frame."""
    run = new_run(status=Status.PAUSED, paused_at=NOON, updated_at=NOON)
    assert said(run) == [
        ("schema", 1),
        ("event", "STATE"),
        ("run_id", RUN_ID),
        ("updated_at", "2030-01-01T12:00:00Z"),
        ("stack", [{"id": RUN_ID, "mode": "loop", "iter": 1, "max": 10}]),
        ("status", "paused"),
        ("paused_at", "2030-01-01T12:00:00Z"),
    ]


@proves("I2")
@pytest.mark.parametrize("reason", list(DoneReason))
def test_done_run_says_why_with_an_empty_stack(reason: DoneReason) -> None:
    """I-U1, I-U2: five reasons; the run's id stands there too."""
    assert said(new_run(status=Status.DONE, reason=reason.value)) == [
        ("schema", 1),
        ("event", "DONE"),
        ("reason", reason.value),
        ("run_id", RUN_ID),
        ("stack", []),
    ]


@proves("I2", "I35")
@pytest.mark.parametrize("reason", list(AbortReason))
def test_aborted_run_says_why_with_an_empty_stack(reason: AbortReason) -> None:
    """I-U1: cancelled by a person, or ended by an error."""
    assert said(new_run(status=Status.ABORTED, reason=reason.value)) == [
        ("schema", 1),
        ("event", "ABORT"),
        ("reason", reason.value),
        ("run_id", RUN_ID),
        ("stack", []),
    ]


def test_aborted_run_without_a_reason_leaves_it_out() -> None:
    """I-U1: absent, and not null, where nobody knows it."""
    assert [name for name, _ in said(new_run(status=Status.ABORTED))] == [
        "schema",
        "event",
        "run_id",
        "stack",
    ]


def test_done_reasons_are_five_and_abort_reasons_two() -> None:
    """I-U2: STUCK is one, though the event document forgot it."""
    assert {reason.value for reason in DoneReason} == {
        "COMPLETE",
        "MAX_ITERATIONS",
        "NO_MORE_ISSUES",
        "MAX_ISSUES",
        "STUCK",
    }
    assert {reason.value for reason in AbortReason} == {"USER_CANCELLED", "ERROR"}


@proves("I5")
def test_running_paused_and_finished_are_told_apart_by_one_message() -> None:
    """Whoever reads the last message of a run knows which of the three it is."""
    told = {
        status: (message.event, message.status)
        for status in Status
        for message in [state_message(new_run(status=status, paused_at=NOON))]
    }
    assert told == {
        Status.RUNNING: ("STATE", None),
        Status.PAUSED: ("STATE", "paused"),
        Status.DONE: ("DONE", None),
        Status.ABORTED: ("ABORT", None),
    }


def test_paused_at_of_a_run_that_goes_on_is_not_said() -> None:
    """Twin: also where the record still knew it."""
    assert state_message(new_run(paused_at=NOON)).paused_at is None


def test_state_is_read_with_fields_that_are_not_known_yet() -> None:
    """I-U10: a reader ignores what a later version adds; `running` may be said, and both spellings of UTC parse."""
    text = (
        b'{"schema":1,"event":"STATE","run_id":"a","updated_at":"2024-12-28T12:00:02+00:00","status":"running",'
        b'"colour":"red","stack":[{"id":"a","mode":"issue","iter":5,"max":10,"mood":"good"}]}'
    )
    read = msgspec.json.decode(text, type=StateMessage)
    assert (read.status, read.stack) == ("running", (Frame("a", Mode.ISSUE, 5, 10),))
    assert read.updated_at == msgspec.json.decode(b'"2024-12-28T12:00:02Z"', type=type(NOON))


# The stack


def test_frame_has_the_names_of_the_wire_and_leaves_out_what_is_not_known() -> None:
    """I-U3, every field."""
    full = Frame(
        "issue-auth-123-1703123456",
        Mode.ISSUE,
        2,
        10,
        "prompt.md",
        "label:bug",
        "auth-123",
        "trees/auth",
        "fix",
        "main",
        "opus",
        "stuck",
    )
    assert framed(full) == [
        ("id", "issue-auth-123-1703123456"),
        ("mode", "issue"),
        ("iter", 2),
        ("max", 10),
        ("prompt_file", "prompt.md"),
        ("filter", "label:bug"),
        ("issue_id", "auth-123"),
        ("worktree_path", "trees/auth"),
        ("branch", "fix"),
        ("base_ref", "main"),
        ("model", "opus"),
        ("escalation_reason", "stuck"),
    ]
    assert framed(new_frame(iter=1)) == [("id", RUN_ID), ("mode", "loop"), ("iter", 1), ("max", 10)]


def test_stack_is_outermost_first_and_counts_from_1() -> None:
    """I-U3: the last element is the current loop; what has not begun is at its first iteration."""
    outer = new_frame(mode=Mode.GRIND, iter=3, max=100)
    inner = new_frame(id="issue-a-1", mode=Mode.ISSUE, model="haiku")
    run = new_run(levels=(Level(outer, is_open=True, attempt=1), Level(inner)))
    assert [(frame.id, frame.iter) for frame in run.stack] == [(RUN_ID, 3), ("issue-a-1", 1)]
    assert (run.top.frame.id, run.iteration, run.model) == ("issue-a-1", 1, "haiku")


@pytest.mark.parametrize("status", [Status.DONE, Status.ABORTED])
def test_ended_run_has_no_stack(status: Status) -> None:
    """I-X14: the whole of it has ended, however deep it was."""
    run = new_run(status=status, levels=(Level(new_frame()), Level(new_frame(id="b"))))
    assert run.stack == ()
    assert not run.is_active


def test_limits_are_those_of_the_modes() -> None:
    """I-U4."""
    assert DEFAULT_MAX == {Mode.LOOP: 10, Mode.ISSUE: 10, Mode.GRIND: 100}


# How it is shown


@pytest.mark.parametrize(
    ("status", "is_driven", "seconds", "expected"),
    [
        (Status.RUNNING, False, STALE_SECONDS, False),
        (Status.RUNNING, False, STALE_SECONDS + 1, True),
        (Status.RUNNING, True, STALE_SECONDS + 1, False),
        (Status.PAUSED, False, STALE_SECONDS * 100, False),
        (Status.DONE, False, STALE_SECONDS + 1, False),
        (Status.ABORTED, False, STALE_SECONDS + 1, False),
        (Status.RUNNING, False, -5, False),
    ],
)
def test_run_is_stale_when_nobody_drives_it_and_it_was_silent_for_two_hours(
    status: Status, is_driven: bool, seconds: float, expected: bool
) -> None:
    """I-U7, I-X7: exactly two hours is not yet; a run that was paused over night never is."""
    now = NOON + timedelta(seconds=seconds)
    run = new_run(status=status, paused_at=NOON)
    assert is_stale(run, is_driven=is_driven, now=now) is expected
    shown = render_shown(run, is_driven=is_driven, now=now)
    assert shown == ("stale" if expected else status.value)


@pytest.mark.parametrize(
    ("status", "is_open", "is_driven", "expected"),
    [
        (Status.PAUSED, True, True, "pausing"),
        (Status.PAUSED, False, True, "paused"),
        (Status.PAUSED, True, False, "paused"),
        (Status.RUNNING, True, True, "running"),
        (Status.ABORTED, True, True, "aborted"),
        (Status.DONE, True, True, "done"),
    ],
)
def test_run_is_pausing_while_its_iteration_still_runs(
    status: Status, is_open: bool, is_driven: bool, expected: str
) -> None:
    """I-X6: shown, never stored; an iteration whose driver is dead does not run any more."""
    run = new_run(status=status, levels=(Level(new_frame(iter=1), is_open=is_open, attempt=1),))
    assert render_shown(run, is_driven=is_driven, now=NOON) == expected
    message = state_message(run)
    assert (message.status == "paused") is (status is Status.PAUSED)


def test_listed_run_has_its_public_names() -> None:
    """The names of `runs --json` that scripts rely on, and more."""
    run = new_run(new_frame(mode=Mode.ISSUE, iter=4, model="haiku"), status=Status.PAUSED, paused_at=NOON)
    listed = json.loads(msgspec.json.encode(render_run(run, is_driven=True, now=LATE)))
    expected = {
        "run_id": RUN_ID,
        "status": "paused",
        "mode": "issue",
        "iteration": 4,
        "max": 10,
        "model": "haiku",
        "updated_at": "2030-01-01T12:00:00Z",
        "stack": [{"id": RUN_ID, "mode": "issue", "iter": 4, "max": 10, "model": "haiku"}],
        "paused_at": "2030-01-01T12:00:00Z",
        "driver": "host:1",
    }
    assert listed.items() >= expected.items()


def test_listed_run_tells_of_a_driver_only_while_there_is_one() -> None:
    """Twin: and of a pause only while it lasts."""
    run = new_run(paused_at=NOON)
    listed = render_run(run, is_driven=False, now=LATE + TICK)
    assert (listed["driver"], listed["paused_at"], listed["status"]) == (None, None, "stale")
    ended = render_run(replace(run, status=Status.DONE, reason="COMPLETE"), is_driven=False, now=LATE)
    assert (ended["stack"], ended["reason"], ended["iteration"]) == ((), "COMPLETE", 1)


# Ids


@pytest.mark.parametrize("run_id", [RUN_ID, "x", "грайнд", "a/b:c", "x" * MAX_RUN_ID])
def test_run_id_may_be_anything_that_can_be_typed(run_id: str) -> None:
    """I-U5: a prefix says nothing reliable about the mode, so none is asked for."""
    assert check_run_id(run_id) == run_id


@pytest.mark.parametrize(
    "run_id", ["", " ", "a b", "a\nb", "a\x00", "a\u202eb", "\ud800", "x" * (MAX_RUN_ID + 1), ".", ".."]
)
def test_run_id_that_cannot_be_seen_is_refused(run_id: str) -> None:
    """The sentence shows it without its hidden characters."""
    with pytest.raises(BadRequestError, match="is no run id") as caught:
        check_run_id(run_id)
    assert display(caught.value.message, lines=False) == caught.value.message
