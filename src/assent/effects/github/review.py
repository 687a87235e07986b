"""Posts a review to a pull request: once, whole, and leaving nothing behind where it fails.

1. A review that carries our name was posted before, or the pull request is not at the commit that the person was shown:
   nothing is done. The commit that it is at is told, so that they can be asked again.
2. A draft of ours that a crash left is deleted. This comes before everything else, as GitHub takes neither replies nor
   a second draft while there is one. A draft that is not ours belongs to a person: it is left alone, and told.
3. Replies go into their threads, each with a hidden marker, so that a second try does not repeat them.
4. A draft is made with the comments that have a line in the change; what GitHub does not place stands in the body.
5. The draft is submitted with the verdict. Where GitHub takes no such verdict it becomes a comment, and that is told.
6. If 4 or 5 fails, the draft is deleted, and the error says so in one sentence.

Markers are hidden comments. That of a reply does not tell the name of the review, so nobody can post a review in advance
that passes for ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import msgspec

from assent.effects.github.channel import Channel, pages, read
from assent.effects.github.diff import ChangedFile, Lines, places_of
from assent.effects.performer import Intention, Performers, World
from assent.flows.session.posting import (
    Event,
    InlineComment,
    Posted,
    PostReview,
    ThreadReply,
    Unplaced,
    render_body,
)
from assent.protocol.canonical import Json, canonical, digest
from assent.protocol.display import quote
from assent.protocol.error import GitHubError

__all__ = ["ReviewPoster", "review_performers"]

MAX_TRIES = 12
"""How often a draft is made to find out which comments GitHub does not place; the others go into the body."""
_MARKER = "<!-- assent:review "
_FULL_MARKER = re.compile(
    r"<!-- assent:review (?P<name>\w+) new=(?P<new>\d+) replied=(?P<replied>\d+) failed=(?P<failed>\d+) -->"
)
_UNPLACEABLE = frozenset({403, 404, 410, 422})
"""What GitHub answers where a thread takes no reply; any other failure is not about the thread."""
_REFUSED = 422
_PENDING = "PENDING"


class _Head(msgspec.Struct):
    sha: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{7,64}(?!\n)$")]


class _Repository(msgspec.Struct, frozen=True):
    full_name: str


class _Base(msgspec.Struct, frozen=True):
    repo: _Repository | None = None


class _Pull(msgspec.Struct):
    head: _Head
    base: _Base = _Base()
    number: int | None = None


class _Review(msgspec.Struct):
    id: int
    state: str
    body: str | None = None
    html_url: str = ""


class _Comment(msgspec.Struct):
    body: str | None = None


def review_performers(channel: Channel) -> Performers:
    """Return who posts reviews."""
    return {PostReview: ReviewPoster(channel)}


class ReviewPoster:
    """Performs `PostReview`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def intend(self, effect: PostReview) -> Intention:
        """Keep all that will be posted."""
        return Intention(str(effect.pull_request), content=canonical(effect))

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - see below
        """Say that it has yet to be done.

        `perform` looks first whether it was, and returns what came of it then. A flow that is told from here that it
        is done would never learn where the review is.
        """
        return World.BEFORE

    def perform(self, intention: Intention) -> Json:
        """Return the `Posted` in its JSON form."""
        effect = msgspec.json.decode(intention.content, type=PostReview)
        json: Json = msgspec.to_builtins(_Posting(self._channel, effect).post())
        return json


