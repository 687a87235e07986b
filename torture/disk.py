"""Disk full, read-only, another user's: one plain sentence, nothing lost, and normal again without a restart."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torture.look import Look, look
from torture.nest import Nest, Worker
from torture.trial import Plan, Tally, Trial, Twin, Verdict, is_plain

__all__ = ["TRIAL", "run"]

CYCLES = 100
VOLUME = 48 << 20
"""Bytes of the small volume: room for a log file of full size and for what a run writes."""
KINDS = (
    "lost",
    "made up",
    "unplain errors",
    "not normal again",
    "reads refused",
    "let through",
    "audit problems",
)


def run(plan: Plan) -> Verdict:
    """Take room, rights and ownership away, and give them back."""
    tally = Tally(KINDS)
    cycles = plan.count(CYCLES, 4)
    with Nest(plan.twin, in_memory=True) as nest:
        nest.folder.chmod(0o755)
        _full(plan, tally, nest, nest.store, cycles, is_mount=False)
        with _volume(nest.folder / "volume") as volume:
            if volume is not None:
                _full(plan, tally, nest, volume / "x.db", cycles, is_mount=True)
                _read_only_mount(tally, nest, volume)
            else:
                tally.notes["real volume"] = (
                    "NOT TRIED (mounting one is not allowed here; the failing file layer ran)"
                )
        _read_only_folder(tally, nest)
        _another_owner(tally, nest)
    tally.require("commands done", cycles * 2)
    for fault in ("refused when full", "refused when read-only", "refused as another user's"):
        tally.require(fault)
    tally.require("normal again", cycles)
    return tally.verdict()


def _full(plan: Plan, tally: Tally, nest: Nest, store: Path, cycles: int, *, is_mount: bool) -> None:
    chance = plan.chance()
    worker = nest.start("torture.disk_roles:filler", store=str(store), is_mount=is_mount)
    told: list[dict[str, Any]] = worker.hear()["told"]
    for _ in range(cycles):
        worker.say(left=chance.randrange(0, 200_000))
        heard = worker.hear(120)
        told += heard["told"]
        tally.check(not heard["reading"], "reads refused", heard["reading"])
        tally.check(not heard["after"] and heard["seconds"] < 5, "not normal again", heard["after"])
        tally.add("normal again", not heard["after"])
    worker.kill()
    found = look(nest, store)
    keys = {row.key for row in found.rows.values()}
    for entry in told:
        tally.check(not entry["code"] or entry["key"] is None or entry["key"] not in keys, "made up", entry)
        _compare(tally, entry, found, "full", {"store_full"})
    for problem in found.problems:
        tally.fault("audit problems", problem)


def _compare(tally: Tally, told: dict[str, Any], found: Look, why: str, codes: set[str]) -> None:
    """Compare what was told of one command with what the store holds."""
    row = found.rows.get(told["ask_id"])
    if told["code"]:
        tally.add(f"refused when {why}")
        is_right = told["code"] in codes and is_plain(told["sentence"])
        tally.check(is_right, "unplain errors", (told["code"], told["sentence"]))
        return
    tally.add("commands done")
    tally.check(row is not None, "lost", told)
    if row is not None and told["verb"] in ("answer", "decline", "withdraw"):
        tally.check(row.command_id == told["row"][5], "lost", (told, row))


@contextmanager
def _volume(place: Path) -> Iterator[Path | None]:
    """Mount a small file system at `place`, where that is allowed."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={VOLUME},mode=0777", "tmpfs", str(place)]
    is_mounted = os.geteuid() == 0 and _ran(command)
    try:
        yield place if is_mounted else None
    finally:
        if is_mounted:
            _ran(["umount", "-l", str(place)])


def _ran(command: list[str]) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=30).returncode == 0
    except OSError:
        return False


# Rights


