"""`assent redeem`: acts for the agent that asked, and spends its approval right before the action is done."""

from __future__ import annotations

import click

from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.client.approving import find_receipt, redeem
from assent.client.client import blocking
from assent.client.identity import agent
from assent.effects.interrupt import uninterrupted
from assent.protocol.canonical import canonical, parse_json
from assent.protocol.display import quote
from assent.protocol.receipt import render_receipt

__all__ = ["command"]

_redeem, _find = blocking(redeem), blocking(find_receipt)


@click.command("redeem", cls=PlacedCommand)
@click.argument("receipt_id", metavar="RECEIPT")
@click.argument("action", metavar="[ACTION.json]", required=False)
@click.option(
    "--print",
    "prints",
    is_flag=True,
    help="Print the action that was approved, byte for byte, and nothing else.",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent that asked.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole receipt as JSON.")
@click.pass_obj
def command(
    place: Place, /, receipt_id: str, action: str | None, prints: bool, name: str | None, as_json: bool
) -> int:
    """Spend an approval: once, on exactly the action that was approved.

    ACTION.json is what is about to be done; - is standard input. The order of keys and white space do not count;
    everything else does, and what differs is named. Only the agent that asked can redeem its receipt.

    A file that is read again afterwards may be another one by then. --print hands out what was approved, as it was digested;
    with it ACTION.json may be left out. Do what it prints, and not what a file says.

    \b
      plan=$(assent redeem rcp_01m7hzh0s5mpytfwr4 --print) && run-the-plan <<< "$plan"

    Exit status: 0 redeemed, 4 another action, or asked for by somebody else, 5 expired, 6 redeemed before.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if prints and as_json:
        raise click.UsageError("--print and --json print different things: say one of them.")
    if action is None and not prints:
        raise click.UsageError("Name the ACTION.json that is about to be done, or have --print hand it out.")
    presented = None if action is None else read_json_file(action, parse_json)
    with place.door() as door, uninterrupted(is_final=True):
        asker = place.client(door, agent(place.environ, name))
        if action is None:
            presented = _find(asker, receipt_id).action
        receipt = _redeem(asker, receipt_id, presented)
    if prints:
        click.echo(canonical(receipt.action), nl=False)
    elif as_json:
        echo_json(render_receipt(receipt))
    else:
        click.echo(f"Redeemed {receipt.receipt_id}: {quote(receipt.title)}")
    return DONE
