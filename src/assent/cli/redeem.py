"""`assent redeem`: acts for the agent that asked, and spends its approval right before the action is done."""

from __future__ import annotations

import click

from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.client.approving import redeem
from assent.client.client import blocking
from assent.client.identity import agent
from assent.effects.interrupt import uninterrupted
from assent.protocol.canonical import parse_json
from assent.protocol.display import quote
from assent.protocol.receipt import render_receipt

__all__ = ["command"]

_redeem = blocking(redeem)


@click.command("redeem", cls=PlacedCommand)
@click.argument("receipt_id", metavar="RECEIPT")
@click.argument("action", metavar="ACTION.json")
@click.option("--as", "name", metavar="NAME", help="The name of the agent that asked.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole receipt as JSON.")
@click.pass_obj
def command(place: Place, /, receipt_id: str, action: str, name: str | None, as_json: bool) -> int:
    """Spend an approval: once, on exactly the action that was approved.

    ACTION.json is what is about to be done; - is standard input. The order of keys and white space do not count;
    everything else does, and what differs is named. Only the agent that asked can redeem its receipt.

    \b
      assent redeem rcp_01m7hzh0s5mpytfwr4 plan.json && run-the-plan plan.json

    Exit status: 0 redeemed, 4 another action, or asked for by somebody else, 5 expired, 6 redeemed before.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    presented = read_json_file(action, parse_json)
    with place.door() as door, uninterrupted(is_final=True):
        receipt = _redeem(place.client(door, agent(place.environ, name)), receipt_id, presented)
    if as_json:
        echo_json(render_receipt(receipt))
    else:
        click.echo(f"Redeemed {receipt.receipt_id}: {quote(receipt.title)}")
    return DONE
