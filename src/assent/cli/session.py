"""`assent session`: a code review through all standard gates, with a person who answers here or from anywhere else."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.accept import accepting
from assent.cli.exit import DONE, ENDED, FAILED, REFUSED, STILL_OPEN, say
from assent.cli.gate_file import FOLDER, GATE_FILE, read_gate_file, read_review
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.remote import Remote
from assent.cli.typist import find_typist
from assent.client.client import Client
from assent.client.door import Door, run_call, until
from assent.client.drive import Floor, drive_on
from assent.client.identity import agent
from assent.client.place import find_root
from assent.effects.deep_dive import Dive, deep_dive_performers, run_dive
from assent.effects.direct import Direct
from assent.effects.kept import FINDINGS, STATE, Kept, kept_performers
from assent.effects.performer import Performers
from assent.flows.session.effect import ClearSession, Discover
from assent.flows.session.finding import Session
from assent.flows.session.posting import PostReview
from assent.flows.session.session import review_session
from assent.flows.session.state import parse_state
from assent.flows.session.talk import Closing, How, Opening
from assent.hub.record import Hold
from assent.protocol.canonical import digest
from assent.protocol.display import display
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    EffectError,
    FlowTakenError,
    NotFoundError,
    StillOpen,
)
from assent.protocol.gate_file import parse_deep_dive
from assent.protocol.review import PullRequest, Review
from assent.protocol.words import count
from assent.surfaces.card import short_id
from assent.surfaces.meeting import Meeting
from assent.surfaces.terminal import TerminalSurface

__all__ = ["CLOSING_STATUSES", "command"]

_NOTHING = "Nothing is saved here: start with assent session FINDINGS.json"

CLOSING_STATUSES = {
    How.POSTED: DONE,
    How.SAVED: DONE,
    How.DISCARDED: DONE,
    How.CANCELLED: DONE,
    How.CLEARED: DONE,
    How.PAUSED: STILL_OPEN,
    How.KEPT: STILL_OPEN,
    How.DECLINED: REFUSED,
    How.ENDED: ENDED,
    How.FAILED: FAILED,
}


@click.command("session", cls=PlacedCommand)
@click.argument("file", metavar="[FINDINGS.json]", required=False)
@click.option("--resume", "is_resuming", is_flag=True, help="Go on with the saved session.")
@click.option(
    "--post-only", "is_post_only", is_flag=True, help="Post findings that were saved, or those of the file."
)
@click.option(
    "--deep-dive",
    "deep_dive",
    metavar="COMMAND",
    help="Looks into a finding: gets it as JSON on standard input, and what it prints is shown.",
)
@click.option("--as", "asker", metavar="NAME", help="The name of the agent that asks.")
@click.option("--json", "as_json", is_flag=True, help="Print how it ended as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Go through a code review with a person: gate by gate, chunk by chunk, to one review that is posted.

    FINDINGS.json holds the pull request, its chunks and what was found in each; docs/reference/session.md describes
    it. Every gate can be answered here, on a terminal or through a pipe with a reply a line, or from anywhere else with
    assent answer. Ctrl-C and the end of input decide nothing: the gate stays open and --resume goes on there. Without
    a terminal the gate is posted to the pull request as a comment, and a reply to it counts.

    \b
      assent session FINDINGS.json
      assent session FINDINGS.json --resume
      assent session --post-only

    Exit status: 0 posted, saved, discarded or cancelled; 1 it could not be posted (the findings are saved); 3 paused or
    no decision; 4 a gate was declined; 5 a gate was withdrawn.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    root = find_root(Path.cwd())
    if given["is_resuming"] and given["is_post_only"]:
        raise click.UsageError("Give --resume or --post-only, not both.")
    if given["file"] is None and not (given["is_resuming"] or given["is_post_only"]):
        raise click.UsageError("What is to be reviewed? As in: assent session FINDINGS.json")
    review = None if given["file"] is None else read_review(Path(given["file"]))
    kept = Kept(root / FOLDER)
    if review is None and kept.read(FINDINGS if given["is_post_only"] else STATE).digest is None:
        raise NotFoundError(_NOTHING)
    with place.door() as door, TerminalSurface(now, place.environ) as terminal:
        asker = place.client(door, agent(place.environ, given["asker"]))
        # Two that go on from the same answer would do everything twice, and post it twice.
        hold = _take(door, place.project_name)
        try:
            opening = _opening(kept, review, given)
            typist = find_typist(place, door, takes_pipe=True)
            session = _Seat(place, root, opening, asker, typist, terminal)
            return session.run(given["file"], given["deep_dive"], as_json=given["as_json"])
        finally:
            hold.release()


def _take(door: Door, project: str) -> Hold:
    """Return the right to go on with the session of this folder.

    Raises:
        FlowTakenError: another process has it; its gates are answered there, or with assent answer.
    """
    try:
        return run_call(until(door.hold(project, "session")))
    except FlowTakenError as taken:
        raise FlowTakenError(
            f"A session goes on here already ({taken.driver}). "
            "Answer its gates there, or from the inbox: assent inbox"
        ) from None


def _opening(kept: Kept, review: Review | None, given: dict[str, Any]) -> Opening:
    name = FINDINGS if given["is_post_only"] else STATE
    saved = _read_saved(kept, name)
    if saved is None and review is None:
        raise NotFoundError(_NOTHING)
    if saved is None and given["is_resuming"]:
        say("There is no saved session to resume, so this is a new one.")
    if given["is_post_only"] and saved and review and not saved.pull_request.is_same(review.pull_request):
        raise BadRequestError(
            f"The saved findings are of {saved.pull_request}, and {given['file']} is of {review.pull_request}. "
            f"Leave the file out to post the saved ones, or remove {FOLDER}/{FINDINGS} first."
        )
    return Opening(
        now().isoformat(),
        review,
        saved,
        given["is_resuming"] and saved is not None,
        given["is_post_only"],
        is_headless=not os.isatty(0),
    )


def _read_saved(kept: Kept, name: str) -> Session | None:
    """Return what is kept; a file that is not whole is told about and removed (G-U12)."""
    document = kept.read(name)
    if document.digest is None:
        return None
    try:
        return parse_state(document.content)
    except BadRequestError as error:
        say(display(f"Warning: {kept.folder.name}/{name} is removed, as it cannot be read: {error.message}"))
        kept.remove(name)
        return None


class _Seat:
    """A session where it takes place: who asks, who types, what may be touched."""

    def __init__(
        self,
        place: Place,
        root: Path,
        opening: Opening,
        asker: Client,
        typist: Client | None,
        terminal: TerminalSurface,
    ) -> None:
        self._place, self._root, self._opening = place, root, opening
        self._asker, self._typist, self._terminal = asker, typist, terminal
        kept = Kept(root / FOLDER)
        self._remote = Remote(place, asker, kept, _pull_request(opening))
        saved = opening.saved if opening.is_resuming or opening.is_post_only else None
        kind = "post-only" if opening.is_post_only else "session"
        self._meeting = Meeting(
            asker,
            typist,
            terminal,
            name=f"{kind}:{_pull_request(opening)}:{saved.started if saved else opening.started}",
            asked=saved.asked if saved else 0,
            run_id=place.environ.get("ASSENT_RUN_ID") or None,
            seconds=0 if typist is None and self._remote.presents else None,
        )

    def run(self, file: str | None, deep_dive: str | None, *, as_json: bool) -> int:
        """Drive the session to its end, or to where nobody answers."""
        if self._opening.is_resuming or self._opening.is_post_only:
            self._remote.collect()
        floor = Floor(self._meeting, self._performers(file, deep_dive))
        try:
            closing = drive_on(floor, review_session(self._opening))
        except (KeyboardInterrupt, StillOpen) as left:
            if isinstance(left, KeyboardInterrupt):
                say("")
            return self._leave(as_json=as_json)
        if as_json:
            echo_json(msgspec.json.encode(closing))
        else:
            click.echo(display(_render_closing(closing)))
        return CLOSING_STATUSES[closing.how]

    def _leave(self, *, as_json: bool) -> int:
        ask = self._meeting.ask
        told = "Nothing was decided."
        how_on = "--post-only" if self._opening.is_post_only else "--resume"
        if ask is not None:
            with suppress(AssentError):
                ask = self._asker.show(ask.ask_id)
            if self._is_about_the_saved_one:
                # A reply would come when nobody knows any more which session was to take its place.
                with suppress(AssentError):
                    self._asker.withdraw(ask.ask_id, "Nobody answered, so the saved session stays.")
                say(_render_closing(Closing(How.KEPT)))
                return STILL_OPEN
            how = f"Answer it here later, or with: assent answer {short_id(ask.ask_id)} …"
            if ask.is_open and self._remote.presents and self._remote.post_gate(ask):
                how = f"It is a comment on {self._remote.pull_request} now, and a reply there counts."
            told += f" The gate stays open. {how}\nGo on with: assent session {how_on}"
        say(told)
        if as_json:
            echo_json(msgspec.json.encode({"how": "open", "ask_id": ask and ask.ask_id}))
        return STILL_OPEN

    @property
    def _is_about_the_saved_one(self) -> bool:
        """Whether all that was asked is if the saved session may be discarded."""
        opening = self._opening
        is_new = opening.saved is not None and not opening.is_resuming and not opening.is_post_only
        return is_new and self._meeting.asked == 0

    def _performers(self, file: str | None, deep_dive: str | None) -> Performers:
        def discover(effect: Discover) -> str | None:
            if file is None:
                raise EffectError("There is no file to look into again.")
            try:
                review = read_review(Path(file))
            except BadRequestError as error:
                raise EffectError(error.message) from error
            if not review.pull_request.is_same(effect.pull_request):
                raise EffectError(f"{file} is of {review.pull_request}.")
            return review.visual.summary if review.visual else None

        kept = kept_performers(self._root / FOLDER, now, lambda: self._meeting.asked)

        def clear(effect: ClearSession) -> None:
            kept[ClearSession].perform(kept[ClearSession].intend(effect))
            self._withdraw_left()

        return {
            **kept,
            ClearSession: Direct(ClearSession, clear),
            **deep_dive_performers(self._dive(deep_dive)),
            Discover: Direct(Discover, discover),
            PostReview: Direct(PostReview, self._remote.post_review),
        }

    def _withdraw_left(self) -> None:
        """Take back what the saved session had asked: nobody would hear the answer any more."""
        saved = self._opening.saved
        if saved is None:
            return
        name = f"session:{saved.pull_request}:{saved.started}:"
        for ask in self._asker.inbox():
            if ask.key is not None and ask.key.startswith(name):
                with suppress(AssentError):  # another agent's, or answered in this moment
                    self._asker.withdraw(ask.ask_id, "The session is over.")

    def _dive(self, given: str | None) -> Dive | None:
        """Return what looks into findings: as said here, or as the project's file has it, once that was accepted."""
        if given is not None:
            words = shlex.split(given)
            return run_dive(words, Path.cwd(), self._place.environ) if words else None
        text = read_gate_file(self._root)
        command = parse_deep_dive(text, GATE_FILE) if text else None
        if command is None:
            return None
        check = accepting(
            self._asker,
            self._typist,
            self._terminal,
            GATE_FILE,
            digest(text),
            {"deep-dive": command},
            self._place.environ,
        )
        dive = run_dive(command, Path.cwd(), self._place.environ)

        def dive_if_accepted(action: str, finding: dict[str, Any]) -> str:
            check()
            return dive(action, finding)

        return dive_if_accepted


