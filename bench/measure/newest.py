"""The inbox of a large store: the newest 50 pending asks must not get slower with what lies behind them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

import apsw
from msgspec.structs import replace

import assent
from assent.engine.ask import AskAnswered, AskOpened, evolve
from assent.hub.ids import new_ask_id
from assent.hub.record import encode_event, type_of
from assent.protocol.answer import Answer
from assent.protocol.ask import Consequence, Kind
from assent.protocol.principal import Assurance
from assent.protocol.prompt import check_prompt, prompt_digest, question
from assent.storage.sqlite.store import SqliteStore
from bench.figure import Figure, Reading
from bench.session import Session
from bench.workload import AGENT, OPTIONS, PERSON, PROJECT, TITLE

__all__ = ["fill", "measure"]

_SHOWN = 50
_CALLS = 40
_GROUP = 10_000
_PENDING_EVERY = 10
_BARE = (
    "SELECT ask_id, kind, state, key, prompt, opened_at FROM asks INDEXED BY asks_open"
    " WHERE project_number = 1 AND state = 'open' ORDER BY opened DESC LIMIT ?"
)


def measure(session: Session) -> Iterator[Figure]:
    """Give the time of the inbox in a small and in a large store, in turns."""
    session.begin("newest")
    small, large = session.scale.stored
    paths = {small: session.folder / "small.db", large: session.folder / "large.db"}
    for count, path in paths.items():
        fill(path, count, session.tell)
    ours: dict[int, list[float]] = {small: [], large: []}
    bare: dict[int, list[float]] = {small: [], large: []}
    with ExitStack() as stack:
        clients = {
            count: stack.enter_context(assent.connect(path, project=PROJECT, principal=AGENT))
            for count, path in paths.items()
        }
        connections = {count: apsw.Connection(str(path)) for count, path in paths.items()}
        for number in session.repetitions():
            for count in session.turns(number, [small, large]):
                client, connection = clients[count], connections[count]
                ours[count].append(_time(partial(client.inbox, limit=_SHOWN)))
                bare[count].append(_time(partial(_read_bare, connection)))
        for connection in connections.values():
            connection.close()
    name = f"newest {_SHOWN} of {large:,}"
    yield Figure(
        "newest",
        f"{name} against {small:,}",
        "ms",
        Reading.TIMES,
        ours[large],
        ours[small],
        2.0,
        f"{small:,}",
    )
    yield Figure("newest", name, "ms", Reading.VALUE, ours[large], bare[large], goal=0.5)


def fill(path: Path, count: int, tell: Callable[[str], None]) -> None:
    """Store so many asks, one in ten pending, through the store's own transactions in large groups."""
    store = SqliteStore(path)
    prompt = question(TITLE, OPTIONS)
    digest = prompt_digest(check_prompt(prompt))
    at = datetime.now(UTC)
    opened = AskOpened(
        new_ask_id(), at, Kind.QUESTION, None, prompt, digest, AGENT, None, None, Consequence.WAIT, None
    )
    answer = Answer({"q1": (OPTIONS[0],)}, "1", PERSON, "python", Assurance.DECLARED, at, "cmd_0")
    for start in range(0, count, _GROUP):
        tell(f"{start:,} of {count:,} asks stored")
        with store.mutex_of("p"), store.transaction() as transaction:
            head = transaction.head(PROJECT, time.time_ns() // 1000)
            for number in range(start, min(start + _GROUP, count)):
                event = replace(opened, ask_id=new_ask_id())
                transaction.append(head, type_of(event), event.ask_id, encode_event(event))
                ask = evolve(None, event, project=PROJECT, sequence=head.sequence)
                transaction.put(head, ask)
                if number % _PENDING_EVERY:
                    ending = AskAnswered(ask.ask_id, answer)
                    transaction.append(head, type_of(ending), ask.ask_id, encode_event(ending))
                    transaction.put(head, evolve(ask, ending, project=PROJECT, sequence=head.sequence))
    store.close()


def _read_bare(connection: apsw.Connection) -> object:
    return connection.execute(_BARE, (_SHOWN,)).fetchall()


def _time(call: Callable[[], object]) -> float:
    took = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - began))
    return median(took)
