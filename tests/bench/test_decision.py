"""The measurement of decisions: a review of many findings, in memory and durable, with a goal for each decision."""

from pathlib import Path

from tests.bench.test_bench import run_quickly

__all__: list[str] = []


def test_quick_run_measures_every_decision_in_memory_and_durable(tmp_path: Path) -> None:
    """Median and worst have the goal; the first question and the report at the end are for orientation."""
    figures = run_quickly(tmp_path, "decision")
    goals = {figure["name"]: figure["goal"] for figure in figures}
    assert goals == {
        f"20 findings, {way}, {what}": goal
        for way in ("in memory", "durable")
        for what, goal in (
            ("median", 50.0),
            ("worst", 50.0),
            ("worst, our own time", 50.0),
            ("first question", None),
            ("edits and report", None),
        )
    }
    told = {figure["name"]: figure["ours"] for figure in figures}
    for way in ("in memory", "durable"):
        median, worst = told[f"20 findings, {way}, median"], told[f"20 findings, {way}, worst"]
        assert all(0 < middle <= most for middle, most in zip(median, worst, strict=True))
        assert all(own > 0 for own in told[f"20 findings, {way}, worst, our own time"])
