"""The measurement of the store on PostgreSQL, each figure beside bare psycopg on the same server."""

from pathlib import Path

import pytest

from tests.bench.test_bench import run_quickly

__all__: list[str] = []


def test_quick_run_measures_the_store_on_postgresql_beside_bare_psycopg(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wakes, rates, several servers, many who wait and the inbox; whatever the figures are, they are there."""
    figures = run_quickly(tmp_path, "postgres")
    told = {figure["name"]: figure for figure in figures}
    assert {name: figure["goal"] for name, figure in told.items()} == {
        "wake, p50": 2.0,
        "wake, p99": None,
        "asks, 4 tasks, of batched inserts": 25.0,
        "asks, 4 tasks, of a NOTIFY a commit": 500.0,
        "asks over 8 projects, 4 processes": 200.0,
        "20 waiting asks, memory": 150.0,
        "20 waiting asks, never woken": 0.0,
        "newest 50 of 5,000 against 500": 1.5,
        "newest 50 of 5,000": 1.0,
    }
    counted = [figure for name, figure in told.items() if "waiting" not in name]
    assert all(figure["floor"] and min(*figure["ours"], *figure["floor"]) > 0 for figure in counted)
    # No wait may be lost, however slow the machine is: the one figure here that is no timing.
    assert told["20 waiting asks, never woken"]["ours"] == [0]
    assert "processors used by ours" in told["asks over 8 projects, 4 processes"]["note"]
    assert "PostgreSQL" in capsys.readouterr().out
