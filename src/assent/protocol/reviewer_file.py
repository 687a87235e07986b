"""A project's reviewers, as `.assent/reviewers.toml` has them: the commands behind the `ai-agent` names of its plans (C37).

    [reviewer.architect]
    command = ["python3", ".assent/review_with_agent.py"]
    env = { REVIEW_AGENT = "claude" }
    seconds = 900

Rule 1: nothing is left out in silence. A key that means nothing is an error, and so is a variable that would not be set.
Rule 2: a reviewer's name is that of an agent, and no two look alike: a report is told by the name.
Rule 3: every error is one sentence that names the file, the reviewer and the reason.
"""

from __future__ import annotations

import re

import msgspec

from assent.protocol.display import quote, skeleton
from assent.protocol.error import BadRequestError
from assent.protocol.principal import Role, parse_principal
from assent.protocol.toml_file import Fail, Table, check_visible, load_toml, read_command

__all__ = [
    "MAX_REVIEWER_FILE_BYTES",
    "MAX_REVIEWER_SECONDS",
    "REVIEWER_SECONDS",
    "Reviewer",
    "parse_reviewers",
]

MAX_REVIEWER_FILE_BYTES = 64 << 10
REVIEWER_SECONDS = 600.0
MAX_REVIEWER_SECONDS = 86_400.0
_MAX_REVIEWERS = 100
_MAX_VARIABLES = 100

_REVIEWERS = "reviewer"
_KEYS = ("command", "env", "seconds")
_PRINCIPAL = "ASSENT_PRINCIPAL"

_is_variable = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


class Reviewer(msgspec.Struct, frozen=True):
    """An agent that looks at intent or at completed work, and how it is run."""

    name: str
    command: tuple[str, ...]
    """A program with its arguments; no shell reads it."""
    env: dict[str, str] = {}
    """What is set beside the environment that it is run in."""
    seconds: float = REVIEWER_SECONDS
    """How long it may take."""

    @property
    def principal(self) -> str:
        """Who it is: an agent, so that nothing it starts can answer."""
        return f"{Role.AGENT}:{self.name}"


def parse_reviewers(text: bytes, name: str) -> dict[str, Reviewer]:
    """Return a project's reviewers by name, none if the file has none. `name` is the file's, for messages.

    Raises:
        BadRequestError: the file cannot be read, or one of its reviewers could not be run.
    """
    file = quote(name)
    loaded = load_toml(text, name, MAX_REVIEWER_FILE_BYTES)
    for key in loaded:
        if key != _REVIEWERS:
            raise BadRequestError(f'{file}: "{quote(key)}" is not known; there is only [reviewer.NAME].')
    tables = loaded.get(_REVIEWERS, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise BadRequestError(f"{file}: each reviewer begins with [reviewer.NAME].")
    if len(tables) > _MAX_REVIEWERS:
        raise BadRequestError(f"{file}: there are at most {_MAX_REVIEWERS} reviewers, not {len(tables)}.")
    reviewers: dict[str, Reviewer] = {}
    taken: dict[str, str] = {}
    for called, table in tables.items():
        fail = _at(name, called)
        reviewers[called] = _read_reviewer(called, table, fail)
        shape = skeleton(called)
        if shape in taken:
            raise fail(f'its name looks like that of "{quote(taken[shape])}"')
        taken[shape] = called
    return reviewers


def _read_reviewer(name: str, table: Table, fail: Fail) -> Reviewer:
    try:
        parse_principal(f"{Role.AGENT}:{name}")
    except BadRequestError:
        raise fail("its name is none that an agent can have") from None
    for key in table:
        if key not in _KEYS:
            raise fail(f'"{quote(key)}" is not known; there are {", ".join(_KEYS)}')
    if "command" not in table:
        raise fail("it has no command")
    return Reviewer(
        name,
        read_command(table["command"], fail),
        _read_env(table.get("env", {}), fail),
        _read_seconds(table.get("seconds", REVIEWER_SECONDS), fail),
    )


def _read_env(given: object, fail: Fail) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise fail('"env" is a table of texts, as in env = { NAME = "value" }')
    if len(given) > _MAX_VARIABLES:
        raise fail(f'"env" sets at most {_MAX_VARIABLES} variables, not {len(given)}')
    for variable, value in given.items():
        if not _is_variable(variable):
            raise fail(f'"{quote(variable)}" in "env" is not the name of a variable')
        if variable == _PRINCIPAL:
            raise fail(f"{_PRINCIPAL} is set for it: a reviewer is an agent under its own name")
        check_visible(value, f'the value of "{variable}" in "env"', fail)
    return dict(given)


def _read_seconds(given: object, fail: Fail) -> float:
    # A truth value is a number for Python; NaN is none for anybody, and no comparison lets it through.
    if (
        not isinstance(given, int | float)
        or isinstance(given, bool)
        or not 1 <= given <= MAX_REVIEWER_SECONDS
    ):
        raise fail(f'"seconds" is a number from 1 to {MAX_REVIEWER_SECONDS:,.0f}')
    return float(given)


def _at(file: str, name: str) -> Fail:
    def fail(reason: str) -> BadRequestError:
        return BadRequestError(f'{quote(file)}, reviewer "{quote(name)}": {reason}.')

    return fail
