"""What the run board says of a run, and what it makes of its talk and of its output, in Node."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.page.in_node import call

__all__: list[str] = []

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
NOW = int(NOON.timestamp() * 1_000)
"""The moment at which the board is looked at, in milliseconds."""
Evaluate = Callable[..., Any]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Give what evaluates an expression: `m` is what a module of the page exports, `v` has the values that are given."""

    def look(module: str, expression: str, **values: Any) -> Any:
        text = f'import * as m from "/page/{module}.js";\nexport default (v) => ({expression});\n'
        return call(tmp_path, text, values)

    return look


def moment(seconds_ago: float = 0.0) -> str:
    """Return an instant before NOW, as the server writes it."""
    return (NOON - timedelta(seconds=seconds_ago)).isoformat().replace("+00:00", "Z")


def a_level(**changes: Any) -> dict[str, Any]:
    """Return one loop of a run's record."""
    frame = {"id": "loop-1", "mode": "loop", "iter": 3, "max": 10, "model": "haiku"} | changes.pop(
        "frame", {}
    )
    return {"frame": frame, "number": 1, "is_open": True, "attempt": 1, "begun_at": moment(41)} | changes


def a_run(levels: list[dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a run as the server tells it."""
    record: dict[str, Any] = {"levels": levels or [a_level()], "models": [], "paused_by": "human:ana"}
    record |= {"paused_at": moment(3_660), "ended_by": "human:sam-k"} | changes.pop("record", {})
    return {
        "run_id": "r",
        "project": "shop",
        "title": "Fix the tests",
        "status": "running",
        "iteration": 3,
        "max": 10,
        "reason": None,
        "note": "",
        "driver": "host:1",
        "updated_at": moment(60),
        "started_at": moment(100),
        "ended_at": None,
        "record": record,
    } | changes


@pytest.mark.parametrize(
    ("changes", "state", "row", "head"),
    [
        ({}, "running", "", "Iteration 3 is running, 0:41."),
        ({"status": "pausing"}, "pausing", "iteration 3 still open, 0:41", "No new iteration starts."),
        ({"status": "paused"}, "paused", "by ana, 1 h 1 min ago", "Paused by ana 1 h 1 min ago."),
        ({"driver": None}, "running", "no live driver", "No live driver: its process is gone"),
        (
            {"driver": None, "updated_at": -9_600},
            "stale",
            "no live driver, silent for 2 h 40 min",
            "silent for",
        ),
        ({"status": "done", "reason": "COMPLETE"}, "done", "COMPLETE, ", "It ended by itself at iteration 3"),
        ({"status": "aborted", "reason": "USER_CANCELLED"}, "cancelled", "by sam-k, ", "Cancelled by sam-k"),
        (
            {"status": "aborted", "reason": "ERROR", "note": "Boom."},
            "aborted",
            "ERROR, ",
            "iteration 3 of 10: Boom.",
        ),
    ],
    ids=["running", "pausing", "paused", "undriven", "stale", "done", "cancelled", "aborted"],
)
def test_state_of_a_run_is_said_in_words(
    evaluate: Evaluate, changes: dict[str, Any], state: str, row: str, head: str
) -> None:
    """All states, also those that no record has: pausing, stale, and no live driver."""
    if isinstance(changes.get("updated_at"), int):
        changes = changes | {"updated_at": moment(-changes["updated_at"])}
    run = a_run(ended_at=moment(10), **changes)
    said = evaluate(
        "run-words",
        f"[m.stateOf(v.run, {NOW}), m.rowWords(v.run, [], {NOW}), m.headWords(v.run, {NOW})]",
        run=run,
    )
    assert said[0] == state
    assert said[1].startswith(row)
    assert head in said[2]


def test_run_that_waits_for_people_says_for_what(evaluate: Evaluate) -> None:
    """One ask by its kind, several by their number."""
    one, many = evaluate("run-words", "[m.waitsFor([{kind: 'gate'}]), m.waitsFor([{}, {}])]")
    assert (one, many) == ("waits for a gate", "2 asks wait for you")


def test_active_runs_stand_in_the_order_of_their_beginning_and_ended_ones_in_that_of_their_end(
    evaluate: Evaluate,
) -> None:
    """A run that changes does not move under the hand."""
    runs = [
        a_run(run_id="old", started_at=moment(500), updated_at=moment(0)),
        a_run(run_id="new", started_at=moment(100), updated_at=moment(90)),
        a_run(run_id="over-first", status="done", ended_at=moment(50)),
        a_run(run_id="over-last", status="aborted", started_at=moment(900), ended_at=moment(5)),
    ]
    told = evaluate(
        "run-words", "Object.values(m.order(v.runs)).map((each) => each.map((run) => run.run_id))", runs=runs
    )
    assert told == [["new", "old"], ["over-last", "over-first"]]


@pytest.mark.parametrize(
    ("status", "commands"),
    [
        ("running", ["pause", "escalate", "cancel"]),
        ("stale", ["pause", "escalate", "cancel"]),
        ("pausing", ["resume", "escalate", "cancel"]),
        ("paused", ["resume", "escalate", "cancel"]),
        ("done", []),
        ("aborted", []),
    ],
)
def test_only_commands_that_make_sense_are_offered(
    evaluate: Evaluate, status: str, commands: list[str]
) -> None:
    """A run that has ended takes none."""
    assert evaluate("run-words", "m.commandsFor(v.run)", run=a_run(status=status)) == commands


def test_meter_shows_what_is_done_and_what_is_under_way(evaluate: Evaluate) -> None:
    """It never grows beyond its end, whatever a record says."""
    levels = [
        a_level(frame={"iter": 7, "max": 40}),
        a_level(frame={"iter": 7, "max": 40}),
        a_level(frame={"iter": 0, "max": 10}, is_open=False),
        a_level(frame={"iter": 99, "max": 10}, is_open=False),
        a_level(frame={"iter": 5, "max": 1_000_000}),
    ]
    told = evaluate("run-words", "v.levels.map((level, at) => m.meter(level, at !== 1))", levels=levels)
    assert told[:4] == [
        {"done": 15, "open": 2.5},
        {"done": 17.5, "open": 0},
        {"done": 0, "open": 0},
        {"done": 100, "open": 0},
    ]
    assert told[4]["open"] == 1


def a_line(sequence: int, type_: str, request: str = "q1", run: str = "r", **more: Any) -> dict[str, Any]:
    """Return a message of loop:control as a topic tells it."""
    body = {"type": type_, "request_id": request, "command": "pause", "target": {"run_id": run}} | more
    at = f"2026-11-16T20:50:41.{sequence:03}Z"
    return {"sequence": sequence, "topic": "loop:control", "posted_at": at, "by": "human:ana", "body": body}


def test_talk_of_a_run_is_put_together_newest_first_with_what_came_of_each_request(
    evaluate: Evaluate,
) -> None:
    """Others' talks, posts that nobody could execute and messages that came twice change nothing."""
    lines = [
        a_line(1, "REQUEST", "q1"),
        a_line(2, "ACK", "q1"),
        a_line(3, "REQUEST", "other", run="elsewhere"),
        a_line(4, "RESULT", "q1", payload={"status": "success", "message": "Loop paused at iteration 7"}),
        a_line(5, "RESULT", "other"),
        a_line(6, "REQUEST", "q2"),
        a_line(6, "REQUEST", "q2"),
        {"sequence": 7, "topic": "loop:control", "posted_at": "2026-11-16T20:50:41Z", "body": [1]},
        {"sequence": 8, "topic": "loop:control", "posted_at": "2026-11-16T20:50:41Z", "body": None},
    ]
    expression = """m.talks(m.merge([], v.lines.map(m.ofMessage)), "r").map((talk) => [
      talk.request.requestId,
      talk.replies.map((each) => [each.type, m.after(talk.request.at, each.at), m.wordsOf(each).words]),
      m.isOver(talk),
    ])"""
    told = evaluate("run-control", expression, lines=lines)
    paused = [["ACK", "+1 ms", "received"], ["RESULT", "+3 ms", "success: Loop paused at iteration 7"]]
    assert told == [["q2", [], False], ["q1", paused, True]]


def test_event_of_the_log_and_message_of_the_topic_are_the_same_line(evaluate: Evaluate) -> None:
    """Whichever comes first, it is shown once; an expired REQUEST has an end of its own."""
    message = a_line(1, "REQUEST")
    event = {
        "sequence": 1,
        "type": "control.requested",
        "at": message["posted_at"],
        "data": {"by": "human:ana", "message": message["body"]},
    }
    expired = {
        "sequence": 2,
        "type": "control.expired",
        "at": message["posted_at"],
        "data": {"request_id": "q1"},
    }
    other = {"sequence": 3, "type": "run.paused", "at": message["posted_at"], "data": {"message": {}}}
    told = evaluate(
        "run-control",
        """[JSON.stringify(m.ofMessage(v.message)) === JSON.stringify(m.ofEvent(v.event)),
            m.merge([m.ofMessage(v.message)], [m.ofEvent(v.event), m.ofEvent(v.expired), m.ofEvent(v.other)]).length,
            m.isOver(m.talks(m.merge([m.ofEvent(v.event)], [m.ofEvent(v.expired)]), "r")[0])]""",
        message=message,
        event=event,
        expired=expired,
        other=other,
    )
    assert told == [True, 2, True]


def test_request_id_is_a_uuid_of_version_4(evaluate: Evaluate) -> None:
    """Which the strictest server wants (I15)."""
    told = evaluate(
        "run-control", "[m.newRequestId(new Uint8Array(16).fill(255)), m.newRequestId(), m.newRequestId()]"
    )
    assert told[0] == "ffffffff-ffff-4fff-bfff-ffffffffffff"
    assert len(set(told)) == 3


def grown(evaluate: Evaluate, *replies: dict[str, Any]) -> Any:
    """Return the tail after these replies."""
    return evaluate("run-output", "v.replies.reduce(m.grow, m.EMPTY)", replies=list(replies))


def test_output_grows_by_what_is_told_after_it(evaluate: Evaluate) -> None:
    """And where nothing is new, nothing changes."""
    first = {"text": "one ö\n", "from": 0, "written": 7, "at": "a"}
    second = {"text": "two\n", "from": 7, "written": 11, "at": "b"}
    same = {"text": "", "from": 11, "written": 11, "at": "b"}
    assert grown(evaluate, first, second, same) == {
        "text": "one ö\ntwo\n",
        "from": 0,
        "written": 11,
        "at": "b",
    }


def test_output_with_a_gap_or_a_new_beginning_is_never_joined_over(evaluate: Evaluate) -> None:
    """What stands beside each other in the output did so when it was printed."""
    first = {"text": "one\n", "from": 0, "written": 4, "at": "a"}
    later = {"text": "far\n", "from": 9_996, "written": 10_000, "at": "b"}
    anew = {"text": "new\n", "from": 0, "written": 4, "at": "c"}
    assert grown(evaluate, first, later) == {"text": "far\n", "from": 9_996, "written": 10_000, "at": "b"}
    assert (
        grown(evaluate, first, later, {"text": "", "from": 0, "written": 0, "at": None}, anew)["text"]
        == "new\n"
    )


def test_long_output_is_cut_at_the_front_between_lines_and_characters(evaluate: Evaluate) -> None:
    """The page keeps no more than the server does."""
    told = evaluate(
        "run-output",
        """(() => {
          const text = "😀".repeat(40000);
          const one = m.grow(m.EMPTY, {text, from: 0, written: 160000, at: null});
          const lines = "x".repeat(99) + "\\n";
          const two = m.grow(m.EMPTY, {text: lines.repeat(1000), from: 0, written: 100000, at: null});
          return [one.text.length % 2, one.text.length <= m.KEPT_CHARACTERS, one.from + 2 * one.text.length,
            two.text.startsWith("x".repeat(99) + "\\n"), two.from % 100];
        })()""",
    )
    assert told == [0, True, 160_000, True, 0]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain\n\ttext", ["plain\n\ttext"]),
        ("\x1b[2K50 passed", [{"mark": "ESC[2K", "count": 1}, "50 passed"]),
        ("\x1b[31mred\x1b[0m", [{"mark": "ESC[31m", "count": 1}, "red", {"mark": "ESC[0m", "count": 1}]),
        ("\x1b]0;title\x07", [{"mark": "U+001B", "count": 1}, "]0;title", {"mark": "U+0007", "count": 1}]),
        ("a\u202eb", ["a", {"mark": "U+202E", "count": 1}, "b"]),
        ("\0\0\0x", [{"mark": "U+0000", "count": 3}, "x"]),
        ("a\r\nb\rc", ["a\nb", {"mark": "U+000D", "count": 1}, "c"]),
    ],
    ids=["plain", "csi", "colour", "osc", "bidi", "many", "returns"],
)
def test_what_a_terminal_would_obey_is_shown_as_a_mark(
    evaluate: Evaluate, text: str, pieces: list[Any]
) -> None:
    """S3: agent text is hostile; its escapes are seen, and nothing is obeyed or swallowed."""
    assert evaluate("run-output", "m.outputPieces(v.text)", text=text) == pieces


def test_output_of_nothing_but_marks_is_drawn_in_bounds(evaluate: Evaluate) -> None:
    """A page that has to draw 60,000 marks a second stops. That something is left out is said."""
    first, *rest = evaluate("run-output", "m.outputPieces('\\x1b\\x07'.repeat(32000))")
    assert first == {"mark": "… more before this is not drawn", "count": 1}
    assert len(rest) == evaluate("run-output", "m.MOST_PIECES")
