"""The record over HTTP: the log, the projects, who the caller is, and whether all is whole."""

from __future__ import annotations

from msgspec.structs import asdict

from assent.client.awaiting import await_call, await_wait
from assent.client.http.translate import log_record
from assent.client.verbs import VERBS
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.token import ALL_PROJECTS
from assent.protocol.wire_record import AuditReply, HeadReply, Log, Projects, WhoReply
from assent.surfaces.http.asks import limit_of, seconds_of
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS"]


async def _read_log(request: Incoming) -> Log:
    query = request.query
    limit, seconds = limit_of(query.limit), seconds_of(query.wait)
    if query.after < 0:
        raise BadRequestError("Numbers begin with 0.")
    found = await await_call(request.calls.log(query.after, limit))
    if not found and seconds:
        found = await request.linger(seconds, lambda: request.calls.log(query.after, limit))
    # Whoever may not list the tokens learns from the log only that there was something about one: what it says of its
    # secret and of other projects is withheld, as an erased body is, and the chain still holds.
    sees_tokens = request.caller.token.role in VERBS["list_tokens"].roles
    return Log(
        tuple(
            log_record(record, is_withheld=record.type.startswith("token.") and not sees_tokens)
            for record in found
        )
    )


async def _show_head(request: Incoming) -> HeadReply:
    return HeadReply(await await_wait(request.site.door.head(request.path["project"])))


async def _list_projects(request: Incoming) -> Projects:
    found = await await_wait(request.site.door.projects())
    return Projects(tuple(name for name in found if request.caller.token.reaches(name)))


async def _who(request: Incoming) -> WhoReply:
    token = request.caller.token
    return WhoReply(token.role, token.name, token.projects, token.expires_at, request.site.now())


async def _verify(request: Incoming) -> AuditReply:
    if ALL_PROJECTS not in request.caller.token.projects:
        raise ForbiddenError("Only a token for all projects can have the whole store checked.")
    audit = await await_wait(request.site.door.verify())
    return AuditReply(**asdict(audit))


ENDPOINTS: dict[str, Endpoint] = {
    "show_head": _show_head,
    "read_log": _read_log,
    "list_projects": _list_projects,
    "who_am_i": _who,
    "verify": _verify,
}
