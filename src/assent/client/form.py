"""Forms from types: a pydantic model, a dataclass, a msgspec Struct or a JSON Schema as the shape of an answer.

Rule 1: what the schema says is checked by the hub, before the answer counts and before the agent wakes.
Rule 2: what only the type's own code says (a validator of a model) can be checked here and not before: by then the ask
        has ended, so it is an `AnswerRefusedError` that names the property, and the agent asks again.
Rule 3: pydantic is never imported. Where it is not loaded, nobody can have made a model with it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.canonical import Json, convert
from assent.protocol.display import quote
from assent.protocol.error import AnswerRefusedError, AssentError, BadPromptError, BadRequestError
from assent.protocol.form import form
from assent.protocol.prompt import Prompt

__all__ = ["Schema", "build_answer", "form_of"]

Schema = type[Any] | Mapping[str, Json]
"""A type whose JSON Schema is known, or such a schema itself."""

_TYPES_KEPT = 256
_TITLE_LATER = "?"


def form_of(title: str, schema: Schema, *, body: str = "") -> Prompt:
    """Return the prompt that asks for an object of this type or schema.

    Raises:
        BadPromptError: it has no JSON Schema, or one that is no flat object; the sentence names the place.
        TooLargeError: it is over a limit.
    """
    if isinstance(schema, Mapping):
        return form(title, dict(schema), body=body)
    kind: Any = schema  # a type can always be a key, though not every checker believes it
    made = _form_of_type(kind)
    return msgspec.structs.replace(made, title=title, body=body or made.body)


def build_answer(schema: Schema, value: dict[str, Json], ask: Ask | None = None) -> Any:
    """Return the object that was answered: of the asker's type, or as it is where there is only a schema.

    Raises:
        AnswerRefusedError: the type's own code refuses what its schema accepted; the sentence names the property.
    """
    if isinstance(schema, Mapping):
        return value
    if _is_model(schema):
        return _build_model(schema, value, ask)
    try:
        return convert(value, schema)
    except BadRequestError as error:
        raise AnswerRefusedError(
            f"{schema.__name__} does not take the answer. {error.message}", ask=ask
        ) from None


@lru_cache(_TYPES_KEPT)
def _form_of_type(kind: Any) -> Prompt:
    """Return the form of a type; it is made once."""
    try:
        schema = kind.model_json_schema() if _is_model(kind) else msgspec.json.schema(kind)
    except AssentError:
        raise
    except Exception as error:
        name = getattr(kind, "__name__", repr(kind))
        raise BadPromptError(f"{quote(name)} has no JSON Schema: {quote(str(error))}.") from error
    return form(_TITLE_LATER, schema)


def _is_model(kind: Any) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def _build_model(model: type[Any], value: dict[str, Json], ask: Ask | None) -> Any:
    refused: type[Exception] = sys.modules["pydantic"].ValidationError
    try:
        # As JSON and not as a dict: only so a strict model takes a date or an enum.
        return model.model_validate_json(msgspec.json.encode(value))
    except refused as error:
        found = error.errors(include_url=False, include_context=False)[0]  # type: ignore[attr-defined]
        place = ".".join(["$", *map(str, found["loc"])])
        raise AnswerRefusedError(
            f"{model.__name__} does not take the answer. {quote(place)}: {quote(found['msg'])}.", ask=ask
        ) from error
