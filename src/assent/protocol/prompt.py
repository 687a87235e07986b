"""What an ask shows: a title, a body, fields with options, the action at stake. Immutable, with a digest.

A prompt is checked once, when it is opened (`check_prompt`): every option must be reachable by typing, no two
may look alike, and everything has a limit. After that all rooms may rely on it.

An option is addressed by its position, written as a letter or a number; where a question has options and takes
free text, too, the position after the last option stands for "my own words". What stands there is `OTHER`, or the
asker's own label in any language (C11 to C13), which is checked like the label of one more option. Options may
bring letters of their own; their numbers are always those of their places.

A prompt with commands is a gate: its options are numbered and not lettered, and a reply is a number, a label or one
of the commands, spelled as `protocol.command` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from assent.protocol.canonical import Json, canonical, check_json, digest
from assent.protocol.command import check_commands
from assent.protocol.display import fold, is_blank, plain_shapes, quote, skeleton
from assent.protocol.error import BadPromptError, TooLargeError
from assent.protocol.shape import Shape, check_shape

__all__ = [
    "LETTERS",
    "MAX_FIELDS",
    "MAX_LABEL",
    "MAX_OPTIONS",
    "MAX_PROMPT_BYTES",
    "MAX_TITLE",
    "OTHER",
    "Field",
    "Option",
    "Prompt",
    "check_prompt",
    "encode_prompt",
    "is_lettered",
    "label_other",
    "other_label",
    "parse_position",
    "prompt_digest",
    "question",
    "render_position",
]

MAX_PROMPT_BYTES = 1 << 20
MAX_TITLE = 2_000
MAX_FIELDS = 50
MAX_OPTIONS = 200
MAX_LABEL = 2_000
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MARKS = frozenset(LETTERS)
OTHER = "Other: type your answer"
"""C13: what stands at the position of one's own words where the asker has no label for it."""

_POSITION = re.compile(r"(?:(?P<letter>[a-z])|(?P<number>[1-9][0-9]{0,2}))(?P<closer>[.)]?)").fullmatch
_LONGEST_POSITION = len("200)")
_ROUND_KEY = re.compile(r"q([1-9][0-9]{0,2})").fullmatch


class Option(msgspec.Struct, frozen=True, gc=False):
    """One choice."""

    key: str
    """What is recorded when it is chosen."""
    label: str
    """What people read."""
    recommended: bool = False
    destructive: bool = False
    description: str = ""
    mark: str | msgspec.UnsetType = msgspec.UNSET
    """The letter that it goes by, where that is not the one of its place: a list that lacks B still has its C (W-X11)."""


class Field(msgspec.Struct, frozen=True, gc=False):
    """One answerable part of a prompt."""

    name: str
    text: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False
    """Several options may be chosen."""
    free: bool = False
    """Text of one's own is an answer, too."""
    other: str | msgspec.UnsetType = msgspec.UNSET
    """What people read at the position of their own words, where it is not `OTHER`."""
    shape: Shape | msgspec.UnsetType = msgspec.UNSET
    """What the value must be, where the field is part of a form."""


class Prompt(msgspec.Struct, frozen=True, gc=False):
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
    other: str = "",
) -> Prompt:
    """Return the prompt of one question; without options it takes free text.

    `other` is the label of the position that stands for one's own words.

    >>> question("Which database?", ["PostgreSQL", "SQLite"]).fields[0].options[1].key
    'SQLite'

    Raises:
        BadPromptError: the options are no list of texts or options.
    """
    if isinstance(options, str):
        raise BadPromptError("The options are a list of texts, not one text.")
    choices = tuple(_option(choice) for choice in options)
    allows_free_text = not choices if free is None else free
    field = Field("q1", "", choices, multiple, allows_free_text, other or msgspec.UNSET)
    return Prompt(title, body, (field,))


def other_label(field: Field) -> str:
    """Return what stands at the position of one's own words."""
    return OTHER if field.other is msgspec.UNSET else field.other


