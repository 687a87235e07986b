"""A target: a named address that is told of a project's asks. And a notice: one thing that it is told.

Rule 1: the address is a secret, as a token is: whoever has it can write there, or read along. It is in no event, list,
        error or metric; all of those have the service and the host.
Rule 2: the log says which targets there are and what could not be delivered. How far each one is (`Delivery`) is
        volatile, and the log itself is the outbox: a target is told what lies behind its cursor.
Rule 3: the same notice to the same target always has the same id, so that whoever gets it twice can drop one.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from urllib.parse import SplitResult, parse_qs, urlsplit

import msgspec

from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display, is_encodable, quote
from assent.protocol.error import BadRequestError
from assent.protocol.principal import Role, parse_principal

__all__ = [
    "MAX_ADDRESS",
    "MAX_ERROR",
    "MAX_PEOPLE",
    "MAX_TARGET_NAME",
    "SLACK_HOOK_HOST",
    "Delivery",
    "Notice",
    "Secret",
    "Service",
    "Target",
    "What",
    "check_target_name",
    "host_of",
    "message_id_of",
    "person_of",
    "read_people",
    "service_of",
    "split_address",
]

MAX_TARGET_NAME = 60
MAX_ADDRESS = 4_000
MAX_PEOPLE = 500
"""So many people of a chat can be told apart."""
MAX_ERROR = 300
"""So much of what went wrong is kept."""
SLACK_HOST = "slack.com"
SLACK_HOOK_HOST = "hooks.slack.com"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*").fullmatch
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*").fullmatch
_SLACK_USER = re.compile(r"[UW][A-Z0-9]{2,30}").fullmatch


class Service(StrEnum):
    """Who carries the message."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    SLACK_HOOK = "slack-hook"
    """One way only: nothing can be changed afterwards."""
    NTFY = "ntfy"
    MAIL = "mail"
    APPRISE = "apprise"

    @property
    def is_record(self) -> bool:
        """Whether it is a program that wants every event, and not a person who wants what matters now."""
        return self is Service.WEBHOOK


_SERVICES = {
    "http": Service.WEBHOOK,
    "https": Service.WEBHOOK,
    "slack": Service.SLACK,
    "ntfy": Service.NTFY,
    "ntfy+http": Service.NTFY,
    "smtp": Service.MAIL,
    "smtps": Service.MAIL,
    "mailto": Service.MAIL,
}
"""By the scheme of an address."""


class What(StrEnum):
    """What a notice is about."""

    OPENED = "opened"
    OVERDUE = "overdue"
    ESCALATED = "escalated"
    UNDELIVERED = "undelivered"
    ENDED = "ended"


class Target(msgspec.Struct, frozen=True):
    """A target as the log gives it."""

    name: str
    project: str
    service: Service
    host: str
    """Where it is, for people. The rest of the address is a secret."""
    created_at: datetime
    created_by: str
    since: int
    """It is told of what comes behind this event: the one by which it was added."""
    kinds: tuple[Kind, ...] = ()
    """Only of asks of these kinds; empty for all."""
    people: dict[str, str] = {}
    """Who may answer there: a user of the service, and the name here."""
    allows_internal: bool = False
    """A person let it lead to an address inside this network."""
    person: str = ""
    """Whose it is, as in `human:ana`: of what is escalated it is told only where that person is asked. Empty: everybody's."""
    failed: int = 0
    """So many messages were given up."""
    disabled_at: datetime | None = None
    """The other side said that it is gone for good."""
    removed_at: datetime | None = None
    removed_by: str = ""
    command_id: str = ""
    sequence: int = 0
    """The number of the last event that changed it."""

    @property
    def is_live(self) -> bool:
        """Whether it is told of anything."""
        return self.removed_at is None and self.disabled_at is None

    def is_of(self, name: str | None) -> bool:
        """Whether it is that person's own; a name may come without its role."""
        return bool(self.person) and self.person in (name, f"{Role.HUMAN}:{name}")


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """How far a target is. Volatile: it is not in the log."""

    cursor: int
    """It was told of everything up to this event."""
    fence: int = 0
    """Grows with every claim: what an older holder says no longer counts."""
    lease_until: int = 0
    """Microseconds since 1970; until then it is somebody's."""
    attempts: int = 0
    """So often the next message was tried."""
    next_try_at: int = 0
    last_error: str = ""


class Secret(msgspec.Struct, frozen=True, gc=False):
    """What only a sender reads."""

    address: str
    signing: str = ""
    """With which a webhook is signed."""


