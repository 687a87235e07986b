"""One transaction: what it reads it remembers, what it is given it writes at the end, several rows a statement.

Most of a command's cost is the number of statements (measured: 68 %), so rows are gathered and written in
groups. A read sees what was put before it in the same transaction. Updates go first: a superseded ask must
free its key before its successor takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from assent.protocol.approval import action_digest as digest_of_action
from assent.protocol.ask import Ask, AskId, Claim, State
from assent.protocol.control import Control
from assent.protocol.error import CommandReusedError, StoreBusyError
from assent.protocol.receipt import Receipt, ReceiptId
from assent.protocol.run import Run, RunId
from assent.protocol.tail import Kept
from assent.protocol.token import Token, TokenId
from assent.protocol.topic import Message
from assent.storage.chain import genesis, link
from assent.storage.port import Done, Head, Step
from assent.storage.sql.receipt_row import PutReceipts
from assent.storage.sql.row import (
    ask_of,
    control_of,
    encode_ending,
    encode_instant,
    encode_record,
    flags_of,
    insert_values,
    message_of,
    run_of,
)
from assent.storage.sql.session import Session, refuse_long, refuse_nul
from assent.storage.sql.tail_row import PutTails
from assent.storage.sql.target_transaction import TargetTransaction
from assent.storage.sql.token_row import PutTokens

__all__ = ["LOG_SHIFT", "SqlTransaction"]

LOG_SHIFT = 1 << 40
"""event_number = project_number * LOG_SHIFT + sequence."""

_BEGINNINGS = 10
"""How often a project's first event is tried, where others begin theirs."""
_encode = msgspec.json.Encoder().encode


