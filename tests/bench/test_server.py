"""The measurement of the server: wakes, broadcasts, waiting polls and requests, each beside a bare echo."""

from pathlib import Path

from tests.bench.test_bench import run_quickly

__all__: list[str] = []


def test_quick_run_measures_the_server_beside_a_bare_echo(tmp_path: Path) -> None:
    """Wakes within three times the echo, waiting polls by memory and by the last wake; the rest is for orientation."""
    figures = run_quickly(tmp_path, "server")
    goals = {figure["name"]: figure["goal"] for figure in figures}
    assert goals == {
        **{f"wake by {way}, {share}": 3.0 for way in ("long poll", "WebSocket") for share in ("p50", "p99")},
        **{f"one event to 5 sockets, {which}": None for which in ("first", "median", "last")},
        "10 waiting polls, memory": 300.0,
        "10 waiting polls, last woken after last answer": 5_000.0,
        **{
            f"{what}, {lines}": None
            for what in ("asks", "answers")
            for lines in ("1 connection", "16 connections")
        },
    }
    told = {figure["name"]: figure for figure in figures}
    assert all(figure["floor"] and figure["floor_name"] == "echo" for figure in figures)
    first, last = (told[f"one event to 5 sockets, {which}"] for which in ("first", "last"))
    for side in ("ours", "floor"):
        # Nobody hears of an answer before it is sent, nor the last one before the first.
        assert all(0 < one <= other for one, other in zip(first[side], last[side], strict=True)), told
