"""Asks as comments on a pull request, for where nobody sits at this process; and reviews that are posted there.

What was posted is noted beside the store, so that whoever comes later knows which comment belongs to which ask. GitHub
is only looked for when it is needed: loading what speaks to it takes longer than all the rest.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assent.cli.exit import say
from assent.cli.place import Place
from assent.client.client import Client
from assent.effects.kept import Kept
from assent.flows.session.posting import PostReview
from assent.hub.ids import new_command_id
from assent.protocol.ask import Ask
from assent.protocol.canonical import Json
from assent.protocol.display import display
from assent.protocol.error import AssentError, GitHubError, NotFoundError
from assent.protocol.review import PullRequest
from assent.surfaces.comment import collect
from assent.surfaces.comment_author import Author
from assent.surfaces.comment_gate import PostedGate, close_gate, find_posted, post_gate
from assent.surfaces.detect import Availability, Means, choose

if TYPE_CHECKING:
    from assent.client.door import Door
    from assent.effects.github.channel import Channel

__all__ = ["POSTED_GATES", "Remote", "home_repository", "read_notes"]

POSTED_GATES = "gate-comments.json"
_named = re.compile(r"^remote\.(?P<remote>.*)\.url .*[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$").search
_FIRST = "origin"
_AWAY = frozenset({403, 404, 410})
"""What GitHub says of a comment that cannot be written on any more."""


def _remotes(folder: Path) -> dict[str, str]:
    """Return the repositories that the clone around `folder` names, by the name that each has there."""
    try:
        told = subprocess.run(
            ["git", "config", "--get-regexp", r"^remote\..*\.url$"],  # noqa: S607 - the git of this user
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    found = map(_named, told.split("\n"))
    return {name["remote"]: name["name"] for name in found if name}


def home_repository(environ: Mapping[str, str], folder: Path) -> str | None:
    """Return the repository of this CI run, or of this folder, as in `acme/shop`; None where it cannot be told."""
    if stated := environ.get("GITHUB_REPOSITORY", ""):
        return stated
    remotes = _remotes(folder)
    if _FIRST in remotes:
        return remotes[_FIRST]
    return next(iter(remotes.values())) if len(set(remotes.values())) == 1 else None


def read_notes(kept: Kept) -> list[PostedGate]:
    """Return what was posted from here and is not known to have ended."""
    text = kept.read(POSTED_GATES).content
    try:
        return msgspec.json.decode(text, type=list[PostedGate]) if text else []
    except msgspec.DecodeError:
        say(f"Warning: {POSTED_GATES} cannot be read, so answers to earlier comments are not found.")
        return []


class _Window:
    """Takes answers for one ask over into the store: in the writer's name, on nobody's word but this process's."""

    def __init__(self, place: Place, door: Door, ask_id: str) -> None:
        self._place, self._door, self._ask_id = place, door, ask_id

    def answer(self, author: Author, text: str, *, reason: str = "", is_confirmed: bool = False) -> Ask:
        """Return the ask with its answer."""
        return self._as(author).answer(self._ask_id, text, reason=reason, confirmed=is_confirmed)

    def decline(self, author: Author, reason: str) -> Ask:
        """Return the ask that was declined."""
        return self._as(author).decline(self._ask_id, reason)

    def _as(self, author: Author) -> Client:
        return self._place.client(self._door, author.principal, via=author.via)


