"""The terminal inbox: how soon its first whole screen is there, how soon keys count, and how soon a status line has its number.

It is timed from the start of the process, on a pty, in front of a terminal emulator. The floors are a bare interpreter,
and one that only imports what the screen is drawn with later.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from struct import pack

import pyte

from assent.client.connect import connect
from bench.figure import Figure, Reading
from bench.peer import clean_environment
from bench.session import Session
from bench.workload import AGENT, OPTIONS, PROJECT, TITLE, ask_parts

__all__ = ["measure"]

_FIRST_SCREEN = 400.0
_COLUMNS, _ROWS = 120, 36
_PATIENCE_SECONDS = 60.0
_COUNTS = "Keys ready"


def measure(session: Session) -> Iterator[Figure]:
    """Give the milliseconds to the first screen with much and with little that waits, and those of a status line."""
    session.begin("terminal")
    few, many = session.store("few"), session.store("many")
    _fill(few, 1)
    _fill(many, session.scale.terminal_asks)
    starts = {"bare": ["-c", "pass"], "textual": ["-c", "import textual.app"]}
    status = ["-m", "assent", "--store", f"sqlite:///{many}", "inbox", "--all"]
    starts |= {"count": [*status, "--count"], "format": [*status, "--format", "{count} ({oldest})"]}
    found: dict[str, list[float]] = {name: [] for name in (*starts, "few", "many", "few keys", "many keys")}
    for number in session.repetitions():
        for name in session.turns(number, ["few", "many", *starts]):
            if name in starts:
                found[name].append(_run(session, starts[name]))
                continue
            first, counts = _open(session, few if name == "few" else many)
            found[name].append(first)
            found[f"{name} keys"].append(counts)
    asks = f"{session.scale.terminal_asks:,} asks"
    bare = found["bare"]
    yield _figure("first screen, 1 ask", found["few"], bare, _FIRST_SCREEN)
    yield _figure(f"first screen, {asks}", found["many"], bare, _FIRST_SCREEN)
    for name, what in (("few", "1 ask"), ("many", asks)):
        yield _figure(f"keys count, {what}", found[f"{name} keys"], found["textual"], None, "textual")
    yield _figure(f"assent inbox --count, {asks}", found["count"], bare, None)
    yield _figure(f"assent inbox --format, {asks}", found["format"], bare, None)


def _figure(
    name: str, ours: list[float], floor: list[float], goal: float | None, floor_name: str = "bare"
) -> Figure:
    return Figure("terminal", name, "ms", Reading.VALUE, ours, floor, goal=goal, floor_name=floor_name)


def _fill(store: Path, count: int) -> None:
    with connect(store, project=PROJECT, principal=AGENT) as client:
        for number in range(count):
            client.open(f"{TITLE} ({number})", OPTIONS, **ask_parts(f"ask-{number}"))


def _run(session: Session, arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        env=clean_environment(session.runtime),
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=_PATIENCE_SECONDS,
    )
    return 1_000 * (time.perf_counter() - began)


def _open(session: Session, store: Path) -> tuple[float, float]:
    """Open the inbox; return the milliseconds to its first whole screen, and until keys count."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "assent", "--store", f"sqlite:///{store}"],
        env={**clean_environment(session.runtime), "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        return _watch(master, began)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _watch(master: int, began: float) -> tuple[float, float]:
    screen = pyte.Screen(_COLUMNS, _ROWS)
    stream = pyte.ByteStream(screen)
    first = took = 0.0
    while time.perf_counter() - began < _PATIENCE_SECONDS:
        if not select.select([master], [], [], 1.0)[0]:
            continue
        with suppress(OSError):
            written = os.read(master, 1 << 16)
            # When it was written, and not when the emulator, which is slow, has read it.
            took = 1_000 * (time.perf_counter() - began)
            stream.feed(written)
        lines = [line.strip() for line in screen.display]
        # Whole: the first line and the last one are there, and the ask between them.
        if not first and lines[0] and lines[-1] and any(TITLE in line for line in lines):
            first = took
        if first and any(_COUNTS in line for line in lines):
            return first, took
    raise AssertionError("\n".join(screen.display))
