"""A project from one store into another, whichever they are.

Rule 1: a project appears whole, or not at all. Its log is copied in pages, each of them kept at once, under a number
        that no project has; everything else, and the head by which it is found, is one transaction at the end.
Rule 2: a copy that was killed is gone on with. What lies there is found by itself: events of no project, the last of
        which has the hash that the source's event of that number has. The chain says that all before are the same.
Rule 3: nothing is lost between: the source's project is held still from the last pages of its log to the end. The log
        before them only grows, so they are copied while others write.
Rule 4: what cannot be believed is not copied: a link of the chain that does not fit stops everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import NotFoundError, StoreDamagedError, StoreRefusedError
from assent.storage.chain import genesis, link
from assent.storage.copy_end import End, Row, Seal, Source
from assent.storage.copy_table import EVENTS, HEADS, LOG_SHIFT, TABLES, Table
from assent.storage.port import Head

__all__ = [
    "PAGE",
    "Copied",
    "check_chain",
    "copy_project",
    "find_heads",
    "find_unfinished",
    "forget_unfinished",
]

PAGE = 500
"""So many rows travel together; each page is kept at once."""

_COLUMNS = ", ".join(EVENTS)
_EVENTS = (
    f"SELECT {_COLUMNS} FROM events WHERE event_number > ? AND event_number < ? ORDER BY event_number LIMIT ?"  # noqa: S608
)
_LAST = "SELECT event_number, hash FROM events WHERE event_number > ? AND event_number < ? ORDER BY event_number DESC LIMIT 1"
_NEXT = "SELECT event_number FROM events WHERE event_number >= ? ORDER BY event_number LIMIT 1"
_HASH = "SELECT hash FROM events WHERE event_number = ?"
_COUNT = "SELECT count(*) FROM events WHERE event_number > ? AND event_number < ?"
_DROP = "DELETE FROM events WHERE event_number > ? AND event_number < ?"

Tell = Callable[[int, int], None]
"""Told how many events are there, and of how many."""


class Copied(msgspec.Struct, frozen=True):
    """What was copied, and compared with its source."""

    project: str
    events: int
    rows: dict[str, int]
    """How many of each table."""
    found: int = 0
    """So many of the events had been copied before."""
    is_old: bool = False
    """All of it was there before, just the same: nothing was done."""


def find_heads(end: Source) -> dict[str, Head]:
    """Return the heads of all projects of a store."""
    return {
        project: Head(project, number, sequence, bytes(hash_), at)
        for project, number, sequence, hash_, at in end.query(HEADS)
    }


def find_unfinished(end: Source) -> dict[int, tuple[int, bytes]]:
    """Return the last number and hash of each log that no project has: copies that were not finished."""
    owned = {head.number for head in find_heads(end).values()}
    found: dict[int, tuple[int, bytes]] = {}
    start = 0
    while rows := end.query(_NEXT, (start,)):
        number = rows[0][0] // LOG_SHIFT
        if number not in owned:
            last, hash_ = end.query(_LAST, _range(number))[0]
            found[number] = (last - number * LOG_SHIFT, bytes(hash_))
        start = (number + 1) * LOG_SHIFT
    return found


def forget_unfinished(end: End) -> int:
    """Take away what unfinished copies have left; return how many there were."""
    with end.writing():
        end.reserve()  # nobody begins a project until this ends: what has no head now is nobody's
        found = find_unfinished(end)
        for number in found:
            end.query(_DROP, _range(number))
    return len(found)


def copy_project(
    source: Source, target: End, project: str, *, tell: Tell | None = None, seal: Seal | None = None
) -> Copied:
    """Copy one project, and compare the copy with it before it appears.

    Raises:
        NotFoundError: the source has no such project.
        StoreRefusedError: the target has it already, and it is not the same there.
        StoreDamagedError: the source's log cannot be believed, or the copy is not what the source is.
    """
    head = _find(source, project)
    if _is_there(target, head):
        return Copied(project, head.sequence, _counts(source, head.number), is_old=True)
    stage = _Stage(source, target, head, tell)
    stage.copy_log(head.sequence)
    with source.still(project):
        head = _find(source, project)
        stage.copy_log(head.sequence)
        return stage.finish(head, seal)


class _Stage:
    """One copy under way."""

    def __init__(self, source: Source, target: End, head: Head, tell: Tell | None) -> None:
        self._source, self._target, self._project = source, target, head.project
        self._from = head.number
        self._tell = tell or (lambda *_: None)
        self._number, self._done, self._hash = self._find_begun(head)
        self._found = self._done

    def _find_begun(self, head: Head) -> tuple[int | None, int, bytes]:
        """Return where a copy of this project was left: its number there, and its last event."""
        for number, (last, hash_) in find_unfinished(self._target).items():
            known = self._source.query(_HASH, (head.number * LOG_SHIFT + last,))
            if last <= head.sequence and known and bytes(known[0][0]) == hash_:
                return number, last, hash_
        return None, 0, genesis(head.project)

    def copy_log(self, until: int) -> None:
        """Copy the log up to a number, page by page."""
        low, high = _range(self._from)
        while self._done < until:
            self._tell(self._done, until)
            page = self._source.query(_EVENTS, (low + self._done, high, min(PAGE, until - self._done)))
            last, hash_ = check_page(self._project, page, self._from, self._done, self._hash)
            if last == self._done:
                raise StoreDamagedError(
                    f"{self._source.name}: event {last + 1} of {quote(self._project)} is missing."
                )
            with self._target.writing():
                number = self._target.reserve() if self._number is None else self._number
                move = (number - self._from) * LOG_SHIFT
                self._target.insert("events", EVENTS, [(row[0] + move, *row[1:]) for row in page])
            self._number, self._done, self._hash = number, last, hash_
        self._tell(self._done, until)

    def finish(self, head: Head, seal: Seal | None) -> Copied:
        """Bring everything else along and let the project appear, once it was compared."""
        if (self._done, self._hash) != (head.sequence, head.hash):
            raise StoreDamagedError(
                f"{self._source.name}: the log of {quote(head.project)} does not end as its head says."
            )
        target = self._target
        with target.writing():
            if head.project in find_heads(target):
                raise _taken(target, head.project)
            number = target.reserve() if self._number is None else self._number
            rows = {table.name: self._copy_table(table, head.number, number) for table in TABLES}
            columns = ("project_number", "project", "sequence", "hash", "at")
            target.insert("projects", columns, [(number, head.project, head.sequence, head.hash, head.high)])
            check_chain(target, _find(target, head.project))
            if not rows == _counts(target, number) == _counts(self._source, head.number):
                raise StoreDamagedError(
                    f"{target.name}: the copy of {quote(head.project)} has other rows than its source; nothing was kept."
                )
            if seal is not None:
                seal(target.transaction(), target, _find(target, head.project))
        return Copied(head.project, head.sequence, rows, self._found)

    def _copy_table(self, table: Table, from_: int, number: int) -> int:
        shift = self._shift(table, from_)
        copied = 0
        for page in _pages(self._source, table, from_):
            rows = [(number, *row) for row in page]
            if table.has_number:
                rows = [(number, row[1] + shift, *row[2:]) for row in rows]
                self._target.raise_numbers(table.name, table.columns[0], rows[-1][1])
            self._target.insert(table.name, ("project_number", *table.columns), rows)
            copied += len(page)
        return copied

    def _shift(self, table: Table, from_: int) -> int:
        """Return what is added to the rows' own numbers: nothing where all of them are free there."""
        if not table.has_number:
            return 0
        greatest: int = self._target.query(table.greatest())[0][0]
        for page in _pages(self._source, table, from_):
            if page[0][0] > greatest:
                break
            if self._target.query(table.taken(len(page)), tuple(row[0] for row in page)):
                return greatest
        return 0


