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

import msgspec

from assent.protocol.display import quote, skeleton
from assent.protocol.error import BadRequestError
from assent.protocol.principal import Role, parse_principal
from assent.protocol.toml_file import (
    Fail,
    Table,
    check_keys,
    load_toml,
    read_command,
    read_env,
    read_seconds,
)

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

_REVIEWERS = "reviewer"
_KEYS = ("command", "env", "seconds")


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
    check_keys(table, _KEYS, fail)
    if "command" not in table:
        raise fail("it has no command")
    return Reviewer(
        name,
        read_command(table["command"], fail),
        read_env(table.get("env", {}), "a reviewer", fail),
        read_seconds(table.get("seconds", REVIEWER_SECONDS), MAX_REVIEWER_SECONDS, fail),
    )


def _at(file: str, name: str) -> Fail:
    def fail(reason: str) -> BadRequestError:
        return BadRequestError(f'{quote(file)}, reviewer "{quote(name)}": {reason}.')

    return fail
