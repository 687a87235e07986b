"""Whether a server takes GitHub's deliveries: with a secret that both know, and a token to ask GitHub with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.cli.exit import say
from assent.client.embedded import EmbeddedDoor
from assent.protocol.error import BadRequestError

if TYPE_CHECKING:
    from assent.surfaces.comment_hook import Hook

__all__ = ["SECRET", "SHORTEST_SECRET", "find_hook"]

SECRET = "ASSENT_GITHUB_WEBHOOK_SECRET"  # noqa: S105 - the name of it
SHORTEST_SECRET = 16
"""Characters of a secret that cannot be guessed."""


def find_hook(environ: Mapping[str, str], door: EmbeddedDoor, project: str) -> Hook | None:
    """Return who takes deliveries about the asks of `project`; nobody where no secret or no token is set.

    Raises:
        BadRequestError: the secret is too short.
        GitHubError: the address that the token would be sent to is not one for a token.
    """
    secret = environ.get(SECRET, "")
    if not secret:
        return None
    if len(secret) < SHORTEST_SECRET:
        raise BadRequestError(f"{SECRET} has at least {SHORTEST_SECRET} characters, made by chance.")
    from assent.effects.github.rest import rest_channel
    from assent.surfaces.comment_hook import Hook
    from assent.surfaces.http.github import ProjectLedger

    channel = rest_channel(environ)
    if channel is None:
        say(f"{SECRET} is set and no token is (GH_TOKEN), so nothing is taken from GitHub.")
        return None
    return Hook(channel, secret, ProjectLedger(door, project))
