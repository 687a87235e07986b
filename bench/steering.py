"""Our side of steering, each in a process of its own: who drives runs, who sends them commands, who follows the topic."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assent
from assent.client.door import Wait
from assent.client.driven import DrivenRun
from assent.client.embedded import EmbeddedDoor
from assent.hub.command import Request, Told
from assent.hub.future import Future
from assent.hub.hub import Hub
from assent.protocol.principal import Principal
from assent.protocol.topic import CONTROL_TOPIC
from bench.workload import AGENT, PERSON, PROJECT

if TYPE_CHECKING:
    import asyncio

__all__ = ["Controller", "Driver", "Follower"]

Say = Callable[[dict[str, Any]], None]


class Driver:
    """Starts runs, waits for each of them in a thread as drivers do, and tells when one was cancelled."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del role
        self._store = store
        self._say = say
        self._client = self._connect()
        self._numbers = itertools.count()
        self._held = ExitStack()

    def start(self, count: int, ears: str) -> dict[str, Any]:
        """Start so many runs. They share this process's ear, or each has its `own`, as in a process of its own."""
        began = []
        for _ in range(count):
            client = self._connect() if ears == "own" else self._client
            run = self._held.enter_context(client.run(run_id=self._run_id()))
            threading.Thread(target=self._wait, args=(client, run), daemon=True).start()
            began.append(run.run_id)
        return {"run_ids": began}

    def turns(self, count: int) -> dict[str, Any]:
        """Begin and end so many iterations that do nothing; return the seconds."""
        with self._client.run(run_id=self._run_id(), max=count) as run:
            began = time.perf_counter()
            for _ in run:
                pass
            seconds = time.perf_counter() - began
        return {"seconds": seconds}

    def _wait(self, client: assent.Client, run: DrivenRun) -> None:
        state = run.state
        while state.is_active:
            state = client.wait_for_run(state.run_id, state.sequence)
        self._say({"run_id": state.run_id, "woke": time.monotonic_ns()})

    def _run_id(self) -> str:
        return f"loop-{os.getpid():08d}-{next(self._numbers):08d}"

    def _connect(self) -> assent.Client:
        return assent.connect(self._store, project=PROJECT, principal=AGENT)


class Controller:
    """Sends commands as people's programs do."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del role, say
        self._client = assent.connect(store, project=PROJECT, principal=PERSON)
        self._door = _WatchedDoor(self._client.hub)
        self._client.calls.door = self._door

    def control(self, run_id: str, command: str) -> dict[str, Any]:
        """Send one command; return when it began, when its ACK was known here and when its RESULT was."""
        replied = self._door.replied
        replied.clear()
        began = time.monotonic_ns()
        result = self._client.control(run_id, command)
        resolved = time.monotonic_ns()
        assert result.is_success, result
        assert len(replied) == 2, replied
        moments = {"began": began, "acknowledged": replied[0], "resolved": resolved}
        return {"request_id": result.request_id, **moments}


class _WatchedDoor(EmbeddedDoor):
    """A client's own door, which notes when each request had its reply: ACK the first, RESULT the second."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub)
        self.replied: list[int] = []

    def send(self, request: Request, project: str, principal: Principal, command_id: str) -> Wait[Told]:
        """Send one request; on a thread it is done when its future is returned."""
        sent = super().send(request, project, principal, command_id)

        def start(loop: asyncio.AbstractEventLoop | None) -> Future[Told]:
            future = sent.start(loop)
            self.replied.append(time.monotonic_ns())
            return future

        return Wait(start)


class Follower:
    """Follows `loop:control` and tells of each ACK and RESULT when it has read it."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del role
        self._say = say
        self._client = assent.connect(store, project=PROJECT, principal=PERSON)
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        for message in self._client.follow_topic(CONTROL_TOPIC):
            body = json.loads(bytes(message.body))
            read = time.monotonic_ns()
            if body["type"] != "REQUEST":
                self._say({"request_id": body["request_id"], "type": body["type"], "read": read})
