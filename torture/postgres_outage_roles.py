"""Workers of the outage trial: hubs in processes of their own that ask and answer, whatever the database does.

What a worker says was acknowledged to it. What fails because the database is away is sent again under its command id.
Beside that it tells of each commit whose reply was lost, and what the store has found out about it.
"""

from __future__ import annotations

import os
import random
import threading
import time

from assent.client.connect import open_hub
from assent.engine.ask import AnswerAsk, OpenAsk
from assent.hub.command import Request
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id, new_command_id
from assent.protocol.ask import Ask
from assent.protocol.canonical import digest
from assent.protocol.error import AssentError, StoreAwayError, StoreBusyError, StoreUnknownError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from assent.storage.postgres.store import PostgresStore
from assent.storage.sql.transaction import SqlTransaction
from torture.look import row_of
from torture.nursery import Wire
from torture.swap import swap

__all__ = ["PROJECTS", "answers"]

PROJECTS = ("alpha", "beta", "gamma")
OPTIONS = ("Red", "Green", "Blue")
_PATIENCE = 120.0
_PAUSE = 0.02
_PROMPT = question("Which colour?", OPTIONS)
_DIGEST = digest(encode_prompt(_PROMPT))


def answers(wire: Wire, url: str, name: str, threads: int) -> None:
    """Open asks and answer them, on several threads, until the trial calls for rest."""
    _tell_of_unknown(wire)
    hub = open_hub(url, os.environ)
    is_over = threading.Event()
    bodies = [
        threading.Thread(target=_answer, args=(wire, hub, f"{name}-{number}", is_over), daemon=True)
        for number in range(threads)
    ]
    for body in bodies:
        body.start()
    wire.hear()
    is_over.set()
    for body in bodies:
        body.join(2 * _PATIENCE)
    wire.say(kind="rested")
    wire.hear()


def _answer(wire: Wire, hub: Hub, name: str, is_over: threading.Event) -> None:
    asker, person = Principal(Role.AGENT, name), Principal(Role.HUMAN, name)
    try:
        while not is_over.is_set():
            project, ask_id = random.choice(PROJECTS), new_ask_id()
            _send(wire, hub, OpenAsk(ask_id, _PROMPT, _DIGEST), project, asker, new_command_id())
            command_id = new_command_id()
            values: dict[str, tuple[str, ...]] = {"q1": (random.choice(OPTIONS),)}
            answer = AnswerAsk(ask_id, command_id, values, "torture")
            _send(wire, hub, answer, project, person, command_id)
    except Exception as error:  # noqa: BLE001 - whatever it is, the trial must hear of it
        wire.say(kind="trouble", what=f"{name}: {error!r}")


def _send(wire: Wire, hub: Hub, request: Request, project: str, who: Principal, command_id: str) -> None:
    """Send a command until it is acknowledged; each try is counted."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            future = hub.handle(request, project=project, principal=who, command_id=command_id)
            assert isinstance(future, LightFuture)
            if not future.wait(_PATIENCE):
                raise TimeoutError(f"No reply to {request} in {_PATIENCE} s.")
            ask = future.result()
        except (StoreAwayError, StoreBusyError, StoreUnknownError) as away:
            wire.say(kind="away", code=away.code, sentence=away.message)
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        except AssentError as refusal:
            # Nobody else answers this ask: whoever was first was this very command.
            wire.say(kind="refused", code=refusal.code, command_id=command_id, sentence=refusal.message)
            return
        else:
            assert isinstance(ask, Ask)
            what = "answered" if isinstance(request, AnswerAsk) else "opened"
            wire.say(kind=what, command_id=command_id, row=row_of(ask))
            return


def _tell_of_unknown(wire: Wire) -> None:
    find_out = PostgresStore._is_saved

    def told(store: PostgresStore, transaction: SqlTransaction) -> bool:
        last = transaction.last_event()
        number, hash_ = (0, "") if last is None else (last[1], last[2].hex())
        try:
            is_saved = find_out(store, transaction)
        except StoreUnknownError:
            wire.say(kind="unknown", verdict="left", number=number, hash=hash_)
            raise
        wire.say(kind="unknown", verdict="saved" if is_saved else "not saved", number=number, hash=hash_)
        return is_saved

    swap(PostgresStore, "_is_saved", told)
