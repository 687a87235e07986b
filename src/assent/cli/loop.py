"""`assent loop`: any command as a controllable agent loop. Acts for an agent."""

from __future__ import annotations

import os
import re
import select
import shutil
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from assent.cli.exit import DONE, ENDED, FAILED, STILL_OPEN, UNFINISHED, say
from assent.cli.gate_file import FOLDER
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, show_address
from assent.cli.span import SPAN
from assent.client.identity import agent
from assent.client.place import find_root, state_folder
from assent.client.wheel import Plan, Rung, plan_run
from assent.hosts.leftover import GRACE_SECONDS
from assent.hosts.loop import Loop, Orders, Outer, Stopped
from assent.protocol.display import display
from assent.protocol.ending import render_name
from assent.protocol.error import BadRequestError
from assent.protocol.run import AbortReason, DoneReason, Mode, Run, Status, check_run_id

__all__ = ["command", "status_of_run"]

_PIPE_SECONDS = 1.0
_UNFINISHED = frozenset({DoneReason.MAX_ITERATIONS.value, DoneReason.STUCK.value})


@click.command(
    "loop",
    cls=PlacedCommand,
    # As env and nohup have it: what stands behind the command's name is the command's.
    context_settings={"help_option_names": ["-h", "--help"], "allow_interspersed_args": False},
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.LOOP.value,
    help="What the loop goes over; decides which completion signals count. [default: loop]",
)
@click.option(
    "--max",
    "limit",
    type=click.IntRange(1),
    metavar="N",
    help="At most N iterations. [default: 10; grind 100]",
)
@click.option("--run-id", metavar="ID", help="The run's id; one that was begun before is gone on with.")
@click.option("--issue", "issue_id", metavar="ID", help="The issue that it works on.")
@click.option("--filter", "filter_", metavar="F", help="Which issues a grind goes over.")
@click.option("--model", metavar="M", help="The model to begin with; {model} in the command stands for it.")
@click.option(
    "--models", metavar="M,…", help="The only models that it may be escalated to. Without it, any may be."
)
@click.option("--title", metavar="TEXT", default="", help="What people see in assent runs.")
@click.option("--prompt", metavar="TEXT", help="The prompt; {prompt} in the command stands for it.")
@click.option(
    "--prompt-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The prompt, read again for each iteration; - is standard input, read once.",
)
@click.option("--keep-going", is_flag=True, help="Go on after an iteration whose command failed.")
@click.option(
    "--grace",
    type=SPAN,
    metavar="TIME",
    default=timedelta(seconds=GRACE_SECONDS),
    help="So long a cancelled command may take to end before it is killed. [default: 5]",
)
@click.option("--raw", is_flag=True, help="Show the output as it is, also on a terminal.")
@click.option("--as", "name", metavar="NAME", help="The name of the agent.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND…")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Run a command again and again, as a loop that people can pause, resume, cancel and escalate.

    The command runs once an iteration. It gets the prompt on standard input, or where {prompt} stands among its
    words; {model}, {iteration} and {run_id} are filled in, too. It finds ASSENT_RUN_ID, ASSENT_ITERATION,
    ASSENT_ATTEMPT, ASSENT_MODEL, ASSENT_STORE and ASSENT_PROJECT in its environment, so what it asks with assent ask
    belongs to the run. Without --prompt or --prompt-file the prompt is what is piped into assent loop.

    The loop is over after --max iterations, when the command fails, or when it prints one of these alone on a line:

    \b
      <loop-done>COMPLETE</loop-done>         also MAX_ITERATIONS or STUCK
      <issue-complete>DONE</issue-complete>   with --mode issue
      <grind-done>NO_MORE_ISSUES</grind-done> with --mode grind; also MAX_ISSUES

    Killed or stopped, it is gone on with by --run-id: still paused if it was paused. An iteration that was
    interrupted runs again, and says so. Inside another loop's command it is a loop of the same run.

    \b
      assent loop --max 5 --prompt-file PROMPT.md -- claude -p
      assent loop --model haiku --prompt "Fix the tests" -- claude -p --model {model} {prompt}
      assent loop --run-id nightly -- ./agent.sh

    Exit status: 0 done, 1 the command failed, 3 stopped but not over, 5 cancelled, 6 somebody else drives this run,
    7 out of iterations or stuck.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    words: tuple[str, ...] = given["words"]
    if not words:
        raise click.UsageError("Which command? As in: assent loop --max 5 -- claude -p")
    prompt = _prompt(given)
    _check_command(words, given["model"], has_prompt=prompt is not None)
    outer = _outer(place, given["run_id"])
    plan = _plan(given, outer)
    with place.door() as door:
        client = place.client(door, agent(place.environ, given["name"]))
        orders = Orders(
            words,
            place.environ,
            _address(place),
            _output_folder(place),
            prompt,
            given["grace"].total_seconds(),
            given["keep_going"],
            given["raw"],
        )
        loop = Loop(client, plan, orders, outer=outer)
        try:
            run = loop.drive()
        except Stopped:
            loop.tell(f"stopped. To go on: assent loop --run-id {plan.run_id} -- …")
            return STILL_OPEN
        if loop.was_over:
            loop.tell(
                f"run {run.run_id} had ended before, and nothing was run; new work takes another --run-id"
            )
        if loop.reason is not None:
            return UNFINISHED if loop.reason in _UNFINISHED else DONE
        loop.tell(_ending(run))
        return status_of_run(run)


