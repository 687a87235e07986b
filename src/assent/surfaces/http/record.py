"""The record over HTTP: the log, the projects, who the caller is, and whether all is whole."""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict

from assent.client.awaiting import await_call, await_wait
from assent.client.door import Call
from assent.client.http.translate import log_record
from assent.client.stretch import Record, read_stretch
from assent.client.verbs import VERBS
from assent.protocol.error import ForbiddenError
from assent.protocol.token import ALL_PROJECTS
from assent.protocol.wire_record import AuditReply, HeadReply, Log, Projects, WhoReply
from assent.surfaces.http.asks import after_of, limit_of, seconds_of
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS", "MAX_LOG_BYTES"]

MAX_LOG_BYTES = 4 << 20
"""So much of the log is told in one reply, or one event more; whoever wants more comes again behind the last one."""


async def _read_log(request: Incoming) -> Log:
    query = request.query
    limit, seconds, after = limit_of(query.limit), seconds_of(query.wait), after_of(query.after)
    project = request.path["project"]

    def look() -> Call[list[Record]]:
        return read_stretch(request.site.door, project, after, limit, MAX_LOG_BYTES)

    found = await await_call(look())
    if not found and seconds:
        found = await request.linger(seconds, look)
    return Log(tuple(log_record(record, is_withheld=_is_withheld(request, record)) for record in found))


def _is_withheld(request: Incoming, record: Record) -> bool:
    """Say whether of this event only is told that it was: the chain still holds, as over an erased body.

    Whoever may not list the tokens learns nothing of one's secret; and nobody learns of projects that are not theirs.
    """
    if not record.type.startswith("token."):
        return False
    token = request.caller.token
    if token.role not in VERBS["list_tokens"].roles:
        return True
    if record.body is None or ALL_PROJECTS in token.projects:
        return False
    try:
        projects = _scoped.decode(record.body).projects
    except msgspec.DecodeError:
        return True  # a damaged log is the audit's to report
    return not all(project == ALL_PROJECTS or token.reaches(project) for project in projects)


class _Scoped(msgspec.Struct):
    projects: tuple[str, ...] = ()


_scoped = msgspec.json.Decoder(_Scoped)


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
