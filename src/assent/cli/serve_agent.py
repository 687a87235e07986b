"""The agents of `assent serve --demo`, each in a process of its own. They know nothing but the public client.

`python -m assent.cli.serve_agent asker|runner STORE PROJECT`

Standard input is the server's hand on them: when it closes, however the server came to its end, they take back what is
still open, and end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

import assent

__all__ = ["main"]

_TURN_SECONDS = 2.0
_TURNS = 1_000
_FINISH_SECONDS = 1.0
_ACTION = {
    "command": "psql shop -f migrations/0007_drop_legacy.sql",
    "statement": "ALTER TABLE users DROP COLUMN legacy_id",
}
_RISK = "irreversible"


def main(part: str, store: str, project: str) -> int:
    """Play one part until standard input closes."""
    play = {"asker": _ask, "runner": _run}[part]
    with assent.connect(Path(store), project=project) as client:
        play(client)
    return 0


def _ask(client: assent.Client) -> None:
    """Ask for three kinds of things, and leave the answers to whoever looks on."""
    asks = [
        client.open(
            "Which database should the shop use?",
            ["PostgreSQL", "SQLite"],
            body="It will hold customers and orders.\nMoving later is possible and costs about a day.",
        ).ask_id,
        client.open(
            "The tests pass. How should the work go on?",
            ["Open a pull request", "Show me the changes first", "Stop here"],
            kind="gate",
        ).ask_id,
    ]
    try:
        client.approve(
            "Drop the column users.legacy_id",
            action=_ACTION,
            risk=_RISK,
            body="Nothing reads it since the last release.",
            wait=0,
        )
    except assent.StillOpen as waiting:
        if waiting.ask is not None:
            asks.append(waiting.ask.ask_id)
    sys.stdin.buffer.read()
    for ask_id in asks:
        if client.show(ask_id).is_open:
            client.withdraw(ask_id, "The demo is over.")


def _run(client: assent.Client) -> None:
    """Go through the turns of a loop that people can pause, resume, cancel and escalate."""
    signal.signal(signal.SIGTERM, _leave)
    over, done = threading.Event(), threading.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        over.set()
        if not done.wait(_FINISH_SECONDS):  # it is paused, and only a signal gets the main thread out of that
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="assent-demo").start()
    with client.run(mode="issue", max=_TURNS, model="haiku") as run:
        for _ in run:
            if over.wait(_TURN_SECONDS):
                run.finish()
    done.set()


def _leave(_: int, __: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
