"""The page of the command line, out of click's own objects."""

from __future__ import annotations

import inspect
import re

import click

from assent.cli.group import root
from assent.cli.place import Place
from assent.cli.table import COMMANDS
from tools.source import table

__all__ = ["every_command", "render_cli"]

_EVERYWHERE = {"--store", "--project", "--help"}

_HEAD = """\
# Command line

`assent COMMAND --help` says the same on your terminal. What the exit statuses mean: [exit status](exit-status.md).
What `--json` prints: [JSON](json.md).
"""


def every_command() -> dict[str, click.Command]:
    """Return all commands by what is typed: `assent ask`, `assent audit verify`."""
    found: dict[str, click.Command] = {"assent": root}
    with click.Context(root, info_name="assent", obj=Place()) as context:
        for name in COMMANDS:
            command = root.get_command(context, name)
            if command is None:
                continue
            found[f"assent {name}"] = command
            if isinstance(command, click.Group):
                found |= {f"assent {name} {inner}": part for inner, part in command.commands.items()}
    return found


def render_cli() -> str:
    """Return the page."""
    parts = [_HEAD]
    section = ""
    for called, command in every_command().items():
        entry = COMMANDS.get(called.split(" ")[1]) if " " in called else None
        if entry is not None and entry.section != section:
            section = entry.section
            parts.append(f"## {section}\n")
        parts.append(_render_command(called, command, is_root=entry is None))
    return "\n".join(parts)


def _render_command(called: str, command: click.Command, *, is_root: bool) -> str:
    with click.Context(command, info_name=called, help_option_names=["-h", "--help"]) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        rows = [
            row
            for parameter in command.get_params(context)
            if (is_root or _EVERYWHERE.isdisjoint(parameter.opts)) and (row := _row(parameter, context))
        ]
    parts = [
        f"## Every command\n\n`{called} {usage}`\n" if is_root else f"### {called}\n\n`{called} {usage}`\n"
    ]
    parts += _render_help(command.help or "")
    if is_root:
        parts.append("`--store` and `--project` stand before or after the name of any command.\n")
    if rows:
        parts.append(table(("option", "meaning"), rows))
    return "\n".join(parts)


def _row(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    told = parameter.get_help_record(context)
    if told is None or not isinstance(parameter, click.Option):
        return None  # what an argument is stands in the text above the table
    names, meaning = told
    return f"`{names}`", _plain(" ".join(meaning.split()))


def _plain(text: str) -> str:
    # A default in brackets would be taken for a link's text by some readers, and a placeholder for markup.
    return re.sub(r"(\{\w+\})", r"`\1`", text)


def _render_help(text: str) -> list[str]:
    parts = []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.startswith("\b"):
            lines = inspect.cleandoc("\n" + part.partition("\n")[2])
            parts.append(f"```sh\n{lines}\n```\n")
        else:
            parts.append(" ".join(part.split()) + "\n")
    return parts
