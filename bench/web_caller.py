"""Who calls a server, one thing at a time, as programs do: through the public client, or the floor through bare httpx2."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from websockets.sync.client import ClientConnection, connect

import assent
from bench.workload import ANSWER, OPTIONS, PROJECT, TITLE, ask_parts

__all__ = ["PlainCaller", "RemoteCaller", "WebCaller", "socket_address", "token_header"]

Say = Callable[[dict[str, Any]], None]


def socket_address(port: int) -> str:
    """Return where a server tells its events."""
    return f"ws://127.0.0.1:{port}/projects/{PROJECT}/events"


def token_header(secret: str) -> dict[str, str]:
    """Return the header that shows a token."""
    return {"authorization": f"Bearer {secret}"} if secret else {}


class WebCaller:
    """One agent's or one person's process. How it opens, waits and answers is said by the two below."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del store, role
        self._say = say
        self._numbers = itertools.count()

    def connect(self, port: int, secret: str) -> dict[str, Any]:
        """Say where the server is."""
        self._turn_to(port, secret)
        return {}

    def listen(self, port: int, secret: str) -> dict[str, Any]:
        """Open a socket; from now on wakes are told as it hears of them."""
        socket = connect(socket_address(port), additional_headers=token_header(secret), compression=None)
        threading.Thread(target=self._hear, args=(socket,), daemon=True).start()
        return {}

    def open(self, waiter: str) -> dict[str, Any]:
        """Open an ask; with the waiter `poll` wait for it in a thread, with `socket` it is heard of."""
        key = f"bench-{os.getpid():08d}-{next(self._numbers):08d}"
        began = time.monotonic_ns()
        ask_id = self._open(key)
        ended = time.monotonic_ns()
        if waiter == "poll":
            threading.Thread(target=self._poll, args=(ask_id,), daemon=True).start()
        return {"ask_id": ask_id, "began": began, "ended": ended}

    def answer(self, ask_id: str) -> dict[str, Any]:
        """Answer one ask."""
        began = time.monotonic_ns()
        self._answer(ask_id)
        return {"began": began, "ended": time.monotonic_ns()}

    def _poll(self, ask_id: str) -> None:
        self._wait(ask_id)
        self._say({"ask_id": ask_id, "woke": time.monotonic_ns()})

    def _hear(self, socket: ClientConnection) -> None:
        for message in socket:
            woke = time.monotonic_ns()
            event = json.loads(message)
            if event["type"] == "ask.answered":
                self._say({"ask_id": event["data"]["ask_id"], "woke": woke})

    def _turn_to(self, port: int, secret: str) -> None:
        raise NotImplementedError

    def _open(self, key: str) -> str:
        raise NotImplementedError

    def _wait(self, ask_id: str) -> None:
        raise NotImplementedError

    def _answer(self, ask_id: str) -> None:
        raise NotImplementedError


class RemoteCaller(WebCaller):
    """Ours: the public client."""

    def _turn_to(self, port: int, secret: str) -> None:
        os.environ["ASSENT_TOKEN"] = secret
        self._client = assent.connect(f"http://127.0.0.1:{port}", project=PROJECT)

    def _open(self, key: str) -> str:
        return str(self._client.open(TITLE, OPTIONS, **ask_parts(key)).ask_id)

    def _wait(self, ask_id: str) -> None:
        self._client.wait(ask_id)

    def _answer(self, ask_id: str) -> None:
        self._client.answer(ask_id, ANSWER)


class PlainCaller(WebCaller):
    """The floor: requests, and nothing made of the replies but what JSON says."""

    def _turn_to(self, port: int, secret: str) -> None:
        del secret
        base = f"http://127.0.0.1:{port}/projects/{PROJECT}"
        self._client = httpx2.Client(base_url=base, trust_env=False, timeout=60)

    def _open(self, key: str) -> str:
        body = {"prompt": TITLE, "options": OPTIONS, **ask_parts(key)}
        ask_id: str = self._client.post("/asks", json=body).json()["ask_id"]
        return ask_id

    def _wait(self, ask_id: str) -> None:
        self._client.get(f"/asks/{ask_id}/answer", params={"wait": 25}).json()

    def _answer(self, ask_id: str) -> None:
        self._client.post(f"/asks/{ask_id}/answer", json={"text": ANSWER}).json()
