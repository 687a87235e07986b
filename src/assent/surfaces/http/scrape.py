"""`GET /metrics`: what this server has counted, for Prometheus.

Rule 1: who may read it: a person, an operator or an observer whose token holds in every project (`assent token create
        --role observer --all-projects`). The counts are of all projects, and whoever reaches only some has no business
        with the others. To be on this machine opens nothing, and agents have no use for it.
Rule 2: the guard stands before it as before every route: a page elsewhere, or a request for another host, gets nothing.
Rule 3: without the extra it is not there, and says how it would be.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assent.client.awaiting import await_wait
from assent.client.verbs import Verb
from assent.protocol.error import AssentError, ForbiddenError, NotFoundError
from assent.protocol.principal import Role
from assent.protocol.token import ALL_PROJECTS
from assent.protocol.wire_error import render_error, status_of_error
from assent.surfaces.http.caller import find_caller
from assent.surfaces.http.incoming import check_reach, read_query
from assent.surfaces.http.site import Site
from assent.surfaces.http.watch import Now

__all__ = ["METRICS", "scrape_route"]

METRICS = Verb(
    name="metrics",
    method="GET",
    path="/metrics",
    summary="What the server has counted, for Prometheus; with the extra `metrics`.",
    roles=frozenset({Role.HUMAN, Role.OPERATOR, Role.OBSERVER}),
    reply=str,
    media="text/plain",
)
_LACKING = "This server counts nothing: it lacks the extra `metrics` (pip install 'assent[metrics]')."
_ALL = "The metrics are of all projects: they take a token that holds in all (--all-projects)."


def scrape_route(site: Site) -> Route:
    """Return the route of the metrics."""

    async def respond(request: Request) -> Response:
        try:
            caller = await find_caller(site, request)
            check_reach(caller, METRICS, {})
            if ALL_PROJECTS not in caller.token.projects:
                raise ForbiddenError(_ALL)
            read_query(None, request.query_params.multi_items())
            if site.scrape is None:
                raise NotFoundError(_LACKING)
            figures = await await_wait(site.door.figures())
        except AssentError as error:
            return Response(render_error(error), status_of_error(error), media_type="application/json")
        now = Now(figures, site.waits, site.streams, len(site.holdings), site.messages())
        return Response(site.scrape.render(now), headers={"content-type": site.scrape.media})

    return Route(METRICS.path, respond, methods=[METRICS.method])
