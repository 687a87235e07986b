"""What will be posted to a pull request, and with which verdict. To be filled in."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from assent.flows.step import Effect
from assent.protocol.review import PullRequest

__all__ = ["Event", "InlineComment", "PostReview", "Posted", "ThreadReply"]


class Event(StrEnum):
    """A verdict as GitHub spells it."""

    REQUEST_CHANGES = "REQUEST_CHANGES"
    COMMENT = "COMMENT"
    APPROVE = "APPROVE"


class InlineComment(msgspec.Struct, frozen=True):
    """A comment on a line of the change."""

    finding_id: str
    path: str
    line: int
    side: str
    body: str


class ThreadReply(msgspec.Struct, frozen=True):
    """A reply in a thread that is there already."""

    finding_id: str
    thread_id: int
    body: str


class PostReview(Effect, frozen=True, tag="post_review"):
    """Post one review with its comments."""

    pull_request: PullRequest
    event: Event
    body: str
    comments: tuple[InlineComment, ...]
    replies: tuple[ThreadReply, ...]
    name: str
    """By which a review that was posted already is known again."""


class Posted(msgspec.Struct, frozen=True):
    """What came of it; the result of `PostReview` when it is done."""

    new: int
    """Comments on lines."""
    replied: int
    failed: int
    """Findings that could not be placed, and stand in the body instead."""
    url: str = ""
