"""`assent` alone, where no inbox can be opened: what waits, in a few lines."""

from __future__ import annotations

import os
import sys

import click

from assent.cli.exit import DONE, say
from assent.cli.gather import gather
from assent.cli.inbox import render_list
from assent.cli.place import Place
from assent.cli.terminal_inbox import INSTALL, can_open, is_for_people
from assent.surfaces.ink import ink_for
from assent.surfaces.terminal import width_of

__all__ = ["summarise"]

_SHOWN = 7


def summarise(place: Place) -> int:
    """Print how much waits and the newest of it."""
    is_seen = sys.stdout.isatty()
    found = gather(place, everywhere=is_seen, limit=_SHOWN)
    ink = ink_for(sys.stdout, os.environ)
    where = "in all your projects" if is_seen and not place.project else f"in {place.project_name}"
    asks = "1 ask waits" if found.count == 1 else f"{found.count} asks wait"
    if found.count:
        click.echo(ink.strong(f"{asks} {where}."))
        for line in render_list(found, ink, width_of(sys.stdout), found.at):
            click.echo(line)
        click.echo(ink.faint("assent show ID shows one in full, assent answer ID VALUE answers it."))
    else:
        click.echo(f"Nothing waits {where}.")
    if is_seen:
        lacks_inbox = is_for_people(place) and not can_open()
        click.echo(ink.faint(INSTALL if lacks_inbox else "assent --help lists the commands."))
    for trouble in found.troubles:
        say(f"Not looked at: {trouble}")
    return DONE
