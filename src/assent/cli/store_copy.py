"""`assent store copy`: projects from one store into another, a file or a database either way."""

from __future__ import annotations

from contextlib import AbstractContextManager

import click

from assent.cli.exit import DONE, say
from assent.cli.place import Place, is_there, now, show_address
from assent.cli.store_end import Opened, find_keeper, open_store, parse_address
from assent.protocol.display import display, quote
from assent.protocol.error import BadRequestError, NotFoundError
from assent.protocol.words import count
from assent.storage.copy import PAGE, Copied, copy_project, find_heads, forget_unfinished
from assent.storage.copy_end import End, Seal, Source
from assent.surfaces.progress import Progress
from assent.surfaces.terminal import TerminalSurface

__all__ = ["copy", "copy_all", "open_source", "render_copied"]


@click.command("copy", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="Only this one. [default: all of them]"
)
@click.option("--fresh", is_flag=True, help="Drop what unfinished copies have left in TO first.")
@click.pass_obj
def copy(place: Place, /, source: str, target: str, projects: tuple[str, ...], fresh: bool) -> int:
    """Copy projects from one store into another: sqlite:///path/file.db or postgresql://user@host/database.

    Everything comes along: the log, asks, runs, tasks, tokens, receipts. Each project is held still at its source for
    the end of its copy, compared with its copy by the chain of its log and the counts of all tables, and appears in TO
    whole or not at all. A copy that was stopped goes on where it was when it is started again. A project that TO has
    already, and not the same, is refused. The source is left as it is: let nobody use it any more.

    \b
      assent store copy .assent/assent.db postgresql://assent@db.example/assent
      assent store copy postgresql://assent@db.example/assent shop.db --project shop

    Exit status: 0 copied, also where all of it was there before; 1 refused or stopped; 2 an address cannot be; 4 an
    agent runs it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    find_keeper(place.environ)
    if parse_address(source, place.environ) == parse_address(target, place.environ):
        raise BadRequestError("FROM and TO are the same store.")
    chosen = projects or ((place.project,) if place.project else None)
    with (
        open_source(place, source) as origin,
        open_store(parse_address(target, place.environ), place) as other,
        other.alone(),
    ):
        if fresh and (dropped := forget_unfinished(other.end)):
            say(f"Unfinished copies dropped: {dropped:,}.")
        copied = copy_all(place, origin.end, other.end, chosen)
    for each in copied:
        click.echo(display(render_copied(each), lines=False))
    events = sum(each.events for each in copied)
    click.echo(
        display(
            f"{origin.shown} -> {other.shown}: {count(len(copied), 'project')}, {count(events, 'event')}, all compared.",
            lines=False,
        )
    )
    return DONE


def open_source(place: Place, given: str) -> AbstractContextManager[Opened]:
    """Give the store to copy from, which must be there.

    Raises:
        NotFoundError: there is no such file.
    """
    address = parse_address(given, place.environ)
    if not is_there(address):
        raise NotFoundError(f"There is no store {show_address(address)}.")
    return open_store(address, place, reads=True)


def copy_all(
    place: Place, source: Source, target: End, chosen: tuple[str, ...] | None = None, seal: Seal | None = None
) -> list[Copied]:
    """Copy the chosen projects, or all, with a line that says how far it is."""
    known = find_heads(source)
    for name in chosen or ():
        if name not in known:
            raise NotFoundError(f'{source.name} has no project "{quote(name, 60)}".')
    copied: list[Copied] = []
    with TerminalSurface(now, place.environ) as terminal, Progress(terminal) as progress:
        for name in known if chosen is None else chosen:

            def tell(done: int, total: int, name: str = name) -> None:
                progress.show("Copying", -(-done // PAGE), -(-total // PAGE), name)

            copied.append(copy_project(source, target, name, tell=tell, seal=seal))
    return copied


def render_copied(copied: Copied) -> str:
    """Return what was copied and compared, on one line."""
    rows = ", ".join(f"{name} {number:,}" for name, number in copied.rows.items() if number)
    what = f"{copied.project}: {count(copied.events, 'event')}, chain whole{f'; {rows}' if rows else ''}"
    if copied.is_old:
        return f"{what}; it was there before"
    return f"{what}; gone on at event {copied.found + 1:,}" if copied.found else what
