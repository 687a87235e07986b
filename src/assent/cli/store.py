"""`assent store`: which store this is, and how its data is moved, kept and brought back.

Only a person or an operator does so; an agent may look. No line has a password.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand, PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there
from assent.cli.store_adopt import adopt
from assent.cli.store_backup import backup
from assent.cli.store_copy import copy
from assent.cli.store_end import Opened, find_keeper, open_store
from assent.cli.store_look import copied, opened_file
from assent.cli.store_restore import restore
from assent.hub.compose import hub_on_database
from assent.protocol.display import display
from assent.protocol.error import StoreUntrustedError
from assent.protocol.words import count
from assent.storage.copy import find_heads, find_unfinished
from assent.storage.sqlite.store import SqliteStore

__all__ = ["command"]


class _Told(msgspec.Struct, frozen=True):
    """What there is to say of a store."""

    store: str
    kind: str
    schema: int
    size: int
    """Bytes."""
    projects: dict[str, int]
    """The number of events of each."""
    unfinished: int
    """Copies into it that were not finished."""


@click.group("store", cls=PlacedGroup, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def command(context: click.Context, /, as_json: bool) -> int:
    """Say which store this is and what it holds; move it, keep it, bring it back.

    \b
      assent store
      assent store copy .assent/assent.db postgresql://assent@db.example/assent
      assent store backup
      assent store restore assent-20260102T030405Z.db
      assent store adopt

    Exit status: 0 done, 1 it cannot be read.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if context.invoked_subcommand is not None:
        return DONE
    place = context.ensure_object(Place)
    address = place.own_address
    if not place.is_there():
        click.echo(f"{place.shown} is not there yet; the first ask makes it.")
        return DONE
    told = _look_at(place, address)
    if as_json:
        echo_json(msgspec.json.encode(told))
        return DONE
    lines = [f"{told.store}", f"{told.kind}, schema {told.schema}, {told.size:,} bytes"]
    lines += [f"  {name}: {count(events, 'event')}" for name, events in told.projects.items()]
    lines.append(f"{count(len(told.projects), 'project')}, {count(sum(told.projects.values()), 'event')}")
    if told.unfinished:
        again = "start the copy again, or drop them with assent store copy --fresh"
        lines.append(f"Unfinished copies into it: {told.unfinished:,}; {again}.")
    click.echo("\n".join(display(line, lines=False) for line in lines))
    return DONE


command.add_command(copy)
command.add_command(backup)
command.add_command(restore)
command.add_command(adopt)


@command.command("migrate", cls=PlacedCommand)
@click.option(
    "--finish", is_flag=True, help="Also take away what only older programs use: none may be running."
)
@click.pass_obj
def _migrate(place: Place, /, finish: bool) -> int:
    """Bring the store to this program's shape now, and not with the next command.

    Servers of the version before go on with a database that was migrated. When none is left, --finish takes away what
    only they used.

    \b
      assent store migrate
      assent store migrate --finish

    Exit status: 0 done, also where nothing was to do; 1 it cannot be; 4 refused.
    """  # noqa: D301 - as above
    find_keeper(place.environ)
    address = place.own_address
    if isinstance(address, Path):
        before = _schema_of(address)
        with open_store(address, place) as opened:
            after = _look(opened).schema
        done = [f"{number:04}" for number in range(before + 1, after + 1)]
    else:
        done = _migrate_database(address, is_last=finish)
    what = f"applied {', '.join(done)}" if done else "nothing was to do"
    click.echo(display(f"{place.shown}: {what}.", lines=False))
    return DONE


def _migrate_database(url: str, *, is_last: bool) -> list[str]:
    store = hub_on_database(url).store  # says what to install where there is no driver
    from assent.storage.postgres.store import PostgresStore

    assert isinstance(store, PostgresStore)  # noqa: S101 - its address is a database's
    try:
        return store.migrate(is_last=is_last)
    finally:
        store.close()


def _schema_of(path: Path) -> int:
    from assent.storage.sqlite.copy_end import FileEnd

    if not is_there(path):
        return 0
    end = FileEnd(path)
    try:
        return end.schema
    finally:
        end.close()


def _look_at(place: Place, address: Path | str) -> _Told:
    """Look at a store; one that is named and is a backup or a copy is looked at as a copy of it."""
    try:
        with open_store(address, place, reads=True) as opened:
            return _look(opened)
    except StoreUntrustedError:
        if not (place.store and isinstance(address, Path)):
            raise
        with opened_file(address) as end, copied(end, address) as copy, open_store(copy) as opened:
            return msgspec.structs.replace(
                _look(opened), store=str(address), schema=end.schema, size=address.stat().st_size
            )


def _look(opened: Opened) -> _Told:
    end = opened.end
    schema = end.query("SELECT max(number) FROM migrations")[0][0]
    if isinstance(opened.store, SqliteStore):
        kind, size = "SQLite", opened.store.path.stat().st_size
    else:
        kind, size = "PostgreSQL", end.query("SELECT pg_database_size(current_database())")[0][0]
    events = {name: head.sequence for name, head in find_heads(end).items()}
    return _Told(opened.shown, kind, schema, size, events, len(find_unfinished(end)))
