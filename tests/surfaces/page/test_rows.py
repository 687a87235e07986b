"""What waits, in which order, under which name, and what a filter finds (rows.js, route.js, time.js)."""

from pathlib import Path
from typing import Any

from tests.surfaces.page.in_node import call

__all__: list[str] = []

ROWS = """
import * as rows from "/page/rows.js";
export default ({ asks, filters, toggles }) => {
  const { urgent, calm, ended } = rows.order(asks);
  const ids = (found) => found.map((ask) => ask.ask_id);
  return {
    order: [ids(urgent), ids(calm), ids(ended)],
    names: Object.fromEntries(asks.map((ask) => [ask.ask_id, rows.kindOf(ask).name])),
    titles: Object.fromEntries(asks.map((ask) => [ask.ask_id, rows.titleOf(ask)])),
    flows: Object.fromEntries(asks.map((ask) => [ask.ask_id, rows.flowOf(ask)])),
    kinds: rows.countKinds(asks),
    found: filters.map((text) => ids(asks.filter((ask) => rows.matches(ask, rows.parseFilter(text))))),
    toggled: toggles.map(([text, word]) => rows.toggleWord(text, word)),
  };
};
"""
ROUTES = """
import { href, parse } from "/page/route.js";
export default ({ hashes, parts }) => ({
  parsed: hashes.map(parse).map(({ page, parts: found, query }) => [page, found, query.get("project")]),
  there: parts.map((each) => parse(href(...each))).map(({ page, parts: found }) => [page, ...found]),
});
"""
TIMES = """
import { age, left, span } from "/page/time.js";
export default ({ spans, ages, lefts }) => {
  const now = Date.parse("2026-01-02T12:00:00Z");
  const at = (ms) => new Date(now + ms).toISOString();
  return [spans.map(span), ages.map((ms) => age(at(-ms), now)), lefts.map((ms) => left(at(ms), now))];
};
"""
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def an_ask(ask_id: str, minute: int = 0, **parts: Any) -> dict[str, Any]:
    """Return an ask as far as a row looks at it."""
    title, fields = parts.pop("title", f"Title of {ask_id}"), parts.pop("fields", [{"text": ""}])
    return {
        "ask_id": ask_id,
        "project": "shop",
        "kind": "question",
        "state": "open",
        "asker": "agent:coder",
        "opened_at": f"2026-01-02T10:{minute:02}:00Z",
        "deadline": None,
        "prompt": {"title": title, "fields": fields, "commands": []},
    } | parts


def tell(
    folder: Path, *asks: dict[str, Any], filters: tuple[str, ...] = (), toggles: tuple[Any, ...] = ()
) -> Any:
    """Return everything that rows.js says of these asks."""
    return call(folder, ROWS, {"asks": asks, "filters": filters, "toggles": toggles})


def test_rows_are_urgent_by_deadline_then_newest_then_ended(tmp_path: Path) -> None:
    """Whatever the order in which they came; what has ended has no hurry any more."""
    told = tell(
        tmp_path,
        an_ask("old", 1),
        an_ask("later", 2, deadline="2026-01-02T12:30:00+00:00"),
        an_ask("new", 3),
        an_ask("soon", 0, deadline="2026-01-02T12:10:00+00:00"),
        an_ask(
            "over",
            4,
            state="expired",
            deadline="2026-01-02T10:05:00Z",
            outcome={"at": "2026-01-02T10:05:00Z"},
        ),
        an_ask("done", 0, state="answered", answer={"at": "2026-01-02T10:09:00Z"}),
    )
    assert told["order"] == [["soon", "later"], ["new", "old"], ["done", "over"]]


def test_row_says_the_kind_and_what_is_asked(tmp_path: Path) -> None:
    """Several questions are counted, a finding has its place, of an open question the first line of it is said."""
    told = tell(
        tmp_path,
        an_ask("one"),
        an_ask("round", fields=[{"text": "a"}, {"text": "b"}, {"text": "c"}]),
        an_ask("finding", kind="finding", title="Finding 2 of 7 — Retention", key="review:plan.md:3"),
        an_ask(
            "parted",
            kind="finding",
            title="Finding 3 of 7 — P1 It is\nSkip it?",
            fields=[{"options": [{"key": "a"}]}],
        ),
        an_ask(
            "unparted", kind="finding", title="Finding 3 of 7 — P1 It is\nSkip it?", fields=[{"text": "?"}]
        ),
        an_ask("walk", key="review:plan.md:next:4"),
        an_ask(
            "open", kind="open_question", title="coder asks about T-1", fields=[{"text": "Retry?\nOr not?"}]
        ),
        an_ask("strange", kind="of tomorrow"),
    )
    assert told["names"] == {
        "one": "Question",
        "round": "3 questions",
        "finding": "Finding 2 of 7",
        "parted": "Finding 3 of 7",
        "unparted": "Finding 3 of 7",
        "walk": "Walk-through",
        "open": "Open question",
        "strange": "Question",
    }
    assert told["titles"]["open"] == "Retry?…"
    assert told["titles"]["parted"] == "P1 It is"
    assert (
        told["titles"]["unparted"] == "Finding 3 of 7 — P1 It is\nSkip it?"
    )  # nowhere else is room for its last line
    assert (told["flows"]["finding"], told["flows"]["one"]) == ("review:plan.md", None)


