"""The agent of `assent demo`, in a process of its own. It knows nothing but the public client.

`python -m assent.cli.demo_agent STORE PROJECT`
"""
# ruff: noqa: T201 - an agent says what it does

from __future__ import annotations

import os
import sys
from pathlib import Path

import assent

__all__ = ["main"]

_AROUND = {
    "PostgreSQL": ["Nightly backups", "Read replica", "Monitoring"],
    "SQLite": ["Nightly backups", "A copy on a second disk", "Monitoring"],
}


def main(store: str, project: str) -> int:
    """Ask three things, each because of the last answer."""
    with assent.connect(Path(store), project=project) as client:
        say(f"I am process {os.getpid()}. I set up a small shop, and I ask before I decide.")
        try:
            database = client.ask(
                "Which database should the shop use?",
                [*_AROUND],
                body="It will hold customers and orders.\nMoving later is possible and costs about a day.",
            )
            say(f"{database}, then.")
            extras = client.ask(
                f"What should I set up around {database}?", _AROUND[str(database)], multiple=True
            )
            say(f"Will do: {', '.join(extras)}.")
            table = client.ask("What should the first table be called?", ["customers", "orders"], free=True)
            say(f"CREATE TABLE {table} (…): done. Thank you, that was all.")
        except assent.NoAnswer as ending:
            say(f"No answer: {ending} I stop here and guess nothing.")
    return 0


def say(line: str) -> None:
    """Print at once: the demo shows it before the next question."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
