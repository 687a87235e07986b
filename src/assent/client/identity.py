"""Who acts, and with which assurance.

On a file that the agent's own OS user can write, this stops accidents and makes forgery visible, not impossible;
separation that holds needs a server under another user.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping

from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Assurance, Principal, Role, parse_principal

__all__ = ["AGENT_MARKS", "agent", "agent_mark", "assurance_here", "person"]

AGENT_MARKS = (
    "ASSENT_RUN_ID",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
)
"""Variables that agent hosts set for the commands they run; ours is the first."""


def agent_mark(environ: Mapping[str, str]) -> str | None:
    """Return the variable that says that an agent runs this process, or None."""
    if environ.get("ASSENT_PRINCIPAL", "").startswith(f"{Role.AGENT}:"):
        return "ASSENT_PRINCIPAL"
    return next((mark for mark in AGENT_MARKS if environ.get(mark)), None)


def person(environ: Mapping[str, str]) -> Principal:
    """Return the person at this process: `human:<OS user>`.

    Raises:
        ForbiddenError: an agent runs this process; only a person can answer and steer.
    """
    mark = agent_mark(environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person can answer asks and steer runs. "
            "A person can do it in a terminal of their own: assent inbox, assent runs."
        )
    given = environ.get("ASSENT_PRINCIPAL")
    if given:
        principal = parse_principal(given)
        if principal.role is not Role.HUMAN:
            raise ForbiddenError(
                f"{principal} is not a person, and only a person can answer asks and steer runs."
            )
        return principal
    return Principal(Role.HUMAN, _user())


def agent(environ: Mapping[str, str], name: str | None = None) -> Principal:
    """Return the agent that asks: as named, by ASSENT_PRINCIPAL, or `agent:<OS user>`."""
    given = environ.get("ASSENT_PRINCIPAL", "")
    if name is None and given.startswith(f"{Role.AGENT}:"):
        return parse_principal(given)
    return parse_principal(f"{Role.AGENT}:{name}") if name else Principal(Role.AGENT, _user())


def assurance_here(descriptor: int = 0) -> Assurance:
    """Return `terminal` where a person types: our group is in the foreground of a controlling terminal."""
    try:
        is_ours = os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        is_ours = False
    return Assurance.TERMINAL if is_ours else Assurance.DECLARED


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
