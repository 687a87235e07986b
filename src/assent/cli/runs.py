"""`assent runs`: which runs there are, as a board, as JSON, or live."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.lookout import RECENT, Lookout
from assent.cli.place import Place
from assent.protocol.run import render_run
from assent.surfaces.board import BoardRun, render_board
from assent.surfaces.ink import ink_for

__all__ = ["board_width", "command", "encode_run", "heading"]

_NARROWEST, _USUAL = 20, 80
_FIRST = ("run_id", "status", "mode", "iteration", "max", "model", "updated_at", "stack")
"""What every reader relies on stands first."""


@click.command("runs", cls=PlacedCommand)
@click.option("--json", "as_json", is_flag=True, help='Print {"runs": […]}; with --watch an object a change.')
@click.option("--watch", is_flag=True, help="Go on, live: q or Ctrl-C ends it, r looks again at once.")
@click.option(
    "--all/--here",
    "everywhere",
    default=None,
    help=(
        "All your stores and every run that ended, or this project only."
        " [default: all stores on a terminal, else here; what ended within a day]"
    ),
)
@click.option("--ended", is_flag=True, help="Every run that ended, also longer than a day ago.")
@click.pass_obj
def command(place: Place, /, as_json: bool, watch: bool, everywhere: bool | None, ended: bool) -> int:
    """Show the runs: what is running, pausing, paused or stale, and what ended within a day.

    A run that is pausing is paused and finishes its iteration; a stale one has no live driver and was silent for two
    hours. Its id, below it, is what pause, resume, cancel and escalate take, or the beginning or end of it.

    \b
      assent runs
      assent runs --watch
      assent runs --here --json
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    is_everywhere = sys.stdout.isatty() if everywhere is None else everywhere
    ended_since = None if ended or everywhere else RECENT
    if watch:
        from assent.cli.watch import watch_runs

        return watch_runs(place, everywhere=is_everywhere, ended_since=ended_since, as_json=as_json)
    with Lookout(place, everywhere=is_everywhere, ended_since=ended_since) as lookout:
        runs = lookout.look(lookout.now())
        at = lookout.now()
    if as_json:
        click.echo(msgspec.json.encode({"runs": [encode_run(seen, at) for seen in runs]}))
    else:
        ink = ink_for(sys.stdout, os.environ)
        for line in render_board(runs, ink, board_width(), at, heading(ended_since)):
            click.echo(line)
    for trouble in lookout.troubles:
        say(f"Not looked at: {trouble}")
    return DONE


def encode_run(seen: BoardRun, at: datetime) -> dict[str, object]:
    """Return a run as `runs --json` has it."""
    run = seen.run
    paused_by = run.paused_by if run.paused_at is not None else None
    told = render_run(run, is_driven=seen.is_driven, now=at)
    more = {"paused_by": paused_by, "ended_by": run.ended_by or None, "waits": seen.waits}
    return {name: told[name] for name in _FIRST} | told | more


def heading(ended_since: timedelta | None) -> str:
    """Return what stands above the runs that ended."""
    return "Ended" if ended_since is None else "Ended within a day"


def board_width() -> int:
    """Return the columns of standard output. A board is a table: all of a wide window is of use."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(_NARROWEST, found or _USUAL)
