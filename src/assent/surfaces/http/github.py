"""`POST /github/webhook`: where GitHub tells that somebody wrote a comment on a pull request.

Rule 1: without a secret and a way to GitHub it is not there.
Rule 2: who sends it is checked before it is read: a wrong signature is refused as a wrong token is, and tries run out.
Rule 3: an answer that is taken here is by the person whom the server itself looked up. So it is as good as a token's.
Rule 4: nobody keeps others waiting: whoever comments without end is slowed down by themselves.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assent.client.calls import Calls
from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, GitHubError, TooManyError, UnauthorisedError
from assent.protocol.principal import Assurance
from assent.protocol.wire_error import render_error, status_of_error
from assent.surfaces.comment_author import Author
from assent.surfaces.comment_hook import Hook, Weighed
from assent.surfaces.http.bucket import Bucket

__all__ = ["DELIVERIES_PER_SECOND", "MAX_DELIVERIES", "SPARE_DELIVERIES", "ProjectLedger", "github_routes"]

MAX_DELIVERIES = 20
"""So many deliveries are under way at once; each asks GitHub a few questions."""
SPARE_DELIVERIES = 30
"""So many comments of one author are weighed at once."""
DELIVERIES_PER_SECOND = 0.5
"""And so many more in each second."""
_JSON = "application/json"
_BAD_GATEWAY = 502

_encoder = msgspec.json.Encoder()
_log = logging.getLogger("assent.http")


class ProjectLedger:
    """The asks of one project, answered in the name of people whom this server looked up."""

    def __init__(self, door: EmbeddedDoor, project: str) -> None:
        self._door, self._project = door, project

    def find(self, ask_id: str) -> Ask | None:
        """Return the ask of exactly this id."""
        found = run_call(until(self._door.find(ask_id, self._project)))
        return next((ask for ask in found if ask.ask_id == ask_id), None)

    def counter(self, ask_id: str) -> _Counter:
        """Return where answers to it are handed in."""
        return _Counter(self._door, self._project, ask_id)

    def now(self) -> datetime:
        """Return the moment by the store's clock."""
        return self._door.now()


class _Counter:
    def __init__(self, door: EmbeddedDoor, project: str, ask_id: str) -> None:
        self._door, self._project, self._ask_id = door, project, ask_id

    def answer(self, author: Author, text: str, *, reason: str = "", is_confirmed: bool = False) -> Ask:
        return run_call(self._as(author).answer(self._ask_id, text, reason=reason, confirmed=is_confirmed))

    def decline(self, author: Author, reason: str) -> Ask:
        return run_call(self._as(author).decline(self._ask_id, reason))

    def _as(self, author: Author) -> Calls:
        return Calls(self._door, self._project, author.principal, author.via, Assurance.COMMENT)


def github_routes(hook: Hook | None, bucket: Bucket | None = None) -> list[BaseRoute]:
    """Return the route of deliveries; none where there is no hook."""
    if hook is None:
        return []
    senders = Bucket(SPARE_DELIVERIES, DELIVERIES_PER_SECOND) if bucket is None else bucket
    under_way = 0

    async def take(request: Request) -> Weighed:
        nonlocal under_way
        text = await request.body()
        if not hook.is_signed(text, _only(request, "x-hub-signature-256")):
            raise UnauthorisedError("This delivery is not signed with the secret of this server.")
        event, delivery = _only(request, "x-github-event"), _only(request, "x-github-delivery")
        hint = hook.read(event, delivery, text)
        if hint is None:
            return Weighed("ignored")
        if under_way >= MAX_DELIVERIES or senders.take(str(hint.author_id)):
            raise TooManyError("Too many deliveries at once; deliver this one again a little later.")
        under_way += 1
        try:
            # GitHub waits ten seconds and hangs up; what was begun is brought to its end all the same.
            return await asyncio.shield(asyncio.to_thread(hook.weigh, hint))
        finally:
            under_way -= 1

    async def respond(request: Request) -> Response:
        try:
            return Response(_encoder.encode(await take(request)), media_type=_JSON)
        except GitHubError as error:
            return Response(render_error(error), _BAD_GATEWAY, media_type=_JSON)
        except AssentError as error:
            return Response(render_error(error), status_of_error(error), media_type=_JSON)
        except Exception:  # noqa: BLE001 - no stack trace reaches a caller
            _log.exception("a delivery failed")
            failure = AssentError("Something unexpected happened on the server; nothing more is known.")
            return Response(render_error(failure), status_of_error(failure), media_type=_JSON)

    return [Route("/github/webhook", respond, methods=["POST"])]


def _only(request: Request, name: str) -> str:
    """Return the value of a header that came once; nothing where it did not."""
    given = request.headers.getlist(name)
    return given[0] if len(given) == 1 else ""
