"""One module a measurement; each gives its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.figure import Figure
from bench.measure import (
    contention,
    decision,
    idle,
    late,
    newest,
    page,
    postgres,
    rate,
    restart,
    server,
    start_up,
    steer,
    terminal,
    wake,
)
from bench.session import Session

__all__ = ["MEASUREMENTS"]

MEASUREMENTS: dict[str, tuple[str, Callable[[Session], Iterator[Figure]]]] = {
    "wake": ("Wake: from the answer's submission to the asker's return, two processes", wake.measure),
    "late": ("No wake is late", late.measure),
    "steer": (
        "Steering: from a command's REQUEST to its ACK and its RESULT, in another process",
        steer.measure,
    ),
    "rate": ("Rate: durable asks and answers a second, each flushed before it is acknowledged", rate.measure),
    "contention": ("Many processes write one file: the longest that any command took", contention.measure),
    "idle": ("Idle: processor time and memory while people think", idle.measure),
    "newest": ("Inbox: the newest 50 pending asks of a large store", newest.measure),
    "restart": ("Restart: from kill -9 to an answered ask, process start included", restart.measure),
    "decision": (
        "Decisions: from a reply to the next question, in a review of many findings",
        decision.measure,
    ),
    "server": (
        "Server: wakes, broadcasts, waiting polls and requests, beside a bare echo under the same uvicorn",
        server.measure,
    ),
    "postgres": (
        "PostgreSQL: wakes, rates, several servers, many who wait and the inbox, beside bare psycopg",
        postgres.measure,
    ),
    "page": (
        "Page: the inbox in a real browser, beside a page of plain rows and bare requests",
        page.measure,
    ),
    "terminal": (
        "Terminal: the inbox from the start of its process, beside a bare interpreter",
        terminal.measure,
    ),
    "start": ("Start: what a program pays before it does anything", start_up.measure),
}
"""Name to title and measurement, in the order of the report."""
