"""The page of who may do what over HTTP, and of the routes: both straight from the table that the server is built of."""

from __future__ import annotations

import re
from collections import Counter

from assent.client.verbs import VERBS, Verb
from assent.protocol.principal import Role
from assent.surfaces.http.openapi import OPEN, ROUTES
from tools.source import table

__all__ = ["render_http"]

_PATH_PART = re.compile(r":path(?=\})")


def render_http() -> str:
    """Return the page."""
    parts = [
        _HEAD.format(open=", ".join(f"`{ROUTES[name].path}`" for name in sorted(OPEN))),
        table(("verb", *Role), [_roles(verb) for verb in VERBS.values()]),
        _ROUTES,
    ]
    for title, verbs in _groups().items():
        parts += [
            f"### {title}\n",
            table(("request", "verb", "what it does", "success"), list(map(_row, verbs))),
        ]
    return "\n".join(parts)


def _groups() -> dict[str, list[Verb]]:
    """Return the verbs by what they are about; those that stand alone together at the end."""
    counts = Counter(verb.tag for verb in ROUTES.values())
    found: dict[str, list[Verb]] = {}
    for verb in sorted(ROUTES.values(), key=lambda verb: counts[verb.tag] == 1):
        title = "Others" if counts[verb.tag] == 1 else f"Under /{verb.tag}"
        found.setdefault(title, []).append(verb)
    return found


def _roles(verb: Verb) -> tuple[str, ...]:
    return (f"`{verb.name}`", *("yes" if role in verb.roles else "" for role in Role))


def _row(verb: Verb) -> tuple[str, ...]:
    path = _PATH_PART.sub("", verb.path)
    return f"{verb.method} `{path}`", f"`{verb.name}`", verb.summary.removesuffix("."), str(verb.status)


_HEAD = """\
# HTTP

What a server (`assent serve`) does for whom. Its requests, replies and errors in full are on the page of the
[wire format](wire-format.md); for programs they are at `/openapi.json`, and the events at `/asyncapi.json`. All of it
is made from one table, and the tests call every verb with a token of every role.

## Who may do what

Every token has one role, and is good in the projects that it was made for. Whoever uses a verb that is not theirs gets
403, whatever the request is about. What is in a project that a token does not reach looks as if it were not there: 404.
Without a good token it is 401; only {open} and the files of the page are for anyone.

Some verbs look closer than at the role. An agent withdraws only its own asks; everybody spends only their own receipts. No
agent posts on `loop:control`, or lets a task go on that waits for an answer. An operator makes no token for a person, and
nobody makes one that reaches further than their own. Only a token for all projects has the whole store checked. Everybody
can follow the events of a project that they reach.
"""

_ROUTES = """\
## Routes

What stands in braces is one part of a path, percent-encoded; topics, runs and flows may hold slashes. A GET changes nothing.
What changes something can be sent again under the same `Idempotency-Key`, and is done once.
"""
