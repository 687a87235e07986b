"""Which way to GitHub there is here: a token and the REST API, or the `gh` command, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from assent.effects.github.channel import Channel
from assent.effects.github.gh import gh_channel

_ways: list[Callable[[Mapping[str, str]], Channel | None]] = [gh_channel]
try:
    from assent.effects.github.rest import rest_channel
except ModuleNotFoundError as error:
    # It comes with an extra. Without it there is still gh, which takes a token from the environment, too.
    if error.name != "httpx2":
        raise
else:
    _ways.insert(0, rest_channel)

__all__ = ["availability", "find_channel"]


def find_channel(environ: Mapping[str, str]) -> Channel | None:
    """Return the way to GitHub that this environment offers, without using it.

    Raises:
        GitHubError: there is a token, and the address beside it is not one that a token may be sent to.
    """
    return next(filter(None, (way(environ) for way in _ways)), None)


def availability(environ: Mapping[str, str]) -> Literal["available", "missing"]:
    """Say whether there is a way."""
    return "missing" if find_channel(environ) is None else "available"
