"""Scales, ticks and sentences of the plots (figures.js)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.surfaces.page.in_node import call

__all__: list[str] = []

TICKS = """
import { countTicks, timeScale } from "/page/figures.js";
export default ({ counts, spans }) => ({
  counts: counts.map((most) => countTicks(most)),
  spans: spans.map(([least, most]) => {
    const { at, ticks } = timeScale(least, most);
    return { from: at(least), to: at(most), ticks: ticks.map((tick) => [tick.at, tick.name]) };
  }),
});
"""
SENTENCES = """
import { sayBins, sayEnds, sayPaces, sayWaits } from "/page/figures.js";
const says = { bins: sayBins, ends: sayEnds, paces: sayPaces, waits: sayWaits };
export default (cases) => cases.map(([what, numbers]) => says[what]({ days: 1, offset: 0, ...numbers }));
"""
PIECES = """
import { binName, fit, trimBins } from "/page/figures.js";
export default ({ texts, bins, days, offset }) => ({
  texts: texts.map(([text, width]) => fit(text, width, 10)),
  kept: trimBins(bins, days).length,
  names: bins.map((bin) => [binName(bin, { days, offset }), binName(bin, { days, offset }, true)]),
});
"""


def test_ticks_are_whole_numbers_from_nothing_to_at_least_the_most(tmp_path: Path) -> None:
    """Half an ask is none; and no bar stands out above its scale."""
    counts = [0, 1, 2, 3, 4, 5, 7, 9, 10, 16, 17, 99, 100, 101, 12_345, 99_999]
    told = call(tmp_path, TICKS, {"counts": counts, "spans": []})
    for most, ticks in zip(counts, told["counts"], strict=True):
        assert ticks[0] == 0
        assert ticks[-1] >= most
        assert all(tick == int(tick) for tick in ticks)
        assert 2 <= len(ticks) <= 7
        assert len({after - before for before, after in pairwise(ticks)}) == 1


def test_times_lie_on_their_scale_from_a_moment_to_a_month(tmp_path: Path) -> None:
    """What took no time is at its start, and what took longer than the last tick is still on it."""
    spans = [[0, 0], [0.2, 0.4], [14, 60], [3, 5_000], [600, 600], [1, 90_000], [5, 30 * 86_400], [1, 9e7]]
    for told in call(tmp_path, TICKS, {"counts": [], "spans": spans})["spans"]:
        assert 0 <= told["from"] <= told["to"] <= 1 + 1e-9
        places = [at for at, _ in told["ticks"]]
        assert places == sorted(places)
        assert places[0] == 0
        assert len(places) >= 2


def bins(*counts: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Return hours, each with what was answered, ended without an answer, and is open."""
    return [
        {"start_at": f"2030-01-15T{hour:02}:00:00Z", "answered": one, "unanswered": two, "open": three}
        for hour, (one, two, three) in enumerate(counts)
    ]


def test_each_sentence_is_true_of_its_figures(tmp_path: Path) -> None:
    """Of the busiest hour only where there is one; of the others only what they share."""
    pace = {"kind": "gate", "count": 2, "median_seconds": 20.0, "slow_seconds": 30.0}
    slow = {"kind": "approval", "count": 1, "median_seconds": 180.0, "slow_seconds": 180.0}
    ends = {"kind": "gate", "answered": 0, "declined": 0, "unanswered": 0, "open": 0}
    wait = {"asker": "agent:coder", "asks": 2, "seconds": 90.0}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("bins", {"bins": bins((0, 0, 0))}, "Nothing was asked today."),
        (
            "bins",
            {"bins": bins((1, 0, 0), (1, 1, 1))},
            "The busiest hour was 1:00 to 2:00, with 3 asks; 1 of them still waits.",
        ),
        (
            "bins",
            {"bins": bins((0, 0, 2))},
            "The busiest hour was 0:00 to 1:00, with 2 asks; all of them still wait.",
        ),
        ("bins", {"bins": bins((1, 0, 0), (0, 1, 0))}, "No hour had more than 1 ask."),
        ("paces", {"paces": [], "answer_time": {}}, "Nobody has answered anything yet."),
        (
            "paces",
            {"paces": [pace], "answer_time": pace},
            "Half of the gates were answered within 20 s.",
        ),
        (
            "paces",
            {"paces": [pace, slow], "answer_time": pace},
            "People are fastest with gates (half within 20 s) and slowest with approvals (3 min).",
        ),
        (
            "paces",
            {"paces": [pace, pace | {"kind": "finding"}], "answer_time": pace},
            "Half of what was asked, of every kind, was answered within 20 s.",
        ),
        ("waits", {"waits": [], "waited_seconds": 0}, "No agent waited today."),
        (
            "waits",
            {"waits": [wait], "waited_seconds": 90},
            "agent:coder waited longest: 1 min 30 s over 2 asks.",
        ),
        (
            "waits",
            {"waits": [wait, wait | {"seconds": 30.0}], "waited_seconds": 120},
            "agent:coder waited longest: 1 min 30 s over 2 asks, 75 % of all waiting.",
        ),
        ("ends", {"ends": [ends | {"open": 3}]}, "Nothing that was asked today has ended yet."),
        ("ends", {"ends": [ends | {"answered": 1}]}, "The one that ended was answered."),
        ("ends", {"ends": [ends | {"answered": 4}]}, "All 4 that ended were answered."),
        (
            "ends",
            {"ends": [ends | {"answered": 1, "declined": 2}, ends | {"unanswered": 1}]},
            "Of 4 that ended, 1 was answered, 2 declined and 1 ended without an answer.",
        ),
    ]
    told = call(tmp_path, SENTENCES, [(what, numbers) for what, numbers, _ in cases])
    assert told == [sentence for *_, sentence in cases]


def test_names_are_cut_to_their_room_and_wide_signs_take_two(tmp_path: Path) -> None:
    """An agent may be called whatever it likes; its whole name is in the table."""
    given = {
        "texts": [["coder", 50], ["coder", 40], ["界界界", 60], ["界界界", 50], ["x" * 500, 100], ["", 0]],
        "bins": bins(*[(0, 0, 0)] * 9, (1, 0, 0)),
        "days": 1,
        "offset": 90,
    }
    told = call(tmp_path, PIECES, given)
    assert told["texts"] == ["coder", "cod…", "界界界", "界…", "x" * 9 + "…", ""]
    assert told["kept"] == 8
    assert told["names"][0] == ["1", "1:00 to 2:00"]


def test_days_are_those_of_the_person(tmp_path: Path) -> None:
    """What the server counted from their midnight on is theirs, wherever the server is."""
    given = {
        "texts": [],
        "bins": [{"start_at": "2030-01-14T23:00:00Z", "answered": 0, "unanswered": 0, "open": 0}],
        "days": 7,
        "offset": 60,
    }
    told = call(tmp_path, PIECES, given)
    assert told["names"] == [["15 Jan", "Tue 15 Jan"]]
    assert told["kept"] == 1