def _pull_request(opening: Opening) -> PullRequest:
    if opening.is_resuming and opening.saved is not None:
        return opening.saved.pull_request
    source = opening.review or opening.saved
    assert source is not None  # noqa: S101 - without either there is no session
    return source.pull_request


def _render_closing(closing: Closing) -> str:
    posted = closing.posted
    if closing.how is How.POSTED and posted is not None:
        where = f" {posted.url}" if posted.url else ""
        if posted.was_posted:
            return f"It had been posted before, so nothing was posted again.{where}"
        if posted.left_out:
            where += f" No room was left for {', '.join(posted.left_out)}: post them with assent session --post-only."
        where += f" {posted.note}" if posted.note else ""
        return f"Posted: {count(posted.new, 'new comment')}, {posted.replied} replied, {posted.failed} failed.{where}"
    sentences = {
        How.SAVED: "Saved locally. Post them later with: assent session --post-only",
        How.FAILED: "Not posted. Try again with: assent session --post-only",
        How.DISCARDED: "Discarded. Nothing was posted.",
        How.CANCELLED: "Cancelled. Nothing was posted.",
        How.CLEARED: "The saved session was removed. Start again with: assent session FINDINGS.json",
        How.PAUSED: "Paused. Go on with: assent session --resume",
        How.KEPT: "The saved session stays. Go on with it: assent session --resume",
        How.DECLINED: "A gate was declined, so the session stops there. Go on with: assent session --resume",
        How.ENDED: "A gate ended without an answer, so the session stops there.",
    }
    return f"{sentences[closing.how]} {closing.reason}".rstrip()
