"""Gates as comments on a pull request, for where nobody sits at this process; and reviews that are posted there.

What was posted is noted beside the store, so that whoever comes later knows which comment belongs to which ask. GitHub
is only looked for when it is needed: loading what speaks to it takes longer than all the rest.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assent.cli.exit import say
from assent.cli.place import Place
from assent.client.client import Client
from assent.effects.kept import Kept
from assent.flows.session.posting import PostReview
from assent.hub.ids import new_command_id
from assent.protocol.ask import Ask, Kind
from assent.protocol.canonical import Json
from assent.protocol.display import display
from assent.protocol.error import AssentError, GitHubError, NotFoundError
from assent.protocol.principal import Principal
from assent.protocol.review import PullRequest
from assent.surfaces.comment import PostedGate, close_gate, collect, post_gate
from assent.surfaces.detect import Availability, Means, choose

if TYPE_CHECKING:
    from assent.effects.github.channel import Channel

__all__ = ["POSTED_GATES", "Remote"]

POSTED_GATES = "gate-comments.json"
_named = re.compile(r"[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$").search


def _remotes(folder: Path) -> set[str]:
    """Return the repositories that the clone around `folder` names as its remotes, in lower case."""
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
        return set()
    found = map(_named, told.split("\n"))
    return {name["name"].casefold() for name in found if name}


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

    def _objection(self) -> str:
        """Return why no gate may go there, or nothing."""
        name = f"{self.pull_request.owner}/{self.pull_request.repo}"
        if not self._is_at_home():
            return f"{name} is not the repository of this folder or CI run"
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
        return name == stated if stated else name in _remotes(Path.cwd())

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
        noted = self._noted()
        if any(posted.ask_id == ask.ask_id for posted in noted):
            return True
        try:
            posted = post_gate(channel, self.pull_request, ask, new_command_id())
        except GitHubError as error:
            say(display(f"The gate was not posted as a comment: {error.message}", lines=False))
            return False
        self._note([*noted, posted])
        return True

    def collect(self) -> None:
        """Take the answers that were given as comments to gates that are still open."""
        noted = [posted for posted in self._noted() if self._is_here(posted)]
        channel = self._find() if noted and not self._place.is_server else None
        if channel is None:
            return
        asks = {posted.ask_id: self._show(posted.ask_id) for posted in noted}
        open_count = sum(1 for ask in asks.values() if ask is not None and ask.is_open)
        for posted in noted:
            ask = asks[posted.ask_id]
            try:
                self._settle(channel, posted, ask, open_count)
            except GitHubError as error:
                say(display(f"The comments could not be read: {error.message}", lines=False))

    def _settle(self, channel: Channel, posted: PostedGate, ask: Ask | None, open_count: int) -> None:
        # Nothing but a gate is ever posted, whatever the file says.
        is_gate = ask is not None and ask.kind is Kind.GATE
        if ask is None or not ask.is_open or not is_gate:
            self._forget(posted)
            if ask is not None and is_gate:
                close_gate(channel, posted, ask)
            return

        def answer(who: Principal, text: str) -> Ask:
            person = self._place.client(self._asker.door, who, via="comment")
            return person.answer(posted.ask_id, text)

        found = collect(channel, posted, ask, open_count - 1, answer)
        if found.refusal:  # it has to be posted again, as it is now
            say(
                display(f"The gate on {self.pull_request} cannot be answered there any more: {found.refusal}")
            )
            self._forget(posted)
        elif found.ask is not None:
            self._forget(posted)
        else:
            self._note([found.posted if each.ask_id == posted.ask_id else each for each in self._noted()])
        if found.note:
            say(display(found.note, lines=False))

    def _show(self, ask_id: str) -> Ask | None:
        try:
            return self._asker.show(ask_id)
        except NotFoundError:
            return None

    def _is_here(self, posted: PostedGate) -> bool:
        pull = self.pull_request
        return (posted.owner, posted.repo, posted.number) == (pull.owner, pull.repo, pull.number)

    def _noted(self) -> list[PostedGate]:
        text = self._kept.read(POSTED_GATES).content
        try:
            return msgspec.json.decode(text, type=list[PostedGate]) if text else []
        except msgspec.DecodeError:
            say(f"Warning: {POSTED_GATES} cannot be read, so answers to earlier comments are not found.")
            return []

    def _note(self, noted: list[PostedGate]) -> None:
        try:
            self._kept.write(POSTED_GATES, msgspec.json.encode(noted).decode())
        except AssentError as error:
            say(display(f"Warning: the comment was posted, and could not be noted: {error.message}"))

    def _forget(self, posted: PostedGate) -> None:
        self._note([each for each in self._noted() if each.ask_id != posted.ask_id])
