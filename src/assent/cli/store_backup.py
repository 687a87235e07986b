"""`assent store backup`: the whole store as one file, taken while everything runs."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import click
import msgspec

from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there, now
from assent.cli.store_copy import copy_all
from assent.cli.store_end import Opened, find_keeper, open_store
from assent.protocol.display import display
from assent.protocol.error import NotFoundError, StoreReadOnlyError
from assent.protocol.words import count
from assent.storage.copy_backup import Checked, save_backup
from assent.storage.sqlite.store import SqliteStore

__all__ = ["backup"]


@click.command("backup", cls=PlacedCommand)
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print what was saved as JSON.")
@click.pass_obj
def backup(place: Place, /, file: str | None, as_json: bool) -> int:
    """Save the whole store to one new file, while everything runs, and check it.

    It is one moment of all projects, a SQLite file that only you can read. It holds everything but the secrets of
    tokens, which no store has. Without FILE it lies beside the store, or in this folder where the store is a database,
    under the moment's name. Nothing is ever overwritten.

    \b
      assent store backup
      assent store backup /mnt/safe/assent-monday.db --store postgresql://assent@db.example/assent

    Exit status: 0 saved and checked, 1 it cannot be, 4 an agent runs it.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    find_keeper(place.environ)
    address = place.own_address
    if not is_there(address):
        raise NotFoundError(f"There is no store {place.shown}.")
    started = time.monotonic()
    path = Path(file).expanduser().absolute() if file else _usual(address)
    if isinstance(address, Path):
        with open_store(address, place, reads=True) as opened:  # brings an older one to this program's shape
            saved = save_backup(_path_of(opened), path)
    else:
        with open_store(address, place) as opened:
            saved = _save_database(place, opened, path)
    seconds = time.monotonic() - started
    if as_json:
        told = {"file": str(path), "seconds": round(seconds, 3), **msgspec.to_builtins(saved)}
        echo_json(msgspec.json.encode(told))
        return DONE
    held = f"{count(saved.projects, 'project')}, {count(saved.events, 'event')}, {saved.size:,} bytes"
    click.echo(display(f"{path}: {held}, in {seconds:.1f} s; every chain is whole.", lines=False))
    return DONE


def _usual(address: Path | str) -> Path:
    folder = address.parent if isinstance(address, Path) else Path.cwd()
    return folder / f"assent-{now():%Y%m%dT%H%M%SZ}.db"


def _path_of(opened: Opened) -> Path:
    assert isinstance(opened.store, SqliteStore)  # noqa: S101 - its address is a file's
    return opened.store.path


def _save_database(place: Place, opened: Opened, path: Path) -> Checked:
    """Copy one moment of all projects into a file of its own, and save that."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=".assent-backup-", dir=path.parent))
    except OSError as error:
        raise StoreReadOnlyError(f"{path.parent} cannot be written: {error.strerror}.") from error
    try:
        moment = getattr(opened.end, "moment", nullcontext)
        with moment(), open_store(folder / "assent.db") as draft:
            copy_all(place, opened.end, draft.end)
        return save_backup(folder / "assent.db", path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
