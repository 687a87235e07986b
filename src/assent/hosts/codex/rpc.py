"""JSON-RPC with a program over its standard streams, one message a line, as `codex app-server` speaks it.

Rule 1: only messages come in. A line that is none is passed over; one that is longer than any message ends the talk.
Rule 2: whoever waits for a reply hears of the program's end, too.
Rule 3: the program ends with us: its input is closed, then it is asked to end, then it is killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import AssentError

__all__ = ["END_SECONDS", "MAX_LINE", "Incoming", "Peer", "RequestId"]

MAX_LINE = 64 << 20
"""A turn's whole difference may come in one message."""
END_SECONDS = 5.0
"""So long the program may take to end by itself."""
_REFUSED = -32601

RequestId = str | int


class Incoming(msgspec.Struct, frozen=True):
    """What the program says by itself."""

    method: str
    params: dict[str, Any]
    request_id: RequestId | None = None
    """Where it waits for a reply."""


class _Message(msgspec.Struct):
    id: RequestId | None = None
    method: str | None = None
    params: dict[str, Any] | None = None
    result: Any = None
    error: dict[str, Any] | None = None


_decoder = msgspec.json.Decoder(_Message)
_encoder = msgspec.json.Encoder()


class Peer:
    """A program that runs, and the talk with it."""

    def __init__(self, name: str, program: asyncio.subprocess.Process) -> None:
        self._name = name
        self._program = program
        self._number = 0
        self._replies: dict[RequestId, asyncio.Future[Any]] = {}
        self._said: asyncio.Queue[Incoming | None] = asyncio.Queue()
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def start(cls, name: str, command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> Peer:
        """Start the program; somebody must read its `errors`.

        Raises:
            AssentError: it cannot be started.
        """
        try:
            program = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environ),
                cwd=cwd,
                limit=MAX_LINE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            raise AssentError(f"{name} cannot be started: {quote(reason)}.") from None
        return cls(name, program)

    @property
    def errors(self) -> asyncio.StreamReader | None:
        """Its standard error."""
        return self._program.stderr

    async def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the program, and return its result.

        Raises:
            AssentError: it refused, or has ended.
        """
        self._number += 1
        number = self._number
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        try:
            await self._send({"id": number, "method": method, "params": params})
            result = await reply
        finally:
            self._replies.pop(number, None)
        return result if isinstance(result, dict) else {}

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the program something."""
        await self._send({"method": method, "params": params})

    async def reply(self, request_id: RequestId, result: Mapping[str, Any]) -> None:
        """Answer what the program asked; nothing happens where it has ended."""
        with suppress(AssentError):
            await self._send({"id": request_id, "result": result})

    async def refuse(self, request_id: RequestId, sentence: str) -> None:
        """Say that this cannot be answered."""
        with suppress(AssentError):
            await self._send({"id": request_id, "error": {"code": _REFUSED, "message": sentence}})

    async def listen(self) -> AsyncIterator[Incoming]:
        """Yield what the program says by itself, until it ends."""
        while (said := await self._said.get()) is not None:
            yield said
        self._said.put_nowait(None)  # whoever listens again hears of the end, too

    async def close(self) -> None:
        """End the program and all that it started in its session."""
        if self._program.stdin is not None:
            self._program.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._program.pid, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._program.wait(), END_SECONDS)
                break
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _send(self, message: Mapping[str, Any]) -> None:
        stdin = self._program.stdin
        if stdin is None or self._reading.done():
            raise AssentError(f"{self._name} has ended.")
        try:
            stdin.write(_encoder.encode(message) + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError):
            raise AssentError(f"{self._name} has ended.") from None

    async def _read(self) -> None:
        assert self._program.stdout is not None  # noqa: S101 - a pipe, as asked
        try:
            while line := await self._program.stdout.readline():
                self._hear(line)
        except (ValueError, OSError):
            pass  # a line longer than any message: there is no next one to be found
        finally:
            self._said.put_nowait(None)
            for reply in self._replies.values():
                if not reply.done():
                    reply.set_exception(AssentError(f"{self._name} has ended."))

    def _hear(self, line: bytes) -> None:
        try:
            message = _decoder.decode(line)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return
        if message.method is not None:
            self._said.put_nowait(Incoming(message.method, message.params or {}, message.id))
            return
        reply = self._replies.get(message.id) if message.id is not None else None
        if reply is None or reply.done():
            return
        if message.error is not None:
            told = quote(str(message.error.get("message", "")))
            reply.set_exception(AssentError(f"{self._name} refused: {told}"))
        else:
            reply.set_result(message.result)
