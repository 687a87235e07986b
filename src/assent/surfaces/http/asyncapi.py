"""The AsyncAPI document: what is told on a project's events, from the types of the log.

It describes the socket. The same messages come as server-sent events from the same path, each as the `data` of one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from assent.client.broadcast import describe_events
from assent.surfaces.http.events import EVENTS
from assent.surfaces.http.telling import Ending

__all__ = ["render_asyncapi"]

_SCHEMAS = "#/components/schemas/{name}"
_CHANNEL = "events"
_SERVER = "here"


@cache
def render_asyncapi(version: str) -> bytes:
    """Return the document."""
    described, schemas = describe_events(_SCHEMAS)
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Assent events",
            "version": version,
            "description": "What happens in a project, in order, from any number on.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            _SERVER: {
                "host": "{host}",
                "protocol": "ws",
                "description": "Wherever the server listens; wss where it has a certificate.",
                "variables": {"host": {"default": "127.0.0.1:8484"}},
                "security": [{"$ref": "#/components/securitySchemes/token"}],
            }
        },
        "channels": {_CHANNEL: _channel(described)},
        "operations": {"tell": _operation(described)},
        "components": {
            "messages": {name: _message(name, schema) for name, schema in described.items()},
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.encode(document)


def _channel(described: dict[str, Any]) -> dict[str, Any]:
    codes = " ".join(f"{ending.value}: {_words(ending)}." for ending in Ending)
    after = {
        "type": "integer",
        "minimum": 0,
        "description": "Events after this number. Left out: from now on. 0: from the beginning. "
        "Beyond the last: nothing until the log has passed it.",
    }
    return {
        "address": EVENTS.path,
        "title": "Events of a project",
        "description": f"A socket goes one way: nothing is to be sent on it. Its close codes: {codes}",
        "servers": [{"$ref": f"#/servers/{_SERVER}"}],
        "parameters": {"project": {"description": "The project's name."}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in described},
        "bindings": {
            "ws": {
                "method": "GET",
                "query": {"type": "object", "properties": {"after": after}},
                "bindingVersion": "0.1.0",
            }
        },
    }


def _words(ending: Ending) -> str:
    return ending.name.lower().replace("_", " ")


def _operation(described: dict[str, Any]) -> dict[str, Any]:
    return {
        "action": "send",
        "summary": "The server tells what happens. Whoever comes again with its last number misses nothing.",
        "channel": {"$ref": f"#/channels/{_CHANNEL}"},
        "messages": [{"$ref": f"#/channels/{_CHANNEL}/messages/{name}"} for name in described],
    }


def _message(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "summary": schema.get("description", f"What is told as {name}."),
        "payload": {
            "type": "object",
            "required": ["sequence", "type", "at", "data"],
            "additionalProperties": False,
            "properties": {
                "sequence": {"type": "integer", "minimum": 1},
                "type": {"const": name},
                "at": {"type": "string", "format": "date-time"},
                "data": {
                    "description": "Null when it was erased.",
                    "anyOf": [schema, {"type": "null"}],
                },
            },
        },
    }
