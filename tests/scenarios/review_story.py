"""A process that goes through one durable review and dies when it has lived long enough.

    python -m tests.scenarios.review_story STORE DOCUMENT [MOMENTS]

Each ask, each word, each entry of the journal and each move of a file is a moment, before and after it. At the last of
its MOMENTS the process kills itself with SIGKILL: no handler runs and nothing is flushed. Without a number it lives to
the end, and prints the report.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from assent.client.calls import Calls
from assent.client.client import Client
from assent.client.door import Call
from assent.flows.walk_through.report import report_json
from assent.hub.compose import hub_on_file
from assent.hub.record import Step
from assent.protocol.principal import Principal, Role
from tests.cli.reviews import ROUND_OF_FIVE

__all__ = ["PROJECT", "moments"]

PROJECT = "story"

Pass = Callable[[str], None]
"""Gets the name of each moment as it comes, and may end it all."""


@contextmanager
def moments(happen: Pass) -> Iterator[None]:
    """Have `happen` called before and after each entry of a journal and each move of a file."""
    write, move = Calls.write_step, os.replace

    def write_step(self: Calls, step: Step, *, is_own: bool = False) -> Call[None]:
        happen(f"before step {step.step} {step.state}")
        yield from write(self, step, is_own=is_own)
        happen(f"after step {step.step} {step.state}")

    def replace(*args: Any, **kwargs: Any) -> None:
        happen("before a move")
        move(*args, **kwargs)
        happen("after a move")

    Calls.write_step, os.replace = write_step, replace  # type: ignore[method-assign]
    try:
        yield
    finally:
        Calls.write_step, os.replace = write, move  # type: ignore[method-assign]


def main(store: Path, document: Path, longest: int) -> None:
    """Go through the review."""
    lived = 0

    def live(_: object) -> None:
        nonlocal lived
        lived += 1
        if lived == longest:
            os.kill(os.getpid(), signal.SIGKILL)

    client = Client(hub_on_file(store), PROJECT, Principal(Role.AGENT, "teller"))
    with moments(live):
        report = client.review(ROUND_OF_FIVE, document=document, durable=True, say=live, present=live)
    sys.stdout.buffer.write(msgspec.json.encode(report_json(report)))
    client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
