"""Whether a server takes what GitHub and Slack send it: with a secret that both sides know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.cli.exit import say
from assent.client.embedded import EmbeddedDoor
from assent.protocol.error import BadRequestError

if TYPE_CHECKING:
    from assent.surfaces.comment_hook import Hook

__all__ = ["SECRET", "SHORTEST_SECRET", "SLACK_SECRET", "find_hook", "find_slack_secret"]

SECRET = "ASSENT_GITHUB_WEBHOOK_SECRET"  # noqa: S105 - the name of it
SLACK_SECRET = "ASSENT_SLACK_SIGNING_SECRET"  # noqa: S105 - as above
SHORTEST_SECRET = 16
"""Characters of a secret that cannot be guessed."""


def find_hook(environ: Mapping[str, str], door: EmbeddedDoor, project: str) -> Hook | None:
    """Return who takes deliveries about the asks of `project`; nobody where no secret or no token is set.

    Raises:
        BadRequestError: the secret is too short.
        GitHubError: the address that the token would be sent to is not one for a token.
    """
    secret = _find(environ, SECRET)
    if not secret:
        return None
    from assent.effects.github.rest import rest_channel
    from assent.surfaces.comment_hook import Hook
    from assent.surfaces.http.github import ProjectLedger

    channel = rest_channel(environ)
    if channel is None:
        say(f"{SECRET} is set and no token is (GH_TOKEN), so nothing is taken from GitHub.")
        return None
    return Hook(channel, secret, ProjectLedger(door, project))


def find_slack_secret(environ: Mapping[str, str]) -> str:
    """Return the secret with which Slack signs what it sends; empty where it sends nothing.

    Raises:
        BadRequestError: it is too short.
    """
    return _find(environ, SLACK_SECRET)


def _find(environ: Mapping[str, str], name: str) -> str:
    secret = environ.get(name, "")
    if secret and len(secret) < SHORTEST_SECRET:
        raise BadRequestError(f"{name} has at least {SHORTEST_SECRET} characters, made by chance.")
    return secret
