"""Which way to GitHub there is here: a token and the REST API, or the `gh` command, or none."""

from __future__ import annotations

from collections.abc import Mapping

from assent.effects.direct import Direct
from assent.effects.github.channel import Channel
from assent.effects.github.gh import gh_channel
from assent.effects.github.rest import rest_channel
from assent.effects.github.review import ReviewPoster
from assent.effects.performer import Performers
from assent.flows.session.posting import PostReview
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError

__all__ = ["find_channel", "posting_performers"]


def find_channel(environ: Mapping[str, str]) -> Channel | None:
    """Return the way to GitHub that this environment offers, without using it.

    Raises:
        GitHubError: there is a token, and the address beside it is not one that a token may be sent to.
    """
    return rest_channel(environ) or gh_channel(environ)


def posting_performers(environ: Mapping[str, str]) -> Performers:
    """Return who posts reviews; the way to GitHub is looked for when there is one to post."""

    def post(effect: PostReview) -> Json:
        channel = find_channel(environ)
        if channel is None:
            raise EffectError("There is no way to GitHub from here: set GH_TOKEN, or install gh and log in.")
        poster = ReviewPoster(channel)
        return poster.perform(poster.intend(effect))

    return {PostReview: Direct(PostReview, post)}
