"""The measurement of the terminal inbox runs, on a pty, and gives each of its figures."""

from pathlib import Path

from tests.bench.test_bench import run_quickly

__all__: list[str] = []


def test_quick_run_measures_the_first_screen_beside_a_bare_interpreter(tmp_path: Path) -> None:
    """With little and with much that waits; keys count later than the screen is there, and never before their beat."""
    figures = run_quickly(tmp_path, "terminal")
    told = {figure["name"]: figure for figure in figures}
    assert len(told) == 6
    assert [figure["goal"] for figure in figures if figure["goal"]] == [400.0, 400.0]
    for shown, counts in zip(
        told["first screen, 1 ask"]["ours"], told["keys count, 1 ask"]["ours"], strict=True
    ):
        assert counts >= shown > 0
