"""ntfy: a push message with a button that opens the inbox.

What comes later about the same ask has the same sequence id: from ntfy 2.16 on, it takes the place of the first message. An older
server, or an app that does not know of it, shows another one.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from assent.effects.outward import post
from assent.protocol.error import BadRequestError
from assent.protocol.target import What
from assent.surfaces.notify.delivery import Parcel, check_reply
from assent.surfaces.notify.letter import short_end

__all__ = ["MAX_MESSAGE_BYTES", "NtfyPlace", "deliver", "read_place"]

MAX_MESSAGE_BYTES = 4_096
"""A longer message becomes an attachment, and is not read."""
_ROOM = 600
"""For the title, the link and the rest."""
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}").fullmatch
_URGENT = 4
_USUAL = 3
_encode = msgspec.json.Encoder().encode


class NtfyPlace(msgspec.Struct, frozen=True):
    """Where a push message goes, and as whom."""

    url: str
    topic: str
    authorization: str = ""


def read_place(address: str) -> NtfyPlace:
    """Return where a push message goes: `ntfy://HOST/TOPIC`, with `TOKEN@` or `USER:PASSWORD@` before the host.

    Raises:
        BadRequestError: something is missing.
    """
    parts = urlsplit(address)
    topic = unquote(parts.path.strip("/"))
    if not _TOPIC(topic):
        raise BadRequestError("An ntfy address is ntfy://HOST/TOPIC.")
    user, password = unquote(parts.username or ""), parts.password
    authorization = f"Bearer {user}" if user else ""
    if password is not None:
        authorization = f"Basic {b64encode(f'{user}:{unquote(password)}'.encode()).decode()}"
    scheme = "http" if parts.scheme == "ntfy+http" else "https"
    return NtfyPlace(f"{scheme}://{parts.netloc.rpartition('@')[2]}/", topic, authorization)


def deliver(parcel: Parcel) -> str:
    """Send a push message; return its id here."""
    place = read_place(parcel.secret.address)
    letter, notice = parcel.letter, parcel.notice
    body: dict[str, Any] = {
        "topic": place.topic,
        "sequence_id": notice.ask.ask_id,
        "title": letter.head,
        "message": cut_bytes(letter.said, MAX_MESSAGE_BYTES - _ROOM),
        "tags": ["test"] if notice.is_test else [short_end(notice.ask), notice.what.value],
        "priority": _URGENT if notice.what in (What.OVERDUE, What.ESCALATED) else _USUAL,
    }
    if letter.link:
        body["click"] = letter.link
        body["actions"] = [{"action": "view", "label": "Open the inbox", "url": letter.link}]
    headers = {"content-type": "application/json"}
    if place.authorization:
        headers["authorization"] = place.authorization
    reply = post(place.url, _encode(body), headers, allows_internal=parcel.target.allows_internal)
    check_reply(reply, "ntfy", parcel.now)
    return notice.reference or notice.message_id


def cut_bytes(text: str, most: int) -> str:
    """Return as much of `text` as fits into so many bytes, whole characters."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    return raw[: most - 3].decode(errors="ignore") + "…"
