"""`assent store restore`: a backup into an empty store. It revives nothing: see `hub.restore`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from assent.cli.exit import DONE, REFUSED, say
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, now
from assent.cli.store_copy import copy_all
from assent.cli.store_end import find_keeper, is_agreed, open_store
from assent.cli.store_look import copied, opened_file
from assent.hub.clock import SystemClock
from assent.hub.restore import mark_restored
from assent.protocol.display import display
from assent.protocol.error import NotFoundError, StoreRefusedError
from assent.protocol.principal import Principal
from assent.protocol.words import count
from assent.storage.copy import find_heads
from assent.storage.copy_backup import check_backup
from assent.storage.copy_end import End, Seal, Source
from assent.storage.copy_table import LOG_SHIFT
from assent.storage.port import Head, Transaction
from assent.storage.sql.token_row import token_of

__all__ = ["restore"]

_NEXT = "SELECT hash, type FROM events WHERE event_number >= ? AND event_number <= ? ORDER BY event_number"
_TOKENS = "SELECT token_id FROM tokens WHERE project_number = ?"
_ALL_TOKENS = "SELECT record FROM tokens"
_RECEIPTS = "SELECT count(*) FROM receipts WHERE is_redeemed = 0"
_REQUESTS = "SELECT count(*) FROM controls WHERE is_settled = 0"


@click.command("restore", cls=PlacedCommand)
@click.argument("file", metavar="FILE")
@click.option("--keep-tokens", is_flag=True, help="Revoke no tokens: nobody else can have them.")
@click.option("--yes", "is_sure", is_flag=True, help="Ask nobody.")
@click.pass_obj
def restore(place: Place, /, file: str, keep_tokens: bool, is_sure: bool) -> int:
    """Bring a backup back, into an empty store.

    What happened after the backup was taken is not known, so nothing that may have been used since is good any more:
    every receipt that was not redeemed is void, tokens and browsers that are signed in are revoked unless
    --keep-tokens, and commands to runs from before are not executed. The log of every project says so.

    \b
      assent store restore assent-20260102T030405Z.db
      assent store restore assent-20260102T030405Z.db --store postgresql://assent@db.example/assent --yes

    Exit status: 0 restored, 1 the file is no backup or the store is not empty, 4 an agent runs it, or nobody said yes.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    who = find_keeper(place.environ)
    path = Path(file).expanduser().absolute()
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.")
    if path == place.own_address:
        raise StoreRefusedError(f"{path} is the store itself.")
    with (
        _readable(path) as readable,
        opened_file(readable) as source,
        open_store(place.own_address, place) as target,
        target.alone(),
    ):
        checked = check_backup(readable)
        left = _check_empty(source, target.end)
        held = f"{count(checked.projects, 'project')}, {count(checked.events, 'event')}"
        if not left:
            click.echo(display(f"{target.shown}: {held}, restored before; nothing was done.", lines=False))
            return DONE
        say(display(f"{path} holds {held}; it goes into {target.shown}.", lines=False))
        say(f"Void afterwards: {_will_void(source, keep_tokens=keep_tokens)}.")
        if not is_sure and not is_agreed("Restore it?"):
            say("Nothing was restored.")
            return REFUSED
        copy_all(place, source, target.end, left, _seal(who, keep_tokens=keep_tokens))
    click.echo(display(f"{target.shown}: {held} restored, every chain is whole.", lines=False))
    return DONE


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """Give the backup in this program's shape; one of an older shape is migrated as a copy, and stays as it is."""
    with opened_file(path) as end:
        if end.is_current:
            yield path
            return
        with copied(end, path) as copy:
            with open_store(copy):
                pass
            yield copy


def _check_empty(source: Source, target: End) -> tuple[str, ...]:
    """Return the projects that are still to be restored.

    Raises:
        StoreRefusedError: the store has something else than what an interrupted restore of this backup has left.
    """
    heads = find_heads(source)
    there = find_heads(target)
    for name, head in there.items():
        wanted = heads.get(name)
        if wanted is None or not _is_restored(target, head, wanted):
            raise StoreRefusedError(f"{target.name} is not empty: a backup is restored into an empty store.")
    return tuple(name for name in heads if name not in there)


def _is_restored(target: End, head: Head, wanted: Head) -> bool:
    """Say whether a project is what this backup becomes: its log, and right behind it the word that it was restored."""
    last = head.number * LOG_SHIFT + wanted.sequence
    found = target.query(_NEXT, (last, last + 1))
    return len(found) > 1 and bytes(found[0][0]) == wanted.hash and found[1][1] == "store.restored"


def _will_void(source: Source, *, keep_tokens: bool) -> str:
    at = now()
    receipts, requests = source.query(_RECEIPTS)[0][0], source.query(_REQUESTS)[0][0]
    live = sum(token_of(bytes(row[0])).is_live(at) for row in source.query(_ALL_TOKENS))
    tokens = "no token" if keep_tokens else count(live, "token")
    return f"{count(receipts, 'receipt')}, {tokens}, {count(requests, 'command')} to runs"


def _seal(who: Principal, *, keep_tokens: bool) -> Seal:
    """Return what is done to each project before it appears."""

    def seal(transaction: Transaction, target: End, head: Head) -> None:
        tokens = [] if keep_tokens else [row[0] for row in target.query(_TOKENS, (head.number,))]
        mark_restored(transaction, head.project, (target.clock or SystemClock()).now(), who, tokens)

    return seal
