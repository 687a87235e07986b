"""`assent read`: the messages of a topic, oldest first; live with --follow."""

from __future__ import annotations

from collections.abc import Iterator

import click

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.client.client import Client
from assent.client.identity import agent
from assent.protocol.topic import Message, check_topic, render_message

__all__ = ["command"]

_PAGE = 500


@click.command("read", cls=PlacedCommand)
@click.argument("topic", metavar="TOPIC")
@click.option("--after", type=click.IntRange(0), default=0, metavar="N", help="Begin after message N.")
@click.option("--follow", is_flag=True, help="Go on with new messages as they come; Ctrl-C ends it.")
@click.pass_obj
def command(place: Place, /, topic: str, after: int, follow: bool) -> int:
    """Read a topic from its first message: one JSON object a line with sequence, topic, posted_at and body.

    loop:control has the commands to runs and what came of them, loop:current what runs report of themselves. Within
    a topic the numbers rise, with gaps: a project counts everything that happens in it.

    \b
      assent read loop:current
      assent read loop:control --after 120 --follow
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    check_topic(topic)
    if not follow and not place.is_there():
        return DONE
    try:
        with place.door() if follow else place.looking() as door:
            client = place.client(door, agent(place.environ))
            messages = client.follow_topic(topic, after) if follow else _pages(client, topic, after)
            for message in messages:
                echo_json(render_message(message))
    except KeyboardInterrupt:
        if not follow:
            raise
        say("")
    return DONE


def _pages(client: Client, topic: str, after: int) -> Iterator[Message]:
    while page := client.read(topic, after, _PAGE):
        yield from page
        after = page[-1].sequence
