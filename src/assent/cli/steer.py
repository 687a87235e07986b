"""`assent pause`, `resume`, `cancel` and `escalate`: act for the person, and are refused where an agent runs them.

Standard output has the RESULT, in words or as the message itself; everything else is said on standard error.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import takewhile
from typing import Any, TypeVar

import click
import msgspec

from assent.cli.exit import DONE, REFUSED, STILL_OPEN, complain, say
from assent.cli.find_run import FoundRun, complete_run, finding_run
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.cli.span import SPAN
from assent.client.calls import SHORTEST_ID
from assent.client.client import Client
from assent.client.identity import person
from assent.client.steer import STRONGEST_MODEL
from assent.effects.interrupt import uninterrupted
from assent.hub.desk import instant
from assent.hub.ids import new_request_id
from assent.protocol.control import EXPIRY_SECONDS, Code, ControlCommand, ControlMessage
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError, ControlExpiredError, StillOpen, UnreachableError
from assent.protocol.principal import Principal
from assent.protocol.run import Run, Status
from assent.protocol.words import count
from assent.surfaces.wake import Wake

__all__ = ["cancel", "escalate", "pause", "render_result", "resume"]

_PAGE = 1_000
_LONGEST = 200

F = TypeVar("F", bound=Callable[..., int])


def _taking_a_run(call: F) -> F:
    """Give a command what all four have: the run, and how to send and tell."""
    for add in (
        click.option("--json", "as_json", is_flag=True, help="Print the RESULT message as JSON."),
        click.option(
            "--wait",
            type=SPAN,
            metavar="TIME",
            default=timedelta(seconds=EXPIRY_SECONDS),
            help=f"Wait so long for an acknowledgement and for the RESULT. [default: {EXPIRY_SECONDS}]",
        ),
        click.option("--issue", "issue_id", metavar="ID", help="The issue that it is about; for the record."),
        click.option(
            "--request-id",
            metavar="ID",
            help="Send it under this id. Sent again under the same one, it is executed once. [default: a new UUID]",
        ),
        click.argument("run_id", metavar="RUN", shell_complete=complete_run),
    ):
        call = add(call)
    return call


@click.command("pause", cls=PlacedCommand)
@_taking_a_run
@click.pass_obj
def pause(place: Place, /, **given: Any) -> int:
    """Let no further iteration of a run start. The one that is under way finishes.

    RUN is a run's id, or the beginning or end of an active one's. It stays paused, also if whoever drives it dies,
    until somebody resumes it.

    \b
      assent pause loop-1703123456-12345
      assent pause 12345

    Exit status: 0 paused, 3 acknowledged but no RESULT yet, 4 refused, 5 nobody acknowledged it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    return _steer(place, ControlCommand.PAUSE, given)


@click.command("resume", cls=PlacedCommand)
@_taking_a_run
@click.pass_obj
def resume(place: Place, /, **given: Any) -> int:
    """Let a paused run go on. RUN is a run's id, or the beginning or end of an active one's.

    \b
      assent resume 12345

    Exit status: 0 resumed, 3 acknowledged but no RESULT yet, 4 refused, 5 nobody acknowledged it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    return _steer(place, ControlCommand.RESUME, given)


@click.command("cancel", cls=PlacedCommand)
@_taking_a_run
@click.pass_obj
def cancel(place: Place, /, **given: Any) -> int:
    """End a run for good, with what it is doing just now. Its asks are withdrawn. You are not asked again.

    RUN is a run's id, or the beginning or end of an active one's.

    \b
      assent cancel grind-1703123456-99999

    Exit status: 0 cancelled, 3 acknowledged but no RESULT yet, 4 refused, 5 nobody acknowledged it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    return _steer(place, ControlCommand.CANCEL, given)