def status_of_run(run: Run) -> int:
    """Return the exit status that tells how a run ended."""
    if run.status is Status.DONE:
        return UNFINISHED if run.reason in _UNFINISHED else DONE
    return ENDED if run.reason == AbortReason.USER_CANCELLED else FAILED


def _ending(run: Run) -> str:
    if run.status is Status.DONE:
        return f"done: {run.reason}, iteration {run.iteration} of {run.top.frame.max}"
    if run.reason == AbortReason.USER_CANCELLED:
        return f"cancelled by {render_name(run.ended_by)} at iteration {run.iteration}"
    return f"aborted at iteration {run.iteration}: {run.note}"


def _check_command(words: tuple[str, ...], model: str | None, *, has_prompt: bool) -> None:
    """Refuse what could not run before a run is begun for it."""
    if model is None and any("{model}" in word for word in words):
        raise click.UsageError("The command wants {model}: say which with --model.")
    if not has_prompt and any("{prompt}" in word for word in words):
        raise click.UsageError("The command wants {prompt}: give it with --prompt, --prompt-file or a pipe.")
    if "{" not in words[0] and shutil.which(words[0]) is None:
        what = "cannot be executed" if Path(words[0]).is_file() else "is no command here"
        raise click.UsageError(f"{display(words[0], lines=False)} {what}.")


def _address(place: Place) -> str:
    """Return the store's address for the command's own questions: one spelling, whichever way somebody came here."""
    address = place.address
    return address if isinstance(address, str) else f"sqlite:///{address.resolve()}"


def _output_folder(place: Place) -> Path:
    """Return where the output of runs is kept: beside the store, or with what this user's commands remember."""
    address = place.address
    if not isinstance(address, str):
        return Path(f"{address}-runs")
    server = re.sub(
        r"[^\w.-]+", "_", show_address(address).partition("://")[2]
    )  # a password is in no folder's name
    return (state_folder(place.environ) or find_root(Path.cwd()) / FOLDER) / f"{server}-runs"


def _outer(place: Place, run_id: str | None) -> Outer | None:
    """Return the loop that this one is inside of; with a run, a store or a project of its own it is inside of none."""
    environ = place.environ
    is_here = environ.get("ASSENT_STORE") == _address(place)
    is_here = is_here and environ.get("ASSENT_PROJECT") == place.project_name
    depth, _, number = environ.get("ASSENT_LEVEL", "").partition(".")
    fence, outer = environ.get("ASSENT_FENCE", ""), environ.get("ASSENT_RUN_ID")
    words = (fence, depth, number)
    if run_id is not None or not outer or not is_here or not all(word.isdecimal() for word in words):
        return None
    return Outer(check_run_id(outer), int(fence), Rung(int(depth), int(number)))


def _plan(given: dict[str, Any], outer: Outer | None) -> Plan:
    models = tuple(filter(None, (given["models"] or "").split(",")))
    return plan_run(
        given["mode"],
        max=given["limit"],
        model=given["model"],
        models=models,
        run_id=outer.run_id if outer else given["run_id"],
        title=given["title"],
        issue_id=given["issue_id"],
        filter=given["filter_"],
        prompt_file=given["prompt_file"] if given["prompt_file"] != "-" else None,
    )


def _prompt(given: dict[str, Any]) -> Callable[[], bytes] | None:
    text, file = given["prompt"], given["prompt_file"]
    if text is not None and file is not None:
        raise click.UsageError("Give --prompt or --prompt-file, not both.")
    if text is not None:
        return lambda: os.fsencode(text)
    if file is not None and file != "-":
        return Path(file).read_bytes
    if file is None and not _is_piped():
        return None
    try:
        piped = sys.stdin.buffer.read()
    except OSError as error:
        raise BadRequestError(f"The prompt cannot be read: {error.strerror}.") from None
    return (lambda: piped) if piped or file is not None else None


def _is_piped() -> bool:
    """Say whether a prompt comes on standard input. Many programs leave theirs open and never write: not for long."""
    if not sys.stdin or sys.stdin.closed or sys.stdin.isatty():
        return False
    if select.select([sys.stdin], [], [], _PIPE_SECONDS)[0]:
        return True
    _say("nothing comes on standard input, so there is no prompt; with --prompt-file - it is waited for")
    return False


def _say(line: str) -> None:
    say(f"assent: {display(line, lines=False)}")
