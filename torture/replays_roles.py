"""The worker of the replay trial: posts what it is given on `loop:control`, by a clock that the trial moves."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from assent.client.connect import open_hub
from assent.hub.command import ExecuteControl, Posted, PostMessage, Request, StartRun
from assent.hub.command import Told as Reply
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.protocol.control import Control, ControlMessage
from assent.protocol.principal import Principal, Role
from assent.protocol.run import Frame, Mode, RunId
from assent.protocol.topic import CONTROL_TOPIC
from assent.testing.clock import FakeClock
from torture.nursery import Wire

__all__ = ["PROJECT", "RUNS", "SPECIAL", "Sent", "Told", "office"]

PROJECT = "archive"
RUNS = tuple(f"loop-{number}-archive" for number in range(12))
SPECIAL = "loop-special-archive"
START = datetime(2031, 5, 1, 9, 0, tzinfo=UTC)
STEP_SECONDS = 0.01
"""The clock goes on by so much with every message."""
_ANA = Principal(Role.HUMAN, "ana")
_CODER = Principal(Role.AGENT, "coder")


class Sent(msgspec.Struct, frozen=True):
    """One message, and how it is posted."""

    text: str
    way: str = "post"
    """`post`: at once; `leave`: only left lying in the topic; `twice`: two of it in one transaction."""


class Told(msgspec.Struct, frozen=True):
    """The RESULT that came, and where clock and log were then."""

    at: float
    sequence: int
    timestamp: datetime | None = None
    payload: dict[str, Any] = {}
    repeat: str = ""
    """What the second of two was told."""

    @property
    def is_success(self) -> bool:
        """The command was executed."""
        return self.payload.get("status") == "success"

    @property
    def code(self) -> str | None:
        """Why it was not."""
        return self.payload.get("code")


def office(wire: Wire, store: str, seconds: float) -> None:
    """Do as ordered, until killed."""
    clock = FakeClock(START + timedelta(seconds=seconds))
    hub = open_hub(Path(store), os.environ, clock)
    for run_id in (*RUNS, SPECIAL):
        _begin(hub, run_id)
    wire.say(ready=True)
    while True:
        told = wire.hear()
        if "posts" in told:
            seconds = told["seconds"]
            replies = []
            for sent in msgspec.convert(told["posts"], list[Sent]):
                seconds += STEP_SECONDS
                clock.set(START + timedelta(seconds=seconds))
                replies.append(_post(hub, sent, seconds))
            wire.say(told=replies)
        elif "begin" in told:
            _begin(hub, told["begin"])
            wire.say(done=True)
        else:
            with hub.store.reading() as reader:
                records = reader.records(PROJECT, told["types"], 1_000_000)
            wire.say(types=[record.type for record in records])


def _begin(hub: Hub, run_id: str) -> None:
    with hub.store.reading() as reader:
        is_known = reader.run(PROJECT, run_id) is not None
    if not is_known:
        frame = Frame(run_id, Mode.LOOP, 0, 10, model="haiku")
        _send(hub, StartRun(RunId(run_id), frame, "archive:1"), _CODER)


def _post(hub: Hub, sent: Sent, seconds: float) -> Told:
    request = PostMessage(CONTROL_TOPIC, sent.text.encode(), sent.way == "leave")
    if sent.way == "twice":
        first, second = _send_together(hub, request)
        replies = [_result(hub, posted) for posted in (first, second)]
        # Which of the two came first, only the log knows: one has the RESULT, and one the reply to a repeat.
        replies.sort(key=lambda reply: reply.is_success if reply else False, reverse=True)
        repeat = replies[1].code or "success" if replies[1] else "nothing"
        return _told(hub, replies[0], seconds, repeat)
    posted = _send(hub, request, _ANA)
    assert isinstance(posted, Posted)
    return _told(hub, _result(hub, posted), seconds)


def _told(hub: Hub, reply: ControlMessage | None, seconds: float, repeat: str = "") -> Told:
    with hub.store.reading() as reader:
        sequence = reader.head_sequence(PROJECT)
    if reply is None:
        return Told(seconds, sequence)
    return Told(seconds, sequence, reply.timestamp, reply.payload, repeat)


def _result(hub: Hub, posted: Posted) -> ControlMessage | None:
    """Return the RESULT; where there is only an ACK so far, have the command executed."""
    if posted.reply is None or posted.reply.type == "RESULT":
        return posted.reply
    control = _send(hub, ExecuteControl(posted.reply.request_id), _ANA)
    assert isinstance(control, Control)
    return control.result


def _send(hub: Hub, request: Request, who: Principal) -> Reply:
    future = hub.handle(request, project=PROJECT, principal=who)
    assert isinstance(future, LightFuture)
    if not future.wait(30):
        raise TimeoutError("No reply in 30 s.")
    return future.result()


def _send_together(hub: Hub, request: PostMessage) -> list[Posted]:
    """Hold the writer until both have come in, so that they commit as one group."""
    outcomes: list[Posted] = []

    def send() -> None:
        posted = _send(hub, request, _ANA)
        assert isinstance(posted, Posted)
        outcomes.append(posted)

    threads = [threading.Thread(target=send) for _ in range(2)]
    with hub.store.mutex_of(PROJECT):
        for thread in threads:
            thread.start()
        until = time.monotonic() + 4
        # The writer thread itself takes the first one and then waits for the mutex that we hold.
        while hub._writer_of(PROJECT)._queue.qsize() < 1 and time.monotonic() < until:
            time.sleep(0.001)
    for thread in threads:
        thread.join(60)
    return outcomes
