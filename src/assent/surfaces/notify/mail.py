"""E-mail: a message for each ask, and what comes after it as replies in its thread. Nobody answers by mail.

Rule 1: over a connection that nobody can read: STARTTLS or TLS from the start, unless a person said `tls=none`.
Rule 2: headers are of one line each; what an agent wrote is in the body and, shown on one line, in the subject.
Rule 3: a target has one recipient: where a server takes mail for one and not for another, each is told of by itself.
"""

from __future__ import annotations

import smtplib
import ssl
from email.headerregistry import Address
from email.message import EmailMessage
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import msgspec

from assent.effects.outward import OutwardSmtp
from assent.protocol.error import BadRequestError
from assent.protocol.target import split_address
from assent.surfaces.notify.delivery import DeliveryError, Parcel

__all__ = ["MailPlace", "deliver", "read_place", "write_mail"]

_PORTS = {"smtp": 587, "smtps": 465}
_NO_TLS = "none"
_READY = 220


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
    to: str


def read_place(address: str, smtp: str = "") -> MailPlace:
    """Return where mail goes: `smtp://USER:PASSWORD@HOST/?from=A&to=B`, or `mailto:B` by the server of this place.

    Raises:
        BadRequestError: something is missing.
    """
    parts = urlsplit(address)
    to = _words(parts).get("to", "")
    if parts.scheme == "mailto":
        to = unquote(parts.path)
        if not smtp:
            raise BadRequestError("Mail needs a server: set ASSENT_SMTP=smtp://USER:PASSWORD@HOST/?from=YOU.")
        parts = split_address(smtp)
    words = _words(parts)
    sender = words.get("from", "")
    if parts.scheme not in _PORTS or not parts.hostname or not sender or not to:
        raise BadRequestError("A mail address is smtp://USER:PASSWORD@HOST:PORT/?from=YOU&to=THEM.")
    if "," in to:
        raise BadRequestError("A target has one recipient: add one target for each.")
    for who in (sender, to):
        try:
            Address(addr_spec=who)
        except (ValueError, IndexError):
            raise BadRequestError("The sender or the recipient is no mail address.") from None
    return MailPlace(
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        parts.scheme == "smtps",
        parts.scheme == "smtp" and words.get("tls", "") != _NO_TLS,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        sender,
        to,
    )


def _words(parts: SplitResult) -> dict[str, str]:
    """Return what stands behind the question mark. A plus is a plus there: people have it in their mail address."""
    given = parse_qs(parts.query.replace("+", "%2B"))
    return {name: ",".join(values) for name, values in given.items()}


def write_mail(parcel: Parcel, place: MailPlace) -> EmailMessage:
    """Return the message."""
    letter, notice = parcel.letter, parcel.notice
    domain = place.sender.rpartition("@")[2]
    mail = EmailMessage()
    mail["From"] = place.sender
    mail["To"] = place.to
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
    with OutwardSmtp(is_tls=place.is_tls, allows_internal=parcel.target.allows_internal) as server:
        try:
            _send(server, place, mail)
        except (OSError, smtplib.SMTPException) as error:
            raise DeliveryError("No reply in time." if server.alarm.is_over else _explain(error)) from None
    return parcel.notice.reference or str(mail["Message-ID"])


def _explain(error: OSError | smtplib.SMTPException) -> str:
    """Return what went wrong, without a word of the other side's."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            codes = sorted(code for code, _ in error.recipients.values())
            return f"The mail server takes no mail for the recipient: {codes[0]}."
        case smtplib.SMTPResponseException():
            return f"The mail server refused it: {error.smtp_code}."
        case ssl.SSLCertVerificationError():
            return "The mail server's certificate is not to be believed."
        case _:
            return f"The mail did not get through: {type(error).__name__}."


def _send(server: OutwardSmtp, place: MailPlace, mail: EmailMessage) -> None:
    code, _ = server.connect(place.host, place.port)
    if code != _READY:
        raise smtplib.SMTPConnectError(code, "")
    if place.starts_tls:
        server.ehlo()
        if not server.has_extn("starttls"):
            raise DeliveryError("The mail server has no TLS; with tls=none it is told in the clear.")
        # Of the name that was asked for, and not of the number that was connected to.
        server._host = place.host  # type: ignore[attr-defined]  # noqa: SLF001 - smtplib has no other way
        server.starttls(context=ssl.create_default_context())
    if place.user:
        server.login(place.user, place.password)
    server.send_message(mail)
