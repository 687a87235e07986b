"""The benchmark runs, and says of each figure what it is beside its floor and its goal."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.figure import Figure, Reading, render_figure
from tests.patience import PATIENCE

__all__: list[str] = []

ROOT = Path(__file__).parents[2]


def run_quickly(tmp_path: Path, *parts: str, repetitions: int = 1) -> list[dict[str, Any]]:
    """Measure these parts on a small scale, in this process; return the figures."""
    only = [word for part in parts for word in ("--only", part)]
    report, folder = tmp_path / "report.json", tmp_path / "stores"
    often = ("--repetitions", str(repetitions))
    assert main(["--quick", *only, *often, "--json", str(report), "--folder", str(folder)]) == 0
    assert not folder.exists()
    figures: list[dict[str, Any]] = json.loads(report.read_text())["figures"]
    assert all(
        len(figure["ours"]) == repetitions and figure["verdict"] for figure in figures if figure["goal"]
    )
    return figures


def test_quick_run_prints_what_each_start_adds(tmp_path: Path) -> None:
    """Run as its own program. Whatever the figures are, it succeeds: timings decide nothing."""
    words = ("--quick", "--only", "start", "--folder", str(tmp_path / "stores"))
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "import assent, added" in done.stdout
    assert "assent hook, nothing to ask, added" in done.stdout


def test_quick_run_prints_each_figure_beside_its_floor_and_goal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wakes, each beside one commit and one datagram, as often as it is told."""
    run_quickly(tmp_path, "wake", repetitions=2)
    told, progress = capsys.readouterr()
    wake = (
        r"1 waiting, p50 +[\d.]+ ms +bare [\d.]+ +\d+\.\d\dx \[.+\] +goal at most 1\.50x +(reached|missed by)"
    )
    assert re.search(wake, told), told
    assert "repetition 2 of 2" in progress


def test_quick_run_measures_ack_and_result_against_one_bare_commit(tmp_path: Path) -> None:
    """ACK within twice and RESULT within four times a commit and a wake, with one active run and with many."""
    figures = run_quickly(tmp_path, "steer")
    goals = {figure["name"]: figure["goal"] for figure in figures if figure["goal"]}
    assert goals == {
        f"{type_}, {runs}, {share}": goal
        for type_, goal in (("ACK", 2.0), ("RESULT", 4.0))
        for runs in ("1 run", "3 runs")
        for share in ("p50", "p99")
    }
    told = {figure["name"]: figure for figure in figures}
    for runs in ("1 run", "3 runs"):
        for share in ("p50", "p99"):
            ack, result = told[f"ACK, {runs}, {share}"], told[f"RESULT, {runs}, {share}"]
            # Both are counted from the same call, and no RESULT can be read before its ACK.
            assert all(a <= r for a, r in zip(ack["ours"], result["ours"], strict=True)), (ack, result)
            assert ack["floor"] == result["floor"]
    assert told["cancel heard by the driver, p50"]["floor"]
    assert told["iterations begun and ended, one driver"]["reading"] == "share"


@pytest.mark.parametrize(
    ("reading", "ours", "goal", "told"),
    [
        (Reading.TIMES, [3.0, 2.0, 9.0], 1.5, r"1\.50x \[1\.00-4\.50\] +goal at most 1\.50x +reached"),
        (Reading.TIMES, [4.0, 4.0, 4.0], 1.5, r"2\.00x .* missed by 0\.50x"),
        (Reading.SHARE, [1.0, 1.0, 1.0], 70, r"50 % .* goal at least 70 % +missed by 20 points"),
        (Reading.VALUE, [1.0, 2.0, 9.0], 2.0, r"2\.00 ms .* goal at most 2\.00 ms +reached"),
        (Reading.WORST, [1.0, 2.0, 9.0], 2.0, r"9\.00 ms .* missed by 7\.00 ms"),
    ],
)
def test_figure_is_judged_by_its_reading(reading: Reading, ours: list[float], goal: float, told: str) -> None:
    """A median of ratios a repetition, a share, a value, or the worst of all."""
    figure = Figure("part", "name", "ms", reading, ours, [2.0, 2.0, 2.0], goal)
    assert re.search(told, render_figure(figure)), render_figure(figure)
