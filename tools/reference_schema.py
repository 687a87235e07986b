"""The JSON Schema of a review that is handed in, as the types of the code say it."""

from __future__ import annotations

import msgspec

from assent.protocol.review import MAX_CHUNKS, Review

__all__ = ["render_schema"]


def render_schema() -> str:
    """Return the schema; what is asked for beyond types and lengths is said in words."""
    schema = msgspec.json.schema(Review)
    parts = schema["$defs"]
    # The parser counts these itself, for a better sentence.
    parts["Review"]["properties"]["chunks"] |= {"minItems": 1, "maxItems": MAX_CHUNKS}
    parts["Chunk"]["properties"]["files"] |= {"minItems": 1}
    parts["Finding"]["properties"]["file"]["description"] = (
        "A path inside the repository, with slashes; no part of it is empty, . or ..."
    )
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
