"""All stores of a user as one feed, for the terminal inbox: looked at together, acted on each by its own door."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from assent.cli.lookout import RECENT, Lookout, Sight, sort_runs
from assent.cli.place import Place, acting, is_there, now
from assent.client import steer
from assent.client.calls import Calls
from assent.client.door import Door, run_call
from assent.client.identity import assurance_here, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.ask import Ask
from assent.protocol.error import NotFoundError
from assent.protocol.run import Run
from assent.protocol.topic import CONTROL_TOPIC, Message
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.view import RunDetail, Snapshot
from assent.surfaces.tui.wish import Claim, Control, Send, Withdraw

__all__ = ["StoreFeed"]

_ALL = 100_000
_COMMANDS_SHOWN = 12
_VIA = "inbox"
_STORES_SECONDS = 1.0
"""So often it is looked which stores there are."""
_SERVER_SECONDS = 3.0
"""So often a server or a database is looked at though it told of nothing."""


class StoreFeed:
    """See `surfaces.tui.feed`."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._tell: Callable[[], None] = lambda: None
        self._lookout = Lookout(place, everywhere=True, ended_since=RECENT, tell=self._hear, reads=False)
        self._homes: dict[str, Door] = {}
        """By ask id or by project and run: where it is."""
        self._orders: dict[tuple[Door, str], list[Message]] = {}
        """What was read of the commands of a project."""
        self._is_closed = threading.Event()
        self._looking = threading.Lock()

    def _hear(self) -> None:
        self._tell()

    def listen(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        with uninterrupted():
            threading.Thread(target=self._watch, daemon=True, name="assent-stores").start()

    def _watch(self) -> None:
        """Tell of stores that come and go: those that are open tell of everything else themselves."""
        known = self._places()
        is_elsewhere = isinstance(self._place.address, str)
        seconds = _SERVER_SECONDS if is_elsewhere else _STORES_SECONDS
        while not self._is_closed.wait(seconds):
            found = self._places()
            # A server that is gone tells nobody: only looking shows it. So does a database.
            if found != known or is_elsewhere:
                known = found
                self._tell()

    def _places(self) -> tuple[bool, list[Path]]:
        return is_there(self._place.address), self._place.others

    def look(self) -> Snapshot:
        with self._looking:  # the first look may still be under way when the next one is wanted
            return self._look()

    def _look(self) -> Snapshot:
        asks: list[Ask] = []
        runs: list[BoardRun] = []
        found = self._lookout.look_each(self._lookout.now())
        if self._lookout.away is not None:
            raise self._lookout.away
        homes: dict[str, Door] = {}
        for door, seen, waiting in found:
            homes |= {ask.ask_id: door for ask in waiting}
            homes |= {_run_key(each.run): door for each in seen}
            asks += waiting
            runs += seen
        doors = {seen.door for seen in found}
        # What has ended stays where it was, while its store is there.
        self._homes = {key: door for key, door in self._homes.items() if door in doors} | homes
        self._orders = {key: kept for key, kept in self._orders.items() if key[0] in doors}
        return Snapshot(
            tuple(asks),
            tuple(sort_runs(runs)),
            len(found),
            tuple(self._lookout.troubles),
            self._who(found),
            self._lookout.now() - now(),
        )

    def _who(self, found: list[Sight]) -> str:
        said = person(self._place.environ)
        return (acting(found[0].door, said) if found else said).name

    def find(self, ask: Ask) -> Ask:
        return run_call(self._calls(ask.ask_id, ask.project).show(ask.ask_id))

    def answer(self, wish: Send) -> Ask:
        calls, ask_id = self._calls(wish.ask.ask_id, wish.ask.project), wish.ask.ask_id
        if wish.reply is None:
            return run_call(calls.decline(ask_id, wish.reason))
        return run_call(calls.answer(ask_id, wish.reply, confirmed=wish.is_confirmed, reason=wish.reason))

    def claim(self, wish: Claim) -> Ask:
        return run_call(self._calls(wish.ask.ask_id, wish.ask.project).claim(wish.ask.ask_id))

    def withdraw(self, wish: Withdraw) -> Ask:
        return run_call(self._calls(wish.ask.ask_id, wish.ask.project).withdraw(wish.ask.ask_id, wish.reason))

    def control(self, wish: Control) -> str:
        calls = self._calls(_run_key(wish.run), wish.run.project)
        result = run_call(
            steer.control(calls, wish.run.run_id, wish.command, model=wish.model, reason=wish.reason)
        )
        return "" if result.is_success else steer.failure_of(result).message

    def detail(self, run: Run) -> RunDetail:
        calls = self._calls(_run_key(run), run.project)
        kept = self._orders.setdefault((calls.door, run.project), [])
        kept += run_call(steer.read_topic(calls, CONTROL_TOPIC, kept[-1].sequence if kept else 0, _ALL))
        about = [each for each in kept if _is_about(each.value, run.run_id)]
        return RunDetail(tuple(about[-_COMMANDS_SHOWN:]), run_call(steer.read_output(calls, run.run_id)))

    def address(self, ask: Ask) -> str:
        home = self._homes.get(ask.ask_id)
        url = "" if home is None else home.url
        # A project may be called by anything that can be read, and an address cannot hold all of that.
        return f"{url}/#/inbox/{quote(ask.project, safe='')}/{ask.ask_id}" if url.startswith("http") else ""

    def close(self) -> None:
        self._is_closed.set()
        self._lookout.__exit__(None, None, None)

    def _calls(self, key: str, project: str) -> Calls:
        door = self._homes.get(key)
        if door is None:
            raise NotFoundError("The store that it was in is not there any more.")
        who = acting(door, person(self._place.environ))
        return Calls(door, project, who, _VIA, assurance_here())


def _run_key(run: Run) -> str:
    return f"{run.project}/{run.run_id}"


def _is_about(value: object, run_id: str) -> bool:
    target = value.get("target") if isinstance(value, dict) else None
    return isinstance(target, dict) and run_id in target.values()
