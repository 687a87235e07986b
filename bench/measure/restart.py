"""Restart: a process that writes is killed; how long until a new one has all pending asks and has answered one?"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, Reading
from bench.peer import Peer, clean_environment
from bench.session import Session
from bench.workload import ANSWER, PERSON, PROJECT

__all__ = ["measure"]

_GOAL_MILLISECONDS = 500.0

_OURS = f"""
import sys, pathlib, assent
client = assent.connect(pathlib.Path(sys.argv[1]), project={PROJECT!r}, principal={PERSON!r})
asks = client.inbox(limit=int(sys.argv[2]))
client.answer(asks[-1].ask_id, {ANSWER!r})
print(len(asks), flush=True)
"""
_BARE = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.pragma("synchronous", "FULL")
found = connection.execute(
    "SELECT ask_id, prompt FROM asks WHERE state = 'open' ORDER BY ask_number DESC LIMIT ?", (int(sys.argv[2]),)
).fetchall()
connection.execute("UPDATE asks SET state = 'answered', answer = '1' WHERE ask_id = ?", (found[-1][0],))
print(len(found), flush=True)
"""


def measure(session: Session) -> Iterator[Figure]:
    """Give the milliseconds from the kill to the committed answer, ours and bare."""
    session.begin("restart")
    pending = session.scale.pending
    found: dict[str, list[float]] = {"ours": [], "bare": []}
    stores = {side: session.store(side) for side in found}
    with ExitStack() as stack:
        session.tell(f"{pending:,} asks begin to wait")
        spare = session.scale.repetitions
        session.start(stack, "bare").call("asks", count=pending + spare, callers=1, how="lone")
        session.start(stack, "ours").call("hold", count=pending + spare, waiter="handle")
    for number in session.repetitions():
        for side in session.turns(number, list(found)):
            _kill_a_writer(session, side, stores[side])
            script = _OURS if side == "ours" else _BARE
            found[side].append(_run(session, script, stores[side], pending))
    yield Figure(
        "restart",
        f"{pending:,} pending, read and one answered",
        "ms",
        Reading.VALUE,
        found["ours"],
        found["bare"],
        goal=_GOAL_MILLISECONDS,
    )


def _kill_a_writer(session: Session, side: str, store: Path) -> None:
    arguments = {"takes_lock": True} if side == "bare" else {}
    with Peer(side, "agent", store, session.runtime) as writer:
        writer.send("write_for", seconds=60.0, **arguments)
        time.sleep(0.05)
        writer.kill()


def _run(session: Session, script: str, store: Path, pending: int) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", script, str(store), str(pending)],
        env=clean_environment(session.runtime),
        stdout=subprocess.PIPE,
    ) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        took = time.perf_counter() - began
        started.communicate(timeout=30)
    assert int(line) == pending, line
    return 1000 * took
