"""A request as an endpoint gets it: whose it is checked, its parts read; and how a reply is written."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, TypeVar

import msgspec

from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.client.door import Call
from assent.client.verbs import Verb
from assent.protocol.canonical import convert, parse_json
from assent.protocol.error import BadRequestError, ForbiddenError, NotFoundError
from assent.protocol.json_text import Json
from assent.protocol.principal import Role
from assent.protocol.project import check_project
from assent.protocol.token import ALL_PROJECTS
from assent.surfaces.http.pulse import Arrival
from assent.surfaces.http.site import Caller, Site

__all__ = [
    "MAX_IDEMPOTENCY_KEY",
    "Endpoint",
    "Incoming",
    "check_reach",
    "check_reached",
    "command_id_of",
    "read_body",
    "read_query",
]

MAX_IDEMPOTENCY_KEY = 200
_DEEDS_OF_PEOPLE = {
    "answer_ask": "answer",
    "claim_ask": "answer",
    "resolve_notification": "answer",
    "clear_notifications": "answer",
    "control_run": "steer a run",
}
"""What an agent is told in the hub's words."""
T = TypeVar("T")


class Incoming(msgspec.Struct, frozen=True):
    """One request, understood."""

    site: Site
    verb: Verb
    caller: Caller
    path: dict[str, str]
    query: Any
    body: Any
    text: bytes
    """The body as it came."""
    command_id: str
    """Under which the command of this request can be sent again; empty where the sender gave no key."""
    via: str
    arrival: Arrival

    @property
    def calls(self) -> Calls:
        """What the caller can do in the project that the path names."""
        return self.calls_in(self.path["project"])

    def calls_in(self, project: str) -> Calls:
        """Return what the caller can do in a project that it reaches."""
        return self.caller.calls(self.site.door_for(self.caller.token), project, self.via)

    async def linger(self, seconds: float, look: Callable[[], Call[list[T]]]) -> list[T]:
        """Look until there is something, or the time is over: again whenever something happens in the project."""
        until_when = time.monotonic() + seconds
        with self.site.following(self.path["project"]) as news:
            while True:
                seen = news.last
                found = await await_call(look())
                left = until_when - time.monotonic()
                if found or left <= 0 or self.site.is_closing:
                    return found
                await news.wait(seen, left)

    @property
    def reached(self) -> list[str | None]:
        """The projects that are meant: the one of the path, else all of the caller's; None is every one of the store."""
        if "project" in self.path:
            return [self.path["project"]]
        projects = self.caller.token.projects
        return [None] if ALL_PROJECTS in projects else list(projects)

    @property
    def projects(self) -> list[str] | None:
        """The same as names; None for all of the store."""
        reached = self.reached
        return None if None in reached else [name for name in reached if name is not None]


Endpoint = Callable[[Incoming], Awaitable[object]]


def check_reach(caller: Caller, verb: Verb, path: dict[str, str]) -> None:
    """Refuse whoever has no business here.

    Raises:
        NotFoundError: the project is not one of the caller's. Foreign and missing look alike.
        ForbiddenError: the caller's role may not do that.
    """
    project = path.get("project")
    if project is not None:
        check_reached(caller, project)
    if caller.token.role not in verb.roles:
        who, deed = caller.token.principal, _DEEDS_OF_PEOPLE.get(verb.name)
        if deed is not None and caller.token.role is Role.AGENT:
            raise ForbiddenError(f"{who} is an agent: only a person can {deed}.")
        raise ForbiddenError(f"{who} may not do that.")


def check_reached(caller: Caller, project: str) -> None:
    """Refuse whoever does not reach a project.

    Raises:
        NotFoundError: it is not one of the caller's. Foreign and missing look alike.
    """
    try:
        check_project(project)
    except BadRequestError:
        raise NotFoundError("There is no such project here.") from None
    if not caller.token.reaches(project):
        raise NotFoundError("There is no such project here.")


def command_id_of(caller: Caller, path: dict[str, str], key: str | None) -> str:
    """Return the id of the command that is sent under this key, bound to the project and to who sends it.

    Raises:
        BadRequestError: it is no key.
    """
    if key is None:
        return ""
    if not (1 <= len(key) <= MAX_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        raise BadRequestError(f"An Idempotency-Key has 1 to {MAX_IDEMPOTENCY_KEY} visible ASCII characters.")
    bound = "\n".join((path.get("project", ""), str(caller.token.principal), key))
    return f"http_{sha256(bound.encode()).hexdigest()[:32]}"


def read_query(kind: type[msgspec.Struct] | None, given: list[tuple[str, str]]) -> Any:
    """Return the query as a `kind`.

    Raises:
        BadRequestError: something is there twice, is not known, or is of the wrong kind.
    """
    fields: dict[str, str] = {}
    for name, value in given:
        if name in fields:
            raise BadRequestError("A part of the query is there twice.")
        fields[name] = value
    if kind is None:
        if fields:
            raise BadRequestError("There is no query here.")
        return None
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        sentence = str(error).replace(" - at ", " at ").replace("`", "").replace("$.", "")
        raise BadRequestError(f"The query cannot be read: {sentence}.") from None


def read_body(verb: Verb, text: bytes) -> Any:
    """Return the body as the verb wants it.

    Raises:
        BadRequestError: it is no JSON with one reading, or has another shape; the sentence names the place.
    """
    if verb.body is None or (verb.is_body_optional and not text.strip()):
        if text.strip() not in (b"", b"{}"):
            raise BadRequestError("There is no body here.")
        return None if verb.body is None else verb.body()
    value: Json = parse_json(text)
    return value if verb.body is Any else convert(value, verb.body)
