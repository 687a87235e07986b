"""From the end of an id to the ask and the door to its store, among all that this user can see.

An end that fits several asks means none of them: agents choose what they open, so the nearest is not the one that is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from assent.cli.place import Place, acting, is_there, show_address
from assent.client.calls import SHORTEST_ID
from assent.client.client import Client
from assent.client.door import Door, run_call, until
from assent.protocol.ask import Ask
from assent.protocol.display import is_encodable, quote
from assent.protocol.error import AssentError, NotFoundError
from assent.protocol.principal import Assurance, Principal

__all__ = ["Found", "complete_ask", "finding", "look"]

T = TypeVar("T")

_MOST_OFFERED = 50


class Found(NamedTuple):
    """An ask and the door to its store."""

    door: Door
    ask: Ask

    def client(self, principal: Principal, assurance: Assurance = Assurance.DECLARED) -> Client:
        """Return a client in the ask's own project; on a server it acts for whoever the token belongs to."""
        who = acting(self.door, principal)
        return Client(self.door, self.ask.project, who, via="cli", assurance=assurance)


@contextmanager
def finding(place: Place, ask_id: str, *, reads: bool = False) -> Iterator[Found]:
    """Give the one ask that `ask_id` means, to who only `reads` it or does something with it.

    Raises:
        NotFoundError: none is meant, or several are.
    """
    ask_id = ask_id.strip().lower()
    if len(ask_id) < SHORTEST_ID:
        raise NotFoundError(
            f'"{quote(ask_id)}" is too short: give at least the last {SHORTEST_ID} characters of an id.'
        )
    if not is_encodable(ask_id):
        raise NotFoundError(f'There is no ask "{quote(ask_id)}" here; assent inbox lists what waits.')
    address, ask = _search(place, ask_id)
    with place.looking(address) if reads else place.door(address) as door:
        yield Found(door, ask)


def _search(place: Place, ask_id: str) -> tuple[Path | str, Ask]:
    troubles: list[str] = []
    read = partial(_asks_called, ask_id=ask_id, project=place.project)
    found = [
        (address, ask)
        for address in (place.address, *place.others)
        for ask in look(place, address, read, troubles)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFoundError(_render_ambiguity(ask_id, found))
    skipped = f" Not looked at: {'; '.join(troubles)}" if troubles else ""
    raise NotFoundError(f'There is no ask "{quote(ask_id)}" here; assent inbox lists what waits.{skipped}')


def _render_ambiguity(ask_id: str, found: Sequence[tuple[Path | str, Ask]]) -> str:
    listed = ", ".join(
        f'{ask.ask_id} in {quote(ask.project, 60)} ("{quote(ask.prompt.title, 60)}")' for _, ask in found[:5]
    )
    is_same = len({ask.ask_id for _, ask in found}) == 1
    more = "Say which with --store or --project." if is_same else "Give more of the id, or --project."
    return f"Several asks end in {quote(ask_id)}: {listed}. {more}"


def _asks_called(door: Door, ask_id: str, project: str | None) -> list[Ask]:
    return run_call(until(door.find(ask_id, project)))


def look(place: Place, address: Path | str, read: Callable[[Door], list[T]], troubles: list[str]) -> list[T]:
    """Read in a store, if it is there. Another one than the current that cannot be read is a trouble, not an error."""
    if not (place.is_there() if address == place.address else is_there(address)):
        return []
    try:
        with place.looking(address) as door:
            return read(door)
    except AssentError as error:
        if address == place.address:
            raise
        troubles.append(f"{show_address(address)} ({error.message})")
        return []


def complete_ask(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the open asks of everywhere. A key press must be quick and quiet, so whatever goes wrong offers nothing."""
    from assent.cli.gather import gather
    from assent.surfaces.card import render_title, short_id

    try:
        place = context.find_object(Place)
        asks = gather(place, everywhere=True, limit=_MOST_OFFERED).asks if place else []
    except Exception:  # noqa: BLE001 - see above
        return []
    offered = []
    for ask in asks:
        value = short_id(ask.ask_id)
        if not value.startswith(incomplete):
            value = ask.ask_id
        if value.startswith(incomplete):
            offered.append(CompletionItem(value, help=render_title(ask)[:60]))
    return offered
