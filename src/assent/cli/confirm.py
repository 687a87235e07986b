"""`assent confirm`: holds a phase or a task until somebody says go on, and keeps the status in the plan's file."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click
import msgspec

from assent.cli.exit import DONE, ENDED, FAILED, REFUSED, STILL_OPEN, UNFINISHED, say
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, tell_waiting
from assent.client.client import Client
from assent.client.confirm import confirm_plan
from assent.client.identity import agent
from assent.flows.confirm import How, Verdict
from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display
from assent.protocol.error import AssentError, FlowTakenError, StillOpen
from assent.protocol.plan import Moment
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface

__all__ = ["VERDICT_STATUSES", "command"]

VERDICT_STATUSES = {
    How.CONFIRMED: DONE,
    How.DROPPED: DONE,
    How.NOTHING: DONE,
    How.CHANGES: UNFINISHED,
    How.BLOCKED: UNFINISHED,
    How.MISSING: UNFINISHED,
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

    The plan's file says which there are; only their status is changed in it. What passes is what the store holds a
    person's yes for, or a reviewer's clean report: DONE in the file without it is asked all the same. What a person types
    at this terminal counts, and so does an answer from anywhere else. Asked again while it waits, it is the same question;
    with another summary it is another one. What was confirmed is not asked again, and is named.

    y or yes goes on, n or no declines, stop halts, and anything else is taken as changes to be made first, which are
    printed. "drop this confirm" gives the confirm up for good. Where a reviewer finds blocking issues, a person is asked
    what to do, and no reviewer runs before they answered.

    \b
      assent confirm plan.xml --owner T1.2 --moment before --summary "Rename the table users"
      assent confirm plan.xml --owner P1 --moment after --summary "All tests pass" --wait 1h

    Exit status: 0 go on (confirmed, dropped, nothing to confirm), 2 the plan has errors, 3 still open, 4 declined or
    stopped, 5 withdrawn, 7 changes are wanted, a reviewer found blocking issues, or a confirm is missing.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if given["no_wait"] and given["wait"] is not None:
        raise click.UsageError("Give --wait or --no-wait, not both.")
    with place.door() as door, TerminalSurface(now, place.environ) as terminal:
        asker = place.client(door, agent(place.environ, given["asker"]))
        typist = None if given["no_wait"] else find_typist(place, door)
        seat = _Seat(place, asker, typist, terminal)
        return seat.run(given)


class _Seat:
    """Where a confirm takes place: who asks, and who types."""

    def __init__(self, place: Place, asker: Client, typist: Client | None, terminal: TerminalSurface) -> None:
        self._place = place
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
        return _report(verdict, given["summary"], as_json=given["as_json"])

    def _present(self, ask: Ask, wait: float | None) -> None:
        self._ask = ask
        # An approval is typed at a terminal, or given elsewhere.
        is_read = ask.kind is not Kind.APPROVAL or not self._terminal.is_piped
        if self._typist is not None and is_read:
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


def _is_same(confirmed: str, given: str) -> bool:
    """Whether a summary is the one that was given now, as a person was shown it."""
    confirmed, given = (text.strip().rstrip(".") for text in (confirmed, given))
    return confirmed in ("", given) or confirmed.startswith(f"{given}\n\n")


def _report(verdict: Verdict, summary: str, *, as_json: bool) -> int:
    if as_json:
        told = msgspec.to_builtins(verdict)
        del told["passed"], told["name"]
        echo_json(msgspec.json.encode(told))
    elif verdict.how is How.FAILED:
        say(display(verdict.text, lines=False))
    else:
        click.echo(display(verdict.text or str(verdict.state or verdict.how)))
        if not _is_same(verdict.summary, summary):
            click.echo(f"What was confirmed: {display(verdict.summary)}")
    if verdict.ask_id:
        how = f'assent answer {short_id(verdict.ask_id)} "Apply changes and re-run"'
        say(f"A person says how it goes on, and no reviewer runs before that; answer with: {how}")
    return VERDICT_STATUSES[verdict.how]
