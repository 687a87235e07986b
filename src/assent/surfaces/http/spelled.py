"""A route that reads a path as it was spelled: a slash that was escaped belongs to the part that it stands in.

Ids of runs, flows and topics may have slashes. Read after the escapes are resolved, `/runs/a%2Foutput` and
`/runs/a/output` are the same path, and one run could be named so that nobody finds it, or finds another's output.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.routing import Match, Route
from starlette.types import Scope

__all__ = ["SpelledRoute"]


class SpelledRoute(Route):
    """Matches the path before its escapes are resolved, and resolves them in each part by itself."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether the route is for this request, and what its parts are."""
        if scope["type"] != "http":
            return Match.NONE, {}
        spelled = {**scope, "path": scope["raw_path"].decode("latin-1")}
        match, found = super().matches(spelled)
        if match is not Match.NONE:
            found["path_params"] = {name: unquote(part) for name, part in found["path_params"].items()}
        return match, found