class Visit:
    """One worker that uses one client, and what it is told each time."""

    def __init__(self, tally: Tally, nest: Nest, store: Path, *, has_changed_name: bool = False) -> None:
        self.user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else 0
        self._tally = tally
        self._done: list[str] = []
        self._worker: Worker = nest.start(
            "torture.disk_roles:visitor",
            store=str(store),
            folder=str(nest.folder),
            user=self.user,
            has_changed_name=has_changed_name,
            environ={"XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "HOME": str(store.parent)},
        )

    def works(self) -> None:
        """The next command must be done."""
        told = self._order("try")
        self._tally.check(not told["code"], "not normal again", told)
        self._tally.add("normal again", not told["code"])
        self._tally.add("commands done", not told["code"])
        if told["ask_id"]:
            self._done.append(told["ask_id"])

    def is_refused(self, why: str, *codes: str) -> None:
        """The next command must be refused, in a plain sentence with one of these codes."""
        told = self._order("try")
        self._tally.check(bool(told["code"]), "let through", (why, told))
        if told["code"]:
            self._tally.add(f"refused {why}")
            is_right = told["code"] in codes and is_plain(told["sentence"])
            self._tally.check(is_right, "unplain errors", (why, told["code"], told["sentence"]))

    def leaves(self) -> None:
        """Let go of the store; the next command opens it again."""
        self._order("leave")

    def takes_own_name(self) -> None:
        """No longer claim to be somebody else."""
        self._order("own name")

    def ends(self, nest: Nest, store: Path) -> None:
        """End it, and look for all that it was told is done."""
        self._worker.kill()
        for place in store.parent.iterdir():
            os.chown(place, os.geteuid(), -1)  # a look at another user's store would be refused, too
        found = look(nest, store)
        for ask_id in self._done:
            self._tally.check(ask_id in found.rows, "lost", ask_id)
        for problem in found.problems:
            self._tally.fault("audit problems", problem)

    def _order(self, order: str) -> dict[str, Any]:
        self._worker.say(order=order)
        return self._worker.hear()


def _own(visit: Visit, *places: Path) -> None:
    for place in places:
        if visit.user and place.exists():
            os.chown(place, visit.user, visit.user)


def _files(folder: Path) -> list[Path]:
    return [folder, *folder.iterdir()]


def _read_only_folder(tally: Tally, nest: Nest) -> None:
    folder = nest.folder / "folder"
    folder.mkdir()
    visit = Visit(tally, nest, folder / "x.db")
    _own(visit, folder)
    # A folder in which no store can be made, then one in which it can.
    folder.chmod(0o555)
    visit.is_refused("when read-only", "store_read_only")
    folder.chmod(0o755)
    visit.works()
    visit.works()
    visit.leaves()
    # The store is there and can only be read.
    modes = [(place, place.stat().st_mode) for place in _files(folder)]
    for place, _ in modes:
        place.chmod(0o555 if place == folder else 0o444)
    visit.is_refused("when read-only", "store_read_only")
    for place, mode in modes:
        place.chmod(mode)
    visit.works()
    # The folder loses its rights while the store is in use: open files go on.
    folder.chmod(0o555)
    visit.works()
    folder.chmod(0o755)
    visit.works()
    visit.ends(nest, folder / "x.db")


def _read_only_mount(tally: Tally, nest: Nest, volume: Path) -> None:
    store = volume / "visited" / "x.db"
    store.parent.mkdir()
    visit = Visit(tally, nest, store)
    _own(visit, store.parent)
    visit.works()
    visit.leaves()
    if _ran(["mount", "-o", "remount,ro", str(volume)]):
        tally.add("mounted read-only")
        visit.is_refused("when read-only", "store_read_only")
        _ran(["mount", "-o", "remount,rw", str(volume)])
    visit.works()
    visit.ends(nest, store)


def _another_owner(tally: Tally, nest: Nest) -> None:
    folder = nest.folder / "owner"
    folder.mkdir()
    store = folder / "x.db"
    visit = Visit(tally, nest, store, has_changed_name=False)
    _own(visit, folder)
    visit.works()
    visit.leaves()
    if visit.user:
        os.chown(store, visit.user + 1, visit.user + 1)
        visit.is_refused("as another user's", "store_refused")
        _own(visit, store)
        visit.works()
        visit.leaves()
        os.chown(store, 0, 0)
        visit.is_refused("as another user's", "store_read_only", "store_refused")
        _own(visit, store)
    else:
        # Only root can give a file away; here the process believes to be somebody else instead.
        stranger = Visit(tally, nest, store, has_changed_name=True)
        stranger.is_refused("as another user's", "store_refused")
        stranger.takes_own_name()
        stranger.works()
    visit.works()
    visit.ends(nest, store)


TRIAL = Trial(
    "disk",
    "disk full, read-only folder or mount, another owner: a plain sentence, nothing lost, normal again by itself",
    run,
    (
        Twin("ignore-failed-commit", "a commit that fails is told as a failure", "lost", 0.05),
        Twin("never-try-again", "a store that failed is tried again", "not normal again", 0.05),
    ),
)
