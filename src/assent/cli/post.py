"""`assent post`: puts a message into a topic, as it stands. On `loop:control` it is a REQUEST, and executed at once."""

from __future__ import annotations

import sys

import click

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.client.identity import agent, agent_mark, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import MAX_JSON_BYTES, parse_json
from assent.protocol.topic import CONTROL_TOPIC, check_topic, render_message

__all__ = ["command"]


@click.command("post", cls=PlacedCommand)
@click.argument("topic", metavar="TOPIC")
@click.argument("text", metavar="[JSON | -]", required=False)
@click.pass_obj
def command(place: Place, /, topic: str, text: str | None) -> int:
    """Put a message into a topic, and print it as it was stored: one JSON object on one line.

    The message is JSON; without one, or with -, it is read from standard input. A topic needs no creation. You post
    as yourself, or as the agent where an agent runs this. On loop:control a REQUEST is acknowledged and executed
    before this returns, and only people may send one; assent read loop:control shows what came of it. On loop:current
    only runs report.

    \b
      assent post project:shop '{"note": "the demo is on Friday"}'
      assent post loop:control - < request.json

    Exit status: 0 posted, 2 not JSON, or nothing that could be answered, 4 refused.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    check_topic(topic)
    body = _read() if text is None or text == "-" else text.encode("utf-8", "surrogateescape")
    if topic != CONTROL_TOPIC:
        parse_json(body)  # before a store is made for a slip of the finger
    who = agent(place.environ) if agent_mark(place.environ) else person(place.environ)
    with place.door() as door, uninterrupted(is_final=True):
        message = place.client(door, who).post_text(topic, body)
    echo_json(render_message(message))
    return DONE


def _read() -> bytes:
    if sys.stdin is None:
        raise BadRequestError("There is no message: standard input is closed.")
    if sys.stdin.isatty():
        say("Type the message, then Ctrl-D.")
    return sys.stdin.buffer.read(MAX_JSON_BYTES + 1)
