"""`assent store adopt`: a person takes over a store that they have not made, after a look at what it holds.

Rule 1: an agent never adopts.
Rule 2: what may have been used elsewhere is not revived: a backup, or a copy whose original is still there, is a restore.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

import click
import msgspec

from assent.cli.exit import DONE, REFUSED, say
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, is_there, now
from assent.cli.store_end import find_keeper, is_agreed, open_store
from assent.cli.store_look import copied, opened_file
from assent.client.trust import Kinship, find_kin, is_trusted, note_adopted
from assent.hub.clock import SystemClock
from assent.hub.desk import instant
from assent.hub.ids import new_store_mark
from assent.hub.restore import mark_restored
from assent.protocol.display import display
from assent.protocol.error import NotFoundError
from assent.protocol.principal import Principal
from assent.protocol.words import count
from assent.storage.copy import find_heads
from assent.storage.sql.token_row import token_of
from assent.storage.sqlite.copy_end import SqliteEnd
from assent.storage.sqlite.place import prepare

__all__ = ["adopt"]

_ASKS = "SELECT state, count(*) FROM asks GROUP BY state"
_ASKERS = "SELECT DISTINCT asker FROM asks ORDER BY asker LIMIT ?"
_MOST_NAMED = 5
_POLICIES = "SELECT count(*) FROM policies"
_TOKENS = "SELECT record FROM tokens"
_WHEN = "SELECT min(at), max(at) FROM events"
_OF_PROJECT = "SELECT token_id FROM tokens WHERE project_number = ?"


class _Held(msgspec.Struct, frozen=True):
    """What a store holds, as far as it matters to who adopts it."""

    store: str
    projects: int
    asks: int
    open: int
    answers: int
    policies: int
    tokens: int
    """Those that are good now."""
    askers: list[str]
    first: datetime | None
    last: datetime | None


@click.command("adopt", cls=PlacedCommand)
@click.option("--yes", "is_sure", is_flag=True, help="Ask nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print what it holds as JSON.")
@click.pass_obj
def adopt(place: Place, /, is_sure: bool, as_json: bool) -> int:
    """Take over a store that you have not made: one that you moved, one that came with a folder, or a backup.

    What it holds is shown first. From then on its answers, policies and tokens count. Approvals to run the commands of a
    repository's files do not come along. A backup, or a copy whose original is still there, is restored by it: every
    receipt that was not redeemed is void, tokens are revoked, and commands to runs from before are not executed.

    \b
      assent store adopt
      assent store adopt --store sqlite:////srv/shop/assent.db --yes

    Exit status: 0 adopted, 1 there is no store, or it cannot be used; 4 an agent runs it, or nobody said yes.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    who = find_keeper(place.environ)
    path = place.path
    if not is_there(path):
        raise NotFoundError(f"There is no store {place.shown}.")
    if is_trusted(path, place.environ):
        click.echo(display(f"{path} is yours already.", lines=False))
        return DONE
    prepare(path)  # what is not safe to use is not adopted either
    kin = find_kin(path, place.environ)
    held = _look(path)
    if as_json:
        echo_json(msgspec.json.encode(held))
    for line in _render(held, kin):
        say(display(line, lines=False))
    if not is_sure and not is_agreed("Adopt it?"):
        say("Nothing was changed.")
        return REFUSED
    mark = new_store_mark()
    note_adopted(path, place.environ, mark)  # before the file has the mark, it says nothing
    _take_over(path, mark, who if kin.is_copy else None)
    if not as_json:
        click.echo(display(f"{path} is yours.", lines=False))
    return DONE


def _look(path: Path) -> _Held:
    with opened_file(path) as end:
        end.check()
        with copied(end, path) as copy, open_store(copy) as opened:
            query = opened.end.query
            asks: Counter[str] = Counter(dict(query(_ASKS)))
            first, last = query(_WHEN)[0]
            at = now()
            return _Held(
                store=str(path),
                projects=len(find_heads(opened.end)),
                asks=asks.total(),
                open=asks["open"],
                answers=asks["answered"],
                policies=query(_POLICIES)[0][0],
                tokens=sum(token_of(bytes(record)).is_live(at) for (record,) in query(_TOKENS)),
                askers=[asker for (asker,) in query(_ASKERS, (_MOST_NAMED + 1,))],
                first=None if first is None else instant(first),
                last=None if last is None else instant(last),
            )


def _render(held: _Held, kin: Kinship) -> list[str]:
    asked = f"{count(held.asks, 'ask')} ({held.open:,} open), {count(held.answers, 'answer')}"
    rules = f"{held.policies:,} {'policy' if held.policies == 1 else 'policies'}, {count(held.tokens, 'live token')}"
    lines = [held.store, f"  {count(held.projects, 'project')}: {asked}, {rules}"]
    if held.askers:
        lines.append(
            f"  asked by {', '.join(held.askers[:_MOST_NAMED])}{' and others' if len(held.askers) > _MOST_NAMED else ''}"
        )
    if held.first is not None and held.last is not None:
        lines.append(f"  from {held.first:%Y-%m-%d %H:%M} to {held.last:%Y-%m-%d %H:%M} UTC")
    if kin.is_backup:
        lines.append("It is a backup: receipts will be void, tokens revoked, commands to runs not executed.")
    elif kin.is_there:
        lines.append(
            f"It is a copy of {kin.original}, which is still there: receipts will be void here, tokens revoked, "
            "commands to runs not executed. What is answered here is not heard there."
        )
    elif kin.original is not None:
        lines.append(f"It was {kin.original} before.")
    else:
        lines.append("You have not made it: from now on what it says would count as if you had.")
    return lines


def _take_over(path: Path, mark: bytes, restorer: Principal | None) -> None:
    """Give the file the mark; one that goes on where another was is restored in the same transaction."""
    with open_store(path) as opened, opened.alone():
        end = opened.end
        assert isinstance(end, SqliteEnd)  # noqa: S101 - it is a file
        heads = find_heads(end).values()
        tokens = {head.project: [row[0] for row in end.query(_OF_PROJECT, (head.number,))] for head in heads}
        with end.writing():
            if restorer is not None:
                transaction = end.transaction()
                for project, ids in tokens.items():
                    mark_restored(transaction, project, SystemClock().now(), restorer, ids)
            end.give_mark(mark, is_alone=restorer is not None)
