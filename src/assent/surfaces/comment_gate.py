"""The comment that an ask is posted as: made once, found again, and closed when the ask has ended.

What is known of a posting stands in the comment's own marker, so whoever can read the pull request can find it; it is
believed only where the comment shows exactly what it would show if it were posted now.
"""

from __future__ import annotations

import re

import msgspec

from assent.effects.github.channel import Channel, pages, read
from assent.protocol.ask import Ask
from assent.protocol.canonical import digest
from assent.protocol.error import GitHubError
from assent.protocol.review import PullRequest
from assent.surfaces.comment_author import Comment, Standing
from assent.surfaces.comment_text import read_mark, render_answered, render_body

__all__ = [
    "PostedGate",
    "bare",
    "close_gate",
    "find_gate",
    "find_posted",
    "last_commit",
    "post_gate",
    "shows",
]

_is_commit = re.compile(r"[0-9a-f]{40,64}").fullmatch


class PostedGate(msgspec.Struct, frozen=True):
    """A gate that was posted: what its owner keeps to read the answer later."""

    ask_id: str
    owner: str
    repo: str
    number: int
    head_sha: str
    """The last commit of the pull request when it was posted."""
    comment_id: int
    nonce: str
    body_digest: str
    posted_at: str
    """As GitHub says it: its clock, not ours, decides what is later."""
    last_seen: int
    """The last comment that was looked at."""
    seen_at: str = ""
    """When that one was written; empty: none was looked at."""


class _Head(msgspec.Struct):
    sha: str


class _Pull(msgspec.Struct):
    head: _Head


def last_commit(channel: Channel, repository: str, number: int) -> str:
    """Return the last commit of a pull request.

    Raises:
        GitHubError: GitHub does not tell.
    """
    return read(channel.request("GET", f"{repository}/pulls/{number}"), _Pull).head.sha


def post_gate(channel: Channel, pull_request: PullRequest, ask: Ask, nonce: str) -> PostedGate:
    """Post `ask` as a comment; `nonce` tells this posting from every other one.

    Raises:
        GitHubError: it was not posted.
    """
    owner, repo, number = pull_request.owner, pull_request.repo, pull_request.number
    repository = f"/repos/{owner}/{repo}"
    head = last_commit(channel, repository, number)
    if not _is_commit(head):
        raise GitHubError("GitHub does not tell the last commit of the pull request.")
    body = render_body(ask, nonce, head)
    made = read(channel.request("POST", f"{repository}/issues/{number}/comments", {"body": body}), Comment)
    # What GitHub kept is what it will show later: its spelling is the one to compare with.
    kept = digest((made.body or "").encode())
    return PostedGate(
        ask.ask_id, owner, repo, number, head, made.id, nonce, kept, made.created_at, last_seen=made.id
    )


def find_gate(owner: str, repo: str, number: int, comment: Comment) -> PostedGate | None:
    """Return the gate that a comment says it is, if it does; whether it is that one is found out by looking."""
    body = comment.body or ""
    mark = read_mark(body)
    if mark is None:
        return None
    kept = digest(body.encode())
    return PostedGate(
        mark.ask_id,
        owner,
        repo,
        number,
        mark.commit,
        comment.id,
        mark.nonce,
        kept,
        comment.created_at,
        comment.id,
    )


def find_posted(channel: Channel, pull_request: PullRequest, ask: Ask) -> PostedGate | None:
    """Return where `ask` stands already, for the last commit, whoever noted it: a run of CI remembers nothing.

    Raises:
        GitHubError: GitHub could not be asked.
    """
    owner, repo, number = pull_request.owner, pull_request.repo, pull_request.number
    repository = f"/repos/{owner}/{repo}"
    standing = Standing(channel, repository)
    found: PostedGate | None = None
    for each in pages(channel, f"{repository}/issues/{number}/comments"):
        comment = read(each, Comment)
        posted = find_gate(owner, repo, number, comment)
        is_it = posted is not None and posted.ask_id == ask.ask_id and not comment.is_edited
        if posted is not None and is_it and shows(posted, ask, comment) and standing.may_post(comment.user):
            found = posted
    is_fresh = found is not None and found.head_sha == last_commit(channel, repository, number)
    return found if is_fresh else None


def shows(posted: PostedGate, ask: Ask, comment: Comment) -> bool:
    """Whether a comment shows this very gate."""
    body = comment.body or ""
    is_same = digest(body.encode()) == posted.body_digest
    return is_same and bare(body) == bare(render_body(ask, posted.nonce, posted.head_sha))


def close_gate(channel: Channel, posted: PostedGate, ask: Ask) -> None:
    """Write on the gate's comment how `ask` ended, wherever that was.

    Raises:
        GitHubError: it could not be written.
    """
    path = f"/repos/{posted.owner}/{posted.repo}/issues/comments/{posted.comment_id}"
    body = read(channel.request("GET", path), Comment).body or ""
    if digest(body.encode()) == posted.body_digest:  # once is enough, and what somebody else wrote is theirs
        channel.request("PATCH", path, {"body": render_answered(body, ask)})


def bare(body: str) -> str:
    """Return a comment without what a site may spell differently: the ends of its lines and of itself."""
    return "\n".join(line.rstrip() for line in body.splitlines()).strip()