class _Posting:
    """One review on its way."""

    def __init__(self, channel: Channel, effect: PostReview) -> None:
        pull = effect.pull_request
        self._channel = channel
        self._effect = effect
        self._pull = f"/repos/{pull.owner}/{pull.repo}/pulls/{pull.number}"
        self._unplaced: list[Unplaced] = []
        self._notes: list[str] = []
        self._replied = 0
        self._comments: list[_Comment] | None = None

    def post(self) -> Posted:
        reviews = [read(each, _Review) for each in pages(self._channel, f"{self._pull}/reviews")]
        if before := self._find_posted(reviews):
            return before
        head = self._find_head()
        if not head.startswith(self._effect.moved_to or self._effect.pull_request.head_sha):
            return Posted(0, 0, 0, moved_to=head)
        self._clear(reviews)
        commit = self._commit_at(head)
        for reply in self._effect.replies:
            self._reply(reply)
        try:
            review, placed = self._draft(commit, self._placeable())
            return self._submit(review, placed)
        except GitHubError as error:
            if not self._replied:
                raise
            done = "1 reply was posted" if self._replied == 1 else f"{self._replied} replies were posted"
            raise GitHubError(
                f"{error.message} {done}; it is not posted again.", status=error.status
            ) from error

    def _find_posted(self, reviews: Sequence[_Review]) -> Posted | None:
        for review in reviews:
            found = _FULL_MARKER.search(review.body or "")
            if found and found["name"] == self._effect.name and review.state != _PENDING:
                return Posted(
                    int(found["new"]),
                    int(found["replied"]),
                    int(found["failed"]),
                    review.html_url,
                    _event_of(review.state),
                    was_posted=True,
                )
        return None

    def _clear(self, reviews: Sequence[_Review]) -> None:
        for review in reviews:
            if review.state != _PENDING:
                continue
            if _MARKER not in (review.body or ""):
                raise GitHubError(
                    f"You have a review of {self._effect.pull_request} in progress that was not begun here: "
                    "submit or delete it first."
                )
            self._channel.request("DELETE", f"{self._pull}/reviews/{review.id}")

    def _find_head(self) -> str:
        """Return the commit that the pull request is at; what answers under its name must be that pull request."""
        meant = self._effect.pull_request
        pull = read(self._channel.request("GET", self._pull), _Pull)
        repository = pull.base.repo.full_name if pull.base.repo else f"{meant.owner}/{meant.repo}"
        name = f"{repository}#{meant.number if pull.number is None else pull.number}"
        if name.casefold() != str(meant).casefold():
            raise GitHubError(f"GitHub has {quote(name)} in the place of {meant}.")
        return pull.head.sha

    def _commit_at(self, head: str) -> str:
        """Return the commit that is commented on; note where it is no longer the last one."""
        seen = self._effect.pull_request.head_sha
        if head.startswith(seen):
            return head
        self._notes.append(
            f"This review looked at commit {seen[:7]}; the pull request is at {quote(head, 7)} by now."
        )
        return seen

    # Replies

    def _reply(self, reply: ThreadReply) -> None:
        token = digest(canonical([self._effect.name, reply.finding_id])).removeprefix("sha256:")[:32]
        marker = f"<!-- assent:reply {token} -->"
        if self._comments is None:
            listed = pages(self._channel, f"{self._pull}/comments")
            self._comments = [read(each, _Comment) for each in listed]
        if any(marker in (comment.body or "") for comment in self._comments):
            self._replied += 1
            return
        path = f"{self._pull}/comments/{reply.thread_id}/replies"
        try:
            self._channel.request("POST", path, {"body": f"{reply.body}\n\n{marker}"})
        except GitHubError as error:
            if error.status not in _UNPLACEABLE:
                raise
            place = f"thread {reply.thread_id}"
            self._unplaced.append(Unplaced(reply.finding_id, place, reply.body))
        else:
            self._replied += 1

    # The draft

    def _placeable(self) -> list[InlineComment]:
        """Return the comments that have a line in the change, as far as can be told; the others go into the body."""
        comments = self._effect.comments
        if not comments:
            return []
        listed = [read(each, ChangedFile) for each in pages(self._channel, f"{self._pull}/files")]
        places = places_of(listed)
        good = [comment for comment in comments if _has_place(comment, places)]
        self._put_in_body([comment for comment in comments if comment not in good])
        return good

    def _put_in_body(self, comments: Sequence[InlineComment]) -> None:
        for comment in comments:
            place = f"{comment.path}:{comment.line}" + (" (old text)" if comment.side == "LEFT" else "")
            self._unplaced.append(Unplaced(comment.finding_id, place, comment.plain or comment.body))

    def _draft(self, commit: str, comments: list[InlineComment]) -> tuple[int, int]:
        """Return the draft, and how many comments it has.

        GitHub does not say which comment it cannot place, so those that it refuses together are tried in halves.
        """
        good: list[InlineComment] = []
        refused: list[InlineComment] = []
        waiting = [comments]
        draft: int | None = None
        tries = 0
        while waiting:
            group = waiting.pop(0)
            if tries >= MAX_TRIES:
                refused += group
                continue
            tries += 1
            if draft is not None:
                self._channel.request("DELETE", f"{self._pull}/reviews/{draft}")
                draft = None
            try:
                draft = self._create(commit, [*good, *group])
                good += group
            except GitHubError as error:
                if error.status != _REFUSED or not group:
                    raise
                middle = (len(group) + 1) // 2
                if len(group) > 1:
                    waiting[:0] = [group[:middle], group[middle:]]
                else:
                    refused += group
        if draft is None:
            draft = self._create(commit, good)
        self._put_in_body([comment for comment in comments if comment in refused])
        return draft, len(good)

    def _create(self, commit: str, comments: Sequence[InlineComment]) -> int:
        body: Json = {
            "commit_id": commit,
            "body": f"{_MARKER}{self._effect.name} -->",
            "comments": [
                {"path": each.path, "line": each.line, "side": each.side, "body": each.body}
                for each in comments
            ],
        }
        try:
            return read(self._channel.request("POST", f"{self._pull}/reviews", body), _Review).id
        except GitHubError as error:
            if _is_unclear(error):
                self._sweep()  # perhaps there is a draft now
            raise

    def _sweep(self) -> None:
        with suppress(GitHubError):
            self._clear([read(each, _Review) for each in pages(self._channel, f"{self._pull}/reviews")])

    # Its end

    def _submit(self, review: int, placed: int) -> Posted:
        path = f"{self._pull}/reviews/{review}"
        event = self._effect.event
        try:
            try:
                answer, left_out = self._send(path, event, placed)
            except GitHubError as error:
                if error.status != _REFUSED or event is Event.COMMENT:
                    raise
                self._notes.append(f"GitHub did not take the verdict, so this is a comment: {error.message}")
                event = Event.COMMENT
                answer, left_out = self._send(path, event, placed)
        except GitHubError as error:
            if _is_unclear(error) and (done := self._was_submitted(path)):
                answer, left_out = done, self._body(placed)[1]
            else:
                with suppress(GitHubError):
                    self._channel.request("DELETE", path)
                raise
        failed = len(self._unplaced) - len(left_out)
        note = " ".join(self._notes)
        return Posted(placed, self._replied, failed, answer.html_url, event, note, left_out)

    def _send(self, path: str, event: Event, placed: int) -> tuple[_Review, tuple[str, ...]]:
        body, left_out = self._body(placed)
        answer = self._channel.request("POST", f"{path}/events", {"event": event, "body": body})
        return read(answer, _Review), left_out

    def _body(self, placed: int) -> tuple[str, tuple[str, ...]]:
        body, left_out = render_body(self._effect.body, self._unplaced, self._notes)
        failed = len(self._unplaced) - len(left_out)
        counts = f"new={placed} replied={self._replied} failed={failed}"
        return f"{body}\n\n{_MARKER}{self._effect.name} {counts} -->", left_out

    def _was_submitted(self, path: str) -> _Review | None:
        """Return the review if it was submitted although no answer came."""
        with suppress(GitHubError):
            review = read(self._channel.request("GET", path), _Review)
            if review.state != _PENDING:
                return review
        return None


def _is_unclear(error: GitHubError) -> bool:
    """Whether it may have been done although it failed: no answer came, or one that says that GitHub is in trouble."""
    return error.status is None or error.status >= 500  # noqa: PLR2004


def _has_place(comment: InlineComment, places: dict[str, Lines | None]) -> bool:
    if comment.path not in places:
        return False
    lines = places[comment.path]
    return lines is None or (comment.side, comment.line) in lines


def _event_of(state: str) -> str:
    known = {
        "APPROVED": Event.APPROVE,
        "CHANGES_REQUESTED": Event.REQUEST_CHANGES,
        "COMMENTED": Event.COMMENT,
    }
    return known.get(state, "")
