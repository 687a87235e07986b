"""How much is measured: the full scale, and a small one that only shows that everything works."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Scale"]


@dataclass(frozen=True)
class Scale:
    """The counts of one run; those with "a repetition" are taken once for ours and once for each floor."""

    repetitions: int
    wakes: int
    """Wakes a repetition."""
    waiting: int
    """How many asks wait in "many waiting"."""
    runs: int
    """How many runs are active in "many runs"."""
    drivers: int
    """Processes that drive them."""
    lone: int
    """Commands of a lone caller a repetition."""
    crowd: int
    """Commands of all the concurrent callers together a repetition."""
    callers: int
    """How many call concurrently."""
    writers: int
    """Processes that write one file."""
    writing_seconds: float
    """How long they write, a repetition."""
    idle_seconds: float
    pending: int
    """Asks that wait in the idle and the restart measurements."""
    stored: tuple[int, int]
    """Sizes of the small and the large store; one ask in ten is pending."""
    late: int
    """Wakes of which none may be late."""
    findings: int
    """Findings of one document review."""
    server_repetitions: int
    poll_repetitions: int
    """Of many waiting polls, which take longest to be there."""
    server_wakes: int
    """Wakes over HTTP a repetition."""
    polls: int
    """Long polls that wait in one server."""
    sockets: int
    """WebSockets that hear one event."""
    requests: int
    """Requests of one connection a repetition; of sixteen connections four times as many."""
    page_asks: int
    """Asks that wait in the inbox page."""
    page_draws: int
    """New asks that the page draws, and answers that are sent from it, a repetition."""
    terminal_asks: int
    """Asks that wait in the terminal inbox."""
    is_warm: bool = False
    """Whether processes are forked from a Python that has loaded the package: they begin sooner, and share its memory."""


FULL = Scale(
    repetitions=15,
    wakes=120,
    waiting=100,
    runs=100,
    drivers=4,
    lone=300,
    crowd=4_000,
    callers=100,
    writers=8,
    writing_seconds=1.0,
    idle_seconds=20.0,
    pending=10_000,
    stored=(100_000, 1_000_000),
    late=1_000,
    findings=500,
    server_repetitions=5,
    poll_repetitions=1,
    server_wakes=40,
    polls=2_000,
    sockets=300,
    requests=150,
    page_asks=500,
    page_draws=6,
    terminal_asks=1_000,
)
QUICK = Scale(
    repetitions=1,
    wakes=10,
    waiting=3,
    runs=3,
    drivers=2,
    lone=10,
    crowd=40,
    callers=4,
    writers=2,
    writing_seconds=0.1,
    idle_seconds=0.5,
    pending=20,
    stored=(500, 5_000),
    late=10,
    findings=20,
    server_repetitions=1,
    poll_repetitions=1,
    server_wakes=5,
    polls=10,
    sockets=5,
    requests=5,
    page_asks=30,
    page_draws=1,
    terminal_asks=10,
    is_warm=True,
)
