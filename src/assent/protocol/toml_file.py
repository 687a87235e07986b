"""What a project's TOML files have in common: read whole, with nothing hidden in them, and commands
as lists of words with what is set for them and how long they may take.

Rule 1: every error is one sentence that names the file and the place.
Rule 2: text that shows one thing and says another has no place in such a file, not even in a comment.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence

from assent.protocol.display import is_blank, is_hidden, quote
from assent.protocol.error import BadRequestError

__all__ = [
    "Fail",
    "Table",
    "check_keys",
    "check_visible",
    "load_toml",
    "read_command",
    "read_env",
    "read_seconds",
    "read_texts",
]

_MAX_ARGUMENTS = 100
_MAX_VARIABLES = 100
_PRINCIPAL = "ASSENT_PRINCIPAL"

_is_variable = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch

Fail = Callable[[str], BadRequestError]
"""Makes the error from a reason; it knows the file and the place."""
Table = dict[str, object]


def load_toml(text: bytes, name: str, limit: int) -> Table:
    """Return what a file of at most `limit` bytes says. `name` is the file's, for messages.

    Raises:
        BadRequestError: it cannot be read.
    """
    file = quote(name)
    if len(text) > limit:
        raise BadRequestError(f"{file} has {len(text):,} bytes; such a file has at most {limit:,}.")
    try:
        lines = text.decode()
    except UnicodeDecodeError as error:
        raise BadRequestError(f"{file} is not UTF-8 text, at byte {error.start}.") from None
    for number, line in enumerate(lines.replace("\r\n", "\n").split("\n"), start=1):
        for column, character in enumerate(line, start=1):
            if is_hidden(character) and character != "\t":
                raise BadRequestError(
                    f"{file}: there is a hidden character, {quote(character)}, at line {number}, column {column}."
                )
    try:
        return tomllib.loads(lines)
    except RecursionError:
        raise BadRequestError(f"{file} is not TOML: it is nested too deeply.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadRequestError(f"{file} is not TOML: {quote(str(error))}.") from None
    except ValueError:
        raise BadRequestError(f"{file} has a number or a date that no such file needs.") from None


def check_keys(table: Table, known: Sequence[str], fail: Fail) -> None:
    """Refuse a key that means nothing."""
    for key in table:
        if key not in known:
            raise fail(f'"{quote(key)}" is not known; there are {", ".join(known)}')


def read_texts(given: object, key: str, fail: Fail) -> list[str]:
    """Return a list of texts that can all be seen."""
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise fail(f'"{key}" is a list of texts')
    for text in given:
        check_visible(text, f'"{quote(text)}" in "{key}"', fail)
    return given


def read_command(given: object, fail: Fail) -> tuple[str, ...]:
    """Return a program with its arguments: words, never a line for a shell."""
    command = tuple(read_texts(given, "command", fail))
    if not 1 <= len(command) <= _MAX_ARGUMENTS or is_blank(command[0]):
        raise fail(f"the command is a program and at most {_MAX_ARGUMENTS - 1} arguments")
    return command


def read_env(given: object, who: str, fail: Fail) -> dict[str, str]:
    """Return what is set for a command. `who` it is run as is not among it: that is for us to say."""
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise fail('"env" is a table of texts, as in env = { NAME = "value" }')
    if len(given) > _MAX_VARIABLES:
        raise fail(f'"env" sets at most {_MAX_VARIABLES} variables, not {len(given)}')
    for variable, value in given.items():
        if not _is_variable(variable):
            raise fail(f'"{quote(variable)}" in "env" is not the name of a variable')
        if variable == _PRINCIPAL:
            raise fail(f"{_PRINCIPAL} is set for it: {who} is an agent under its own name")
        check_visible(value, f'the value of "{variable}" in "env"', fail)
    return dict(given)


def read_seconds(given: object, longest: float, fail: Fail) -> float:
    """Return how long a command may take."""
    # A truth value is a number for Python; NaN is none for anybody, and no comparison lets it through.
    if not isinstance(given, int | float) or isinstance(given, bool) or not 1 <= given <= longest:
        raise fail(f'"seconds" is a number from 1 to {longest:,.0f}')
    return float(given)


def check_visible(text: str, what: str, fail: Fail) -> None:
    """Refuse what could not be seen by whoever read the file: it may have been written there with an escape."""
    if any(map(is_hidden, text)):
        raise fail(f"{what} has a hidden character or a new line in it")
