"""`assent plan check` and `assent plan show`: is a plan good, and how far is it?"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import click
import msgspec

from assent.cli.exit import DONE, FAILED, say
from assent.cli.group import PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there
from assent.client.confirm import sync_plan
from assent.client.identity import agent
from assent.protocol.display import display
from assent.protocol.error import AssentError
from assent.protocol.plan import MAX_PLAN_BYTES, Plan, Status, Unreadable, read_plan
from assent.protocol.plan_check import Problem, check_plan
from assent.protocol.plan_tree import PlanTree, build_tree
from assent.protocol.words import count
from assent.surfaces.ink import ink_for
from assent.surfaces.plan_tree import render_plan
from assent.surfaces.terminal import width_of

__all__ = ["command", "render_counts", "render_problem"]

_HELD = (Status.IN_PROGRESS, Status.BLOCKED)
"""Where somebody may have been asked."""
_PLAN_FILE = click.argument("file", metavar="PLAN.xml", type=click.Path(path_type=Path))


@click.group("plan", cls=PlacedGroup)
def command() -> None:
    """Check a plan, or look at it.

    \b
      assent plan check plan.xml
      assent plan show plan.xml
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("check")
@_PLAN_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def _check(file: Path, as_json: bool) -> int:
    """Say what is wrong with a plan, a line for each thing: FILE:LINE: error or warning: what it is.

    Exit status: 0 no errors (there may be warnings), 1 errors, or the file cannot be read.
    """
    plan = _read(file)
    if isinstance(plan, Plan):
        problems, tree = check_plan(plan), build_tree(plan)
        confirms = sum(element.name == "confirm" for element in plan.elements)
    else:
        problems, tree, confirms = (Problem(plan.line, plan.reason),), PlanTree("", "", ""), 0
    errors = sum(problem.is_error for problem in problems)
    if as_json:
        told = {
            "ok": not errors,
            "file": str(file),
            "phases": len(tree.phases),
            "tasks": len(tree.all_tasks()),
            "confirms": confirms,
            "problems": [
                {"line": each.line, "level": _level(each), "message": each.message} for each in problems
            ],
        }
        echo_json(msgspec.json.encode(told))
        return FAILED if errors else DONE
    for problem in problems:
        click.echo(render_problem(file, problem))
    warnings = len(problems) - errors
    also = f", {count(warnings, 'warning')}" if warnings else ""
    if errors:
        say(f"{_shown(file)}: {count(errors, 'error')}{also}")
        return FAILED
    parts = [
        count(len(tree.phases), "phase"),
        count(len(tree.all_tasks()), "task"),
        count(confirms, "confirm"),
    ]
    click.echo(f"{_shown(file)}: {', '.join(parts)}; no errors{also}")
    return DONE


@command.command("show")
@_PLAN_FILE
@click.option("--json", "as_json", is_flag=True, help="Print the tree as JSON.")
@click.pass_obj
def _show(place: Place, /, file: Path, as_json: bool) -> int:
    """Show phases, tasks and subtasks with where they stand, and the confirms that are to come.

    A phase's status follows from its tasks. A confirm that was answered while no command waited gets its status in the
    file now, and that is said.

    Exit status: 0 shown, 1 the file cannot be read.
    """
    plan = _read(file)
    if isinstance(plan, Plan) and _sync(place, file, plan):
        plan = _read(file)
    if isinstance(plan, Unreadable):
        raise AssentError(f"{file}:{plan.line}: {plan.reason}")
    tree = build_tree(plan)
    if as_json:
        echo_json(msgspec.json.encode(tree))
        return DONE
    ink = ink_for(sys.stdout, os.environ)
    lines = [*render_plan(tree, ink, width_of(sys.stdout)), "", render_counts(tree)]
    errors = sum(problem.is_error for problem in check_plan(plan))
    if errors:
        lines.append(ink.danger(f"{count(errors, 'error')}: see assent plan check {_shown(file)}"))
    click.echo("\n".join(lines))
    return DONE


def _sync(place: Place, file: Path, plan: Plan) -> bool:
    """Write what people answered while no command waited; say so. Where there is no store, there is nothing to write."""
    is_held = any(each.status in _HELD for owner in plan.owners for each in owner.confirms)
    if not is_held or not is_there(place.address):
        return False
    try:
        with place.door() as door:
            written = sync_plan(place.client(door, agent(place.environ)), file)
    except AssentError as error:
        say(
            f"What the store holds about this plan could not be looked up: {display(error.message, lines=False)}"
        )
        return False
    for half, status in written.items():
        named = display(f"{half.owner} {half.moment}", lines=False)
        say(f"{_shown(file)}: the confirm of {named} was answered: {status}")
    return bool(written)


def _read(file: Path) -> Plan | Unreadable:
    try:
        with file.open("rb") as opened:
            return read_plan(opened.read(MAX_PLAN_BYTES + 1))
    except OSError as error:
        return Unreadable(1, f"it cannot be read: {error.strerror}.")
    except ValueError:
        return Unreadable(1, "it cannot be read: no file has such a name.")


def _shown(file: Path) -> str:
    return display(str(file), lines=False)


def _level(problem: Problem) -> str:
    return "error" if problem.is_error else "warning"


def render_problem(file: Path, problem: Problem) -> str:
    """Return one thing that is wrong, as compilers tell it."""
    return f"{_shown(file)}:{problem.line}: {_level(problem)}: {display(problem.message, lines=False)}"


def render_counts(tree: PlanTree) -> str:
    """Return how many there are of each, in one sentence."""
    tasks = tree.all_tasks()
    statuses = Counter(task.status for task in tasks)
    by_status = ", ".join(f"{statuses[status]:,} {status}" for status in Status if statuses[status])
    looked = f"{count(len(tree.phases), 'phase')}, {count(len(tasks), 'task')}"
    pending = tree.pending()
    waits = f"{count(len(pending), 'confirm')} to come" if pending else "no confirm to come"
    return f"{looked}{f' ({by_status})' if by_status else ''}; {waits}."