class SqlTransaction(TargetTransaction):
    """Fits `storage.port.Transaction`; made and committed by the store."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._heads: dict[str, Head] = {}
        self._early: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
        """By project, the ids and keys that are read together with its head."""
        self._deadlines: dict[str, int | None] = {}
        self._asks: dict[str, Ask | None] = {}
        self._keys: dict[tuple[str, str], str | None] = {}
        self._opened: dict[str, tuple[int, int]] = {}
        self._ended: dict[str, Ask] = {}
        self._marked: dict[str, Ask] = {}
        self._claims: dict[str, Claim | None] = {}
        self._events: list[tuple[Any, ...]] = []
        self._has_controls: dict[str, bool] = {}
        self._runs: dict[tuple[str, str], Run | None] = {}
        self._controls: dict[tuple[str, str], Control | None] = {}
        self._changed_runs: dict[tuple[str, str], int] = {}
        self._changed_controls: dict[tuple[str, str], int] = {}
        self._tails = PutTails(session)
        self._tokens = PutTokens(session)
        self._receipts = PutReceipts(session)
        self._done: dict[tuple[int, str], Done] = {}

    # Reading

    def head(self, project: str, now: int | None) -> Head:
        """Take the project's head at a moment; without one, the store reads its own clock with the head's row."""
        head = self._heads.get(project)
        if head is None:
            refuse_nul([(project,)])
            refuse_long(project)
            wanted = self._unread(project, *self._early.pop(project, ((), ())))
            row, found = self._session.take_head(project, wanted)
            if row is None:
                row = self._begin(project, now)
                # Somebody else may have begun it, and written: read again, now that nobody else can.
                found = [self._session.rows(query, values) for query, values in wanted]
            for rows in found:
                self._remember([ask_of(one) for one in rows])
            number, sequence, hash_, high, self._deadlines[project], self._has_controls[project], read = row
            at = read if now is None else now
            head = self._heads[project] = Head(project, number, sequence, hash_, high, at)
        return head

    def _begin(self, project: str, now: int | None) -> tuple[Any, ...]:
        first = genesis(project)
        for _ in range(_BEGINNINGS):
            added = self._session.rows("add_project", (project, first, now))
            if added:
                number, at = added[0]
                return (number, 0, first, at, None, False, at)
            # Somebody else has just begun it, or another project with the same number.
            row, _ = self._session.take_head(project)
            if row is not None:
                return row
        raise StoreBusyError

    def prefetch(self, project: str, ask_ids: Sequence[str], keys: Sequence[str]) -> None:
        """Read the asks that commands will want, one query for all; before the head is taken, together with it."""
        if project not in self._heads:
            self._early[project] = (ask_ids, keys)
            return
        for query, values in self._unread(project, ask_ids, keys):
            self._remember(self._query(query, values))

    def _unread(
        self, project: str, ask_ids: Sequence[str], keys: Sequence[str]
    ) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the queries for what is not known yet. Where nothing is found, that is known then."""
        queries: list[tuple[str, tuple[Any, ...]]] = []
        # What no store can hold is nowhere, and would spoil the list for the others.
        ids = [ask_id for ask_id in ask_ids if ask_id not in self._asks and _can_be_stored(ask_id)]
        if ids:
            self._asks.update(dict.fromkeys(ids))
            queries.append(("ask", (ids[0],)) if len(ids) == 1 else ("asks_in", (_encode(ids).decode(),)))
        new = [key for key in keys if (project, key) not in self._keys and _can_be_stored(key)]
        if new:
            self._keys.update(((project, key), None) for key in new)
            one = ("ask_by_key", (project, new[0]))
            queries.append(one if len(new) == 1 else ("asks_by_key", (project, _encode(new).decode())))
        return queries

    def ask(self, project: str, ask_id: AskId) -> Ask | None:
        """Return the ask as it is in this transaction."""
        if ask_id not in self._asks:
            self._asks[ask_id] = None
            self._remember(self._query("ask", (ask_id,)))
        ask = self._asks[ask_id]
        return ask if ask is not None and ask.project == project else None

    def ask_by_key(self, project: str, key: str) -> Ask | None:
        """Return the ask that holds `key`, as it is in this transaction."""
        if (project, key) not in self._keys:
            self._keys[project, key] = None
            self._remember(self._query("ask_by_key", (project, key)))
        ask_id = self._keys[project, key]
        return None if ask_id is None else self._asks[ask_id]

    def due(self, head: Head) -> list[Ask]:
        """Return the open asks whose deadline has passed."""
        earliest = self._deadlines[head.project]
        is_any = earliest is not None and earliest <= head.at
        found = self._query("due", (head.number, head.at)) if is_any else []
        self._remember(found)
        here = [self._asks[ask_id] for ask_id in (*(ask.ask_id for ask in found), *self._opened)]
        return [ask for ask in here if ask is not None and _is_due(ask, head)]

    def steps(self, project: str, flow_id: str, start: int = 0) -> list[Step]:
        """Return a flow's journal from a step on."""
        values = (project, flow_id, start)
        return [Step(*row) for row in self._session.rows("steps", values)]

    def messages(self, head: Head, topic: str, after: int, limit: int) -> list[Message]:
        """Return a topic's messages after a number, oldest first, with those that this transaction has appended."""
        base = head.number * LOG_SHIFT
        values = (topic, base + after, base + LOG_SHIFT, limit)
        stored = self._session.rows("messages", values)
        new = [
            (number, at, topic, body)
            for number, at, _, _, body, _, name, _ in self._events
            if name == topic and base + after < number < base + LOG_SHIFT
        ]
        return [
            message_of(number - base, at, name, body) for number, at, name, body in [*stored, *new][:limit]
        ]

    def open_asks_of(self, head: Head, run_id: RunId) -> list[Ask]:
        """Return the asks that wait for a run, oldest first."""
        self._remember(self._query("open_asks_of_run", (head.number, run_id)))
        return [
            ask
            for ask in self._asks.values()
            if ask is not None and ask.is_open and ask.run_id == run_id and ask.project == head.project
        ]

    def decided(self, head: Head, action_digest: str) -> list[Ask]:
        """Return the last approvals of one action that people ended."""
        found = self._query("decided", (head.number, action_digest))
        self._remember(found)
        known = {ask.ask_id: ask for ask in found} | {ask.ask_id: ask for ask in self._here(head)}
        return [
            ask
            for ask in known.values()
            if ask.state in (State.ANSWERED, State.DECLINED)
            and digest_of_action(ask.kind, ask.prompt) == action_digest
        ]

    def count_open_of(self, head: Head, asker: str) -> int:
        """Return how many asks of one asker wait in the project."""
        count: int = self._session.rows("count_open_of", (head.number, asker))[0][0]
        for ask in self._here(head):
            if ask.asker == asker:
                count += ask.is_open - (ask.ask_id not in self._opened)
        return count

    def _here(self, head: Head) -> list[Ask]:
        """Return the asks of a project that this transaction has opened or ended, as they are now."""
        here = (self._asks[ask_id] for ask_id in (*self._opened, *self._ended))
        return [ask for ask in here if ask is not None and ask.project == head.project]

    def run(self, project: str, run_id: RunId) -> Run | None:
        """Return the run as it is in this transaction."""
        key = (project, run_id)
        if key not in self._runs:
            found = self._session.rows("run", key)
            self._runs[key] = run_of(found[0][0]) if found else None
        return self._runs[key]

    def control(self, head: Head, request_id: str) -> Control | None:
        """Return what is known of a request id in this transaction."""
        key = (head.project, request_id)
        if key not in self._controls:
            found = self._session.rows("control", (head.number, request_id))
            self._controls[key] = control_of(found[0][0]) if found else None
        return self._controls[key]

    def open_controls(self, head: Head) -> list[Control]:
        """Return the controls that an earlier transaction left to be taken up or executed, oldest first."""
        if not self._has_controls[head.project]:
            return []
        found = self._session.rows("open_controls", (head.number,))
        return [control_of(record) for (record,) in found]

    def _query(self, name: str, values: tuple[Any, ...]) -> list[Ask]:
        return [ask_of(row) for row in self._session.rows(name, values)]

    def _remember(self, asks: list[Ask]) -> None:
        # What this transaction has put is newer than what the file still holds.
        for ask in asks:
            if self._asks.get(ask.ask_id) is None:
                self._asks[ask.ask_id] = ask
            if ask.key is None or ask.state is State.SUPERSEDED:
                continue  # a superseded ask has given its key away
            if self._keys.get((ask.project, ask.key)) is None:
                self._keys[ask.project, ask.key] = ask.ask_id

    # Writing

    def put(self, head: Head, ask: Ask) -> None:
        """Keep `ask` as it is now."""
        refuse_long(ask.ask_id, ask.key, ask.run_id)
        known = self._asks.get(ask.ask_id)
        self._asks[ask.ask_id] = ask
        if known is None or known.project != head.project:
            self._opened[ask.ask_id] = (head.number, ask.sequence)
            if ask.key is not None:
                self._keys[head.project, ask.key] = ask.ask_id
        elif (known.digest, known.opened_at) != (ask.digest, ask.opened_at):
            raise CommandReusedError  # a new ask under the id of an old one
        elif ask.ask_id not in self._opened:
            (self._marked if ask.is_open else self._ended)[ask.ask_id] = ask

    def claim(self, ask: Ask, claim: Claim | None) -> None:
        """Note who is on it; volatile."""
        self._asks[ask.ask_id] = replace(ask, claim=claim)
        self._claims[ask.ask_id] = claim

    def append(self, head: Head, type_: str, subject: str, body: bytes, topic: str | None = None) -> None:
        """Add one event to the project's log and move its head."""
        head.sequence += 1
        placed_at = None
        if head.at >= head.high:
            head.high = head.at
        else:
            placed_at = head.high
        head.hash = link(head.hash, head.sequence, head.at, type_, subject, sha256(body).digest())
        number = head.number * LOG_SHIFT + head.sequence
        self._events.append((number, head.at, type_, subject, body, head.hash, topic, placed_at))

    def last_event(self) -> tuple[str, int, bytes] | None:
        """Return the project, the number and the hash of the last event that is to be saved; None where there is none."""
        for head in self._heads.values():
            if self._events:
                return head.project, head.number * LOG_SHIFT + head.sequence, head.hash
        return None

    def put_step(self, head: Head, step: Step) -> None:
        """Keep an entry of a flow's journal."""
        refuse_long(step.flow_id)
        values = (head.number, step.flow_id, step.step, step.digest, step.state, step.content, step.by)
        self._session.run("put_step", values)

    def put_run(self, head: Head, run: Run) -> None:
        """Keep `run` as it is now."""
        refuse_long(run.run_id)
        self._runs[head.project, run.run_id] = run
        self._changed_runs[head.project, run.run_id] = head.number

    def put_control(self, head: Head, control: Control) -> None:
        """Keep `control` as it is now."""
        refuse_long(control.request.request_id)
        key = (head.project, control.request.request_id)
        self._controls[key] = control
        self._changed_controls[key] = head.number

    def tail(self, head: Head, run_id: RunId) -> Kept | None:
        """Return what is kept of a run's output, as it is in this transaction."""
        return self._tails.find(head, run_id)

    def put_tail(self, head: Head, run_id: RunId, kept: Kept) -> None:
        """Keep this of a run's output; volatile."""
        self._tails.put(head, run_id, kept)

    def token(self, project: str, token_id: TokenId) -> Token | None:
        """Return the token as it is in this transaction."""
        return self._tokens.find(project, token_id)

    def put_token(self, head: Head, token: Token) -> None:
        """Keep `token` as it is now."""
        self._tokens.put(head, token)

    def receipt(self, project: str, receipt_id: ReceiptId) -> Receipt | None:
        """Return the receipt as it is in this transaction."""
        return self._receipts.find(project, receipt_id)

    def receipt_by_key(self, head: Head, key: str) -> Receipt | None:
        """Return the receipt that holds `key`, as it is in this transaction."""
        return self._receipts.find_by_key(head, key)

    def put_receipt(self, head: Head, receipt: Receipt) -> None:
        """Keep `receipt` as it is now."""
        refuse_long(receipt.key)
        self._receipts.put(head, receipt)

    def done_command(self, head: Head, command_id: str) -> Done | None:
        """Return what is known of a command that left no row of its own."""
        known = self._done.get((head.number, command_id))
        if known is not None:
            return known
        found = self._session.rows("done_command", (head.number, command_id))
        return Done(*found[0]) if found else None

    def put_done_command(self, head: Head, command_id: str, done: Done) -> None:
        """Remember that a command was done; volatile."""
        refuse_long(command_id)
        self._done[head.number, command_id] = done

    def flush(self) -> None:
        """Write what was gathered; called once, before COMMIT."""
        for ask in self._marked.values():
            if ask.ask_id not in self._ended:
                self._session.run("mark_ask", (flags_of(ask), ask.sequence, ask.ask_id))
        self._end_asks()
        new_rows = []
        for ask_id, (number, opened) in self._opened.items():
            new = self._asks[ask_id]
            assert new is not None  # noqa: S101 - put() has set it
            new_rows.append(insert_values(number, opened, new))
        # Ids are minted by callers: one may stand for another ask, perhaps of another project.
        self._session.write("insert_asks", new_rows, taken="This id or key already belongs to another ask.")
        for ask_id, claim in self._claims.items():
            self._session.run("claim_ask", (None if claim is None else _encode(claim), ask_id))
        self._write_records()
        self._tails.write()
        self.write_work()
        self._tokens.write()
        self._receipts.write()
        self.write_targets()
        for (number, command_id), done in self._done.items():
            self._session.run("insert_done_command", (number, command_id, done.digest, done.sequence))
        self._session.write("insert_events", self._events)
        for head in self._heads.values():
            if head.sequence == 0:
                self._session.run("drop_project", (head.number,))
            elif self._events:
                self._session.run("save_head", (head.sequence, head.hash, head.high, head.number))

    def _write_records(self) -> None:
        for key, number in self._changed_runs.items():
            run = self._runs[key]
            assert run is not None  # noqa: S101 - put_run() has set it
            query = "put_run" if run.is_active else "end_run"
            self._session.run(query, (number, run.run_id, encode_record(run)))
        for key, number in self._changed_controls.items():
            control = self._controls[key]
            assert control is not None  # noqa: S101 - put_control() has set it
            settled = int(control.is_settled)
            values = (number, key[1], settled, control.sequence, encode_record(control))
            self._session.run("put_control", values)

    def _end_asks(self) -> None:
        ended = [
            (ask.state, flags_of(ask), ask.sequence, encode_ending(ask), ask.ask_id)
            for ask in self._ended.values()
        ]
        self._session.write("end_ask" if len(ended) == 1 else "end_asks", ended, changes_all=True)


def _is_due(ask: Ask, head: Head) -> bool:
    is_waiting = ask.project == head.project and ask.is_open and not ask.is_overdue
    return is_waiting and ask.deadline is not None and encode_instant(ask.deadline) <= head.at


def _can_be_stored(text: str) -> bool:
    """Say whether a text has neither a NUL nor half of a pair in it."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
