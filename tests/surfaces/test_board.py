"""Runs as a terminal shows them: who is where, what keeps it, and what to type to mean it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.display import is_hidden
from assent.protocol.run import AbortReason, DoneReason, Level, Mode, Run, RunId, Status
from assent.surfaces.board import BoardRun, render_board, render_change, render_place, render_word
from assent.surfaces.ink import Ink
from assent.surfaces.width import columns
from tests.proves import proves
from tests.run_samples import new_frame, new_run
from tests.samples import NOON

__all__: list[str] = []

PLAIN, COLOURED = Ink(is_plain=True), Ink(is_plain=False)
NOW = NOON + timedelta(minutes=12, seconds=5)
GRIND = new_run(
    new_frame(mode=Mode.GRIND, iter=7, max=40, model="haiku", filter="label:flaky"),
    run_id=RunId("grind-1794773100-4127"),
    title="Grind the flaky tests",
)


def seen(run: Run = GRIND, *, is_driven: bool = True, waits: int = 0, **changes: Any) -> BoardRun:
    """Return a run as the board gets it; `changes` are fields of the run."""
    return BoardRun(replace(run, **changes), is_driven, waits)


def board(*runs: BoardRun, width: int = 100) -> list[str]:
    """Return the plain board."""
    return render_board(runs, PLAIN, width, NOW, "Ended")


def at(level: Level, **frame: Any) -> Level:
    """Return a level with its frame changed."""
    return replace(level, frame=replace(level.frame, **frame))


OPEN = replace(GRIND.top, is_open=True, attempt=1, begun_at=NOW - timedelta(seconds=95))
INNER = Level(
    new_frame(mode=Mode.ISSUE, iter=2, issue_id="shop-92", branch="fix/clock", model="haiku"),
    is_open=True,
    attempt=1,
    begun_at=NOW - timedelta(seconds=41),
)


def test_run_is_shown_with_its_place_model_title_id_and_time() -> None:
    """Two lines: what a person looks for first, and what they type."""
    assert board(seen(levels=(OPEN,))) == [
        "running  grind  7/40  haiku  Grind the flaky tests, label:flaky",
        "         grind-1794773100-4127  p  for 12:05  this iteration for 1:35",
    ]


def test_loops_inside_a_loop_are_lines_below_it() -> None:
    """The last is the current one."""
    assert board(seen(levels=(OPEN, INNER)))[:2] == [
        "running  grind    7/40  haiku  Grind the flaky tests, label:flaky",
        "         └ issue  2/10  haiku  shop-92, fix/clock",
    ]
    assert render_place(replace(GRIND, levels=(OPEN, INNER))) == "grind 7/40 > issue 2/10"


PAUSED: dict[str, Any] = {
    "status": Status.PAUSED,
    "paused_at": NOW - timedelta(seconds=41),
    "paused_by": "human:sam",
    "updated_at": NOW - timedelta(seconds=41),
}
SILENT: dict[str, Any] = {"updated_at": NOON - timedelta(hours=2, minutes=28)}


@proves("I5")
@pytest.mark.parametrize(
    ("run", "word", "notes"),
    [
        (seen(levels=(OPEN,)), "running", "this iteration for 1:35"),
        (seen(levels=(OPEN,), **PAUSED), "pausing", "iteration 7 still open, 1:35  paused by sam, 0:41 ago"),
        (seen(**PAUSED), "paused", "paused by sam, 0:41 ago"),
        (seen(is_driven=False, **PAUSED), "paused", "paused by sam, 0:41 ago  no live driver"),
        (seen(is_driven=False), "running", "no live driver"),
        (seen(is_driven=False, levels=(OPEN,)), "running", "no live driver  iteration 7 was interrupted"),
        (seen(is_driven=False, **SILENT), "stale", "no live driver, silent for 2 h 40 min"),
        (seen(is_driven=False, **(PAUSED | SILENT)), "paused", "paused by sam, 0:41 ago  no live driver"),
        (seen(levels=(replace(OPEN, attempt=2),)), "running", "this iteration for 1:35  attempt 2"),
        (seen(waits=1), "running", "waits for 1 answer"),
        (seen(waits=3), "running", "waits for 3 answers"),
    ],
)
def test_word_and_notes_tell_states_apart(run: BoardRun, word: str, notes: str) -> None:
    """Running, pausing, paused and stale are told apart at a glance, and why is said beside it."""
    lines = board(run, width=120)
    assert lines[0].split()[0] == word == render_word(run, NOW)
    assert lines[1].partition("for 12:05  ")[2] == notes


@proves("I5")
@pytest.mark.parametrize(
    ("status", "reason", "note", "word", "how"),
    [
        (Status.DONE, DoneReason.COMPLETE, "", "done", "COMPLETE"),
        (Status.DONE, DoneReason.STUCK, "", "done", "STUCK"),
        (Status.ABORTED, AbortReason.USER_CANCELLED, "", "cancelled", "USER_CANCELLED by ana"),
        (Status.ABORTED, AbortReason.ERROR, "exit 3", "failed", "ERROR: exit 3"),
        (Status.ABORTED, None, "", "aborted", "ended"),
    ],
)
def test_ended_run_says_how_it_ended(status: Status, reason: str, note: str, word: str, how: str) -> None:
    """Below the heading, after what is still active."""
    ended_at = NOON + timedelta(minutes=10)
    ended = seen(
        status=status, reason=reason, note=note, ended_at=ended_at, ended_by="human:ana", is_driven=False
    )
    lines = board(seen(), ended)
    assert lines[2:4] == ["", "Ended"]
    assert lines[4].split()[0] == word
    assert lines[5].strip() == f"grind-1794773100-4127  p  took 10:00  {how}  2 min ago"
    assert board(ended)[0] == "Ended"


def test_escalated_model_is_marked_with_its_reason() -> None:
    """The model that the next iteration gets."""
    escalated = replace(at(OPEN, model="opus", escalation_reason="stuck on types"), is_escalated=True)
    lines = board(seen(levels=(escalated,)), width=110)
    assert "opus, escalated" in lines[0]
    assert lines[-1].endswith('escalated: "stuck on types"')


def test_board_without_runs_says_so() -> None:
    """Empty is said, not left to be guessed."""
    assert board() == ["No runs."]


def test_change_is_told_on_one_line_without_running_time() -> None:
    """What has not changed but for the time reads the same a minute later."""
    run = seen(levels=(OPEN, INNER), waits=1, **PAUSED)
    line = render_change(run, NOW)
    assert line == (
        "pausing  grind-1794773100-4127  grind 7/40 > issue 2/10  haiku  Grind the flaky tests, label:flaky"
        "  iteration 2 still open  paused by sam  waits for 1 answer"
    )
    assert render_change(run, NOW + timedelta(minutes=1)) == line


def test_narrow_board_breaks_lines_and_keeps_every_word() -> None:
    """A phone over ssh."""
    run = seen(levels=(OPEN, at(INNER, escalation_reason="stuck")), waits=1, **PAUSED)
    lines = board(run, width=34)
    assert max(map(columns, lines)) <= 34
    for words in (
        "Grind the flaky tests",
        "└ issue  2/10",
        "iteration 2 still open, 0:41",
        "waits for 1 answer",
    ):
        assert any(words in line for line in lines), words


HOSTILE = st.text(
    st.sampled_from("aZ 漢é\x1b[]\x07\r\n\t\x9b\u202e\u200b\u0301\U000e0041\U0001f6d1"),
    min_size=1,
    max_size=60,
)


@given(text=HOSTILE, width=st.integers(20, 140), is_driven=st.booleans(), is_over=st.booleans())
def test_hostile_words_stay_inert_and_inside_the_width(
    text: str, width: int, *, is_driven: bool, is_over: bool
) -> None:
    """Titles, ids, models, reasons and notes are somebody's words: none drives the terminal or breaks the table."""
    words = {"issue_id": text, "filter": text, "branch": text, "model": text, "escalation_reason": text}
    levels = (at(OPEN, **words), at(INNER, **words))
    ending = {
        "status": Status.ABORTED,
        "reason": "ERROR",
        "note": text,
        "ended_at": NOW,
        "ended_by": f"human:{text}",
    }
    changes = {"run_id": text, "project": text, "title": text, "levels": levels, "paused_by": f"human:{text}"}
    run = seen(is_driven=is_driven, waits=2, **(PAUSED | changes | (ending if is_over else {})))
    lines = board(run, seen(), width=width)
    assert all(columns(line) <= width for line in lines)
    assert not any(map(is_hidden, "".join([*lines, render_change(run, NOW)])))


@given(width=st.integers(20, 140))
def test_colour_changes_no_word(width: int) -> None:
    """With colour, the same characters in the same places."""
    runs = [
        seen(levels=(OPEN, INNER)),
        seen(**PAUSED),
        seen(is_driven=False),
        seen(status=Status.DONE, ended_at=NOW),
    ]
    painted = render_board(runs, COLOURED, width, NOW, "Ended")
    bare = [re.sub(r"\x1b\[[0-9]+m", "", line) for line in painted]
    assert [line.rstrip() for line in bare] == [line.rstrip() for line in board(*runs, width=width)]
    assert bare != painted
