"""`assent log`: the events of a project, in sequence; live with --follow."""

from __future__ import annotations

from collections.abc import Iterator

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, is_there
from assent.client.client import Client
from assent.client.identity import agent
from assent.hub.desk import instant
from assent.protocol.display import display, quote
from assent.protocol.ending import render_name
from assent.storage.port import Record
from assent.surfaces.card import short_id

__all__ = ["command", "render_record"]

_PAGE = 500
_LONGEST = 100


@click.command("log", cls=PlacedCommand)
@click.option("--after", type=click.IntRange(0), default=0, metavar="N", help="Begin after event N.")
@click.option("--follow", is_flag=True, help="Go on with new events as they come; Ctrl-C ends it.")
@click.option("--json", "as_json", is_flag=True, help="Print an object a line: sequence, type, at, data.")
@click.pass_obj
def command(place: Place, /, after: int, follow: bool, as_json: bool) -> int:
    """Read the events of a project, oldest first. Nothing in the log is ever changed; assent audit checks it.

    \b
      assent log
      assent log --after 120 --follow --json
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if not follow and not is_there(place.path):
        return DONE
    with place.hub() as hub:
        client = place.client(hub, agent(place.environ))
        records = client.follow(after) if follow else _pages(client, after)
        try:
            for record in records:
                click.echo(_encode(record) if as_json else render_record(record))
        except KeyboardInterrupt:
            if not follow:
                raise
            say("")
    return DONE


def _pages(client: Client, after: int) -> Iterator[Record]:
    while page := client.log(after, _PAGE):
        yield from page
        after = page[-1].sequence


def _encode(record: Record) -> bytes:
    body = None if record.body is None else msgspec.json.decode(record.body)
    if isinstance(body, dict):
        body.pop("type", None)  # it stands beside the body
    return msgspec.json.encode(
        {"sequence": record.sequence, "type": record.type, "at": instant(record.at), "data": body}
    )


def render_record(record: Record, *, has_date: bool = True) -> str:
    """Return an event on one line: its number, moment (UTC), type, subject, and what it says."""
    at = instant(record.at).strftime("%Y-%m-%d %H:%M:%S" if has_date else "%H:%M:%S")
    subject = display(short_id(record.subject), lines=False)
    return f"{record.sequence:>5}  {at}  {record.type:<15}  {subject}  {_render_what(record)}".rstrip()


def _render_outcome(outcome: dict[str, str | None]) -> str:
    if outcome["consequence"]:
        return f"nobody answered in time: {outcome['consequence']}"
    if outcome["successor"]:
        return f"replaced by {outcome['successor']}"
    who = render_name(outcome["by"] or "")
    return f"{who}: {outcome['reason']}" if outcome["reason"] else who


def _render_what(record: Record) -> str:
    if record.body is None:
        return "(erased)"
    told = msgspec.json.decode(record.body)
    outcome = told.get("outcome")
    if record.type == "ask.opened":
        what = f"{render_name(told['asker'])} asks: {told['prompt']['title']}"
    elif record.type == "ask.answered":
        answer = told["answer"]
        chosen = "; ".join(", ".join(given) for given in answer["values"].values())
        how = [answer["via"], answer["assurance"], "unattended" if told.get("is_unattended") else ""]
        what = f"{render_name(answer['by'])}: {chosen} ({', '.join(filter(None, dict.fromkeys(how)))})"
    elif outcome:
        what = _render_outcome(outcome)
    else:
        what = str(told.get("to") or told.get("reason") or "")
    return quote(what, _LONGEST)
