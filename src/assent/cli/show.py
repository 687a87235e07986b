"""`assent show`: one ask in full."""

from __future__ import annotations

import os
import sys

import click

from assent.cli.exit import DONE
from assent.cli.find import complete_ask, finding
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.client.door import run_call, until
from assent.protocol.ask import render_json
from assent.protocol.receipt import Receipt, render_granting, render_redeeming
from assent.protocol.terms import Terms
from assent.surfaces.card import render_card, short_id
from assent.surfaces.ink import ink_for
from assent.surfaces.terminal import width_of
from assent.surfaces.width import wrap

__all__ = ["command"]


@click.command("show", cls=PlacedCommand)
@click.argument("ask_id", metavar="ASK", shell_complete=complete_ask)
@click.option("--json", "as_json", is_flag=True, help="Print the ask as JSON.")
@click.pass_obj
def command(place: Place, /, ask_id: str, as_json: bool) -> int:
    """Show one ask in full: the question, what silence means, how it ended, and what became of its receipt.

    ASK is an id, or the last few characters of one. It is looked for in all your stores; an
    end that fits several asks is refused. What the asker wrote stands behind a colon.

    \b
      assent show k3x9d2
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    receipt: Receipt | None = None
    with finding(place, ask_id, reads=True) as found:
        ask, at = found.ask, found.door.now()
        if ask.answer is not None and isinstance(ask.terms, Terms):
            receipt = run_call(until(found.door.receipt(ask.project, ask.terms.receipt_id)))
    if as_json:
        click.echo(render_json(ask))
        return DONE
    ink = ink_for(sys.stdout, os.environ)
    lines = render_card(ask, ink, width_of(sys.stdout), at)
    if ask.is_open:
        lines.append(ink.faint(f"Answer it with: assent answer {short_id(ask.ask_id)} …"))
    if receipt is not None:
        told = render_granting(receipt) if receipt.redeemed_at is None else render_redeeming(receipt)
        lines += wrap(
            f"Receipt {receipt.receipt_id}, for {receipt.action_digest}: {told}", width_of(sys.stdout)
        )
    click.echo("\n".join(lines))
    return DONE
