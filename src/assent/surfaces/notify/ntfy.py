"""ntfy: a push message with a button that opens the inbox; of what is decided, another one with the same tag."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from assent.effects.outward import post
from assent.protocol.error import BadRequestError
from assent.protocol.target import What
from assent.surfaces.notify.delivery import Parcel, check_reply
from assent.surfaces.notify.letter import short_end

__all__ = ["MAX_MESSAGE_BYTES", "check_address", "deliver"]

MAX_MESSAGE_BYTES = 4_096
"""A longer message becomes an attachment, and is not read."""
_ROOM = 600
"""For the title, the link and the rest."""
_URGENT = 4
_USUAL = 3
_encode = msgspec.json.Encoder().encode


def deliver(parcel: Parcel) -> str:
    """Send a push message; return its id here."""
    parts = urlsplit(parcel.secret.address)
    letter, notice = parcel.letter, parcel.notice
    said = "\n".join(filter(None, (letter.title, letter.body, letter.foot)))
    body: dict[str, Any] = {
        "topic": unquote(parts.path.strip("/")),
        "title": letter.head,
        "message": cut_bytes(said, MAX_MESSAGE_BYTES - _ROOM),
        "tags": [short_end(notice.ask), notice.what.value],
        "priority": _URGENT if notice.what in (What.OVERDUE, What.ESCALATED) else _USUAL,
    }
    if letter.link:
        body["click"] = letter.link
        body["actions"] = [{"action": "view", "label": "Open the inbox", "url": letter.link}]
    scheme = "http" if parts.scheme == "ntfy+http" else "https"
    host = parts.netloc.rpartition("@")[2]
    headers = {"content-type": "application/json"}
    if parts.username:
        headers["authorization"] = f"Bearer {unquote(parts.username)}"
    url = f"{scheme}://{host}/"
    check_reply(post(url, _encode(body), headers, allows_internal=parcel.target.allows_internal), "ntfy")
    return notice.reference or notice.message_id


def cut_bytes(text: str, most: int) -> str:
    """Return as much of `text` as fits into so many bytes, whole characters."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    return raw[: most - 3].decode(errors="ignore") + "…"


def check_address(address: str) -> None:
    """See that an ntfy address has all that it needs.

    Raises:
        BadRequestError: it has not.
    """
    topic = urlsplit(address).path.strip("/")
    if not topic or "/" in topic:
        raise BadRequestError("An ntfy address is ntfy://HOST/TOPIC.")