class Remote:
    """The pull request of a review, as far as it can be reached from here."""

    def __init__(self, place: Place, asker: Client, kept: Kept, pull_request: PullRequest) -> None:
        self._place, self._asker, self._kept = place, asker, kept
        self.pull_request = pull_request
        self._channel: Channel | None = None
        self._is_known = False
        self._availability = Availability.MISSING

    @property
    def presents(self) -> bool:
        """Whether gates go there once nothing more can be read here: only where no terminal is (G-X2)."""
        if os.isatty(0):
            return False
        if self._find() is not None and self._availability is not Availability.MISSING:
            objection = self._objection()
            if objection:
                self._availability = Availability.MISSING
                say(f"{objection}, so the gate is not posted there.")
        return choose((), is_interactive=False, remote=self._availability).means is Means.COMMENT

    @property
    def is_reachable(self) -> bool:
        """Whether there is a way to GitHub from here."""
        return self._find() is not None

    def objection(self) -> str:
        """Return why nothing may be posted there, or nothing."""
        if not self._is_at_home():
            name = f"{self.pull_request.owner}/{self.pull_request.repo}"
            return f"{name} is not the repository of this folder or CI run"
        return ""

    def _objection(self) -> str:
        """Return why no gate may go there and be answered, or nothing."""
        name = f"{self.pull_request.owner}/{self.pull_request.repo}"
        if objection := self.objection():
            return objection
        if self._place.is_server:
            # An answer is by whoever gave it, and a server takes our token's word for nobody but its own holder.
            return f"A reply on {name} could not be taken over to the server in its writer's name"
        return ""

    def _is_at_home(self) -> bool:
        """Whether the repository is that of this folder, or of this CI run.

        Whoever may write there answers, and the name stands in a file that the agent wrote: it must not pick its judges.
        """
        name = f"{self.pull_request.owner}/{self.pull_request.repo}".casefold()
        stated = self._place.environ.get("GITHUB_REPOSITORY", "").casefold()
        return (
            name == stated if stated else name in {each.casefold() for each in _remotes(Path.cwd()).values()}
        )

    def _find(self) -> Channel | None:
        from assent.effects.github.find import find_channel

        if not self._is_known:
            self._is_known = True
            try:
                self._channel = find_channel(self._place.environ)
                if self._channel is not None:
                    self._availability = Availability.AVAILABLE
            except GitHubError as error:
                self._availability = Availability.FAILED
                say(display(error.message, lines=False))
        return self._channel

    def post_review(self, effect: PostReview) -> Json:
        """Post a review; return what came of it.

        Raises:
            EffectError: it was not posted.
        """
        from assent.effects.github.find import posting_performers

        poster = posting_performers(self._place.environ)[PostReview]
        return poster.perform(poster.intend(effect))

    def post_gate(self, ask: Ask) -> bool:
        """Make sure that an open ask stands on the pull request as a comment; say whether it does."""
        channel = self._find()
        if channel is None:
            return False
        noted = read_notes(self._kept)
        if any(posted.ask_id == ask.ask_id for posted in noted):
            return True
        try:
            posted = find_posted(channel, self.pull_request, ask)
            if posted is None:
                posted = post_gate(channel, self.pull_request, ask, new_command_id())
        except GitHubError as error:
            say(display(f"The gate was not posted as a comment: {error.message}", lines=False))
            return False
        self._note([*noted, posted])
        return True

    def collect(self) -> list[Ask]:
        """Take the answers that were given as comments to gates that are still open; return what has ended.

        On a server replies come in by its webhook, and all that is done here is to write on comments how asks ended.
        """
        noted = [posted for posted in read_notes(self._kept) if self._is_here(posted)]
        channel = self._find() if noted else None
        if channel is None:
            return []
        asks = {posted.ask_id: self._show(posted.ask_id) for posted in noted}
        open_count = sum(1 for ask in asks.values() if ask is not None and ask.is_open)
        ended = []
        for posted in noted:
            ask = asks[posted.ask_id]
            try:
                if (found := self._settle(channel, posted, ask, open_count)) is not None:
                    ended.append(found)
            except GitHubError as error:
                say(display(f"The comments could not be read: {error.message}", lines=False))
        return ended

    def _settle(self, channel: Channel, posted: PostedGate, ask: Ask | None, open_count: int) -> Ask | None:
        if ask is None or not ask.is_open:
            if ask is not None:
                self._close(channel, posted, ask)
            self._forget(posted)
            return ask
        if self._place.is_server:
            return None
        window = _Window(self._place, self._asker.door, posted.ask_id)
        found = collect(channel, posted, ask, open_count - 1, window)
        if found.refusal:  # it has to be posted again, as it is now
            say(
                display(f"The gate on {self.pull_request} cannot be answered there any more: {found.refusal}")
            )
            self._forget(posted)
        elif found.ask is not None:
            self._forget(posted)
        else:
            noted = read_notes(self._kept)
            self._note([found.posted if each.ask_id == posted.ask_id else each for each in noted])
        if found.note:
            say(display(found.note, lines=False))
        return found.ask

    def _close(self, channel: Channel, posted: PostedGate, ask: Ask) -> None:
        try:
            close_gate(channel, posted, ask)
        except GitHubError as error:
            if error.status not in _AWAY:
                raise  # it is tried again with the next look

    def _show(self, ask_id: str) -> Ask | None:
        try:
            return self._asker.show(ask_id)
        except NotFoundError:
            return None

    def _is_here(self, posted: PostedGate) -> bool:
        pull = self.pull_request
        return (posted.owner, posted.repo, posted.number) == (pull.owner, pull.repo, pull.number)

    def _note(self, noted: list[PostedGate]) -> None:
        try:
            self._kept.write(POSTED_GATES, msgspec.json.encode(noted).decode())
        except AssentError as error:
            say(display(f"Warning: the comment was posted, and could not be noted: {error.message}"))

    def _forget(self, posted: PostedGate) -> None:
        self._note([each for each in read_notes(self._kept) if each.ask_id != posted.ask_id])
