"""How asks ended, how a log is read from its end, what of it is about one run, and its words (past.js, event-words.js)."""

from pathlib import Path
from typing import Any, get_args

from assent.hub.record import Recorded
from tests.surfaces.page.in_node import call

__all__: list[str] = []

ENDS = """
import { answerWords, askText, detailOf, fits, outcomeOf, tookMs, wordsIn } from "/page/past.js";
export default ({ asks, searches }) => ({
  ends: asks.map((ask) => [...outcomeOf(ask), detailOf(ask), tookMs(ask)]),
  found: searches.map((text) => asks.filter((ask) => fits(askText(ask), wordsIn(text))).map((ask) => ask.ask_id)),
});
"""
READ = """
import { readDown, sayReach } from "/page/past.js";
export default async ({ count, most, low, high }) => {
  const asked = [];
  const read = async ({ after, limit }) => {
    asked.push([after, limit]);
    const to = Math.min(count, after + Math.min(limit, most));
    return { events: Array.from({ length: Math.max(0, to - after) }, (_, at) => ({ sequence: after + at + 1 })) };
  };
  const events = await readDown(read, low, high);
  return { found: events.map((event) => event.sequence), asked, said: [sayReach(9, 0, null), sayReach(1200, 1000, 3)] };
};
"""
RUNS = """
import { byDay, entriesOf, eventsOfRun, isStartOf, mayBeOf } from "/page/past.js";
export default ({ events, run }) => {
  const kept = events.filter((event) => mayBeOf(event, run));
  const found = eventsOfRun(kept, run);
  return {
    kept: kept.map((event) => event.sequence),
    found: found.map((event) => event.sequence),
    entries: entriesOf(found).map(({ event, end }) => [event.sequence, end?.sequence ?? null]),
    starts: events.filter((event) => isStartOf(event, run)).map((event) => event.sequence),
    days: byDay(found).map((each) => each.entries.length),
  };
};
"""
WORDS = """
import { sayEvent } from "/page/event-words.js";
export default (events) => events.map(sayEvent);
"""
OPENED, ENDED = "2030-01-15T08:00:00Z", "2030-01-15T08:01:30Z"
FIELD = {
    "name": "q1",
    "text": "",
    "options": [{"key": "a", "label": "Keep it"}, {"key": "b", "label": "Drop it"}],
}


def an_ask(ask_id: str, state: str, **parts: Any) -> dict[str, Any]:
    """Return an ask that has ended; `values` are what was answered."""
    values = parts.pop("values", None)
    outcome = {"state": state, "at": ENDED, "by": "human:ana", "reason": parts.pop("reason", "")}
    outcome["consequence"] = parts.pop("consequence", None)
    answer = None
    if values is not None:
        answer = {
            "values": values,
            "text": "",
            "by": "human:ana",
            "via": "web",
            "assurance": "token",
            "at": ENDED,
        }
    return {
        "ask_id": ask_id,
        "project": "shop",
        "kind": "question",
        "state": state,
        "key": None,
        "prompt": {"title": f"Title of {ask_id}", "body": "", "fields": [FIELD]},
        "digest": "d1",
        "asker": "agent:coder",
        "run_id": None,
        "opened_at": OPENED,
        "answer": answer,
        "outcome": None if answer else outcome,
        "sequence": 7,
    } | parts


def test_ends_are_told_as_people_read_them(tmp_path: Path) -> None:
    """Labels and not keys; an approval's no is a no, whatever its state is called."""
    asks = [
        an_ask("1", "answered", values={"q1": ["b"]}),
        an_ask("2", "answered", values={"q1": ["three, add Portuguese"]}),
        an_ask("3", "answered", kind="approval", values={"approve": ["Approve"]}),
        an_ask("4", "answered", kind="approval", values={"approve": ["Reject"]}),
        an_ask("5", "declined", reason="Fix the caller."),
        an_ask("6", "expired", consequence="deny"),
        an_ask("7", "superseded"),
        an_ask("8", "answered", values={"gate": ["Continue"]}),
    ]
    told = call(tmp_path, ENDS, {"asks": asks, "searches": []})
    assert told["ends"] == [
        ["i-tick", "answered", "Drop it", 90_000],
        ["i-tick", "answered", "own words: “three, add Portuguese”", 90_000],
        ["i-tick", "approved", "", 90_000],
        ["i-no", "rejected", "", 90_000],
        ["i-no", "declined", "“Fix the caller.”", 90_000],
        ["i-clock", "expired", "nobody answered in time, counts as no", 90_000],
        ["i-split", "asked anew", "", 90_000],
        ["i-tick", "answered", "Continue", 90_000],
    ]


