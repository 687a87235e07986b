"""`assent audit verify`: is the record whole?"""

from __future__ import annotations

import click
import msgspec

from assent.cli.exit import DONE, FAILED
from assent.cli.group import PlacedGroup
from assent.cli.place import Place, is_there
from assent.client.door import run_call, until
from assent.hub.audit import Audit
from assent.protocol.display import display
from assent.protocol.error import NotFoundError
from assent.protocol.words import count

__all__ = ["command", "render_audit"]


@click.group("audit", cls=PlacedGroup)
def command() -> None:
    """Check that the record is whole.

    \b
      assent audit verify
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_obj
def _verify(place: Place, /, as_json: bool) -> int:
    """Walk the log of every project in the store: no number missing, no body changed, no link of the chain broken,
    and every row just as the log tells it.

    Exit status: 0 all is well, 1 something is wrong.
    """
    if not is_there(place.address):
        raise NotFoundError(f"There is no store {place.shown}, so there is no record.")
    with place.looking() as door:
        audit = run_call(until(door.verify()))
    if as_json:
        click.echo(msgspec.json.encode({"ok": not audit.problems, **msgspec.to_builtins(audit)}))
    else:
        for problem in audit.problems:
            click.echo(display(problem, lines=False))
        click.echo(render_audit(audit))
    return FAILED if audit.problems else DONE


def render_audit(audit: Audit) -> str:
    """Return what was looked at and the verdict, in one sentence."""
    looked = f"{count(audit.projects, 'project')}, {count(audit.events, 'event')}, {count(audit.asks, 'ask')}"
    if audit.runs:
        looked += f", {count(audit.runs, 'run')}"
    if audit.erased:
        looked += f", {audit.erased:,} of them with an erased body and not compared"
    if audit.ahead:
        looked += f", {audit.ahead:,} of the events dated more than 5 minutes ahead of the clock"
    verdict = "the record is whole"
    if audit.problems:
        verdict = (
            "1 thing is wrong" if len(audit.problems) == 1 else f"{len(audit.problems):,} things are wrong"
        )
    return f"{looked}: {verdict}."
