"""`assent log`: the events of a project, in sequence; live with --follow."""

from __future__ import annotations

from collections.abc import Iterator

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.log_line import render_record
from assent.cli.place import Place
from assent.client.client import Client
from assent.client.identity import agent
from assent.hub.clock import is_ahead
from assent.hub.desk import instant
from assent.storage.port import Record

__all__ = ["command", "render_record"]

_PAGE = 500


@click.command("log", cls=PlacedCommand)
@click.option("--after", type=click.IntRange(0), default=0, metavar="N", help="Begin after event N.")
@click.option("--follow", is_flag=True, help="Go on with new events as they come; Ctrl-C ends it.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print an object a line: sequence, type, at, data; is_ahead where that is marked.",
)
@click.pass_obj
def command(place: Place, /, after: int, follow: bool, as_json: bool) -> int:
    """Read the events of a project, oldest first. Nothing in the log is ever changed; assent audit checks it.

    \b
      assent log
      assent log --after 120 --follow --json
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if not follow and not place.is_there():
        return DONE
    with place.door() if follow else place.looking() as door:
        client = place.client(door, agent(place.environ))
        records = client.follow(after) if follow else _pages(client, after)
        try:
            for record in records:
                ahead = is_ahead(instant(record.at), door.now())
                if as_json:
                    echo_json(_encode(record, ahead=ahead))
                else:
                    click.echo(render_record(record, is_ahead=ahead))
        except KeyboardInterrupt:
            if not follow:
                raise
            say("")
    return DONE


def _pages(client: Client, after: int) -> Iterator[Record]:
    while page := client.log(after, _PAGE):
        yield from page
        after = page[-1].sequence


def _encode(record: Record, *, ahead: bool) -> bytes:
    body = None if record.body is None else msgspec.json.decode(record.body)
    if isinstance(body, dict):
        body.pop("type", None)  # it stands beside the body
    told = {"sequence": record.sequence, "type": record.type, "at": instant(record.at), "data": body}
    return msgspec.json.encode(told | ({"is_ahead": True} if ahead else {}))