def test_search_finds_by_every_part_and_wants_every_word(tmp_path: Path) -> None:
    """Who, what, how, by what digest or run."""
    asks = [
        an_ask("1", "answered", values={"q1": ["b"]}, run_id="run-42", key="db"),
        an_ask("2", "declined", reason="Fix the caller.", project="edge", digest="9f2c"),
    ]
    searches = ["drop", "RUN-42", "edge caller", "9f2c", "ana", "title of 1 edge", "web token", "coder", ""]
    told = call(tmp_path, ENDS, {"asks": asks, "searches": searches})
    assert told["found"] == [["1"], ["1"], ["2"], ["2"], ["1", "2"], [], ["1"], ["1", "2"], ["1", "2"]]


def test_stretch_of_a_log_is_read_whole_where_replies_end_early(tmp_path: Path) -> None:
    """How large events are is up to agents; no number is left out, and none comes twice."""
    told = call(tmp_path, READ, {"count": 100, "most": 7, "low": 40, "high": 60})
    assert told["found"] == list(range(60, 40, -1))
    assert told["asked"] == [[40, 20], [47, 13], [54, 6]]
    over = call(tmp_path, READ, {"count": 50, "most": 100, "low": 40, "high": 60})
    assert over["found"] == list(range(50, 40, -1))
    assert over["said"] == [
        "Read the events from 9 down to 1, which is all.",
        "3 found; searched the events from 1,200 down to 1,001, 1,000 are older.",
    ]


def test_story_of_a_run_holds_what_is_about_it_and_nothing_else(tmp_path: Path) -> None:
    """An answer names only its ask, a RESULT only its request: whose those are is told by older events."""
    data: list[tuple[str, dict[str, Any] | None]] = [
        ("run.started", {"run_id": "r"}),
        ("run.started", {"run_id": "other"}),
        ("run.turn_begun", {"run_id": "r", "depth": 0, "number": 1}),
        ("ask.opened", {"ask_id": "a", "run_id": "r"}),
        ("ask.opened", {"ask_id": "b", "run_id": None}),
        ("ask.answered", {"ask_id": "b"}),
        ("ask.answered", {"ask_id": "a"}),
        ("control.requested", {"request": {"request_id": "q", "run_id": "r"}}),
        ("control.requested", {"request": {"request_id": "p", "run_id": "other"}}),
        ("control.resolved", {"request_id": "p"}),
        ("control.resolved", {"request_id": "q"}),
        ("run.turn_ended", {"run_id": "r", "depth": 0, "number": 1}),
        ("run.turn_begun", {"run_id": "r", "depth": 0, "number": 2}),
        ("token.created", None),
        ("run.aborted", {"run_id": "r", "reason": None}),
    ]
    events = [
        {"sequence": number, "type": type_, "at": OPENED, "data": told}
        for number, (type_, told) in enumerate(data, 1)
    ]
    told = call(tmp_path, RUNS, {"events": events[::-1], "run": "r"})
    assert told["found"] == [1, 3, 4, 7, 8, 11, 12, 13, 15]
    assert told["entries"] == [
        [1, None],
        [3, 12],
        [4, None],
        [7, None],
        [8, None],
        [11, None],
        [13, None],
        [15, None],
    ]
    assert (told["starts"], told["days"]) == ([1], [9])
    assert 2 not in told["kept"]
    assert 5 not in told["kept"]


def test_every_type_of_event_has_its_words_or_its_name_and_none_breaks_the_page(tmp_path: Path) -> None:
    """A body that is not as we know it, erased or hostile, is told by its type alone."""
    types = sorted(str(kind.__struct_config__.tag) for kind in get_args(Recorded))
    hostile: list[Any] = [None, {}, [], 7, "x", {"message": None}, {"constructor": 1}]
    events = [
        {"type": type_, "data": data} for type_ in [*types, "constructor", "run.new"] for data in hostile
    ]
    told = call(tmp_path, WORDS, events)
    assert all(isinstance(words, str) for words in told)
    assert len(types) > 30


def test_known_events_are_told_in_words(tmp_path: Path) -> None:
    """And a long one is cut."""
    told = call(
        tmp_path,
        WORDS,
        [
            {"type": "ask.opened", "data": {"asker": "agent:coder", "prompt": {"title": "Which?"}}},
            {"type": "run.turn_ended", "data": {"number": 3, "depth": 1, "failure": "exit 2"}},
            {
                "type": "policy.set",
                "data": {"by": "human:ana", "before": {"a": "x"}, "after": {"a": "y", "b": "z"}},
            },
            {"type": "run.paused", "data": {"by": "human:ana"}},
            {"type": "ask.undelivered", "data": {"reason": "x" * 999}},
            {"type": "task.created", "data": None},
        ],
    )
    assert told[:4] == [
        "agent:coder asks: Which?",
        "iteration 3 has failed: exit 2 (loop 2 of its stack)",
        "ana sets a to y, b to z",
        "ana paused it",
    ]
    assert len(told[4]) <= 241
    assert told[5] == "not shown: erased, or not yours to see"
