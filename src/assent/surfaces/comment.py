"""A pull request as a surface: an ask is posted as a comment, and a later comment answers it (G2, G-X2).

Who may answer is asked of GitHub for each author: a person, by their number, who may write to the repository. What a
comment says of its author's standing is not trusted. The answer itself goes through the same recogniser as everywhere
else, and the agent hears of no comment but as a recognised answer.

Nothing is taken while the gate's comment does not show this very gate, as nobody knows then what was answered, or when
the pull request has a new commit, as the answer was meant for another one. What was noted about the comment is not
trusted either: agents can write that file.

The account that posted the gate is the agent's: whoever holds its token could write the reply as well as the question.
Its comments are no answers.

What cannot be undone is asked once more, in a comment of ours, and taken when the same person's next reply says so.
That comment is all that is kept of it, so any process can go on: it counts if it says exactly what would be said now.

A pull request is a place where people talk. So a comment that does not speak to the gate is left alone: no echo, no
reaction. A reply that names the gate and is not understood is echoed, once. A stranger's reply gets a thumb down, once
for each stranger and for the first few only, so that nobody can make us flood the page.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec.structs import replace

from assent.effects.github.channel import Channel, pages, read
from assent.protocol.ask import Ask
from assent.protocol.display import quote
from assent.protocol.error import (
    AssentError,
    ConfirmFirstError,
    ConflictError,
    ForbiddenError,
    GitHubError,
    TooLargeError,
    UnrecognisedError,
)
from assent.surfaces.comment_author import Account, Author, Comment, Standing
from assent.surfaces.comment_gate import PostedGate, bare, close_gate, last_commit, shows
from assent.surfaces.comment_text import (
    Addressed,
    asked_about,
    confirms,
    echoed_ids,
    is_shown_whole,
    read_mark,
    read_reply,
    render_confirmation,
    render_echo,
)

__all__ = ["Collected", "Counter", "Looking", "collect"]

MAX_AUTHORS = 50
"""How many people are looked up in one go; the next go takes up where this one stopped."""
MAX_THUMBS = 3
_NOT_FOUND, _GONE = 404, 410
_OWN = "The account that posted this gate cannot answer it, as an agent may hold it: somebody else can."
_EDITED = "A comment that was edited does not count: write a new one."
_UNSHOWN = "What would be done does not fit into a comment, so it cannot be approved here, only declined."
_WITH_WORDS = "Nothing was taken: the words behind your answer may change it. Write the answer alone, or say no with your words."
_NOT_SURE = (
    "A reply that a process reads from here is not enough to approve something. Answer in the inbox, or have the "
    "replies delivered to a server, which checks who wrote them. To decline it works here, too."
)


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


class Counter(Protocol):
    """Where answers are handed in."""

    def answer(self, author: Author, text: str, *, reason: str = "", is_confirmed: bool = False) -> Ask:
        """Return the ask with its answer.

        Raises:
            UnrecognisedError: the reply means nothing.
            ConfirmFirstError: it chooses what cannot be undone, and was not asked about once more.
            ConflictError: somebody else was first.
            ForbiddenError: an answer from here is not enough.
        """
        ...

    def decline(self, author: Author, reason: str) -> Ask:
        """Return the ask that was declined.

        Raises:
            ConflictError: somebody else was first.
        """
        ...


def collect(channel: Channel, posted: PostedGate, ask: Ask, others_open: int, counter: Counter) -> Collected:
    """Hand the first acceptable reply in at `counter`, and return what came of it.

    `others_open` is how many other gates wait on the same pull request.

    Raises:
        GitHubError: GitHub could not be asked, and nothing was taken.
    """
    return Looking(channel, posted, ask, counter, is_only=others_open == 0).look()


class Looking:
    """One look at the comments.

    Without a delivery, all later comments are looked at, oldest first. With one, `only` is the comment that it is
    about, and the look is stricter: the gate itself must be by somebody who may write or by a bot, and strangers get
    no thumb.
    """

    def __init__(
        self,
        channel: Channel,
        posted: PostedGate,
        ask: Ask,
        counter: Counter,
        *,
        is_only: bool,
        only: int | None = None,
    ) -> None:
        self._channel, self._posted, self._ask, self._counter = channel, posted, ask, counter
        self._is_only, self._only = is_only, only
        self._repository = f"/repos/{posted.owner}/{posted.repo}"
        self._standing = Standing(channel, self._repository)
        self._asker: Account | None = None
        self._thumbed: set[int] = set()
        self._echoed: set[int] = set()
        self._seen, self._seen_at = posted.last_seen, posted.seen_at

    def look(self) -> Collected:
        """Take the first reply that counts, if there is one."""
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
            if self._only not in (None, comment.id):
                continue
            reply = self._read(comment)
            if reply is not None and comment.user is not None:
                if not self._standing.knows(comment.user) and len(self._standing) >= MAX_AUTHORS:
                    break
                if (ended := self._weigh(comment, comment.user, reply)) is not None:
                    return ended
            self._pass(comment)
        return self._result()

    def _pass(self, comment: Comment) -> None:
        self._seen, self._seen_at = comment.id, comment.created_at

    def _result(self, ask: Ask | None = None, refusal: str = "", note: str = "") -> Collected:
        return Collected(
            replace(self._posted, last_seen=self._seen, seen_at=self._seen_at), ask, refusal, note
        )

    def _check(self) -> str:
        """Return why nothing can be taken, if so."""
        path = f"{self._repository}/issues/comments/{self._posted.comment_id}"
        try:
            comment = read(self._channel.request("GET", path), Comment)
        except GitHubError as error:
            if error.status in (_NOT_FOUND, _GONE):
                return "The gate's comment was deleted."
            raise
        self._asker = comment.user
        if comment.is_edited or not shows(self._posted, self._ask, comment):
            return "The gate's comment was edited, so nobody knows what an answer would be to."
        if self._only is not None and not self._standing.may_post(comment.user):
            return "The gate's comment is by somebody who may not write here."
        if last_commit(self._channel, self._repository, self._posted.number) != self._posted.head_sha:
            return "The pull request has a new commit, and the gate was about another one."
        return ""

    def _later(self) -> list[Comment]:
        since = self._posted.seen_at or self._posted.posted_at
        path = f"{self._repository}/issues/{self._posted.number}/comments?since={since}"
        found = (read(each, Comment) for each in pages(self._channel, path))
        later = (
            each
            for each in found
            if each.id > self._posted.last_seen and each.created_at >= self._posted.posted_at
        )
        return sorted(later, key=lambda each: each.id)

    def _has_neighbour(self) -> bool:
        """Whether a gate of another store waits on the same pull request: a plain reply would answer both."""
        path = f"{self._repository}/issues/{self._posted.number}/comments"
        listed = (read(each, Comment) for each in pages(self._channel, path))
        marks = (read_mark(each.body or "") for each in listed)
        return any(mark is not None and mark.ask_id != self._ask.ask_id for mark in marks)

    def _read(self, comment: Comment) -> Addressed | None:
        """Return what a person says to this gate; nothing where it is no person, or not said to it."""
        if not comment.is_by_person:
            return None
        return read_reply(self._ask, comment.body or "", is_only=self._is_only)

    def _weigh(self, comment: Comment, author: Account, reply: Addressed) -> Collected | None:
        """Take a reply if it counts; return how the look ends, nothing where it goes on."""
        if self._asker is None or author.id == self._asker.id or author.login == self._asker.login:
            self._echo(comment, UnrecognisedError(_OWN))
            return None
        if not self._standing.may_write(author):
            self._thumb(comment, author)
            return None
        if objection := self._objection(comment, reply):
            self._echo(comment, objection)
            return None
        if refusal := self._check():  # it may have changed while we were reading
            return self._result(refusal=refusal)
        if not self._is_still(comment):
            return None
        try:
            ended = self._hand_in(comment, author, reply)
        except ConfirmFirstError:
            self._ask_again(comment, author, reply)
            return None
        except (UnrecognisedError, TooLargeError) as refused:
            self._echo(comment, refused)
            return None
        except ForbiddenError as refused:
            self._echo(comment, UnrecognisedError(_NOT_SURE) if self._only is None else refused)
            return None
        except ConflictError as conflict:
            return self._finish(comment, conflict.ask, "confused")
        return self._finish(comment, ended, "rocket")

    def _objection(self, comment: Comment, reply: Addressed) -> AssentError | None:
        """Return why a reply of somebody who may answer is none, if so."""
        if comment.is_edited:
            return UnrecognisedError(_EDITED)
        if reply.is_no:
            return None
        if not is_shown_whole(self._ask, self._posted.nonce, self._posted.head_sha):
            return UnrecognisedError(_UNSHOWN)
        if not reply.is_clear and reply.is_named:
            return UnrecognisedError(_WITH_WORDS)
        if not reply.is_clear:
            return UnrecognisedError(f'I didn\'t recognize "{quote(reply.text)}".')
        return None

    def _is_still(self, comment: Comment) -> bool:
        """Whether a reply is, right before it counts, what was read of it."""
        path = f"{self._repository}/issues/comments/{comment.id}"
        try:
            now = read(self._channel.request("GET", path), Comment)
        except GitHubError as error:
            if error.status in (_NOT_FOUND, _GONE):
                return False
            raise
        return now == comment

    def _hand_in(self, comment: Comment, author: Account, reply: Addressed) -> Ask:
        who = Author(author.login, author.id)
        if reply.is_decline:
            return self._counter.decline(who, reply.reason)
        if reply.may_confirm and (meant := self._confirmed(comment, author, reply)) is not None:
            return self._counter.answer(who, meant.text, reason=meant.reason, is_confirmed=True)
        return self._counter.answer(who, reply.text, reason=reply.reason)

    def _ask_again(self, comment: Comment, author: Account, reply: Addressed) -> None:
        """Ask somebody once more about what cannot be undone."""
        if comment.id in self._echoed:
            return
        self._react(comment, "eyes")
        body = render_confirmation(self._ask, reply.text, author.login, comment.id)
        self._say(body)

    def _confirmed(self, comment: Comment, author: Account, reply: Addressed) -> Addressed | None:
        """Return what a reply confirms: its author's last reply, if they were asked about it and have said nothing since."""
        path = f"{self._repository}/issues/{self._posted.number}/comments"
        listed = [read(each, Comment) for each in pages(self._channel, path)]
        theirs = [
            (each, said)
            for each in listed
            if self._posted.comment_id < each.id < comment.id and _is_by(each, author)
            if (said := read_reply(self._ask, each.body or "", is_only=self._is_only)) is not None
        ]
        if not theirs:
            return None
        last, meant = max(theirs, key=lambda found: found[0].id)
        wanted = render_confirmation(self._ask, meant.text, author.login, last.id)
        is_asked = any(
            each.body is not None
            and asked_about(each.body) == last.id
            and bare(each.body) == bare(wanted)
            and last.id < each.id < comment.id
            and not each.is_edited
            for each in listed
        )
        is_meant = bool(wanted) and is_asked and not last.is_edited and last.is_by_person
        return meant if is_meant and confirms(self._ask, meant.text, reply) else None

    def _thumb(self, comment: Comment, author: Account) -> None:
        if self._only is None and author.id not in self._thumbed and len(self._thumbed) < MAX_THUMBS:
            self._thumbed.add(author.id)
            self._react(comment, "-1")

    def _finish(self, comment: Comment, ask: Ask | None, reaction: str) -> Collected:
        self._pass(comment)
        self._react(comment, reaction)
        try:
            if ask is not None:
                close_gate(self._channel, self._posted, ask)
        except GitHubError as error:
            return self._result(ask, note=f"The gate's comment does not say it yet: {error.message}")
        return self._result(ask)

    def _echo(self, comment: Comment, refusal: AssentError) -> None:
        if comment.id in self._echoed:
            return
        self._react(comment, "confused")
        self._say(render_echo(self._ask, refusal, comment.id))

    def _say(self, body: str) -> None:
        path = f"{self._repository}/issues/{self._posted.number}/comments"
        self._channel.request("POST", path, {"body": body})

    def _react(self, comment: Comment, content: str) -> None:
        with suppress(GitHubError):  # a nicety; the words are what counts
            self._channel.request(
                "POST", f"{self._repository}/issues/comments/{comment.id}/reactions", {"content": content}
            )


def _is_by(comment: Comment, author: Account) -> bool:
    return comment.user is not None and comment.user.id == author.id
