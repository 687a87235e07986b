"""E-mail: a message for each ask, and what comes after it as replies in its thread. Nobody answers by mail.

Rule 1: over a connection that nobody can read: STARTTLS or TLS from the start, unless a person said `tls=none`.
Rule 2: headers are of one line each; what an agent wrote is in the body and, shown on one line, in the subject.
"""

from __future__ import annotations

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from assent.effects.outward import OutwardError, OutwardSmtp
from assent.protocol.error import BadRequestError
from assent.surfaces.notify.delivery import DeliveryError, Parcel

__all__ = ["MailPlace", "check_address", "deliver", "read_place", "write_mail"]

_PORTS = {"smtp": 587, "smtps": 465}
_NO_TLS = "none"


class MailPlace(msgspec.Struct, frozen=True):
    """By which server, from whom and to whom."""

    host: str
    port: int
    is_tls: bool
    """From the start."""
    starts_tls: bool
    user: str
    password: str
    sender: str
    to: tuple[str, ...]


def read_place(address: str, smtp: str = "") -> MailPlace:
    """Return where mail goes: `smtp://USER:PASSWORD@HOST/?from=A&to=B`, or `mailto:B` by the server of this place.

    Raises:
        BadRequestError: something is missing.
    """
    parts = urlsplit(address)
    to = parse_qs(parts.query).get("to", [])
    if parts.scheme == "mailto":
        to = [unquote(part) for part in parts.path.split(",")]
        if not smtp:
            raise BadRequestError("Mail needs a server: set ASSENT_SMTP=smtp://USER:PASSWORD@HOST/?from=YOU.")
        parts = urlsplit(smtp)
    words = parse_qs(parts.query)
    sender = words.get("from", [""])[0]
    if parts.scheme not in _PORTS or not parts.hostname or not sender or not to:
        raise BadRequestError("A mail address is smtp://USER:PASSWORD@HOST:PORT/?from=YOU&to=THEM.")
    for who in (sender, *to):
        try:
            Address(addr_spec=who)
        except (ValueError, IndexError):
            raise BadRequestError("A mail address has a sender or a recipient that is none.") from None
    return MailPlace(
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        parts.scheme == "smtps",
        parts.scheme == "smtp" and words.get("tls", [""])[0] != _NO_TLS,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        sender,
        tuple(to),
    )


def write_mail(parcel: Parcel, place: MailPlace) -> EmailMessage:
    """Return the message."""
    letter, notice = parcel.letter, parcel.notice
    domain = place.sender.rpartition("@")[2]
    mail = EmailMessage()
    mail["From"] = place.sender
    mail["To"] = ", ".join(place.to)
    again = "Re: " if notice.reference else ""
    mail["Subject"] = f"{again}{letter.title}"
    mail["Date"] = parcel.now
    mail["Message-ID"] = f"<{notice.message_id}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    if notice.reference:
        mail["In-Reply-To"] = mail["References"] = notice.reference
    mail.set_content(letter.text)
    return mail


def deliver(parcel: Parcel) -> str:
    """Send a mail; return the id of the first one of its thread."""
    place = read_place(parcel.secret.address, parcel.smtp)
    mail = write_mail(parcel, place)
    try:
        with OutwardSmtp(is_tls=place.is_tls, allows_internal=parcel.target.allows_internal) as server:
            server.connect(place.host, place.port)
            if place.starts_tls:
                server.ehlo()
                # Of the name that was asked for, and not of the number that was connected to.
                server._host = place.host  # type: ignore[attr-defined]  # noqa: SLF001 - smtplib has no other way
                server.starttls(context=ssl.create_default_context())
            if place.user:
                server.login(place.user, place.password)
            server.send_message(mail)
    except OutwardError:
        raise
    except smtplib.SMTPResponseException as error:
        raise DeliveryError(f"The mail server refused it: {error.smtp_code}.") from None
    except (OSError, smtplib.SMTPException) as error:
        raise DeliveryError(f"The mail server was not reached: {type(error).__name__}.") from None
    return parcel.notice.reference or str(mail["Message-ID"])


def check_address(address: str, smtp: str) -> None:
    """See that a mail address has all that it needs.

    Raises:
        BadRequestError: it has not.
    """
    read_place(address, smtp)
