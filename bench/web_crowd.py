"""Who calls a server all at once: many connections of one event loop, with HTTP at its barest, the same for both servers.

A client library would spend more time than the server, and it is the server that is measured here.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench.web import allow_many_files
from bench.web_caller import socket_address, token_header
from bench.workload import ANSWER, OPTIONS, PROJECT, TITLE, ask_parts

__all__ = ["WebCrowd"]

Say = Callable[[dict[str, Any]], None]
_ASKS = f"/projects/{PROJECT}/asks"
_HANDSHAKES = 20
"""So many connections are made at the same time."""


class _Line:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str) -> None:
        self._reader, self._writer = reader, writer
        self._head = f"Host: 127.0.0.1:{writer.get_extra_info('peername')[1]}\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in token_header(secret).items()
        )

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> None:
        """Write one request."""
        text = b"" if body is None else json.dumps(body).encode()
        length = f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n" if text else ""
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{length}\r\n".encode() + text)

    async def read(self) -> bytes:
        """Read one reply; only a success is one."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        body = await self._reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 20"):
            raise AssertionError(head, body)
        return body

    def close(self) -> None:
        """Let go of it."""
        self._writer.close()


class WebCrowd:
    """One process with many connections."""

    def __init__(self, store: Path, role: str, say: Say) -> None:
        del store, role
        allow_many_files()
        self._say = say
        self._port, self._secret = 0, ""
        self._sockets: list[ClientConnection] = []
        self._kept: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def connect(self, port: int, secret: str) -> dict[str, Any]:
        """Say where the server is."""
        self._port, self._secret = port, secret
        return {}

    # Requests a second

    def asks(self, count: int, lines: int) -> dict[str, Any]:
        """Open so many asks over so many connections; return the seconds and the ids."""
        body = {"prompt": TITLE, "options": OPTIONS, "body": ask_parts("")["body"]}
        opened: list[str] = []

        async def ask(line: _Line, _: str) -> None:
            line.send("POST", _ASKS, body)
            opened.append(json.loads(await line.read())["ask_id"])

        return {"seconds": self._run(self._drive(lines, [""] * count, ask))["seconds"], "ask_ids": opened}

    def answers(self, ask_ids: list[str], lines: int) -> dict[str, Any]:
        """Answer these; return the seconds, and the moment of the last reply."""

        async def answer(line: _Line, ask_id: str) -> None:
            line.send("POST", f"{_ASKS}/{ask_id}/answer", {"text": ANSWER})
            await line.read()

        return self._run(self._drive(lines, ask_ids, answer))

    async def _drive(self, lines: int, inputs: Iterable[str], call: Callable[..., Any]) -> dict[str, Any]:
        opened = [await self._line() for _ in range(lines)]
        left = iter(inputs)

        async def caller(line: _Line) -> None:
            for value in left:
                await call(line, value)

        began = time.monotonic_ns()
        await asyncio.gather(*map(caller, opened))
        ended = time.monotonic_ns()
        for line in opened:
            line.close()
        return {"seconds": (ended - began) / 1e9, "began": began, "ended": ended}

    # Many who wait

    def hold(self, ask_ids: list[str]) -> dict[str, Any]:
        """Have a long poll wait for each of these; when all are woken, that is told."""
        return self._run(self._hold(ask_ids))

    async def _hold(self, ask_ids: list[str]) -> dict[str, Any]:
        began = time.monotonic_ns()
        woke: list[int] = []

        async def poll(line: _Line) -> None:
            if json.loads(await line.read())["state"] != "answered":
                raise AssertionError("A poll ended before its ask.")
            woke.append(time.monotonic_ns())
            line.close()
            if len(woke) == len(ask_ids):
                self._say({"first": woke[0], "last": woke[-1]})

        for start in range(0, len(ask_ids), _HANDSHAKES):
            some = ask_ids[start : start + _HANDSHAKES]
            for ask_id, line in zip(some, await asyncio.gather(*(self._line() for _ in some)), strict=True):
                line.send("GET", f"{_ASKS}/{ask_id}/answer?wait=60")
                self._keep(poll(line))
        return {"seconds": (time.monotonic_ns() - began) / 1e9}

    # Many who listen

    def listen(self, count: int) -> dict[str, Any]:
        """Open so many sockets."""
        return self._run(self._listen(count))

    async def _listen(self, count: int) -> dict[str, Any]:
        headers = token_header(self._secret)
        where = socket_address(self._port)
        for start in range(0, count, _HANDSHAKES):
            some = range(start, min(count, start + _HANDSHAKES))
            made = (connect(where, additional_headers=headers, compression=None) for _ in some)
            self._sockets += await asyncio.gather(*made)
        return {"sockets": len(self._sockets)}

    def hang_up(self) -> dict[str, Any]:
        """Close the sockets."""

        async def close() -> dict[str, Any]:
            for socket in self._sockets:
                socket.transport.abort()
            self._sockets.clear()
            return {}

        return self._run(close())

    def await_answer(self) -> dict[str, Any]:
        """Begin to read on every socket until an answer is heard of; when all have, their moments are told."""

        async def begin() -> dict[str, Any]:
            moments: list[int] = []
            for socket in self._sockets:
                self._keep(self._hear(socket, moments))
            return {}

        return self._run(begin())

    async def _hear(self, socket: ClientConnection, moments: list[int]) -> None:
        while True:
            message = await socket.recv(decode=False)
            moment = time.monotonic_ns()
            if b'"ask.answered"' in message:
                break
        moments.append(moment)
        if len(moments) == len(self._sockets):
            self._say({"moments": moments})

    # Inside

    async def _line(self) -> _Line:
        return _Line(*await asyncio.open_connection("127.0.0.1", self._port), self._secret)

    def _keep(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    def _run(self, work: Any) -> dict[str, Any]:
        result: dict[str, Any] = asyncio.run_coroutine_threadsafe(work, self._loop).result(100)
        return result
