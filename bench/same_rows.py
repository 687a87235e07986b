"""The second floor: a bare writer of the very rows that Assent writes, with no logic at all.

The file's schema is made by Assent's own migration. The rows are copied from a store in which Assent opened and
answered one ask, with only ids, keys and numbers put in: no encoding, no digest, no chain, no look-up.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

import assent
from assent.hub.ids import new_ask_id
from bench.crowd import Callers, drive_lone, drive_tasks, drive_threads
from bench.workload import AGENT, ANSWER, OPTIONS, PERSON, PROJECT, TITLE, ask_parts

__all__ = ["SameRows"]

Say = Callable[[dict[str, Any]], None]
Row = dict[str, Any]
_Pair = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The values for the ask's row and for the event's."""


@dataclass(frozen=True)
class _Template:
    """The rows that one ask and its answer leave behind."""

    opened: Row
    answered: Row
    events: tuple[Row, Row]
    head: Row


def _read_template(path: Path) -> _Template:
    with assent.connect(path, project=PROJECT, principal=AGENT) as agent:
        handle = agent.open(TITLE, OPTIONS, **ask_parts("bench-00000000-00000000"))
        opened = _rows(path, "SELECT * FROM asks")[0]
        with assent.connect(path, project=PROJECT, principal=PERSON) as person:
            person.answer(handle.ask_id, ANSWER)
    answered = _rows(path, "SELECT * FROM asks")[0]
    first, second = _rows(path, "SELECT * FROM events ORDER BY event_number")
    return _Template(opened, answered, (first, second), _rows(path, "SELECT * FROM projects")[0])


def _rows(path: Path, query: str) -> list[Row]:
    connection = apsw.Connection(str(path))
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.get_description()]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    connection.close()
    return found


class SameRows:
    """A writer with prepared statements and prepared values."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del role, say
        self._template = _read_template(store.with_name(f"{store.stem}-template.db"))
        with assent.connect(store, project=PROJECT, principal=AGENT) as agent:
            agent.open(TITLE, OPTIONS, **ask_parts("first"))
        self._connection = apsw.Connection(str(store))
        self._connection.pragma("synchronous", "FULL")
        self._head = dict(_rows(store, "SELECT * FROM projects")[0])
        self._first = self._template.events[0]["event_number"] - 1
        self._numbers = itertools.count(self._head["sequence"] + 1)
        self._insert_ask = _insert("asks", [name for name in self._template.opened if name != "ask_number"])
        self._insert_event = _insert("events", list(self._template.events[0]))
        changed = [
            name for name, value in self._template.answered.items() if value != self._template.opened[name]
        ]
        self._changed = tuple(self._template.answered[name] for name in changed)
        assignments = ", ".join(f"{name} = ?" for name in changed)
        self._update_ask = f"UPDATE asks SET {assignments} WHERE ask_id = ? AND state = 'open'"
        self._save_head = "UPDATE projects SET sequence = ?, hash = ?, at = ? WHERE project_number = ?"

    def asks(self, count: int, callers: int, how: Callers) -> dict[str, Any]:
        """Write the rows of so many asks."""
        ask_ids = [str(new_ask_id()) for _ in range(count)]
        rows = {ask_id: self._opened(ask_id) for ask_id in ask_ids}

        def write(group: list[str]) -> None:
            self._write(self._insert_ask, [rows[ask_id] for ask_id in group])

        return {"seconds": self._drive(how, callers, ask_ids, write), "ask_ids": ask_ids}

    def answers(self, ask_ids: list[str], callers: int, how: Callers) -> dict[str, Any]:
        """Write the rows of the answers to these asks."""
        rows = {ask_id: self._answered(ask_id) for ask_id in ask_ids}

        def write(group: list[str]) -> None:
            self._write(self._update_ask, [rows[ask_id] for ask_id in group])

        return {"seconds": self._drive(how, callers, ask_ids, write)}

    def _drive(
        self, how: Callers, callers: int, ask_ids: list[str], write: Callable[[list[str]], None]
    ) -> float:
        if how == "plain":
            starts = range(0, len(ask_ids), callers)
            groups = {str(start): ask_ids[start : start + callers] for start in starts}
            return drive_lone(groups, lambda start: write(groups[start]))
        if how == "lone":
            return drive_lone(ask_ids, lambda ask_id: write([ask_id]))
        writer = _QueueWriter(write)
        try:
            if how == "tasks":
                return drive_tasks(callers, ask_ids, writer.submit_task)
            return drive_threads(callers, ask_ids, writer.submit)
        finally:
            writer.close()

    def _opened(self, ask_id: str) -> _Pair:
        number = next(self._numbers)
        ask = dict(self._template.opened, ask_id=ask_id, key=ask_id, opened=number, sequence=number)
        del ask["ask_number"]
        return tuple(ask.values()), self._event(0, number, ask_id)

    def _answered(self, ask_id: str) -> _Pair:
        return (*self._changed, ask_id), self._event(1, next(self._numbers), ask_id)

    def _event(self, which: int, number: int, ask_id: str) -> tuple[Any, ...]:
        event = dict(self._template.events[which], event_number=self._first + number, subject=ask_id)
        return tuple(event.values())

    def _write(self, statement: str, pairs: list[_Pair]) -> None:
        connection, head = self._connection, self._head
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(statement, [ask for ask, _ in pairs])
        connection.executemany(self._insert_event, [event for _, event in pairs])
        last = pairs[-1][1][0] - self._first
        connection.execute(self._save_head, (last, head["hash"], head["at"], head["project_number"]))
        connection.execute("COMMIT")


class _QueueWriter:
    """Group commit at its simplest: callers queue, one thread writes all that is there and then tells them."""

    def __init__(self, write: Callable[[list[str]], None]) -> None:
        self._write = write
        self._queue: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, ask_id: str) -> None:
        """Have it written, from a thread."""
        lock = threading.Lock()
        lock.acquire()
        self._queue.put((ask_id, lock))
        lock.acquire()

    async def submit_task(self, ask_id: str) -> None:
        """Have it written, from a task."""
        future = asyncio.get_running_loop().create_future()
        self._queue.put((ask_id, future))
        await future

    def close(self) -> None:
        """End the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first]
            while not self._queue.empty():
                more = self._queue.get()
                if more is None:
                    self._queue.put(None)
                    break
                group.append(more)
            self._write([ask_id for ask_id, _ in group])
            waiters = [waiter for _, waiter in group]
            if isinstance(waiters[0], asyncio.Future):
                waiters[0].get_loop().call_soon_threadsafe(_tell, waiters)
            else:
                for lock in waiters:
                    lock.release()


def _tell(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)


def _insert(table: str, names: list[str]) -> str:
    places = ", ".join("?" * len(names))
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"
