"""`assent inbox`: what waits, as a list, a number, a line of one's own making, or JSON."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from string import Formatter

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.gather import Gathered, gather
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.surfaces.card import render_headline, render_kind, render_notes, render_title, short_id
from assent.surfaces.ink import Ink, ink_for
from assent.surfaces.moment import render_span
from assent.surfaces.terminal import width_of
from assent.surfaces.width import columns, cut, pad, wrap

__all__ = ["command", "render_list"]

_LISTED, _ALL = 50, 100_000
_WIDEST_PROJECT = 18
_NARROWEST_TITLE = 24


@click.command("inbox", cls=PlacedCommand)
@click.option("--json", "as_json", is_flag=True, help='Print {"asks": […]}.')
@click.option("--count", "as_count", is_flag=True, help="Print how many wait.")
@click.option(
    "--format",
    "template",
    metavar="F",
    help="Print a line with {count}, {overdue}, {projects}, {oldest} and {newest} filled in.",
)
@click.option(
    "--all/--here",
    "everywhere",
    default=None,
    help="All your stores, or this project only. [default: all on a terminal, else here]",
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="List at most so many. [default: 50; JSON: all]"
)
@click.pass_obj
def command(
    place: Place,
    /,
    as_json: bool,
    as_count: bool,
    template: str | None,
    everywhere: bool | None,
    limit: int | None,
) -> int:
    """List what waits for a person, newest first; what runs out of time comes before the rest.

    \b
      assent inbox
      assent inbox --here --json
      assent inbox --format '{count} waiting, oldest {oldest}'

    For a status line, as of tmux: set -g status-right '#(assent inbox --all --count) wait'
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if sum([as_json, as_count, template is not None]) > 1:
        raise click.UsageError("Give one of --json, --count and --format.")
    is_everywhere = sys.stdout.isatty() if everywhere is None else everywhere
    wants_all = as_json or template is not None
    found = gather(place, everywhere=is_everywhere, limit=limit or (_ALL if wants_all else _LISTED))
    if as_json:
        click.echo(msgspec.json.encode({"asks": found.asks}))
    elif as_count:
        click.echo(found.count)
    elif template is not None:
        click.echo(_fill(template, found, found.at))
    else:
        ink = ink_for(sys.stdout, os.environ)
        for line in render_list(found, ink, width_of(sys.stdout), found.at):
            click.echo(line)
    for trouble in found.troubles:
        say(f"Not looked at: {trouble}")
    return DONE


def render_list(found: Gathered, ink: Ink, width: int, at: datetime) -> list[str]:
    """Return the list that people read."""
    if not found.count:
        return ["Nothing waits."]
    asks = sorted(found.asks, key=lambda ask: (ask.deadline is None, ask.deadline or at))
    kinds = max(len(render_kind(ask)) for ask in asks)
    projects = min(_WIDEST_PROJECT, max(columns(_project(ask)) for ask in asks))
    lines = []
    for ask in asks:
        lines += _rows(ask, ink, width, (kinds, projects), at)
    more = found.count - len(asks)
    if more > 0:
        lines.append(ink.faint(f"and {more} more: assent inbox --limit {found.count}"))
    return lines


def _project(ask: Ask) -> str:
    return display(ask.project, lines=False)


def _rows(ask: Ask, ink: Ink, width: int, rooms: tuple[int, int], at: datetime) -> list[str]:
    kinds, projects = rooms
    age = render_span(at - ask.opened_at, is_rough=True)
    title = render_headline(ask)
    head = f"{pad(render_kind(ask), kinds)}  "
    rest = f"{pad(_project(ask), projects)}  {age:>7}  "
    margin = " " * columns(f"{short_id(ask.ask_id)}  ")
    left = width - len(margin) - columns(head + rest)
    painted = f"{ink.accent(short_id(ask.ask_id))}  "
    if left >= _NARROWEST_TITLE:
        rows = [f"{painted}{head}{ink.faint(rest)}{cut(title, left)}"]
    else:
        brief = cut(f"{render_kind(ask)[0]} {_project(ask)}  {age}", width - len(margin))
        rows = [painted + brief, margin + cut(title, width - len(margin))]
    for note in render_notes(ask, at):
        rows += [margin + ink.caution(part) for part in wrap(note, width - len(margin))]
    return rows


def _fill(template: str, found: Gathered, at: datetime) -> str:
    asks = found.asks
    names = {
        "count": str(found.count),
        "overdue": str(sum(ask.is_overdue for ask in asks)),
        "projects": ", ".join(sorted({display(ask.project, lines=False) for ask in asks})),
        "oldest": render_span(at - asks[-1].opened_at) if asks else "",
        "newest": render_title(asks[0]) if asks else "",
    }
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise BadRequestError(f"--format cannot be read: {error}.") from None
    line = ""
    for text, name, spec, conversion in parts:
        line += text
        if name is None:
            continue
        if name not in names or spec or conversion:
            known = ", ".join(f"{{{known}}}" for known in names)
            raise BadRequestError(f'--format knows {known}, not "{{{name}}}".')
        line += names[name]
    return line
