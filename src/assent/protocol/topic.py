"""Topics: named parts of a project's log, and the messages in them.

A topic needs no creation. Its messages are numbered by the project's own sequence, so within a topic the numbers
rise but have gaps.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.display import is_encodable, quote
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import Json

__all__ = ["CONTROL_TOPIC", "CURRENT_TOPIC", "MAX_TOPIC", "Message", "check_topic", "render_message"]

CONTROL_TOPIC = "loop:control"
"""Commands to runs and what came of them (I1, schema 0)."""
CURRENT_TOPIC = "loop:current"
"""What runs report of themselves (I1, schema 1)."""
MAX_TOPIC = 200


class Message(msgspec.Struct, frozen=True):
    """One message of a topic, as `assent read` prints it."""

    sequence: int
    topic: str
    posted_at: datetime
    body: msgspec.Raw
    """The JSON as it was posted."""
    by: str = ""
    """Who posted it, where that is known; no part of the public JSON."""
    is_copy: bool = False
    """Assent's own copy of that person's answer, which they did not post; no part of the public JSON, either."""

    @property
    def value(self) -> Json:
        """The body, read."""
        value: Json = msgspec.json.decode(self.body)
        return value


_encoder = msgspec.json.Encoder()
_PUBLIC = ("sequence", "topic", "posted_at", "body")


def render_message(message: Message) -> bytes:
    """Return the public JSON form, on one line."""
    public = (message.sequence, message.topic, message.posted_at, message.body)
    return _encoder.encode(dict(zip(_PUBLIC, public, strict=True)))


def check_topic(topic: str) -> None:
    """Refuse a name that could not be typed or told apart.

    Raises:
        BadRequestError: it is empty, too long, or holds blanks or characters that cannot be seen.
    """
    is_plain = topic.isprintable() and " " not in topic  # no other blank counts as printable
    if not (1 <= len(topic) <= MAX_TOPIC and is_plain and is_encodable(topic)):
        raise BadRequestError(
            f'"{quote(topic, 60)}" is no topic: a topic has 1 to {MAX_TOPIC} visible characters and no blanks.'
        )
