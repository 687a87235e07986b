"""The OpenAPI document, from the table of verbs and the types that it names."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from assent.client.verbs import VERBS, Verb
from assent.protocol import wire
from assent.protocol.ask import Ask
from assent.protocol.control import ControlMessage
from assent.protocol.notification import Notification

__all__ = ["ERRORS", "render_openapi"]

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")
_JSON = "application/json"

ERRORS: dict[int, str] = {
    400: "The request cannot be understood, or a reply was not recognised.",
    401: "No token, or one that is not good here.",
    403: "This role may not do that, or the request came from a page elsewhere.",
    404: "There is no such thing here, or it is somebody else's.",
    405: "That cannot be done here.",
    409: "Somebody else was first, or it does not fit what is there; the details have the winner.",
    413: "The body is larger than the limit.",
    415: "The body is no JSON.",
    421: "The request is for another host.",
    429: "Too many requests in too short a time.",
    500: "Something unexpected happened.",
    503: "The store cannot be used just now; nothing was changed.",
}
"""What every verb may answer beside its success."""


@cache
def render_openapi(version: str) -> bytes:
    """Return the document."""
    types = _types()
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(map(_name, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for verb in VERBS.values():
        path = _PARAMETER.sub(r"{\1}", verb.path)
        paths.setdefault(path, {})[verb.method.lower()] = _operation(verb, by_type)
    paths["/healthz"] = {"get": _healthz(by_type)}
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
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
    return msgspec.json.encode(document)


def _types() -> list[Any]:
    found: list[Any] = [wire.ErrorReply, wire.Health, Ask, Notification, ControlMessage]
    for verb in VERBS.values():
        found += [kind for kind in (verb.body, verb.reply, verb.query) if kind not in (None, Any, str)]
    return list(dict.fromkeys(found))


def _name(kind: Any) -> str:
    return str(kind)


def _operation(verb: Verb, by_type: dict[str, Any]) -> dict[str, Any]:
    reply = {"type": "string"} if verb.reply is str else by_type[_name(verb.reply)]
    told: dict[str, Any] = {
        "operationId": verb.name,
        "summary": verb.summary,
        "description": f"For the roles {', '.join(sorted(verb.roles))}.",
        "tags": [verb.tag],
        "parameters": _parameters(verb),
        "responses": {
            str(verb.status): {"description": "Done.", "content": {verb.media: {"schema": reply}}},
            **_errors(by_type),
        },
    }
    if verb.body is not None:
        schema = {} if verb.body is Any else by_type[_name(verb.body)]
        told["requestBody"] = {
            "required": not verb.is_body_optional,
            "content": {_JSON: {"schema": schema}},
        }
    return told


def _errors(by_type: dict[str, Any]) -> dict[str, Any]:
    schema = by_type[_name(wire.ErrorReply)]
    return {
        str(status): {"description": sentence, "content": {_JSON: {"schema": schema}}}
        for status, sentence in ERRORS.items()
    }


def _parameters(verb: Verb) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PARAMETER.findall(verb.path)
    ]
    if verb.query is not None:
        (schema,), components = msgspec.json.schema_components([verb.query], ref_template=_REF)
        fields = components[schema["$ref"].rsplit("/", 1)[-1]]["properties"]
        found += [{"name": name, "in": "query", "schema": part} for name, part in fields.items()]
    if verb.is_change:
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Sent again under the same key, it is done once.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            }
        )
    return found


def _healthz(by_type: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "healthz",
        "summary": "Say that the server is there.",
        "tags": ["server"],
        "security": [],
        "responses": {
            "200": {
                "description": "It is.",
                "content": {_JSON: {"schema": by_type[_name(wire.Health)]}},
            },
            **_errors(by_type),
        },
    }
