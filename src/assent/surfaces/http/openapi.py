"""The OpenAPI document, from the table of verbs and the types that it names.

Rule 1: every route is in it but the files of the page, which are for browsers; nothing else is.
Rule 2: whatever a route may answer is declared: its success, and every status of `ERRORS`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from assent.client.verbs import VERBS, Verb
from assent.protocol.wire import MAX_PAGE, MAX_WAIT_SECONDS, ErrorReply, RunQuery
from assent.protocol.wire_record import Health
from assent.surfaces.http.events import EVENTS
from assent.surfaces.http.incoming import MAX_IDEMPOTENCY_KEY
from assent.surfaces.http.scrape import METRICS
from assent.surfaces.http.session import SESSION_HEADER
from assent.surfaces.http.sign_in import ProofBody, ProofReply, SignInBody, SignInReply

__all__ = ["ERRORS", "OPEN", "ROUTES", "render_openapi"]

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")
_JSON = "application/json"

ERRORS: dict[int, str] = {
    400: "The request cannot be understood, or a reply was not recognised.",
    401: "No token, or one that is not good here.",
    403: "This role may not do that, or the request came from a page elsewhere, or was here before.",
    404: "There is no such thing here, or it is somebody else's.",
    405: "That cannot be done here.",
    409: "Somebody else was first, or it does not fit what is there; the details have the winner.",
    413: "The body is larger than the limit.",
    415: "The body is no JSON.",
    421: "The request is for another host.",
    429: "Too many requests in too short a time.",
    431: "What comes before the body is larger than the limit.",
    500: "Something unexpected happened.",
    503: "The store cannot be used just now; nothing was changed.",
}
"""What every verb may answer beside its success."""

_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"description": "How to come in.", "schema": {"const": "Bearer"}}},
    429: {
        "Retry-After": {"description": "After so many seconds.", "schema": {"type": "integer", "minimum": 1}}
    },
}
"""What stands in the head of a refusal."""


def _open(name: str, path: str, summary: str, reply: Any) -> Verb:
    return Verb(name=name, method="GET", path=path, summary=summary, reply=reply)


_SIGN_IN = Verb(
    name="sign_in",
    method="POST",
    path="/sign-in",
    summary="Sign in with the code of a printed link or a person's token; a page signs with `key` from then on.",
    body=SignInBody,
    reply=SignInReply,
)
_PROVE = Verb(
    name="prove",
    method="POST",
    path="/proof",
    summary="Prove to a page that this is the server at which it signed in, and name the boot that it signs for.",
    body=ProofBody,
    reply=ProofReply,
)
_SIGN_OUT = Verb(
    name="sign_out",
    method="POST",
    path="/sign-out",
    summary="Sign out: the token of the session is revoked.",
    reply=None,
    status=204,
)
_PUBLIC = (
    _open("healthz", "/healthz", "Say that the server is there.", Health),
    _open("openapi", "/openapi.json", "This document.", dict[str, Any]),
    _open("asyncapi", "/asyncapi.json", "The document of the events.", dict[str, Any]),
    _SIGN_IN,
    _PROVE,
)
OPEN = frozenset(verb.name for verb in _PUBLIC)
"""What needs no token."""
ROUTES: dict[str, Verb] = VERBS | {verb.name: verb for verb in (EVENTS, METRICS, _SIGN_OUT, *_PUBLIC)}
"""Every route that the document has."""


@cache
def render_openapi(version: str) -> bytes:
    """Return the document."""
    types = _types()
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(map(str, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for verb in ROUTES.values():
        path = _PARAMETER.sub(r"{\1}", verb.path)
        paths.setdefault(path, {})[verb.method.lower()] = _operation(verb, by_type)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Assent",
            "version": version,
            "description": "Ask once, answer anywhere, and silence is never a yes.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {
                    "type": "apiKey",
                    "in": "header",
                    "name": SESSION_HEADER,
                    "description": "What a page signed this one request with, after it had the server proved.",
                },
            },
        },
        "security": [{"token": []}, {"session": []}],
    }
    return msgspec.json.encode(_tidy(document))


def _types() -> list[Any]:
    found: list[Any] = [ErrorReply]
    for verb in ROUTES.values():
        found += [kind for kind in (verb.body, verb.reply) if kind not in (None, Any, str)]
    return list(dict.fromkeys(found))


def _operation(verb: Verb, by_type: dict[str, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Done."}
    if verb.reply is not None:
        reply = {"type": "string"} if verb.reply is str else by_type[str(verb.reply)]
        success["content"] = {verb.media: {"schema": reply}}
    told: dict[str, Any] = {
        "operationId": verb.name,
        "summary": verb.summary,
        "tags": [verb.tag],
        "parameters": _parameters(verb),
        "responses": {str(verb.status): success, **_errors(by_type)},
    }
    if verb.name in OPEN:
        told |= {"description": "For everybody; it needs no token.", "security": []}
    else:
        told["description"] = f"For the roles {', '.join(sorted(verb.roles))}."
    if verb.body is not None:
        schema = {} if verb.body is Any else by_type[str(verb.body)]
        told["requestBody"] = {
            "required": not verb.is_body_optional,
            "content": {_JSON: {"schema": schema}},
        }
    return told


def _errors(by_type: dict[str, Any]) -> dict[str, Any]:
    schema = by_type[str(ErrorReply)]
    return {
        str(status): {"description": sentence, "content": {_JSON: {"schema": schema}}}
        | ({"headers": _HEADERS[status]} if status in _HEADERS else {})
        for status, sentence in ERRORS.items()
    }


def _parameters(verb: Verb) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        | ({"description": "It may hold slashes."} if may_hold_slashes else {})
        for name, may_hold_slashes in _PARAMETER.findall(verb.path)
    ]
    if verb.query is not None:
        (schema,), components = msgspec.json.schema_components([verb.query], ref_template=_REF)
        fields = components[schema["$ref"].rsplit("/", 1)[-1]]["properties"]
        found += [
            {
                "name": name,
                "in": "query",
                "schema": part | _LIMITS.get((verb.query, name), _LIMITS.get((None, name), {})),
            }
            for name, part in fields.items()
        ]
    if verb is EVENTS:
        found.append(
            {
                "name": "Last-Event-ID",
                "in": "header",
                "description": "The last number that was seen; it counts more than `after`.",
                "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
            }
        )
    if verb.name in VERBS and verb.is_change:
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Sent again under the same key, it is done once.",
                "schema": {"type": "string", "pattern": f"^[ -~]{{1,{MAX_IDEMPOTENCY_KEY}}}$"},
            }
        )
    return found


_LIMITS: dict[tuple[type[msgspec.Struct] | None, str], dict[str, Any]] = {
    (None, "after"): {"minimum": 0},
    (RunQuery, "after"): {},  # every number is before some change of the run
    (None, "limit"): {"minimum": 1, "maximum": MAX_PAGE},
    (None, "wait"): {
        "minimum": 0,
        "description": f"Longer than {MAX_WAIT_SECONDS:g} seconds is as long as that.",
    },
}
"""What the endpoints check of a query beside its types; None is any query that has such a field."""


# What msgspec says of our types, made fit for readers who do not know our files.

_MODULE = re.compile(r"assent\.protocol\.(\w+)\.(\w+)")
_INSTANT = re.compile(r"(?:\w+_)?at|\w+At|deadline|now").fullmatch


def _tidy(value: Any, name: str = "") -> Any:
    """Return a part of the document without names of modules and examples in Python; instants are marked as such."""
    if isinstance(value, dict):
        tidy = {_plain(key): _tidy(part, key) for key, part in value.items()}
        return _mark_instant(tidy) if _INSTANT(name) else tidy
    if isinstance(value, list):
        return [_tidy(part) for part in value]
    if isinstance(value, str):
        return value.partition("\n\n")[0] if name == "description" else _plain(value)
    return value


def _plain(text: str) -> str:
    """Name a type that shares its name with another after its file, too."""
    return _MODULE.sub(lambda found: found[1].capitalize() + found[2], text)


def _mark_instant(schema: dict[str, Any]) -> dict[str, Any]:
    """Say that a text is a moment."""
    if "anyOf" in schema:
        return schema | {"anyOf": [_mark_instant(part) for part in schema["anyOf"]]}
    return schema | {"format": "date-time"} if schema.get("type") == "string" else schema
