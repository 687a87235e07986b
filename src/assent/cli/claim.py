"""`assent claim`: a courtesy to the others. It stops nobody from answering."""

from __future__ import annotations

import click

from assent.cli.exit import DONE
from assent.cli.find import complete_ask, finding
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.client.identity import person
from assent.effects.interrupt import uninterrupted
from assent.protocol.ask import render_json
from assent.protocol.ending import render_name
from assent.surfaces.card import short_id

__all__ = ["command"]


@click.command("claim", cls=PlacedCommand)
@click.argument("ask_id", metavar="ASK", shell_complete=complete_ask)
@click.option("--json", "as_json", is_flag=True, help="Print the ask as JSON.")
@click.pass_obj
def command(place: Place, /, ask_id: str, as_json: bool) -> int:
    """Say that you are on it, so that nobody else starts thinking about the same question.

    Others see your name beside the ask for a quarter of an hour; they may still answer.

    \b
      assent claim k3x9d2
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    who = person(place.environ)
    with finding(place, ask_id) as found, uninterrupted(is_final=True):
        client = found.client(who)
        ask = client.claim(found.ask.ask_id)
    name = render_name(str(client.principal))
    click.echo(render_json(ask) if as_json else f"{name} is on {short_id(ask.ask_id)}")
    return DONE