class Notice(msgspec.Struct, frozen=True, gc=False):
    """One thing that a target is told."""

    message_id: str
    what: What
    ask: Ask
    """As it is now."""
    sequence: int
    """The event that it is about."""
    at: datetime
    reference: str = ""
    """How the message that told of its opening is known there; empty where there is none."""
    is_test: bool = False
    """Nothing waits: somebody wants to see whether a message arrives."""


def message_id_of(target: Target, sequence: int) -> str:
    """Return the id of the message that tells `target` of an event."""
    told = f"{target.project}\n{target.name}\n{target.since}\n{sequence}"
    return f"msg_{sha256(told.encode()).hexdigest()[:32]}"


def check_target_name(name: str) -> str:
    """Return `name`.

    Raises:
        BadRequestError: it is no name of a target.
    """
    if len(name) > MAX_TARGET_NAME or not _NAME(name):
        raise BadRequestError(
            f'"{quote(name, 60)}" is no name for a target: write up to {MAX_TARGET_NAME} small letters, digits, '
            "dots, dashes and underscores."
        )
    return name


def split_address(address: str) -> SplitResult:
    """Return the parts of an address.

    Raises:
        BadRequestError: it is none. The sentence does not repeat it.
    """
    is_plain = is_encodable(address) and address == display(address, lines=False) and " " not in address
    if not is_plain or len(address) > MAX_ADDRESS:
        raise BadRequestError(f"An address is one line of at most {MAX_ADDRESS:,} characters without spaces.")
    try:
        parts = urlsplit(address)
        if parts.scheme in _SERVICES:  # of the others, only Apprise knows what stands where
            _ = (parts.port, parts.hostname)
    except ValueError:
        raise BadRequestError("This is no address: its host or its port cannot be read.") from None
    if not _SCHEME(parts.scheme):
        raise BadRequestError("An address begins with its service: https://, slack://, ntfy://, smtp:// …")
    return parts


def service_of(address: str) -> Service:
    """Return who carries messages to an address; whatever is not ours is Apprise's.

    >>> service_of("slack://xoxb-1@C024BE91L"), service_of("discord://id/token")
    (<Service.SLACK: 'slack'>, <Service.APPRISE: 'apprise'>)
    """
    parts = split_address(address)
    service = _SERVICES.get(parts.scheme, Service.APPRISE)
    return Service.SLACK_HOOK if service is Service.WEBHOOK and parts.hostname == SLACK_HOOK_HOST else service


def host_of(address: str) -> str:
    """Return what of an address may be shown: the host, or of a service that has none, its scheme.

    >>> host_of("ntfy://ntfy.example.com/our-secret-topic"), host_of("discord://id/token")
    ('ntfy.example.com', 'discord')
    """
    parts = split_address(address)
    match service_of(address):
        case Service.SLACK:
            return _slack_host(parts)
        case Service.APPRISE:
            # Where a host would stand, other services have half of a secret.
            return parts.scheme
        case Service.MAIL if parts.scheme == "mailto":
            return quote(parts.path.rpartition("@")[2], 200) or "mailto"
        case _:
            if not parts.hostname:
                raise BadRequestError("The address names no host.")
            return parts.hostname


def _slack_host(parts: SplitResult) -> str:
    """Return where Slack is: its own place, unless the address names another one for its API."""
    named = parse_qs(parts.query).get("api")
    try:
        host = urlsplit(named[0]).hostname if named else SLACK_HOST
    except ValueError:
        host = None
    if not host:
        raise BadRequestError("The address of Slack's API names no host.")
    return host


def person_of(name: str) -> str:
    """Return the person whom a name means, with or without its role.

    Raises:
        BadRequestError: it names no person.

    >>> person_of("ana"), person_of("human:ana")
    ('human:ana', 'human:ana')
    """
    person = parse_principal(name if ":" in name else f"{Role.HUMAN}:{name}")
    if person.role is not Role.HUMAN:
        raise BadRequestError(f'"{quote(name, 60)}" is no person: write human:NAME.')
    return str(person)


def read_people(given: tuple[str, ...]) -> dict[str, str]:
    """Return who may answer in a chat, as written `U123=ana`.

    Raises:
        BadRequestError: one is not written so.
    """
    people: dict[str, str] = {}
    for text in given:
        user, _, name = text.partition("=")
        is_name = len(name) <= MAX_TARGET_NAME and _NAME(name.lower())
        if not _SLACK_USER(user) or not is_name or user in people:
            raise BadRequestError(
                f'"{quote(text, 60)}" names nobody: write each user\'s id once, and the name here, as in U024BE7LH=ana.'
            )
        people[user] = name
    if len(people) > MAX_PEOPLE:
        raise BadRequestError(f"A target has at most {MAX_PEOPLE} people.")
    return people
