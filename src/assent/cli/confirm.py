"""`assent confirm`: holds a phase or a task until somebody says go on, and keeps the status in the plan's file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.accept import accepting
from assent.cli.exit import DONE, ENDED, FAILED, REFUSED, STILL_OPEN, UNFINISHED, say
from assent.cli.gate_file import FOLDER, read_bounded
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, tell_waiting
from assent.client.client import Client
from assent.client.confirm import confirm_plan
from assent.client.identity import agent
from assent.client.place import find_root
from assent.effects.performer import Performers
from assent.effects.reviewer import reviewer_performers
from assent.flows.confirm import How, Verdict
from assent.protocol.ask import Ask
from assent.protocol.canonical import digest
from assent.protocol.display import display
from assent.protocol.error import AssentError, FlowTakenError, StillOpen
from assent.protocol.plan import Moment
from assent.protocol.reviewer_file import MAX_REVIEWER_FILE_BYTES, Reviewer, parse_reviewers
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface

__all__ = ["VERDICT_STATUSES", "command"]

REVIEWER_FILE = f"{FOLDER}/reviewers.toml"

VERDICT_STATUSES = {
    How.CONFIRMED: DONE,
    How.CHANGES: UNFINISHED,
    How.BLOCKED: UNFINISHED,
    How.DECLINED: REFUSED,
    How.STOPPED: REFUSED,
    How.ENDED: ENDED,
    How.FAILED: FAILED,
}


@click.command("confirm", cls=PlacedCommand)
@click.argument("plan", metavar="PLAN.xml")
@click.option("--owner", metavar="ID", required=True, help="The phase or task that waits.")
@click.option(
    "--moment", type=click.Choice([moment.value for moment in Moment]), required=True, help="Which half."
)
@click.option("--summary", metavar="TEXT", required=True, help="What is about to be done, or was done.")
@click.option("--workspace-dir", metavar="DIR", help="For reviewers, absolute. [default: the project's root]")
@click.option("--track-dir", metavar="DIR", help="For reviewers, absolute. [default: the plan's folder]")
@click.option("--as", "asker", metavar="NAME", help="The name of the agent that asks.")
@click.option("--wait", type=SPAN, metavar="TIME", help="Wait so long at most for each reply.")
@click.option("--no-wait", is_flag=True, help="Ask, print the ask's id, and return at once.")
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Run the confirms of a phase or task, and wait until somebody says go on.

    The plan's file says which there are and where they stand; only their status is changed in it. What a person types
    at this terminal counts, and so does an answer from anywhere else. Asked again while it waits, it is the same question.

    y or yes goes on, n or no declines, stop halts, and anything else is taken as changes to be made first, which are
    printed. "drop this confirm" gives the confirm up for good.

    \b
      assent confirm plan.xml --owner T1.2 --moment before --summary "Rename the table users"
      assent confirm plan.xml --owner P1 --moment after --summary "All tests pass" --wait 1h

    Exit status: 0 go on (also where nothing is to be confirmed), 3 still open, 4 declined or stopped, 5 withdrawn,
    7 changes are wanted or a reviewer found blocking issues.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if given["no_wait"] and given["wait"] is not None:
        raise click.UsageError("Give --wait or --no-wait, not both.")
    root = find_root(Path.cwd())
    with place.door() as door, TerminalSurface(now, place.environ) as terminal:
        asker = place.client(door, agent(place.environ, given["asker"]))
        typist = None if given["no_wait"] else find_typist(place, door)
        seat = _Seat(place, root, asker, typist, terminal)
        return seat.run(given)


class _Seat:
    """Where a confirm takes place: who asks, who types, which reviewers there are."""

    def __init__(
        self, place: Place, root: Path, asker: Client, typist: Client | None, terminal: TerminalSurface
    ) -> None:
        self._place, self._root = place, root
        self._asker, self._typist, self._terminal = asker, typist, terminal
        self._ask: Ask | None = None

    def run(self, given: dict[str, Any]) -> int:
        wait = None if given["wait"] is None else given["wait"].total_seconds()
        if given["no_wait"]:
            wait = 0.0
        try:
            verdict = confirm_plan(
                self._asker,
                given["plan"],
                given["owner"],
                given["moment"],
                given["summary"],
                workspace_dir=given["workspace_dir"],
                track_dir=given["track_dir"],
                performers=self._reviewers(),
                say=lambda text: say(display(text)),
                present=lambda ask: self._present(ask, wait),
                wait=wait,
            )
        except FlowTakenError as taken:
            raise FlowTakenError(
                f"This confirm is asked already ({taken.driver}). Answer it there, or from the inbox: assent inbox"
            ) from None
        except (KeyboardInterrupt, EOFError, StillOpen) as left:
            if not isinstance(left, StillOpen):
                say("")
            return self._leave(prints_id=given["no_wait"], as_json=given["as_json"])
        return _report(verdict, as_json=given["as_json"])

    def _present(self, ask: Ask, wait: float | None) -> None:
        self._ask = ask
        if self._typist is not None:
            self._ask = answer_here(self._terminal, self._typist, ask, wait)
        elif wait != 0:
            tell_waiting(self._place, self._terminal, ask)

    def _leave(self, *, prints_id: bool, as_json: bool) -> int:
        ask = self._ask
        if ask is None:
            say("Nothing was decided.")
            return STILL_OPEN
        with suppress(AssentError):
            ask = self._asker.show(ask.ask_id)
        say(f"Nothing was decided; it stays open. Answer it with: assent answer {short_id(ask.ask_id)} …")
        if as_json:
            echo_json(msgspec.json.encode({"how": "open", "ask_id": ask.ask_id}))
        elif prints_id:
            click.echo(ask.ask_id)
        return STILL_OPEN

    def _reviewers(self) -> Performers:
        """Return the reviewers of the project; each is run only after a person accepted the file."""
        file = self._root / REVIEWER_FILE
        text = read_bounded(file, MAX_REVIEWER_FILE_BYTES) if file.exists() else b""
        reviewers = parse_reviewers(text, REVIEWER_FILE)

        commands = {
            name: [*(f"{key}={value}" for key, value in reviewer.env.items()), *reviewer.command]
            for name, reviewer in reviewers.items()
        }
        check = accepting(self._asker, self._typist, self._terminal, REVIEWER_FILE, digest(text), commands)

        def accept(_: Reviewer) -> None:
            check()

        return reviewer_performers(reviewers, self._place.environ, accept)


def _report(verdict: Verdict, *, as_json: bool) -> int:
    if as_json:
        echo_json(msgspec.json.encode(verdict))
    elif verdict.how is How.FAILED:
        say(display(verdict.text, lines=False))
    else:
        click.echo(display(verdict.text or str(verdict.state or verdict.how)))
    return VERDICT_STATUSES[verdict.how]
