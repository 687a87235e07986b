"""The root command and what every command has: --store and --project, before or after its name, and help by -h."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from assent.cli.place import Place
from assent.cli.table import COMMANDS

__all__ = ["PlacedCommand", "PlacedGroup", "root"]

_SETTINGS = {"help_option_names": ["-h", "--help"]}


def _keep(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and parameter.name is not None:
        setattr(context.find_object(Place), parameter.name, value)


def _place_options() -> list[click.Parameter]:
    store = (
        "Use this store, as in sqlite:///path/file.db or postgresql://user@host/database, or this server, as in "
        "http://host:port, with ASSENT_TOKEN. "
        "[env: ASSENT_STORE; default: .assent/assent.db of this folder]"
    )
    project = "Act in this project. [env: ASSENT_PROJECT; default: the folder's name]"
    return [
        click.Option(["--store"], metavar="URL", help=store, callback=_keep, expose_value=False),
        click.Option(["--project"], metavar="NAME", help=project, callback=_keep, expose_value=False),
    ]


class PlacedCommand(click.Command):
    """A command that can be told its store and project."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes.setdefault("context_settings", _SETTINGS)
        super().__init__(*args, **attributes)
        self.params += _place_options()


class PlacedGroup(click.Group):
    """A group of such commands."""

    command_class = PlacedCommand

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes.setdefault("context_settings", _SETTINGS)
        super().__init__(*args, **attributes)
        self.params += _place_options()


class _Root(PlacedGroup):
    """`assent` itself: knows its commands by the table and loads the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(f"assent.cli.{entry.home}"), entry.name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, COMMANDS, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f'There is no command "{name}".{meant}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name, entry.summary) for name, entry in COMMANDS.items() if entry.section == section]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


def _version(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        from assent import __version__

        click.echo(f"assent {__version__}")
        context.exit()


@click.command("assent", cls=_Root, invoke_without_command=True)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def root(context: click.Context) -> int:
    """One inbox for every question your agents ask.

    Ask once, answer anywhere, and silence is never a yes.

    \b
      assent ask "Which database?" --option PostgreSQL --option SQLite
      assent inbox
      assent answer k3x9d2 PostgreSQL
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if context.invoked_subcommand is not None:
        return 0
    place = context.ensure_object(Place)
    from assent.cli.terminal_inbox import can_open, is_for_people, open_inbox

    if is_for_people(place) and can_open():
        return open_inbox(place)
    from assent.cli.summary import summarise

    return summarise(place)
