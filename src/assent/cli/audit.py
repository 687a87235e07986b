"""`assent audit verify`: is the record whole?"""

from __future__ import annotations

import click
import msgspec

from assent.cli.exit import DONE, FAILED
from assent.cli.group import PlacedGroup
from assent.cli.place import Place, is_there
from assent.hub.audit import Audit, verify
from assent.protocol.display import display

__all__ = ["command"]


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
    if is_there(place.path):
        with place.hub() as hub:
            audit = verify(hub.store)
    else:
        audit = Audit(0, 0, 0, ())
    if as_json:
        click.echo(msgspec.json.encode({"ok": not audit.problems, **msgspec.to_builtins(audit)}))
    else:
        for problem in audit.problems:
            click.echo(display(problem, lines=False))
        looked = f"{audit.projects} projects, {audit.events} events, {audit.asks} asks"
        verdict = f"{len(audit.problems)} things are wrong" if audit.problems else "the record is whole"
        click.echo(f"{looked}: {verdict}.")
    return FAILED if audit.problems else DONE
