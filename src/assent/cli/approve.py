"""`assent approve`: acts for an agent. Standard output is the receipt's id and nothing else, or that of the command to run.

What is typed at its own prompt is the person's, as with `assent ask`: it is read from a terminal only, and not where an
agent runs the command.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import click

from assent.cli.exit import DONE, STILL_OPEN, say
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, tell_waiting, warn_unreached
from assent.client.approving import ApprovalParts, approve, check_approved, redeem, request_approval
from assent.client.client import Client, blocking
from assent.client.identity import agent
from assent.effects.interrupt import uninterrupted
from assent.hub.ids import new_command_id
from assent.protocol.ask import Ask, Consequence
from assent.protocol.canonical import parse_json
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError
from assent.protocol.json_text import Json
from assent.protocol.policy import Category
from assent.protocol.receipt import Receipt, render_granting, render_receipt
from assent.protocol.terms import DEFAULT_LIFE_SECONDS
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here, await_end
from assent.surfaces.terminal import TerminalSurface

__all__ = ["command"]

_request, _approve, _redeem = blocking(request_approval), blocking(approve), blocking(redeem)


@click.command("approve", cls=PlacedCommand)
@click.argument("title")
@click.argument("words", nargs=-1, metavar="[-- CMD…]")
@click.option(
    "--action",
    metavar="ACTION.json",
    help="The exact thing that would be done, as JSON; - is standard input.",
)
@click.option(
    "--category",
    metavar="CATEGORY",
    shell_complete=lambda *_: [*Category],
    help="The category of change, whose policy decides. Without one a person is always asked.",
)
@click.option("--risk", metavar="TEXT", help="What could go wrong.")
@click.option("--body", metavar="TEXT", default="", help="More to read before answering.")
@click.option("--key", metavar="KEY", help="The same key and action are the same approval, for ever.")
@click.option(
    "--life",
    type=SPAN,
    metavar="TIME",
    default=f"{DEFAULT_LIFE_SECONDS}",
    help="How long the approval is good for, in seconds, or as in 30m or 2h. [default: 1h]",
)
@click.option("--task", "task_id", metavar="ID", help="The task that it is about.")
@click.option(
    "--deadline", type=SPAN, metavar="TIME", help="Seconds, or as in 30m or 2h: when silence counts."
)
@click.option(
    "--consequence",
    type=click.Choice([choice.value for choice in Consequence]),
    default=Consequence.WAIT.value,
    help="What happens at the deadline; none of them approves. [default: wait]",
)
@click.option(
    "--escalate-to", metavar="WHO", help="Whom to ask, too, for the consequence escalate, as in human:sam."
)
@click.option(
    "--again",
    metavar="REASON",
    default="",
    help="Ask although a person said no to the same action, and say why.",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent that asks.")
@click.option("--wait", "wait", type=SPAN, metavar="TIME", help="Wait so long at most; the ask stays open.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole receipt as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Ask whether an action may happen, and wait; then run it, or print the id of the receipt.

    Without a category a person is always asked. With one, the policy of the project decides: the receipt comes at once,
    or at once and people are told, or a person is asked. A receipt is good for exactly this action, once, and for
    a while: spend it right before you do it.

    With a command behind -- exactly this command, in this folder, is what is asked about, and what is run: the receipt
    is spent right before. It is run as it stands there, by no shell.

    \b
      assent approve "Delete old drafts?" --risk irreversible -- rm -r drafts/2024
      receipt=$(assent approve "Drop users.legacy_id?" --action plan.json)
      plan=$(assent redeem "$receipt" --print) && run-the-plan <<< "$plan"

    Where a person said no to the same action within a day, nobody is asked again, unless --again says why: they see
    their no and your reason. It takes another key than the one they said no to.

    Exit status: 0 approved, 3 still open, 4 rejected or declined, 5 withdrawn, expired or superseded, 6 the key is
    taken; with a command its own, once it runs.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    words: tuple[str, ...] = given["words"]
    parts = _parts(place, given, words)
    title, command_id = given["title"], new_command_id()
    wait: timedelta | None = given["wait"]
    with place.door() as door:
        asker = place.client(door, agent(place.environ, given["name"]))
        warn_unreached(place, door, given["escalate_to"])
        with uninterrupted():
            told = _request(asker, title, command_id=command_id, **parts)
        if isinstance(told, Ask):
            try:
                ended = _await(place, asker, told, None if wait is None else wait.total_seconds())
            except (KeyboardInterrupt, EOFError):
                ended = _look_again(asker, told)
                if ended.is_open:
                    return _leave(ended)
            check_approved(ended)
            told = _approve(asker, title, command_id=command_id, **parts)
        if words:
            with uninterrupted(is_final=True):
                told = _redeem(asker, told.receipt_id, parts["action"])
    if words:
        say(display(render_granting(told), lines=False))
        _become(words)
    _report(told, as_json=given["as_json"])
    return DONE


def _action(given: dict[str, Any], words: tuple[str, ...]) -> Json:
    """Return the action that was named, in one way or the other.

    Raises:
        click.UsageError: in none, or in both; or there is no such program.
    """
    if not words:
        if given["action"] is None:
            raise click.UsageError("Say what would be done: --action ACTION.json, or a command behind --.")
        return read_json_file(given["action"], parse_json)
    if given["action"] is not None or given["as_json"]:
        raise click.UsageError(
            "A command behind -- is the action, and prints what it prints: no --action and no --json."
        )
    if shutil.which(words[0]) is None:
        raise click.UsageError(f'There is no program "{quote(words[0])}" that can be run here.')
    return {"command": list(words), "folder": str(Path.cwd())}


def _become(words: tuple[str, ...]) -> NoReturn:
    """Run the command in place of this program: its streams, its terminal and its signals are ours.

    Raises:
        AssentError: it cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(words[0], words)  # noqa: S606 - no shell: a list of words
    except OSError as error:
        raise AssentError(
            f'"{quote(words[0])}" cannot be started, and the approval is spent: {error.strerror}.'
        ) from None


def _parts(place: Place, given: dict[str, Any], words: tuple[str, ...]) -> ApprovalParts:
    return {
        "action": _action(given, words),
        "category": given["category"],
        "risk": given["risk"],
        "body": given["body"],
        "key": given["key"],
        "life": given["life"],
        "task_id": given["task_id"],
        "run_id": place.environ.get("ASSENT_RUN_ID") or None,
        "deadline": given["deadline"],
        "consequence": given["consequence"],
        "escalate_to": given["escalate_to"],
        "again": given["again"],
    }


def _await(place: Place, asker: Client, ask: Ask, seconds: float | None) -> Ask:
    """Return the ask as it ended, here or elsewhere."""
    if not ask.is_open:
        return ask
    typist = find_typist(place, asker.door)
    with TerminalSurface(now, place.environ) as surface:
        if typist is not None:
            return answer_here(surface, typist, ask, seconds)
        tell_waiting(place, surface, ask)
    return await_end(asker, ask, seconds)


def _look_again(asker: Client, ask: Ask) -> Ask:
    """Ctrl-C, or the terminal is gone. Somebody elsewhere may have answered in the same moment: the store knows."""
    say("")
    with suppress(AssentError):
        return asker.show(ask.ask_id)
    return ask


def _leave(ask: Ask) -> int:
    say(f"Nothing was decided; the ask stays open. Answer it with: assent answer {short_id(ask.ask_id)} …")
    return STILL_OPEN


def _report(receipt: Receipt, *, as_json: bool) -> None:
    say(display(render_granting(receipt), lines=False))
    if as_json:
        echo_json(render_receipt(receipt))
    else:
        click.echo(receipt.receipt_id)
