"""Workers on a disk that is full, that cannot be written, or whose store is another user's."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from typing import Any

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.ids import new_command_id
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.storage.migration import load_migrations
from assent.storage.queries import load_queries
from assent.storage.sqlite import schema
from assent.storage.sqlite import store as store_module
from torture.look import row_of
from torture.nursery import Wire
from torture.shim import Disk
from torture.twins import swap

__all__ = ["filler", "visitor"]

PROJECT = "brim"
_MOST = 400
"""Commands in a cycle, should the disk never be full."""


class Hands:
    """An agent and a person on one hub, and what each of their commands came to."""

    def __init__(self, store: Path) -> None:
        hub = open_hub(store, os.environ)
        self.hub = hub
        self.agent = Client(hub, PROJECT, Principal(Role.AGENT, "coder"))
        self.person = Client(hub, PROJECT, Principal(Role.HUMAN, "ana"))
        self._open: list[str] = []
        self._number = 0
        self._name = new_command_id()

    def try_one(self) -> dict[str, Any]:
        """Do the next command in turn; return what was told, and nothing else."""
        self._number += 1
        turns = ("ask", "ask", "answer", "decline", "ask", "withdraw", "claim")
        verb = turns[self._number % len(turns)]
        ask_id = self._open[0] if self._open else ""
        if not ask_id or verb == "ask":
            verb, ask_id = "ask", ""
        try:
            if verb == "ask":
                # A key finds the ask again, so that a refused one can be looked for.
                key = f"{self._name}-{self._number}"
                ask = self.agent.open("Is there room?", ["Yes", "No"], key=key, body="room " * 200).ask
                self._open.append(ask.ask_id)
            elif verb == "answer":
                ask = self.person.answer(ask_id, "1")
            elif verb == "decline":
                ask = self.person.decline(ask_id, "no " * 50)
            elif verb == "withdraw":
                ask = self.agent.withdraw(ask_id)
            else:
                ask = self.person.claim(ask_id)
        except AssentError as error:
            return self._told(verb, ask_id, error)
        if verb not in ("ask", "claim"):
            self._open.remove(ask_id)
        return {
            "verb": verb,
            "ask_id": ask.ask_id,
            "key": ask.key,
            "code": "",
            "sentence": "",
            "row": row_of(ask),
        }

    def _told(self, verb: str, ask_id: str, error: AssentError) -> dict[str, Any]:
        key = f"{self._name}-{self._number}" if verb == "ask" else None
        return {
            "verb": verb,
            "ask_id": ask_id,
            "key": key,
            "code": error.code,
            "sentence": error.message,
            "row": None,
        }

    def look(self) -> str:
        """Read; return the code of a failure."""
        try:
            self.agent.inbox(limit=5)
        except AssentError as error:
            return error.code
        return ""


def filler(wire: Wire, store: str, is_mount: bool) -> None:
    """Fill the disk, go on until it is full, make room, go on; all in one process with one client."""
    disk = None if is_mount else Disk()
    hands = Hands(Path(store))
    first = [hands.try_one() for _ in range(10)]
    ballast = Path(store).parent / "ballast"
    wire.say(told=first)
    while True:
        left = wire.hear()["left"]
        _fill(disk, ballast, left)
        told = []
        for _ in range(_MOST):
            told.append(hands.try_one())
            if told[-1]["code"]:
                break
        told.append(hands.try_one())
        reading = hands.look()
        _make_room(disk, ballast)
        began = time.monotonic()
        after = hands.try_one()
        wire.say(told=[*told, after], reading=reading, after=after["code"], seconds=time.monotonic() - began)


def _fill(disk: Disk | None, ballast: Path, left: int) -> None:
    if disk is not None:
        disk.room = left
        return
    space = os.statvfs(ballast.parent)
    free = space.f_bavail * space.f_frsize
    with ballast.open("wb") as file:
        file.write(bytes(max(0, free - left)))


def _make_room(disk: Disk | None, ballast: Path) -> None:
    if disk is not None:
        disk.room = None
    else:
        ballast.unlink()


def _rehearse(folder: Path) -> None:
    """Load all that a client needs while we may still read it: the interpreter may lie in a folder of root's own."""
    swap(store_module, "load_queries", cache(load_queries))
    swap(schema, "load_migrations", cache(load_migrations))
    hands = Hands(folder / "x.db")
    for _ in range(8):
        hands.try_one()
    hands.hub.close()


def visitor(wire: Wire, store: str, user: int, has_changed_name: bool, folder: str) -> None:
    """Use one client, as an ordinary user, whenever the trial says so; tell what came of it."""
    if user:
        _rehearse(Path(folder) / f"rehearsal-{os.getpid()}")
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    if has_changed_name:
        real = os.geteuid
        os.geteuid = lambda: real() + 1
    hands: Hands | None = None
    while True:
        order = wire.hear()["order"]
        if order == "leave" and hands is not None:
            hands.hub.close()
            hands = None
            wire.say(code="", sentence="")
            continue
        if order == "own name":
            os.geteuid = os.getuid
            wire.say(code="", sentence="")
            continue
        try:
            hands = hands or Hands(Path(store))
            told = hands.try_one()
        except AssentError as error:
            told = {"code": error.code, "sentence": error.message, "ask_id": "", "row": None}
        wire.say(**told)
