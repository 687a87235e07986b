"""Tails of runs' outputs as rows, and back; and the part of a transaction that keeps them.

Rows with a number of their own, and not in the order of the key: a tail is large, and its page would have to be split
and moved with every line that comes.
"""

from __future__ import annotations

from typing import Any

from assent.protocol.run import RunId
from assent.protocol.tail import MAX_ENDED_TAILS, Kept
from assent.storage.port import Head
from assent.storage.sql.row import decode_instant, encode_instant
from assent.storage.sql.session import Session

__all__ = ["PutTails", "tail_of_row"]


def tail_of_row(row: tuple[Any, ...]) -> Kept:
    """Return what is kept by a row."""
    text, written, at, command_id = row
    return Kept(text, written, decode_instant(at), command_id)


class PutTails:
    """The tails of one transaction: what it has read, and what it will write."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, str], Kept | None] = {}
        self._put: dict[tuple[str, str], int] = {}
        self._grown: set[int] = set()
        """The projects that have a tail more than before."""

    def find(self, head: Head, run_id: RunId) -> Kept | None:
        """Return what is kept of a run's output, as it is in this transaction."""
        key = (head.project, run_id)
        if key not in self._known:
            found = self._session.rows("tail", key)
            self._known[key] = tail_of_row(found[0]) if found else None
        return self._known[key]

    def put(self, head: Head, run_id: RunId, kept: Kept) -> None:
        """Keep this of a run's output; where it is the run's first, the oldest of an ended run may have to go."""
        if self.find(head, run_id) is None:
            self._grown.add(head.number)
        self._known[head.project, run_id] = kept
        self._put[head.project, run_id] = head.number

    def write(self) -> None:
        """Write what was put; called once, before COMMIT and after the runs are written."""
        for key, number in self._put.items():
            kept = self._known[key]
            assert kept is not None and kept.at is not None  # noqa: S101, PT018 - put() has set it
            values = (number, key[1], kept.text, kept.written, encode_instant(kept.at), kept.command_id)
            self._session.run("put_tail", values)
        for number in self._grown:
            self._session.run("drop_tails", (number, number, MAX_ENDED_TAILS))