def test_filter_finds_by_project_run_kind_asker_and_words(tmp_path: Path) -> None:
    """Every word must fit; a part that an ask lacks fits nothing."""
    asks = [
        an_ask("a", project="edge-infra", kind="gate", asker="agent:deployer", run_id="run-42"),
        an_ask("b", kind="open_question", title="Gate of the garden"),
        an_ask("c", asker="agent:Gatekeeper", run_id="run-7"),
    ]
    words = (
        "",
        "project:edge",
        "kind:gate",
        "run:run-42",
        "asker:gatekeeper",
        "gate",
        "GATE garden",
        "kind:open-question",
    )
    found = tell(
        tmp_path,
        *asks,
        filters=(*words, "run:run", "project:edge asker:coder", "nobody", "kind:", "asker:x:y"),
    )
    assert found["found"] == [
        ["a", "b", "c"],
        ["a"],
        ["a"],
        ["a"],
        ["c"],
        ["a", "b", "c"],
        ["b"],
        ["b"],
        ["a", "c"],
        [],
        [],
        [],
        [],
    ]


def test_chip_puts_its_word_in_and_takes_it_out(tmp_path: Path) -> None:
    """One kind at a time; what else was typed stays."""
    toggles = (("", "kind:gate"), ("words kind:gate", "kind:gate"), ("words kind:gate", "kind:finding"))
    told = tell(
        tmp_path, an_ask("a"), an_ask("b", kind="gate"), an_ask("c", state="answered"), toggles=toggles
    )
    assert told["toggled"] == ["kind:gate", "words", "words kind:finding"]
    assert told["kinds"] == [["question", 1], ["gate", 1]]


def test_address_brings_back_whatever_was_put_in(tmp_path: Path) -> None:
    """Names with slashes, signs and other scripts; what is no address is the inbox."""
    parts = [
        ["inbox", "a/b?c#d&e=f", "x"],
        ["runs", "プロジェクト", "100%"],
        ["walk", "shop", "review:plan.md"],
    ]
    told = call(
        tmp_path,
        ROUTES,
        {
            "hashes": [
                "",
                "#/",
                "#/nowhere/x",
                "#/runs/%zz",
                "#/inbox?project=a%2Fb",
                "#content",
                "#/__proto__",
            ],
            "parts": parts,
        },
    )
    assert told["there"] == parts
    assert told["parsed"] == [
        ["inbox", [], None],
        ["inbox", [], None],
        ["inbox", ["x"], None],
        ["runs", ["%zz"], None],
        ["inbox", [], "a/b"],
        ["inbox", [], None],
        ["inbox", [], None],
    ]


def test_time_is_said_in_few_words(tmp_path: Path) -> None:
    """Two units of a span, one of an age; what is left is never said longer than it is to the second."""
    spans = [-5, 0, 999, 61_000, HOUR, HOUR + 1_000, DAY + 3 * HOUR + MINUTE]
    ages = [-1, 9_999, 10_000, 59_999, 61_000, 2 * HOUR, 50 * HOUR]
    lefts = [-1, 0, 1_000, 59_000, 61_000, 2 * HOUR]
    told = call(tmp_path, TIMES, {"spans": spans, "ages": ages, "lefts": lefts})
    assert told == [
        ["0 s", "0 s", "1 s", "1 min 1 s", "1 h", "1 h", "1 d 3 h"],
        ["now", "now", "10 s", "59 s", "1 min", "2 h", "2 d"],
        ["time is up", "time is up", "1 s left", "59 s left", "2 min left", "2 h left"],
    ]


KNOWN = """
import { getState, takeAsks } from "/page/store.js";
const at = (number) => new Date(1_000_000 * number).toISOString();
const ask = (number, state) => ({ ask_id: `ask_${number}`, project: "shop", sequence: state === "open" ? 1 : 2, state,
  opened_at: at(0), answer: state === "open" ? null : { at: at(number) } });
export default (count) => {
  for (let number = 0; number < count; number += 1) takeAsks([ask(number, "open")]);
  for (let number = 1; number < count; number += 1) takeAsks([ask(number, "answered")]);
  return [...getState().asks.keys()];
};
"""


def test_asks_that_ended_long_ago_are_forgotten_and_open_ones_never(tmp_path: Path) -> None:
    """A page is open for days; the last that ended are enough."""
    assert call(tmp_path, KNOWN, 260) == ["ask_0", *(f"ask_{number}" for number in range(60, 260))]
