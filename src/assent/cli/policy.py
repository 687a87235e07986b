"""`assent policy`: how far agents of a project may go without a person.

Everybody may look, and agents do. Only a person sets: where an agent runs the command it is refused, and what loosens
a policy takes a terminal, or `--unattended`, which the log shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click
import msgspec

from assent.cli.exit import DONE
from assent.cli.group import PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.cli.task_dir import write_config
from assent.client.door import run_call, until
from assent.client.identity import agent_mark, assurance_here, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.display import display
from assent.protocol.error import ForbiddenError
from assent.protocol.kind import Kind
from assent.protocol.policy import (
    HIL_CONFIG,
    PRESETS,
    Category,
    Level,
    Policy,
    Preset,
    ProjectPolicy,
    parse_category,
    parse_level,
    parse_preset,
    preset_of,
)
from assent.protocol.policy_text import TEXTS, explain, render_context
from assent.protocol.principal import Assurance, Principal

__all__ = ["command", "render_policy"]

_UNATTENDED = click.option(
    "--unattended", is_flag=True, help="Loosen it where no terminal is; the log says so."
)


@click.group("policy", cls=PlacedGroup)
def command() -> None:
    """Say how far agents may go without a person, or see how far they may.

    There are three categories of change: scopeChanges, architectureDecisions and dependencyModifications. Each has a
    level: requires_approval (the default), notify_and_proceed or automated. And for each kind of ask there are the
    assurances with which an answer counts.

    \b
      assent policy show
      assent policy set dependencyModifications automated
      assent policy preset major_only
      assent policy accept approval token terminal host
      assent policy explain
      assent policy export --task-dir tasks/T-12
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("show")
@click.option("--json", "as_json", is_flag=True, help='Print {"hilConfig": {…}, "assurances": {…}}.')
@click.pass_obj
def _show(place: Place, /, as_json: bool) -> int:
    """Show the level of each category, and which assurances suffice where the project lists them.

    What nobody has set requires approval. Of kinds that nobody has listed, an approval takes token and terminal, and
    every other one takes all.
    """
    found = _find_whole(place)
    policy, accepted = (Policy(), {}) if found is None else (found.policy, found.assurances)
    if as_json:
        echo_json(msgspec.json.encode({HIL_CONFIG: policy, "assurances": accepted}))
    else:
        click.echo("\n".join([*render_policy(policy), *_render_accepted(accepted)]))
    return DONE


@command.command("set")
@click.argument("category", metavar="CATEGORY", type=click.UNPROCESSED, shell_complete=lambda *_: [*Category])
@click.argument("level", metavar="LEVEL", type=click.UNPROCESSED, shell_complete=lambda *_: [*Level])
@_UNATTENDED
@click.pass_obj
def _set(place: Place, /, category: str, level: str, unattended: bool) -> int:
    """Set the level of one category. Only a person can, and loosening it takes a terminal or --unattended.

    Exit status: 0 set, 2 there is no such category or level, 4 refused.
    """
    return _change(place, {parse_category(category): parse_level(level)}, is_unattended=unattended)


@command.command("preset")
@click.argument("preset", metavar="NAME", type=click.UNPROCESSED, shell_complete=lambda *_: [*Preset])
@_UNATTENDED
@click.pass_obj
def _preset(place: Place, /, preset: str, unattended: bool) -> int:
    """Set all three categories by one word: confirm_all, major_only or full.

    confirm_all requires approval for everything, major_only for all but dependencies, and full for nothing.

    Exit status: 0 set, 2 there is no such preset, 4 refused.
    """
    return _change(place, PRESETS[parse_preset(preset)].levels, is_unattended=unattended)


