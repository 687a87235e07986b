"""Thirty asks of every kind from six agents, cleared by keyboard at the terminal inbox, whose program is killed six times.

It is the real program in a terminal emulator. It comes back at the ask that was open, with what was marked or half
written, and every agent is told what was marked for its ask.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.cli.clearing import Agents, clear, expected
from tests.cli.shell import Shell
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

_ASKS, _AGENTS, _DEATHS = 30, 6, 6
_WITHOUT = {
    "forgetful": (
        "from assent.surfaces.tui.draft import Drafts; Drafts._write_file = lambda *_: False; "
        "from assent.cli import main; main()"
    )
}


def run(plan: Plan) -> Verdict:
    """Clear all of it, and ask every agent what it was told."""
    tally = Tally(("place or draft lost", "agent told wrongly", "agent not told"))
    asks, deaths = plan.count(_ASKS, least=2), plan.count(_DEATHS)
    program = (sys.executable, "-c", _WITHOUT[plan.twin]) if plan.twin else ()
    # From the second on: the first is the one that opens by itself, whatever is remembered.
    kill_at = sorted(plan.chance().sample(range(1, asks), min(deaths, asks - 1)))
    with tempfile.TemporaryDirectory(prefix="assent-torture-") as folder:
        home = Path(folder) / "shop"
        home.mkdir()
        shell = Shell(home)
        agents = Agents(shell, min(_AGENTS, asks), asks)
        try:
            for loss in clear(shell, asks, kill_at, program):
                tally.fault("place or draft lost", loss)
                if plan.twin:  # it has shown; a story without its guard has no end
                    agents.send_home()
                    return tally.verdict()
        finally:
            shell.close()
        agents.join()
    for title, ask in agents.told.items():
        told = None if ask.answer is None else dict(ask.answer.values)
        tally.check(told == expected(title), "agent told wrongly", f"{title}: {told}")
        tally.add("asks answered")
    for _ in range(asks - len(agents.told)):
        tally.fault("agent not told")
    tally.add("deaths", len(kill_at))
    tally.require("asks answered", asks)
    tally.require("deaths")
    return tally.verdict()


TRIAL = Trial(
    "sitting",
    "30 asks from 6 agents cleared by keyboard, the inbox killed 6 times: back at the same place, with its drafts",
    run,
    (Twin("forgetful", "what is marked is kept in a file before the next key", "place or draft lost", 0.1),),
    share=0.1,
)
