"""`assent withdraw`: takes an ask back, for the person. The agent that waits is told so."""

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


@click.command("withdraw", cls=PlacedCommand)
@click.argument("ask_id", metavar="ASK", shell_complete=complete_ask)
@click.option("--reason", metavar="TEXT", default="", help="Why; the agent is told.")
@click.option("--json", "as_json", is_flag=True, help="Print the ask as JSON.")
@click.pass_obj
def command(place: Place, /, ask_id: str, reason: str, as_json: bool) -> int:
    """Take an open ask back. An ask that was answered stays answered.

    \b
      assent withdraw k3x9d2 --reason 'no longer needed'
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    who = person(place.environ)
    with finding(place, ask_id) as found, uninterrupted(is_final=True):
        client = found.client(who)
        ask = client.withdraw(found.ask.ask_id, reason)
    name = render_name(str(client.principal))
    click.echo(render_json(ask) if as_json else f"{name} took {short_id(ask.ask_id)} back")
    return DONE
