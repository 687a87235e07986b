"""What an ask shows: a title, a body, fields with options, the action at stake. Immutable, with a digest.

A prompt is checked once, when it is opened (`check_prompt`): every option must be reachable by typing, no two
may look alike, and everything has a limit. After that all rooms may rely on it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assent.protocol.canonical import Json, canonical, check_json, digest
from assent.protocol.display import skeleton
from assent.protocol.error import BadPromptError, TooLargeError

__all__ = [
    "LETTERS",
    "MAX_FIELDS",
    "MAX_OPTIONS",
    "MAX_PROMPT_BYTES",
    "MAX_TITLE",
    "Field",
    "Option",
    "Prompt",
    "check_prompt",
    "encode_prompt",
    "prompt_digest",
    "question",
]

MAX_PROMPT_BYTES = 1 << 20
MAX_TITLE = 2_000
MAX_FIELDS = 50
MAX_OPTIONS = 200
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Option(msgspec.Struct, frozen=True):
    """One choice."""

    key: str
    """What is recorded when it is chosen."""
    label: str
    """What people read."""
    recommended: bool = False
    destructive: bool = False
    description: str = ""


class Field(msgspec.Struct, frozen=True):
    """One answerable part of a prompt."""

    name: str
    text: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    """Several options may be chosen."""
    free: bool = False
    """Text of one's own is an answer, too."""


class Prompt(msgspec.Struct, frozen=True):
    """All that a person is shown before answering."""

    title: str
    body: str = ""
    fields: tuple[Field, ...] = ()
    action: Json = None
    """The exact thing that would be done, for approvals."""
    risk: str | None = None
    """The asker's own word on what could go wrong."""
    commands: tuple[str, ...] = ()
    """Free-form commands that a gate accepts beside its options."""


def question(
    title: str,
    options: Iterable[str | Option] = (),
    *,
    body: str = "",
    multiple: bool = False,
    free: bool | None = None,
) -> Prompt:
    """Return the prompt of one question; without options it takes free text.

    >>> question("Which database?", ["PostgreSQL", "SQLite"]).fields[0].options[1].key
    'SQLite'
    """
    choices = tuple(Option(o, o) if isinstance(o, str) else o for o in options)
    allows_free_text = not choices if free is None else free
    return Prompt(title, body, (Field("q1", "", choices, multiple, allows_free_text),))


def encode_prompt(prompt: Prompt) -> bytes:
    """Return the canonical bytes of `prompt`: what is stored, hashed and digested."""
    return canonical(prompt)


def prompt_digest(encoded: bytes) -> str:
    """Return the digest of a prompt's canonical bytes."""
    return digest(encoded)


def check_prompt(prompt: Prompt) -> bytes:
    """Return the canonical bytes of `prompt` if people can see and answer it.

    Raises:
        BadPromptError: it has no question, or options that cannot be told apart or reached by typing.
        TooLargeError: it is over a limit.
    """
    if not prompt.title.strip():
        raise BadPromptError("A prompt needs a title.")
    if len(prompt.title) > MAX_TITLE:
        raise TooLargeError(f"A title has at most {MAX_TITLE:,} characters.")
    if not 1 <= len(prompt.fields) <= MAX_FIELDS:
        raise BadPromptError(f"A prompt has 1 to {MAX_FIELDS} questions.")
    names = [field.name for field in prompt.fields]
    if len(set(names)) != len(names) or not all(name.strip() for name in names):
        raise BadPromptError("Each question of a prompt needs a name of its own.")
    for field in prompt.fields:
        _check_field(field)
    if prompt.action is not None:
        check_json(prompt.action)
    encoded = encode_prompt(prompt)
    if len(encoded) > MAX_PROMPT_BYTES:
        raise TooLargeError(
            f"A prompt has at most {MAX_PROMPT_BYTES:,} bytes; this one has {len(encoded):,}."
        )
    return encoded


def _check_field(field: Field) -> None:
    if not field.options and not field.free:
        raise BadPromptError(f'"{field.name}" has no options and takes no text: nobody could answer it.')
    if len(field.options) > MAX_OPTIONS:
        raise TooLargeError(f"A question has at most {MAX_OPTIONS} options.")
    seen: dict[str, int] = {}
    for position, option in enumerate(field.options):
        if not option.key.strip() or not option.label.strip():
            raise BadPromptError(f'An option of "{field.name}" is empty.')
        for shape in {skeleton(option.label), skeleton(option.key)}:
            if not shape:
                raise BadPromptError(f'An option of "{field.name}" shows nothing.')
            other = seen.setdefault(shape, position)
            if other != position:
                first = field.options[other].label
                raise BadPromptError(f'The options "{first}" and "{option.label}" look alike.')
            _check_letter(field, position, shape)


def _check_letter(field: Field, position: int, shape: str) -> None:
    # An option called "B" that is shown as "A) B" could never be typed without a guess.
    addressed = LETTERS.find(shape.upper()) if len(shape) == 1 else -1
    if addressed not in (-1, position) and addressed < len(field.options) + field.free:
        raise BadPromptError(
            f'The option "{field.options[position].label}" reads like the letter of another option.'
        )
