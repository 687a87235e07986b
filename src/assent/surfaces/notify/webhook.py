"""Webhooks, signed as Standard Webhooks says: a program is told of every event of every ask, once or more, in order.

The signature is over the id, the moment and the exact bytes. The id is the same for every try, so that whoever gets a
message twice can drop one.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from datetime import datetime
from hashlib import sha256

import msgspec

from assent.effects.outward import post
from assent.protocol.ask import Ask
from assent.protocol.error import BadRequestError
from assent.protocol.target import Notice
from assent.surfaces.notify.delivery import Parcel, check_reply
from assent.surfaces.notify.letter import Letter, short_end

__all__ = ["SECRET_PREFIX", "deliver", "render_webhook", "sign"]

SECRET_PREFIX = "whsec_"  # noqa: S105 - by which the standard knows a secret

_encode = msgspec.json.Encoder().encode


def sign(secret: str, message_id: str, at: datetime, body: bytes) -> str:
    """Return the signature of a message.

    Raises:
        BadRequestError: the secret is none.
    """
    try:
        key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise BadRequestError("The webhook's signing secret cannot be read.")
    signed = f"{message_id}.{int(at.timestamp())}.".encode() + body
    return f"v1,{b64encode(hmac.digest(key, signed, sha256)).decode()}"


def render_webhook(notice: Notice, letter: Letter) -> bytes:
    """Return the body: what happened, when, and which ask it is; not what it would do."""
    ask = notice.ask
    return _encode(
        {
            "type": "test" if notice.is_test else f"ask.{notice.what}",
            "timestamp": notice.at,
            "data": {
                "project": ask.project,
                "ask_id": ask.ask_id,
                "short_id": short_end(ask),
                "kind": ask.kind,
                "state": ask.state,
                "title": letter.title,
                "body": letter.body,
                "asker": ask.asker,
                "run_id": ask.run_id,
                "opened_at": ask.opened_at,
                "deadline": ask.deadline,
                "escalate_to": ask.escalate_to,
                **_ended(ask),
                "link": letter.link or None,
                "sequence": notice.sequence,
            },
        }
    )


def _ended(ask: Ask) -> dict[str, object]:
    """Return who ended it, how sure that is, and whether anybody was there."""
    end = ask.answer or ask.outcome
    if end is None:
        return {"ended_by": None, "assurance": None, "is_unattended": False}
    return {"ended_by": end.by, "assurance": end.assurance, "is_unattended": end.is_unattended}


def deliver(parcel: Parcel) -> str:
    """Send a webhook; return the id under which it was sent."""
    notice = parcel.notice
    body = render_webhook(notice, parcel.letter)
    headers = {
        "content-type": "application/json",
        "user-agent": "assent",
        "webhook-id": notice.message_id,
        "webhook-timestamp": str(int(parcel.now.timestamp())),
        "webhook-signature": sign(parcel.secret.signing, notice.message_id, parcel.now, body),
    }
    reply = post(parcel.secret.address, body, headers, allows_internal=parcel.target.allows_internal)
    check_reply(reply, "The webhook", parcel.now)
    return notice.message_id