def check_page(project: str, page: list[Row], number: int, last: int, previous: bytes) -> tuple[int, bytes]:
    """Follow the chain over some events; return the last one's number and hash.

    Raises:
        StoreDamagedError: it does not fit.
    """
    for event_number, at, type_, subject, body, digest, hash_, *_ in page:
        sequence = event_number - number * LOG_SHIFT
        if sequence != last + 1:
            raise StoreDamagedError(f"Event {last + 1} of {quote(project)} is missing.")
        found = digest if body is None else sha256(body).digest()
        if found is None or (digest is not None and bytes(digest) != found):
            raise StoreDamagedError(f"The body of event {sequence} of {quote(project)} was changed.")
        previous, last = link(previous, sequence, at, type_, subject, bytes(found)), sequence
        if previous != hash_:
            raise StoreDamagedError(f"The chain of {quote(project)} breaks at event {sequence}.")
    return last, previous


def check_chain(end: Source, head: Head) -> None:
    """Follow the chain of a whole log.

    Raises:
        StoreDamagedError: it does not fit, or does not end as the head says.
    """
    low, high = _range(head.number)
    last, previous = 0, genesis(head.project)
    while page := end.query(_EVENTS, (low + last, high, PAGE)):
        last, previous = check_page(head.project, page, head.number, last, previous)
    if (last, previous) != (head.sequence, head.hash):
        raise StoreDamagedError(
            f"{end.name}: the log of {quote(head.project)} does not end as its head says."
        )


def _range(number: int) -> tuple[int, int]:
    return number * LOG_SHIFT, (number + 1) * LOG_SHIFT


def _find(end: Source, project: str) -> Head:
    head = find_heads(end).get(project)
    if head is None:
        raise NotFoundError(f'{end.name} has no project "{quote(project, 60)}".')
    return head


def _is_there(target: End, head: Head) -> bool:
    known = find_heads(target).get(head.project)
    if known is None:
        return False
    if (known.sequence, known.hash) != (head.sequence, head.hash):
        raise _taken(target, head.project)
    return True


def _taken(target: End, project: str) -> StoreRefusedError:
    return StoreRefusedError(
        f'{target.name} already has a project "{quote(project, 60)}", which is not the same; nothing was changed there.'
    )


def _counts(end: Source, number: int) -> dict[str, int]:
    return {table.name: end.query(table.count(), (number,))[0][0] for table in TABLES}


def _pages(end: Source, table: Table, number: int) -> Iterator[list[Row]]:
    page = end.query(table.first(), (number, PAGE))
    while page:
        yield page
        if len(page) < PAGE or not table.key:
            return
        page = end.query(table.select(), (number, *page[-1][: table.key], PAGE))
