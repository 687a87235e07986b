"""Whose reply it is that a host carries: the person who sits at it.

A host's dialog is as good as a process that says so: its reply is recorded as `declared`, with the host's name. That
suffices for questions, gates and confirms, and never for approvals. A server takes an answer for that of whoever the
token belongs to, surely: an agent's can never answer, and what a host made up would be recorded as a person's own. So
there a host's dialog carries nothing, whoever's the token is, and people answer on the surfaces of the server.
"""

from __future__ import annotations

import getpass
import os

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.protocol.principal import Assurance, Principal, Role

__all__ = ["person_at"]


def person_at(asker: Calls, host: str) -> Call[Calls | None]:
    """Return the calls of the person whose replies `host` carries; nobody's where such a reply would not count."""
    if (yield from until(asker.door.who())) is not None:
        return None
    who = Principal(Role.HUMAN, _user())
    return Calls(asker.door, asker.project, who, f"host:{host}", Assurance.DECLARED, asker.run_id)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
