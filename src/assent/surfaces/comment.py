"""A pull request as a surface: a gate is posted as a comment, and a later comment answers it (G2, G-X2).

Who may answer is asked of GitHub for each author: a person, not a bot or an app, who may write to the repository.
What a comment says of its author's standing is not trusted. The answer itself goes through the same recogniser as
everywhere else, and the agent hears of no comment but as a recognised answer.

Nothing is taken while the gate's comment does not show this very gate, as nobody knows then what was answered, or when
the pull request has a new commit, as the answer was meant for another one. What was noted about the comment is not
trusted either: agents can write that file.

The account that posted the gate is the agent's: whoever holds its token could write the reply as well as the question.
Its comments are no answers.

A pull request is a place where people talk. So a comment that does not speak to the gate is left alone: no echo, no
reaction. A reply that names the gate and is not understood is echoed, once. A stranger's reply gets a thumb down, once
for each stranger and for the first few only, so that nobody can make us flood the page.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from assent.effects.github.channel import Channel, pages, read
from assent.protocol.ask import Ask
from assent.protocol.canonical import digest
from assent.protocol.display import quote
from assent.protocol.error import ConflictError, GitHubError, TooLargeError, UnrecognisedError
from assent.protocol.principal import Principal, parse_principal
from assent.protocol.review import PullRequest
from assent.surfaces.comment_text import (
    Addressed,
    echoed_ids,
    read_reply,
    render_answered,
    render_body,
    render_echo,
    waiting_gate,
)

__all__ = ["Collected", "PostedGate", "close_gate", "collect", "post_gate", "principal_of"]

MAX_AUTHORS = 50
"""How many people are looked up in one go; the next go takes up where this one stopped."""
MAX_THUMBS = 3
_MAY_ANSWER = frozenset({"admin", "maintain", "write"})
_NOT_FOUND, _GONE = 404, 410
_OWN = "The account that posted this gate cannot answer it, as an agent may hold it: somebody else can."
_EDITED = "A comment that was edited does not count: write a new one."


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


class Collected(msgspec.Struct, frozen=True):
    """What came of looking for an answer."""

    posted: PostedGate
    """To be kept in place of the earlier one: what was looked at is not looked at again."""
    ask: Ask | None = None
    """The ask, if it has ended now."""
    refusal: str = ""
    """Why no answer can be taken here any more; the gate has to be posted again."""
    note: str = ""
    """What went wrong after the answer was taken; the answer stands."""


class _User(msgspec.Struct):
    login: str
    type: str = ""


class _Comment(msgspec.Struct):
    id: int
    created_at: str
    updated_at: str
    body: str | None = None
    user: _User | None = None
    performed_via_github_app: object = None


class _Head(msgspec.Struct):
    sha: str


class _Pull(msgspec.Struct):
    head: _Head


class _Permission(msgspec.Struct):
    permission: str


def principal_of(login: str) -> Principal:
    """Return who somebody on GitHub is here: `human:ana@github`, which no account of this machine is called.

    Raises:
        BadRequestError: no account can be called that.
    """
    return parse_principal(f"human:{login}@github")


def post_gate(channel: Channel, pull_request: PullRequest, ask: Ask, nonce: str) -> PostedGate:
    """Post `ask` as a comment; `nonce` tells this posting from every other one.

    Raises:
        GitHubError: it was not posted.
    """
    owner, repo, number = pull_request.owner, pull_request.repo, pull_request.number
    repository = f"/repos/{owner}/{repo}"
    body = render_body(ask, nonce)
    head = read(channel.request("GET", f"{repository}/pulls/{number}"), _Pull).head.sha
    made = read(channel.request("POST", f"{repository}/issues/{number}/comments", {"body": body}), _Comment)
    # What GitHub kept is what it will show later: its spelling is the one to compare with.
    kept = digest((made.body or "").encode())
    return PostedGate(
        ask.ask_id, owner, repo, number, head, made.id, nonce, kept, made.created_at, last_seen=made.id
    )


def collect(
    channel: Channel,
    posted: PostedGate,
    ask: Ask,
    others_open: int,
    answer: Callable[[Principal, str], Ask],
) -> Collected:
    """Give the first acceptable reply to `answer`, and return what came of it.

    `others_open` is how many other gates wait on the same pull request; `answer` raises UnrecognisedError where the
    reply means nothing, and ConflictError where somebody else was first.

    Raises:
        GitHubError: GitHub could not be asked, and nothing was taken.
    """
    return _Looking(channel, posted, ask, others_open == 0, answer).look()


def close_gate(channel: Channel, posted: PostedGate, ask: Ask) -> None:
    """Write on the gate's comment how `ask` ended, wherever that was.

    Raises:
        GitHubError: it could not be written.
    """
    path = f"/repos/{posted.owner}/{posted.repo}/issues/comments/{posted.comment_id}"
    body = read(channel.request("GET", path), _Comment).body or ""
    if digest(body.encode()) == posted.body_digest:  # once is enough, and what somebody else wrote is theirs
        channel.request("PATCH", path, {"body": render_answered(body, ask)})


def _bare(body: str) -> str:
    """Return a comment without what a site may spell differently: the ends of its lines and of itself."""
    return "\n".join(line.rstrip() for line in body.splitlines()).strip()


class _Looking:
    """One look at the comments."""

    def __init__(
        self,
        channel: Channel,
        posted: PostedGate,
        ask: Ask,
        is_only: bool,
        answer: Callable[[Principal, str], Ask],
    ) -> None:
        self._channel, self._posted, self._ask = channel, posted, ask
        self._is_only, self._answer = is_only, answer
        self._repository = f"/repos/{posted.owner}/{posted.repo}"
        self._may_answer: dict[str, bool] = {}
        self._asker = ""
        self._thumbed: set[str] = set()
        self._echoed: set[int] = set()
        self._seen, self._seen_at = posted.last_seen, posted.seen_at

    def look(self) -> Collected:
        if not self._ask.is_open:
            return Collected(self._posted, self._ask)
        if refusal := self._check():
            return self._result(refusal=refusal)
        later = self._later()
        # An echo that was written before a crash is not written again.
        self._echoed = {seen for comment in later for seen in echoed_ids(comment.body or "")}
        if self._is_only and later:
            self._is_only = not self._has_neighbour()
        for comment in later:
            reply = self._read(comment)
            if reply is not None:
                author = comment.user.login if comment.user else ""
                if author not in self._may_answer and len(self._may_answer) >= MAX_AUTHORS:
                    break
                if (ended := self._weigh(comment, author, reply)) is not None:
                    return ended
            self._pass(comment)
        return self._result()

    def _pass(self, comment: _Comment) -> None:
        self._seen, self._seen_at = comment.id, comment.created_at

    def _result(self, ask: Ask | None = None, refusal: str = "", note: str = "") -> Collected:
        return Collected(
            replace(self._posted, last_seen=self._seen, seen_at=self._seen_at), ask, refusal, note
        )

    def _check(self) -> str:
        """Return why nothing can be taken, if so."""
        path = f"{self._repository}/issues/comments/{self._posted.comment_id}"
        try:
            comment = read(self._channel.request("GET", path), _Comment)
        except GitHubError as error:
            if error.status in (_NOT_FOUND, _GONE):
                return "The gate's comment was deleted."
            raise
        self._asker = comment.user.login if comment.user else ""
        body = comment.body or ""
        is_ours = digest(body.encode()) == self._posted.body_digest
        if not is_ours or _bare(body) != _bare(render_body(self._ask, self._posted.nonce)):
            return "The gate's comment was edited, so nobody knows what an answer would be to."
        pull = self._channel.request("GET", f"{self._repository}/pulls/{self._posted.number}")
        if read(pull, _Pull).head.sha != self._posted.head_sha:
            return "The pull request has a new commit, and the gate was about another one."
        return ""

    def _later(self) -> list[_Comment]:
        since = self._posted.seen_at or self._posted.posted_at
        path = f"{self._repository}/issues/{self._posted.number}/comments?since={since}"
        found = (read(each, _Comment) for each in pages(self._channel, path))
        return sorted((each for each in found if each.id > self._posted.last_seen), key=lambda each: each.id)

    def _has_neighbour(self) -> bool:
        """Whether a gate of another store waits on the same pull request: a plain reply would answer both."""
        path = f"{self._repository}/issues/{self._posted.number}/comments"
        listed = (read(each, _Comment) for each in pages(self._channel, path))
        return any(waiting_gate(each.body or "") not in (None, self._ask.ask_id) for each in listed)

    def _read(self, comment: _Comment) -> Addressed | None:
        """Return what a person says to this gate; nothing where it is no person, or not said to it."""
        author = comment.user
        if author is None or author.type != "User" or author.login.endswith("[bot]"):
            return None
        if comment.performed_via_github_app is not None:  # an app that speaks in somebody's name
            return None
        return read_reply(self._ask, comment.body or "", is_only=self._is_only)

    def _weigh(self, comment: _Comment, author: str, reply: Addressed) -> Collected | None:
        """Take a reply if it counts; return how the look ends, nothing where it goes on."""
        if author == self._asker:
            self._echo(comment, UnrecognisedError(_OWN))
            return None
        if not self._is_allowed(author):
            if author not in self._thumbed and len(self._thumbed) < MAX_THUMBS:
                self._thumbed.add(author)
                self._react(comment, "-1")
            return None
        if comment.created_at != comment.updated_at:
            self._echo(comment, UnrecognisedError(_EDITED))
            return None
        if not reply.is_clear:
            self._echo(comment, UnrecognisedError(f'I didn\'t recognize "{quote(reply.text)}".'))
            return None
        if refusal := self._check():  # it may have changed while we were reading
            return self._result(refusal=refusal)
        try:
            ended = self._answer(principal_of(author), reply.text)
        except (UnrecognisedError, TooLargeError) as refused:
            self._echo(comment, refused)
            return None
        except ConflictError as conflict:
            return self._finish(comment, conflict.ask, "confused")
        return self._finish(comment, ended, "rocket")

    def _is_allowed(self, author: str) -> bool:
        if author not in self._may_answer:
            path = f"{self._repository}/collaborators/{author}/permission"
            try:
                found = read(self._channel.request("GET", path), _Permission).permission
            except GitHubError as error:
                if error.status != _NOT_FOUND:
                    raise
                found = "none"
            self._may_answer[author] = found in _MAY_ANSWER
        return self._may_answer[author]

    def _finish(self, comment: _Comment, ask: Ask | None, reaction: str) -> Collected:
        self._pass(comment)
        self._react(comment, reaction)
        try:
            if ask is not None:
                close_gate(self._channel, self._posted, ask)
        except GitHubError as error:
            return self._result(ask, note=f"The gate's comment does not say it yet: {error.message}")
        return self._result(ask)

    def _echo(self, comment: _Comment, refusal: UnrecognisedError | TooLargeError) -> None:
        if comment.id in self._echoed:
            return
        self._react(comment, "confused")
        body = render_echo(self._ask, refusal, comment.id)
        self._channel.request(
            "POST", f"{self._repository}/issues/{self._posted.number}/comments", {"body": body}
        )

    def _react(self, comment: _Comment, content: str) -> None:
        with suppress(GitHubError):  # a nicety; the words are what counts
            self._channel.request(
                "POST", f"{self._repository}/issues/comments/{comment.id}/reactions", {"content": content}
            )
