"""The measurement of the page runs, in a real browser, and gives each of its figures."""

from pathlib import Path

from tests.bench.test_bench import run_quickly

__all__: list[str] = []


def test_quick_run_measures_the_page_beside_plain_rows_and_a_program(tmp_path: Path) -> None:
    """The first row, a new one, the scroll and the answer; what is drawn after its event was drawn after a positive time."""
    figures = run_quickly(tmp_path, "page")
    told = {figure["name"]: figure for figure in figures}
    assert len(told) == 9
    assert {figure["goal"] for figure in figures if figure["goal"]} == {1_000.0, 100.0, 50.0}
    assert all(value > 0 for figure in figures for value in figure["ours"]), told
    assert told["click on Send to the agent's wake"]["floor"]
