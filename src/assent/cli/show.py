"""`assent show`: one ask in full."""

from __future__ import annotations

import os
import sys

import click

from assent.cli.exit import DONE
from assent.cli.find import complete_ask, finding
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, now
from assent.protocol.ask import render_json
from assent.surfaces.card import render_card, short_id
from assent.surfaces.ink import ink_for
from assent.surfaces.terminal import width_of

__all__ = ["command"]


@click.command("show", cls=PlacedCommand)
@click.argument("ask_id", metavar="ASK", shell_complete=complete_ask)
@click.option("--json", "as_json", is_flag=True, help="Print the ask as JSON.")
@click.pass_obj
def command(place: Place, /, ask_id: str, as_json: bool) -> int:
    """Show one ask in full: the question, what silence means, how it ended.

    ASK is an id, or the last few characters of one. It is looked for in every store that you opened; an
    end that fits several asks is refused. What the asker wrote stands behind a colon.

    \b
      assent show k3x9d2
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    with finding(place, ask_id) as found:
        ask = found.ask
    if as_json:
        click.echo(render_json(ask))
        return DONE
    ink = ink_for(sys.stdout, os.environ)
    lines = render_card(ask, ink, width_of(sys.stdout), now())
    if ask.is_open:
        lines.append(ink.faint(f"Answer it with: assent answer {short_id(ask.ask_id)} …"))
    click.echo("\n".join(lines))
    return DONE
