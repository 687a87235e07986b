"""The planted faults: each takes one guard out of the package, in a worker that is told so by its environment.

The package knows nothing of this file. A fault is planted where the guard stands, as small as it can be, so that
what turns red is the trial's own eye and not an accident.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any
from weakref import WeakSet
from xml.parsers import expat

import apsw
from msgspec.structs import replace

from assent.cli import round as cli_round
from assent.engine import ask as ask_machine
from assent.hub import audit, waiters
from assent.hub import hub as hub_module
from assent.hub.clock import Clock, SystemClock
from assent.hub.desk import Desk
from assent.hub.future import settle
from assent.hub.hub import Hub, Work
from assent.hub.waiters import Waiters
from assent.protocol import display, plan, reply
from assent.protocol.answer import Answer, FieldValues
from assent.protocol.ask import Ask, AskId
from assent.protocol.ending import render_ending
from assent.protocol.error import AssentError, ConflictError, StoreError, UnrecognisedError
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Prompt
from assent.storage.port import Head, Store
from assent.storage.postgres import store as postgres_store
from assent.storage.queries import load_queries
from assent.storage.sql.transaction import SqlTransaction
from assent.storage.sqlite import connection as connection_module
from assent.storage.sqlite import store as store_module
from assent.storage.sqlite.bell import SocketBell
from assent.storage.sqlite.fork import gate
from assent.storage.sqlite.store import SqliteStore
from assent.storage.writer import Writer
from assent.surfaces import race
from torture.comments_twins import COMMENT_PLANTS
from torture.postgres_twins import POSTGRES_PLANTS
from torture.provenance_twins import PROVENANCE_PLANTS
from torture.review_twins import REVIEW_PLANTS
from torture.run_twins import RUN_PLANTS
from torture.server_twins import SERVER_PLANTS
from torture.swap import swap

__all__ = ["TWIN", "plant", "swap"]

TWIN = "TORTURE_TWIN"
"""The variable that names the guard to take away; no program but ours looks at it."""


def plant(name: str) -> None:
    """Take the named guard out of this process; nothing for an empty name."""
    if name:
        _PLANTS[name]()


def _acknowledge_before_commit() -> None:
    replies, submit = Hub._replies, Writer.submit

    def early(hub: Hub, desk: Desk, group: list[Work]) -> Any:
        settle([(work.future, ask, error) for work, ask, error in replies(hub, desk, group)])
        time.sleep(0.02)  # the commit is on its way, says the slow disk
        return []

    def queued(writer: Writer[Any], work: Any, *, may_lead: bool) -> None:  # noqa: ARG001 - whoever leads sees the commit
        submit(writer, work, may_lead=False)

    swap(Hub, "_replies", early)
    swap(Writer, "submit", queued)


def _forget_command_ids() -> None:
    def too_late(ask: Ask, stamp: object, is_same: bool) -> tuple[()]:  # noqa: ARG001 - as the guard's own
        raise ConflictError(render_ending(ask), ask=ask)

    def late(settled: Any) -> None:
        time.sleep(0.02)  # committed and not yet told: the moment in which a retry is born
        settle(settled)

    swap(ask_machine, "_already", too_late)
    swap(hub_module, "settle", late)


def _look_then_write() -> None:
    handle = Hub.handle
    seen: dict[str, Ask | None] = {}

    def looked(hub: Hub, request: Any, **told: Any) -> Any:
        ask_id = getattr(request, "ask_id", "")
        with hub.store.reading() as reader:
            seen[ask_id] = reader.ask(ask_id)
        return handle(hub, request, **told)

    def remembered(transaction: SqlTransaction, project: str, ask_id: AskId) -> Ask | None:  # noqa: ARG001 - the port's
        transaction._asks[ask_id] = seen[ask_id]
        return seen[ask_id]

    def loosened(package: str, name: str) -> dict[str, str]:
        condition = re.compile(r" AND (asks\.)?state = 'open'")
        found = load_queries(package, name).items()
        return {
            name: condition.sub("", query) if name.startswith("end_ask") else query for name, query in found
        }

    swap(Hub, "handle", looked)
    swap(SqlTransaction, "ask", remembered)
    for module in (store_module, postgres_store):
        swap(module, "load_queries", loosened)


def _fail_together() -> None:
    def all_fail(hub: Hub, group: list[Work], error: Exception, may_wait: bool, began: float) -> None:  # noqa: ARG001 - the guard's
        hub._fail(group, AssentError("The group failed."), began)

    swap(Hub, "_alone", all_fail)


def _trust_the_chain() -> None:
    def believed(reader: Any, head: Any) -> Any:
        return reader.records(head.project, 0, 1_000_000), []

    swap(audit, "_walk", believed)


def _trust_the_rows() -> None:
    swap(audit, "_compare", lambda *_: [])


def _ignore_failed_commit() -> None:
    transaction = SqliteStore.transaction

    @contextmanager
    def deaf(store: SqliteStore, *, may_wait: bool = True) -> Iterator[SqlTransaction]:
        with suppress(StoreError), transaction(store, may_wait=may_wait) as begun:
            yield begun

    swap(SqliteStore, "transaction", deaf)


def _never_try_again() -> None:
    transaction = SqliteStore.transaction
    failed: list[StoreError] = []

    @contextmanager
    def once(store: SqliteStore, *, may_wait: bool = True) -> Iterator[SqlTransaction]:
        if failed:
            raise failed[0]
        try:
            with transaction(store, may_wait=may_wait) as begun:
                yield begun
        except StoreError as error:
            failed.append(error)
            raise

    swap(SqliteStore, "transaction", once)


def _no_full_sync() -> None:
    connect = connection_module.connect

    def hasty(path: str, *, writes: bool) -> apsw.Connection:
        connection = connect(path, writes=writes)
        connection.pragma("synchronous", "NORMAL")
        return connection

    swap(store_module, "connect", hasty)


def _mute_bell() -> None:
    swap(SocketBell, "ring", lambda *_: None)


def _mute_bell_and_slow_net() -> None:
    _mute_bell()
    swap(waiters, "NET_SECONDS", 2.5)


def _wake_anyone() -> None:
    deliver = Waiters.deliver

    def mixed(waiting: Waiters, asks: Iterable[Ask]) -> None:
        asks = list(asks)
        ended = {ask.ask_id for ask in asks}
        others = [ask_id for ask_id in list(waiting._waiting) if ask_id not in ended]
        if asks and others:
            asks[0] = replace(asks[0], ask_id=others[0])
        deliver(waiting, asks)

    swap(Waiters, "deliver", mixed)


def _share_after_fork() -> None:
    swap(Hub, "after_fork", lambda _: None)


def _open_over_a_fork() -> None:
    swap(gate, "_opened", WeakSet())
    swap(gate, "note", lambda _: None)


def _wait_for_ever() -> None:
    swap(hub_module, "BUSY_SECONDS", 60.0)


def _first_option_by_default() -> None:
    recognise = reply.recognise

    def guessed(prompt: Prompt, text: str) -> FieldValues:
        try:
            return recognise(prompt, text)
        except UnrecognisedError:
            return {field.name: (field.options[0].key,) for field in prompt.fields}

    for module in (race, silence_trial()):
        swap(module, "recognise", guessed)
    swap(ask_machine, "recognise_reply", lambda prompt, text: reply.Reading(guessed(prompt, text)))


def silence_trial() -> ModuleType:
    """Return the trial that reads replies itself; it leans on this file, so it is fetched late."""
    return import_module("torture.silence")


def _deadline_answers() -> None:
    def answered(ask: Ask | None, command: ask_machine.LapseAsk) -> tuple[ask_machine.Event, ...]:
        if ask is None or ask.deadline is None or not ask.is_open or ask.deadline > command.stamp.at:
            return ()
        values: FieldValues = {field.name: (field.options[0].key,) for field in ask.prompt.fields}
        by = str(command.stamp.by)
        answer = Answer(values, "", by, "timer", Assurance.DECLARED, command.stamp.at, "cmd_timer")
        return (ask_machine.AskAnswered(ask.ask_id, answer),)

    ask_machine._DECISIONS[ask_machine.LapseAsk] = answered


def _time_of_the_last_event() -> None:
    whole = SqlTransaction.head

    def never_back(transaction: SqlTransaction, project: str, now: int | None) -> Head:
        head = whole(transaction, project, now)
        head.at = max(head.at, head.high)
        return head

    swap(SqlTransaction, "head", never_back)


def _time_of_the_host() -> None:
    whole = Hub.__init__

    def by_the_host(hub: Hub, store: Store, clock: Clock | None = None, **rest: bool) -> None:
        whole(hub, store, clock or SystemClock(), **rest)

    swap(Hub, "__init__", by_the_host)


def _show_as_it_is() -> None:
    # Every way of showing goes through these tables, under whichever name it was imported.
    swap(display._Table, "__missing__", lambda _, point: chr(point))


def _lenient_json() -> None:
    swap(cli_round, "parse_json", lambda text, **_: json.loads(text))


def _any_number_of_elements() -> None:
    swap(plan, "MAX_PLAN_ELEMENTS", plan.MAX_PLAN_BYTES)


def _any_encoding() -> None:
    create = expat.ParserCreate
    swap(expat, "ParserCreate", lambda *_: create())
    swap(plan._Reader, "_declaration", lambda *_: None)


_PLANTS: dict[str, Callable[[], None]] = {
    "acknowledge-before-commit": _acknowledge_before_commit,
    "forget-command-ids": _forget_command_ids,
    "look-then-write": _look_then_write,
    "ignore-failed-commit": _ignore_failed_commit,
    "no-full-sync": _no_full_sync,
    "never-try-again": _never_try_again,
    "fail-together": _fail_together,
    "mute-bell": _mute_bell,
    "mute-bell-and-slow-net": _mute_bell_and_slow_net,
    "wake-anyone": _wake_anyone,
    "share-after-fork": _share_after_fork,
    "open-over-a-fork": _open_over_a_fork,
    "wait-for-ever": _wait_for_ever,
    "first-option-by-default": _first_option_by_default,
    "deadline-answers": _deadline_answers,
    "time-of-the-last-event": _time_of_the_last_event,
    "time-of-the-host": _time_of_the_host,
    "show-as-it-is": _show_as_it_is,
    "lenient-json": _lenient_json,
    "trust-the-chain": _trust_the_chain,
    "trust-the-rows": _trust_the_rows,
    "any-number-of-elements": _any_number_of_elements,
    "any-encoding": _any_encoding,
    **RUN_PLANTS,
    **REVIEW_PLANTS,
    **SERVER_PLANTS,
    **POSTGRES_PLANTS,
    **COMMENT_PLANTS,
    **PROVENANCE_PLANTS,
}
