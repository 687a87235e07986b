"""Deliveries of GitHub: each is a hint that somebody wrote a comment, and nothing more.

Rule 1: a delivery counts if it is signed with the secret, over exactly the bytes that came. Nothing in it is read before.
Rule 2: it decides nothing. The comment, its author's standing, the gate and the last commit are read from GitHub, and
        only a comment that was just created is looked at: one that was edited or deleted says nothing new. What the
        delivery tells can only speak against it: a comment that says something else by now does not count.
Rule 3: a comment is weighed once. A delivery that comes again, under whichever name, finds it weighed, or too old, or
        the ask ended.
Rule 4: which project's asks can be answered is the server's to say, never the delivery's.
"""

from __future__ import annotations

import hmac
import re
import threading
from collections import OrderedDict
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Protocol

import msgspec

from assent.effects.github.channel import Channel, pages, read
from assent.protocol.ask import Ask
from assent.protocol.error import BadRequestError, GitHubError
from assent.surfaces.comment import Counter, Looking
from assent.surfaces.comment_author import Account, Comment, Standing
from assent.surfaces.comment_gate import PostedGate, close_gate, find_gate, shows

__all__ = ["MAX_REMEMBERED", "REPLY_SECONDS", "Hint", "Hook", "Ledger", "Weighed", "sign"]

REPLY_SECONDS = 3_600
"""A comment that is older does not count when it is delivered: it would be weighed by what its author may do now."""
MAX_REMEMBERED = 10_000
"""So many deliveries, and comments that were weighed, are remembered."""
_is_delivery = re.compile(r"[0-9A-Za-z-]{8,64}").fullmatch
_is_repository = re.compile(r"(?P<owner>[\w.-]{1,100})/(?P<repo>[\w.-]{1,100})", re.ASCII).fullmatch
_COMMENTS, _CREATED = "issue_comment", "created"


class Hint(msgspec.Struct, frozen=True):
    """What a signed delivery points at."""

    owner: str
    repo: str
    number: int
    comment_id: int
    author_id: int
    """Who GitHub says wrote it: for counting how often they come, and for nothing else."""
    delivery: str
    body: str = ""
    """What it said when it was written: an edit in the same second leaves no other trace."""


class Weighed(msgspec.Struct, frozen=True):
    """What came of a delivery."""

    status: str
    """`decided`, `waiting` (nothing that counts), `seen` (weighed before), `late`, or `ignored`."""
    ask_ids: tuple[str, ...] = ()
    """The asks that ended by it."""


class Ledger(Protocol):
    """The asks of the project that this server lets be answered from GitHub."""

    def find(self, ask_id: str) -> Ask | None: ...
    def counter(self, ask_id: str) -> Counter: ...
    def now(self) -> datetime: ...


class _Issue(msgspec.Struct):
    number: int
    pull_request: dict[str, object] | None = None


class _Written(msgspec.Struct):
    id: int
    user: Account | None = None
    body: str | None = None


class _Repository(msgspec.Struct):
    full_name: str


class _Payload(msgspec.Struct):
    action: str
    issue: _Issue
    comment: _Written
    repository: _Repository


def sign(secret: str, text: bytes) -> str:
    """Return the signature of a delivery, as its header has it."""
    return "sha256=" + hmac.new(secret.encode(), text, sha256).hexdigest()


