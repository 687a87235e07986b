"""Whose reply it is that a host carries: the person who sits at it. Nothing else gives a host's word its assurance.

A host says that its user chose it, and an agent inside that host can say the same. So the reply is recorded as `host`,
with the host's name and the name of the OS user, whatever the host, its agent or the environment say of themselves. By
default that suffices for everything but approvals; a project may list it for them, or strike it out elsewhere.

A server takes an answer for that of whoever the token belongs to, surely: an agent's can never answer, and what a host
made up would be recorded as a person's own. So there a host's dialog carries nothing, whoever's the token is, and people
answer on the surfaces of the server.
"""

from __future__ import annotations

import os
import pwd

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.protocol.ask import Ask
from assent.protocol.assurance import DEFAULT_ASSURANCES, render_shortfall
from assent.protocol.kind import Kind
from assent.protocol.principal import Assurance, Principal, Role

__all__ = ["find_shortfall", "person_at", "render_elsewhere"]


def person_at(asker: Calls, host: str) -> Call[Calls | None]:
    """Return the calls of the person whose replies `host` carries; nobody's where such a reply would not count."""
    if (yield from until(asker.door.who())) is not None:
        return None
    who = Principal(Role.HUMAN, _user())
    return Calls(asker.door, asker.project, who, f"host:{host}", Assurance.HOST, asker.run_id)


def find_shortfall(asker: Calls, kind: Kind) -> Call[str]:
    """Return why a host's word does not suffice for this kind of ask here, in one sentence; empty where it does."""
    policy = yield from until(asker.door.policy(asker.project))
    listed = None if policy is None else policy.assurances.get(kind)
    accepted = DEFAULT_ASSURANCES[kind] if listed is None else listed
    return "" if Assurance.HOST in accepted else render_shortfall(kind, Assurance.HOST, accepted)


def render_elsewhere(ask: Ask) -> str:
    """Return where a person answers what a host's dialog cannot, in one sentence."""
    return (
        f"The ask stays open: a person answers it with `assent answer {ask.ask_id[-6:]} …`, with `assent` in a terminal "
        "of their own, or on the page."
    )


def _user() -> str:
    """Return the OS user. The environment has a name, too, and whoever starts a host can write any into it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"