def label_other(field: Field, label: str) -> Field:
    """Return `field` with the label for one's own words, where it has that position and no label of its own."""
    takes_label = label and field.free and field.options and field.other is msgspec.UNSET
    return replace(field, other=label) if takes_label else field


def _option(choice: object) -> Option:
    if isinstance(choice, str):
        return Option(choice, choice)
    if isinstance(choice, Option):
        return choice
    raise BadPromptError(f"An option is a text or an Option, not {quote(repr(choice))}.")


def encode_prompt(prompt: Prompt) -> bytes:
    """Return the canonical bytes of `prompt`: what is stored, hashed and digested."""
    # All of the first fields are spelled, defaults too. One that is added later must be left out while it holds its
    # default, or every stored prompt gets another digest and every key is "reused": its default is UNSET, as `other`'s.
    return canonical(prompt)


def prompt_digest(encoded: bytes) -> str:
    """Return the digest of a prompt's canonical bytes."""
    return digest(encoded)


def is_lettered(field: Field) -> bool:
    """Whether the options of `field` bring letters of their own."""
    return bool(field.options) and field.options[0].mark is not msgspec.UNSET


def render_position(position: int, field: Field | None = None) -> str:
    """Return what stands before the option at `position`, counted from 0: a letter while there are any (C5).

    >>> render_position(1), render_position(26)
    ('B', '27')
    """
    if field is not None and position < len(field.options):
        mark = field.options[position].mark
        if mark is not msgspec.UNSET:
            return mark
    return LETTERS[position] if position < len(LETTERS) else str(position + 1)


def parse_position(folded: str, field: Field | None = None) -> int | None:
    """Return the position, counted from 0, that a folded reply addresses: `b`, `2`, `2.` and `b)` are all 1.

    Where options bring letters, one that none of them has addresses nothing.
    """
    found = _POSITION(folded)
    if not found:
        return None
    if not found["letter"]:
        return int(found["number"]) - 1
    letter = found["letter"].upper()
    if field is None or not is_lettered(field):
        return LETTERS.index(letter)
    return next((place for place, option in enumerate(field.options) if option.mark == letter), None)


def check_prompt(prompt: Prompt) -> bytes:
    """Return the canonical bytes of `prompt` if people can see and answer it.

    Raises:
        BadPromptError: it has no question, or options that cannot be told apart or reached by typing.
        BadJsonError: its action is not JSON.
        TooLargeError: it is over a limit.
    """
    if is_blank(prompt.title):
        raise BadPromptError("A prompt needs a title.")
    if len(prompt.title) > MAX_TITLE:
        raise TooLargeError(f"A title has at most {MAX_TITLE:,} characters.")
    if not 1 <= len(prompt.fields) <= MAX_FIELDS:
        raise BadPromptError(f"A prompt has 1 to {MAX_FIELDS} questions.")
    if prompt.action is not None:
        check_json(prompt.action)
    encoded = encode_prompt(prompt)
    if len(encoded) > MAX_PROMPT_BYTES:
        raise TooLargeError(
            f"A prompt has at most {MAX_PROMPT_BYTES:,} bytes; this one has {len(encoded):,}."
        )
    _check_names([field.name for field in prompt.fields])
    for field in prompt.fields:
        _check_field(field, prompt.commands)
    if prompt.commands:
        _check_gate(prompt)
    return encoded


def _check_gate(prompt: Prompt) -> None:
    field = prompt.fields[0]
    if len(prompt.fields) > 1 or field.free or field.multiple:
        raise BadPromptError(
            "A prompt with commands has one question, with one answer, and takes no other text."
        )
    check_commands(prompt.commands, [{option.label, option.key} for option in field.options])


def _check_names(names: list[str]) -> None:
    if len(names) == 1 and len(names[0]) <= MAX_LABEL and not is_blank(names[0]):
        return  # a single question cannot be taken for another
    if len({fold(name) for name in names}) != len(names) or any(map(is_blank, names)):
        raise BadPromptError("Each question of a prompt needs a name of its own.")
    for position, name in enumerate(names, start=1):
        if len(name) > MAX_LABEL:
            raise TooLargeError(f"The name of a question has at most {MAX_LABEL:,} characters.")
        # C20: `q2: …` is the second answer, so no other question may go by that name.
        key = _ROUND_KEY(fold(name))
        if key and int(key[1]) != position and int(key[1]) <= len(names):
            raise BadPromptError(
                f'Question {position} cannot be called "{name}", as that is the key of another.'
            )


