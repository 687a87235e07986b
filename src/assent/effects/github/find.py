"""Which way to GitHub there is here: a token and the REST API, or the `gh` command, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from assent.effects.github.channel import Channel
from assent.effects.github.gh import gh_channel

try:
    from assent.effects.github.rest import rest_channel
except ModuleNotFoundError:  # httpx2 comes with an extra; gh takes a token from the environment, too
    rest_channel = None  # type: ignore[assignment]

__all__ = ["availability", "find_channel"]


def find_channel(environ: Mapping[str, str]) -> Channel | None:
    """Return the way to GitHub that this environment offers, without using it.

    Raises:
        GitHubError: there is a token, and the address beside it is not one that a token may be sent to.
    """
    rest = None if rest_channel is None else rest_channel(environ)
    return rest or gh_channel(environ)


def availability(environ: Mapping[str, str]) -> Literal["available", "missing"]:
    """Say whether there is a way."""
    return "missing" if find_channel(environ) is None else "available"