@command.command("accept")
@click.argument("kind", metavar="KIND", type=click.UNPROCESSED, shell_complete=lambda *_: [*Kind])
@click.argument(
    "assurances",
    metavar="ASSURANCE…",
    nargs=-1,
    type=click.UNPROCESSED,
    shell_complete=lambda *_: [*Assurance],
)
@click.option("--default", "is_default", is_flag=True, help="Take the project's list back.")
@_UNATTENDED
@click.pass_obj
def _accept(
    place: Place, /, kind: str, assurances: tuple[str, ...], is_default: bool, unattended: bool
) -> int:
    """List the assurances with which an answer to a kind of ask counts; all others are refused then.

    The kinds are question, gate, confirm, approval, finding and open_question. The assurances are token (a person's
    token, on a server), terminal (typed at a terminal), host (an agent's host says that its user chose it) and declared
    (a process says so). By default an approval takes token and terminal, and every other kind takes all of them.

    Only a person can list them, and to take more than before needs a terminal or --unattended.

    \b
      assent policy accept approval token terminal host
      assent policy accept approval --default

    Exit status: 0 listed, 2 there is no such kind or assurance, 4 refused.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if bool(assurances) == is_default:
        raise click.UsageError("Name the assurances that suffice, or --default.")
    return _change(place, {}, {kind: assurances}, is_unattended=unattended)


@command.command("explain")
@click.argument("category", metavar="[CATEGORY]", required=False, shell_complete=lambda *_: [*Category])
@click.pass_obj
def _explain(place: Place, /, category: str | None) -> int:
    """Print what an agent is told in its prompt, or in a sentence what the policy means for one category."""
    found = None if category is None else parse_category(category)
    policy = _find(place)
    click.echo(render_context(policy), nl=False) if found is None else click.echo(explain(policy, found))
    return DONE


@command.command("export")
@click.option(
    "--task-dir", "task_dir", metavar="DIR", required=True, type=click.Path(path_type=Path), help="Where to."
)
@click.pass_obj
def _export(place: Place, /, task_dir: Path) -> int:
    """Write the policy into config.json of a task directory, for the agents that work there.

    It stands there as hilConfig. What else the file holds stays; a file that is no JSON object is left alone.

    Exit status: 0 written, 1 it cannot be written there, 2 config.json is no JSON object.
    """
    policy = _find(place)  # and the store is closed again before any other file is touched
    written = write_config(task_dir, policy)
    click.echo(f"Written to {display(str(written), lines=False)}.")
    return DONE


def _find(place: Place) -> Policy:
    found = _find_whole(place)
    return Policy() if found is None else found.policy


def _find_whole(place: Place) -> ProjectPolicy | None:
    if not place.is_there():
        return None  # looking makes no store
    with place.door(reads=True) as door:
        return run_call(until(door.policy(place.project_name)))


def _change(
    place: Place,
    levels: dict[Category, Level],
    assurances: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    is_unattended: bool,
) -> int:
    who = _person(place)
    said = {category.value: level.value for category, level in levels.items()}
    with place.door() as door, uninterrupted(is_final=True):
        client = place.client(door, who, assurance=assurance_here())
        before = run_call(until(door.policy(place.project_name)))
        try:
            after = client.set_policy(said, assurances=assurances, is_unattended=is_unattended)
        except ForbiddenError as refusal:
            raise ForbiddenError(
                f"{refusal.message} --unattended says that you mean it all the same."
            ) from None
    was = (Policy(), {}) if before is None else (before.policy, before.assurances)
    lines = [] if (after.policy, after.assurances) != was else ["Nothing was changed: it is so already."]
    click.echo("\n".join([*lines, *render_policy(after.policy), *_render_accepted(after.assurances)]))
    return DONE


def _person(place: Place) -> Principal:
    mark = agent_mark(place.environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person can set a policy. "
            "A person can do it in a terminal of their own: assent policy."
        )
    return person(place.environ)


def render_policy(policy: Policy) -> list[str]:
    """Return a policy for people: a line for each category with its level and the level's text (Q30)."""
    rows = policy.levels.items()
    widest, wide = max(map(len, Category)), max(map(len, Level))
    lines = [f"{category:<{widest}}  {level:<{wide}}  {TEXTS[level]}" for category, level in rows]
    preset = preset_of(policy)
    if PRESETS[preset] == policy:  # any other policy has no word
        lines.append(f"That is the preset {preset}.")
    return lines


def _render_accepted(accepted: Mapping[Kind, Sequence[Assurance]]) -> list[str]:
    """Return a line for each kind of ask whose assurances the project lists."""
    return [f"{kind}: an answer counts with {' or '.join(given)}." for kind, given in accepted.items()]