@click.command("escalate", cls=PlacedCommand)
@click.option(
    "--model",
    metavar="M",
    default=STRONGEST_MODEL,
    help=f"The model to go on with. [default: {STRONGEST_MODEL}]",
)
@click.option("--reason", metavar="TEXT", default="", help="Why; the run's state tells it.")
@_taking_a_run
@click.pass_obj
def escalate(place: Place, /, **given: Any) -> int:
    """Give a run a more capable model, from its next iteration on. A paused run stays paused.

    RUN is a run's id, or the beginning or end of an active one's.

    \b
      assent escalate 12345
      assent escalate 12345 --model opus --reason 'stuck on type inference'

    Exit status: 0 escalated, 3 acknowledged but no RESULT yet, 4 refused, 5 nobody acknowledged it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    return _steer(place, ControlCommand.ESCALATE, given)


def _steer(place: Place, command: ControlCommand, given: dict[str, Any]) -> int:
    if given["request_id"] == "":
        raise click.UsageError("--request-id is empty.")
    who = person(place.environ)
    given["request_id"] = given["request_id"] or new_request_id()
    try:
        return _find_and_steer(place, command, given, who)
    except UnreachableError as away:
        if not away.is_silent:
            raise
        return _lapse(ControlExpiredError(), _again(command, given["run_id"], given), given)


def _find_and_steer(place: Place, command: ControlCommand, given: dict[str, Any], who: Principal) -> int:
    with finding_run(place, given["run_id"]) as found:
        client = found.client(who)
        again = _again(command, found.run_id, given)
        try:
            result = _send(
                lambda: client.control(
                    found.run_id,
                    command,
                    model=given.get("model"),
                    reason=given.get("reason", ""),
                    issue_id=given["issue_id"],
                    request_id=given["request_id"],
                    wait=given["wait"].total_seconds(),
                )
            )
        except (StillOpen, ControlExpiredError, UnreachableError) as lapsed:
            return _lapse(lapsed, again, given)
        except KeyboardInterrupt:
            say(display(f"\nIt may or may not have been done. To find out, send it again: {again}"))
            return STILL_OPEN
        run = _look(client, found)
        if given["as_json"]:
            echo_json(msgspec.json.encode(result))
        if not result.is_success:
            return _refuse(result, found)
        if not given["as_json"]:
            click.echo(render_result(result, run, _withdrawn(client, run) if run else 0))
        _remark(client, command, run)
        return DONE


def _again(command: ControlCommand, run_id: str, given: dict[str, Any]) -> str:
    return f"assent {command} {run_id} --request-id {given['request_id']}"


def _lapse(lapsed: AssentError, again: str, given: dict[str, Any]) -> int:
    status = complain(lapsed, given["as_json"])
    say(display(f"To send it again, for it to be executed once: {again}", lines=False))
    return status


def _send(call: Callable[[], ControlMessage]) -> ControlMessage:
    """Send on a thread of its own: it may take a while, and Ctrl-C must never strike in the middle of the store."""
    came: list[ControlMessage | Exception] = []

    def run() -> None:
        try:
            came.append(call())
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            came.append(error)
        wake.call()

    with Wake() as wake:
        with uninterrupted():  # Ctrl-C in the middle of a start leaves half a thread
            threading.Thread(target=run, daemon=True, name="assent-steer").start()
        while wake.wait() is not None:
            pass  # a signal that ends nothing
    if isinstance(came[0], Exception):
        raise came[0]
    return came[0]


def _look(client: Client, found: FoundRun) -> Run | None:
    try:
        return client.find_run(found.run_id)
    except AssentError:
        return None  # it was never begun, or the store is away just now; the RESULT is there all the same


def _withdrawn(client: Client, run: Run) -> int:
    """Return how many asks ended with the run: they follow its last event, in the same transaction."""
    if run.is_active:
        return 0
    records = client.log(run.sequence, _PAGE)
    ended = takewhile(
        lambda record: record.type == "ask.withdrawn" and instant(record.at) == run.ended_at, records
    )
    return sum(1 for _ in ended)


def render_result(result: ControlMessage, run: Run | None, withdrawn: int = 0) -> str:
    """Return what a command that succeeded has done, in one sentence."""
    payload = result.payload
    run_id = quote(str(result.target.get("run_id", "")), _LONGEST)
    if result.command == ControlCommand.ESCALATE:
        models = [payload.get("previous_model"), payload.get("new_model")]
        change = " -> ".join(quote(str(model), _LONGEST) for model in models if model)
        return f"Run {run_id}: {change} from the next iteration on."
    if result.command == ControlCommand.CANCEL:
        title = f' It was "{quote(run.title, _LONGEST)}",' if run and run.title else " It was"
        at = f"{title} at iteration {run.iteration} of {run.top.frame.max}." if run else ""
        asks = f" {count(withdrawn, 'open ask')} ended with it." if withdrawn else ""
        return f"Run {run_id} was cancelled.{at}{asks}"
    return quote(str(payload.get("message") or f"Run {run_id}: {result.command} done."), _LONGEST)


def _refuse(result: ControlMessage, found: FoundRun) -> int:
    message = quote(str(result.payload.get("message", "")), 2 * _LONGEST).removesuffix(".")
    hint = " assent runs shows what is active." if result.code == Code.NOT_FOUND else ""
    if hint and len(found.run_id) < SHORTEST_ID:
        hint += f" A part of an id has at least {SHORTEST_ID} characters."
    say(f"{message} ({display(str(result.code), lines=False)}).{hint}")
    if result.code == Code.NOT_FOUND and found.troubles:
        say(display(f"Not looked at: {'; '.join(found.troubles)}", lines=False))
    return REFUSED


def _remark(client: Client, command: ControlCommand, run: Run | None) -> None:
    """Say what the RESULT does not: what still goes on, and whether anybody is there to heed it."""
    if run is not None and command is ControlCommand.RESUME and run.status is Status.DONE:
        say(f"Its work was over while it was paused: it is done now ({quote(str(run.reason), _LONGEST)}).")
    if run is None or not run.is_active:
        return
    if not client.is_driven(run):
        how = f"assent loop --run-id {run.run_id} -- … goes on with it"
        say(display(f"Nobody drives it just now; {how}, bound by this.", lines=False))
    elif command is ControlCommand.PAUSE and run.top.is_open:
        say(f"Iteration {run.iteration} is still under way and finishes first; no further one starts.")