def _check_field(field: Field, commands: tuple[str, ...] = ()) -> None:
    if not field.options and not field.free and not commands:
        raise BadPromptError(
            f'"{quote(field.name)}" has no options and takes no text: nobody could answer it.'
        )
    if len(field.options) > MAX_OPTIONS:
        raise TooLargeError(f"A question has at most {MAX_OPTIONS} options.")
    if field.shape is not msgspec.UNSET:
        _check_shape(field, field.shape)
    _check_marks(field)
    if field.other is not msgspec.UNSET:
        field = _with_other(field, field.other)
    if _is_plain(field):
        return
    seen: dict[str, int] = {}
    for position, option in enumerate(field.options):
        for text in {option.label, option.key}:
            if len(text) > MAX_LABEL:
                raise TooLargeError(f"An option has at most {MAX_LABEL:,} characters.")
            folded, drawn = fold(text), skeleton(text)
            for shape in {folded, drawn}:
                if not shape or is_blank(shape):
                    raise BadPromptError(f'An option of "{quote(field.name)}" shows nothing.')
                other = seen.setdefault(shape, position)
                if other != position:
                    first, second = quote(field.options[other].label), quote(option.label)
                    raise BadPromptError(f'The options "{first}" and "{second}" look alike.')
            _check_position(field, position, folded if text.isascii() else drawn)


def _check_marks(field: Field) -> None:
    """Letters of their own are for a list that one thing is chosen from, and all of its options have one, in order."""
    marks = [option.mark for option in field.options]
    if all(mark is msgspec.UNSET for mark in marks):
        return
    if field.free or field.multiple or not all(isinstance(mark, str) and mark in _MARKS for mark in marks):
        raise BadPromptError(
            f'"{quote(field.name)}": either each option of one choice has a letter from A to Z, or none has.'
        )
    if marks != sorted(set(map(str, marks))):
        raise BadPromptError(f'"{quote(field.name)}": the letters of its options are not in order.')


def _check_shape(field: Field, shape: Shape) -> None:
    keys = [option.key for option in field.options]
    try:
        check_shape(shape, keys, is_multiple=field.multiple, is_free=field.free)
    except (BadPromptError, TooLargeError) as error:
        raise type(error)(f'"{quote(field.name)}": {error.message}') from None


def _with_other(field: Field, label: str) -> Field:
    """Return the field with the label of one's own words as its last option, which it must be told apart from."""
    if not field.free or not field.options:
        raise BadPromptError(
            f'"{quote(field.name)}" has a label for words of one\'s own, but not both options and free text.'
        )
    return replace(field, options=(*field.options, Option(label, label)), free=False)


def _is_plain(field: Field) -> bool:
    """Whether its options are plainly different, by one look at all of them. False says nothing yet.

    Most options are, and this takes a third of the time.
    """
    labels = [option.label for option in field.options]
    shapes = plain_shapes(labels)
    if shapes is None or not all(shapes) or len(set(shapes)) < len(shapes):
        return False
    if max(map(len, labels), default=0) > MAX_LABEL or labels != [option.key for option in field.options]:
        return False
    for position, label in enumerate(labels):
        if len(label) <= _LONGEST_POSITION:
            _check_position(field, position, fold(label))
    return True


def _check_position(field: Field, position: int, shape: str) -> None:
    # An option called "B" that is shown as "A) B" could never be typed without a guess. A number may stand
    # elsewhere ("1, 3 or 5 copies?"): letters still reach every option, and so does "3)".
    addressed = parse_position(shape, field)
    if addressed in (None, position) or shape.isdecimal():
        return
    if addressed < len(field.options) + field.free:
        label = quote(field.options[position].label)
        raise BadPromptError(f'The option "{label}" reads like the letter or number of another option.')