class Hook:
    """Takes deliveries, one after the other."""

    def __init__(self, channel: Channel, secret: str, ledger: Ledger) -> None:
        self._channel, self._secret, self._ledger = channel, secret, ledger
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, None] = OrderedDict()

    def is_signed(self, text: bytes, signature: str) -> bool:
        """Whether whoever sent this knows the secret. It takes as long whatever is wrong with it."""
        return hmac.compare_digest(sign(self._secret, text).encode(), signature.encode("utf-8", "replace"))

    def read(self, event: str, delivery: str, text: bytes) -> Hint | None:
        """Return what a signed delivery points at; nothing where it is about no new comment on a pull request.

        Raises:
            BadRequestError: it is no delivery.
        """
        if not _is_delivery(delivery):
            raise BadRequestError("A delivery has a name of its own, in X-GitHub-Delivery.")
        if event != _COMMENTS:
            return None
        try:
            told = msgspec.json.decode(text, type=_Payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise BadRequestError("This is no delivery about a comment.") from None
        named = _is_repository(told.repository.full_name)
        if named is None or told.issue.number < 1 or told.comment.id < 1:
            raise BadRequestError("This delivery names no comment.")
        author = told.comment.user
        if (
            told.action != _CREATED
            or told.issue.pull_request is None
            or author is None
            or not author.is_person
        ):
            return None
        body = told.comment.body or ""
        return Hint(
            named["owner"], named["repo"], told.issue.number, told.comment.id, author.id, delivery, body
        )

    def weigh(self, hint: Hint) -> Weighed:
        """Read the comment that a hint points at, and take it if it is an answer.

        Raises:
            GitHubError: GitHub could not be asked; the delivery may come again.
            AssentError: the store could not be asked; as above.
        """
        names = (hint.delivery, f"{hint.owner}/{hint.repo}#{hint.comment_id}".casefold())
        with self._lock:
            if any(name in self._seen for name in names):
                return Weighed("seen")
            weighed = _Weighing(self._channel, hint, self._ledger).weigh()
            for name in names:  # not before: what failed may come again
                self._seen[name] = None
            while len(self._seen) > MAX_REMEMBERED:
                self._seen.popitem(last=False)
            return weighed


class _Weighing:
    """One comment, and the gates that it may be for."""

    def __init__(self, channel: Channel, hint: Hint, ledger: Ledger) -> None:
        self._channel, self._hint, self._ledger = channel, hint, ledger
        self._repository = f"/repos/{hint.owner}/{hint.repo}"
        self._standing = Standing(channel, self._repository)

    def weigh(self) -> Weighed:
        path = f"{self._repository}/issues/{self._hint.number}/comments"
        listed = [read(each, Comment) for each in pages(self._channel, path)]
        reply = next((each for each in listed if each.id == self._hint.comment_id), None)
        if reply is None or not reply.is_by_person:
            return Weighed("ignored")
        if self._is_swapped(reply):
            return Weighed("ignored")
        if self._is_late(reply):
            return Weighed("late")
        waiting = self._waiting(listed)
        is_only = len({ask.ask_id for _, ask in waiting}) == 1
        ended: list[str] = []
        for posted, ask in waiting:
            counter = self._ledger.counter(ask.ask_id)
            look = Looking(self._channel, posted, ask, counter, is_only=is_only, only=reply.id)
            if (found := look.look().ask) is not None:
                ended.append(found.ask_id)
                break  # a comment answers one ask
        return Weighed("decided" if ended else "waiting", tuple(ended))

    def _is_swapped(self, reply: Comment) -> bool:
        """Whether somebody put other words into a comment so soon that GitHub's clock does not tell: in whole seconds.

        Whoever may write can edit anybody's comment, and that may be the agent. An edit that shows is told to its author.
        """
        return not reply.is_edited and (reply.body or "") != self._hint.body

    def _is_late(self, reply: Comment) -> bool:
        try:
            written_at = datetime.fromisoformat(reply.created_at)
            return abs(self._ledger.now() - written_at) > timedelta(seconds=REPLY_SECONDS)
        except (TypeError, ValueError):
            raise GitHubError("GitHub's answer has another shape than expected: a moment is none.") from None

    def _waiting(self, listed: list[Comment]) -> list[tuple[PostedGate, Ask]]:
        """Return the gates of open asks; those of asks that ended elsewhere are told so on the way."""
        waiting = []
        for comment in listed:
            posted = find_gate(self._hint.owner, self._hint.repo, self._hint.number, comment)
            ask = None if posted is None else self._ledger.find(posted.ask_id)
            if posted is None or ask is None:
                continue
            if ask.is_open:
                waiting.append((posted, ask))
            elif shows(posted, ask, comment) and self._standing.may_post(comment.user):
                with suppress(GitHubError):  # a nicety; the next delivery tries again
                    close_gate(self._channel, posted, ask)
        return waiting
