"""How a project's fixes become edits, as `.assent/review.toml` has it: the command that works a fix in words into a document.

    [applier]
    command = ["python3", ".assent/apply_with_agent.py"]
    env = { APPLY_AGENT = "claude" }
    seconds = 900

Rule 1: nothing is left out in silence. A key that means nothing is an error, and so is a variable that would not be set.
Rule 2: every error is one sentence that names the file and the reason.
"""

from __future__ import annotations

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError
from assent.protocol.principal import Role
from assent.protocol.toml_file import check_keys, load_toml, read_command, read_env, read_seconds

__all__ = [
    "APPLIER_PRINCIPAL",
    "APPLIER_SECONDS",
    "MAX_APPLIER_FILE_BYTES",
    "MAX_APPLIER_SECONDS",
    "Applier",
    "parse_applier",
]

MAX_APPLIER_FILE_BYTES = 64 << 10
APPLIER_SECONDS = 600.0
"""For one fix."""
MAX_APPLIER_SECONDS = 86_400.0
APPLIER_PRINCIPAL = f"{Role.AGENT}:applier"
"""Who every applier is: an agent, so that nothing it starts can answer."""

_APPLIER = "applier"
_KEYS = ("command", "env", "seconds")


class Applier(msgspec.Struct, frozen=True):
    """A command that gets a finding and a document, and prints the document with the fix in it."""

    command: tuple[str, ...]
    """A program with its arguments; no shell reads it."""
    env: dict[str, str] = {}
    """What is set beside the environment that it is run in."""
    seconds: float = APPLIER_SECONDS
    """How long it may take for one fix."""


def parse_applier(text: bytes, name: str) -> Applier | None:
    """Return a project's applier, nothing if the file has none. `name` is the file's, for messages.

    Raises:
        BadRequestError: the file cannot be read, or its applier could not be run.
    """
    loaded = load_toml(text, name, MAX_APPLIER_FILE_BYTES)
    for key in loaded:
        if key != _APPLIER:
            raise BadRequestError(f'{quote(name)}: "{quote(key)}" is not known; there is only [applier].')
    if _APPLIER not in loaded:
        return None
    table = loaded[_APPLIER]

    def fail(reason: str) -> BadRequestError:
        return BadRequestError(f"{quote(name)}, [applier]: {reason}.")

    if not isinstance(table, dict):
        raise fail('it is a table, as in [applier] with command = ["program", "argument"]')
    check_keys(table, _KEYS, fail)
    if "command" not in table:
        raise fail("it has no command")
    return Applier(
        read_command(table["command"], fail),
        read_env(table.get("env", {}), "an applier", fail),
        read_seconds(table.get("seconds", APPLIER_SECONDS), MAX_APPLIER_SECONDS, fail),
    )
