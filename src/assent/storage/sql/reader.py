"""Short reads of what is committed. Each dialect says how a named query is run and what a snapshot is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from operator import itemgetter
from typing import Any, Literal

import msgspec

from assent.protocol.ask import Ask, Kind, State
from assent.protocol.control import Control
from assent.protocol.error import StoreDamagedError
from assent.protocol.notification import Notification, Source
from assent.protocol.numbers import Span, Waiting
from assent.protocol.policy import ProjectPolicy
from assent.protocol.receipt import Receipt
from assent.protocol.run import Run
from assent.protocol.tail import Tail, tail_of
from assent.protocol.target import Delivery, Target
from assent.protocol.task import Task
from assent.protocol.token import Token
from assent.protocol.topic import Message
from assent.storage.port import Claimed, Due, Head, Page, Record, Step
from assent.storage.sql.page import Look, choose_page, read_spans, read_waiting
from assent.storage.sql.receipt_row import receipt_of
from assent.storage.sql.row import ask_of, control_of, message_of, run_of
from assent.storage.sql.tail_row import tail_of_row
from assent.storage.sql.target_row import delivery_of, secret_of, target_of
from assent.storage.sql.token_row import token_of
from assent.storage.sql.transaction import LOG_SHIFT
from assent.storage.sql.work_row import notification_of, policy_of, task_of

__all__ = ["SqlReader"]

_END_OF_ID = re.compile(r"[0-9A-Za-z_]+").fullmatch


class SqlReader(ABC):
    """Fits `storage.port.Reader`. Every result is fetched whole: a half-read cursor would pin its snapshot."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        """Of the projects that were met; a project keeps its number."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """See one moment of the store in several reads."""

    @abstractmethod
    def version(self) -> int:
        """Return a number that changes when another connection has committed to a log."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows that a named query finds."""

    def ask(self, ask_id: str, project: str | None = None) -> Ask | None:
        """Return one ask by its id, if it is the project's."""
        return next(iter(self._asks("ask", (ask_id,), project)), None)

    def asks_ending_in(self, suffix: str, project: str | None = None) -> list[Ask]:
        """Return up to three asks whose id ends so, open or ended: whoever means an ended one must not get another."""
        if not _END_OF_ID(suffix):
            return []  # LIKE would stop reading at a NUL, and then every id ends so
        escaped = suffix.replace("_", "\\_")
        values = ("%" + escaped, project)
        return self._asks("asks_ending_in", values)

    def asks_by_key(self, project: str, keys: Sequence[str]) -> list[Ask]:
        """Return the asks of a project that hold these keys."""
        known = [key for key in keys if "\0" not in key]  # none has such a key, and it would spoil the list
        return self._asks("asks_by_key", (project, msgspec.json.encode(known).decode()))

    def asks(self, project: str | None, state: State | None, limit: int) -> list[Ask]:
        """Return the newest asks, of one project or of all, open ones or all."""
        query, rest = ("open_asks", ()) if state is State.OPEN else ("asks", (state,))
        return [ask_of(row) for row in self._newest(query, project, limit, rest)]

    def page(
        self,
        projects: Sequence[str] | None,
        state: State | Literal["ended"] | None,
        *,
        kind: Kind | None = None,
        before: str | None = None,
        limit: int,
        most_bytes: int,
    ) -> Page:
        """Return the newest asks of some projects or of all, behind the one with the id `before`.

        In the order of their opening; those that have `ended`, in that of their end.
        """
        with self.snapshot():
            ids, has_more = choose_page(
                Look(self._rows, self._each), self._heads_of(projects), state, kind, before, limit, most_bytes
            )
            found: dict[str, Ask] = {
                ask.ask_id: ask for ask in self._asks("asks_in", (msgspec.json.encode(ids).decode(),))
            }
        return Page(tuple(found[ask_id] for ask_id in ids), has_more)

    def spans(
        self, projects: Sequence[str] | None, since: int, limit: int, *, until: int | None = None
    ) -> list[Span]:
        """Return the times of the asks that were opened since a moment and before another, of some projects or of all."""
        with self.snapshot():
            return read_spans(self._rows, self._heads_of(projects), since, until, limit)

    def waiting(self, projects: Sequence[str] | None) -> Waiting:
        """Return how many asks wait in some projects or in all, and since when."""
        with self.snapshot():
            return read_waiting(self._each, self._heads_of(projects))

    def count_open(self, project: str | None) -> int:
        """Return how many asks wait."""
        return self._count("count_open", project)

    def heads(self) -> list[Head]:
        """Return the heads of all projects."""
        return [Head(*row) for row in self._rows("heads")]

    def head_sequence(self, project: str) -> int:
        """Return the number of the project's last event; 0 before the first."""
        found = self._rows("head", (project,))
        if not found:
            return 0
        self._numbers[project] = found[0][0]
        return int(found[0][1])

    def records(self, project: str, after: int, limit: int) -> list[Record]:
        """Return the project's events after a number, oldest first."""
        if self.head_sequence(project) <= after:
            return []
        base = self._numbers[project] * LOG_SHIFT
        found = self._rows("records", (base + after, base + LOG_SHIFT, limit))
        return [
            # An erased body has left its digest behind; without it the chain cannot hold, and the audit says so.
            Record(
                project,
                number - base,
                at,
                type_,
                subject,
                body,
                digest or sha256(body or b"").digest(),
                hash_,
                topic,
            )
            for number, at, type_, subject, body, digest, hash_, topic in found
        ]

    def ended(self, project: str, after: int) -> tuple[int, list[Ask]]:
        """Return the last event's number, and the asks that ended after `after`.

        The head is read first: what commits in between is found by the next look.
        """
        last = self.head_sequence(project)
        if last <= after:
            return after, []
        base = self._numbers[project] * LOG_SHIFT
        return last, self._asks("ended", (base + after, base + last + 1))

    def next_deadline(self) -> int | None:
        """Return the earliest deadline of all open asks, in microseconds."""
        at: int | None = self._one("next_deadline", ())[0]
        return at

    def has_due(self, at: int | None) -> list[str]:
        """Return the projects with an ask whose deadline has passed; without a moment, by the store's own clock."""
        return [row[0] for row in self._rows("has_due", (at,))]

    def steps(self, project: str, flow_id: str | None = None) -> list[Step]:
        """Return a flow's journal, or those of all flows of the project."""
        if flow_id is None:
            return [Step(*row) for row in self._rows("all_steps", (project,))]
        return [Step(*row) for row in self._rows("steps", (project, flow_id, 0))]

    def beginners(self, project: str, flow_ids: Sequence[str]) -> dict[str, str]:
        """Return who began each of these flows, of those that were begun; empty where that was never written down."""
        return dict(self._rows("beginners", (project, msgspec.json.encode(flow_ids).decode())))

    def messages(self, project: str, topic: str, after: int, limit: int) -> list[Message]:
        """Return a topic's messages after a number, oldest first."""
        # A project keeps its number, and only one that has begun has any; so the head is asked for once.
        if project not in self._numbers and self.head_sequence(project) <= after:
            return []
        base = self._numbers[project] * LOG_SHIFT
        found = self._rows("messages", (topic, base + after, base + LOG_SHIFT, limit))
        return [message_of(number - base, at, name, body) for number, at, name, body in found]

    def run(self, project: str, run_id: str) -> Run | None:
        """Return one run by its id."""
        return next(iter(self._runs("run", (project, run_id))), None)

    def runs(self, project: str | None, limit: int, *, active: bool) -> list[Run]:
        """Return the newest runs, of one project or of all; with `active` only those that have not ended."""
        query = "active_runs" if active else "runs"
        return [run_of(record) for record, _ in self._newest(query, project, limit)]

    def changed_runs(self, project: str, after: int) -> list[Run]:
        """Return the runs that changed after a number of the log."""
        if self.head_sequence(project) <= after:
            return []
        number = self._numbers[project]
        base = number * LOG_SHIFT
        return self._runs("changed_runs", (number, base + after, base + LOG_SHIFT))

    def tail(self, project: str, run_id: str, after: int) -> Tail:
        """Return what is kept of a run's output after its first `after` bytes."""
        found = self._rows("tail", (project, run_id))
        return tail_of(tail_of_row(found[0]) if found else None, after)

    def controls(self, project: str) -> list[Control]:
        """Return all controls of a project."""
        return [control_of(record) for (record,) in self._rows("all_controls", (project,))]

    def task(self, project: str, task_id: str) -> Task | None:
        """Return one task by its id."""
        return next((task_of(record) for (record,) in self._rows("task", (project, task_id))), None)

    def tasks(self, project: str | None, limit: int, *, is_live: bool) -> list[Task]:
        """Return the newest tasks, of one project or of all; with `is_live` only those that are not closed."""
        query = "live_tasks" if is_live else "tasks"
        return [task_of(record) for record, _ in self._newest(query, project, limit)]

    def notification(self, notification_id: str, project: str | None = None) -> Notification | None:
        """Return one notification by its id, of one project or of all.

        Only a project's own ids differ for certain: one that two projects have names neither.
        """
        rows = self._each("notification", self._projects(project), (notification_id,))
        found = [notification_of(record) for (record,) in rows]
        return found[0] if len(found) == 1 else None

    def notifications(self, project: str | None, limit: int, *, is_open: bool) -> list[Notification]:
        """Return the newest notifications, of one project or of all; with `is_open` only those."""
        query = "open_notifications" if is_open else "notifications"
        return [notification_of(record) for record, _ in self._newest(query, project, limit)]

    def notifications_about(self, project: str, source: Source, source_id: str) -> list[Notification]:
        """Return the notifications about one source, open and resolved, oldest first."""
        found = self._rows("notifications_about", (project, source, source_id))
        return [notification_of(record) for _, record in found]

    def count_notifications(self, project: str | None) -> int:
        """Return how many notifications are open."""
        return self._count("count_notifications", project)

    def secret(self) -> bytes:
        """Return what this store derives ids from.

        Raises:
            StoreDamagedError: somebody took it away.
        """
        for (secret,) in self._rows("secret", ()):
            return bytes(secret)
        raise StoreDamagedError("The store has lost the secret that it derives ids from.")

    def policy(self, project: str) -> ProjectPolicy | None:
        """Return the policy of a project; None where none was ever set."""
        return next((policy_of(record) for (record,) in self._rows("policy", (project,))), None)

    def tokens(self, project: str | None, limit: int) -> list[Token]:
        """Return the newest tokens, of one project or of all, also those that have ended."""
        return [token_of(record) for record, _ in self._newest("tokens", project, limit)]

    def token_by_digest(self, digest: str) -> Token | None:
        """Return the token whose secret has this digest, of whichever project."""
        return next((token_of(record) for (record,) in self._rows("token_by_digest", (digest,))), None)

    def receipt(self, project: str, receipt_id: str) -> Receipt | None:
        """Return one receipt by its id."""
        return next((receipt_of(record) for (record,) in self._rows("receipt", (project, receipt_id))), None)

    def receipts(self, project: str, limit: int) -> list[Receipt]:
        """Return the newest receipts of a project."""
        return [receipt_of(record) for (record,) in self._rows("receipts", (project, limit))]

    def target(self, project: str, name: str) -> Claimed | None:
        """Return one target by its name, with its secret, as a sender would get it."""
        found = self._rows("target", (project, name))
        if not found:
            return None
        record, secret, *rest = found[0]
        return Claimed(target_of(record), secret_of(secret), delivery_of(tuple(rest)))

    def targets(self, project: str) -> list[tuple[Target, Delivery]]:
        """Return all targets of a project, oldest first, also those that were removed; without their secrets."""
        return [(target_of(row[0]), delivery_of(row[1:])) for row in self._rows("targets", (project,))]

    def due_targets(self, at: int) -> list[Due]:
        """Return the targets of all projects that are not told of everything, and that nobody has just now."""
        return [Due(*row) for row in self._rows("due_targets", (at,))]

    def target_message(self, project: str, name: str, ask_id: str) -> str:
        """Return how the message that told a target of an ask is known there; empty where it is not."""
        return next((str(row[0]) for row in self._rows("target_message", (project, name, ask_id))), "")

    def _asks(self, query: str, values: tuple[Any, ...], project: str | None = None) -> list[Ask]:
        asks = [ask_of(row) for row in self._rows(query, values)]
        return asks if project is None else [ask for ask in asks if ask.project == project]

    def _runs(self, query: str, values: tuple[Any, ...]) -> list[Run]:
        return [run_of(record) for (record,) in self._rows(query, values)]

    def _projects(self, project: str | None) -> list[str]:
        return [project] if project is not None else [head.project for head in self.heads()]

    def _heads_of(self, projects: Sequence[str] | None) -> list[Head]:
        return [head for head in self.heads() if projects is None or head.project in projects]

    def _count(self, query: str, project: str | None) -> int:
        return sum(int(count) for (count,) in self._each(query, self._projects(project), ()))

    def _newest(
        self, query: str, project: str | None, limit: int, rest: tuple[Any, ...] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the newest rows of one project or of all. Their last column is their own number, which orders them."""
        projects = self._projects(project)
        found = self._each(query, projects, (limit, *rest))
        if len(projects) > 1:
            found.sort(key=itemgetter(-1), reverse=True)
        return found[:limit]

    def _each(self, query: str, first: Sequence[str | int], rest: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return what a named query finds for each of several first values, one after the other."""
        return [row for value in first for row in self._rows(query, (value, *rest))]

    def _one(self, query: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._rows(query, values)[0]
