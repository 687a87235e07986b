"""The HTTP interface of an opencode server: what it waits for, its events, and our replies.

Rule 1: plain HTTP goes to this machine only; whoever listens in elsewhere could answer for people. HTTPS goes anywhere.
Rule 2: the password is shown to that address only: no redirection is followed, no proxy is asked.
Rule 3: nothing that comes is believed to be small or well formed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_path

import httpx2
import msgspec

from assent.protocol.display import quote
from assent.protocol.error import AssentError, BadRequestError, UnreachableError

__all__ = ["DEFAULT_URL", "MAX_EVENT_BYTES", "SILENCE_SECONDS", "Event", "OpencodeServer"]

DEFAULT_URL = "http://127.0.0.1:4096"
MAX_EVENT_BYTES = 16 << 20
"""An event may hold a whole file."""
SILENCE_SECONDS = 60.0
"""opencode's heart beats every 10 to 30 seconds; after such a silence the line is taken for dead."""
_REPLY_SECONDS = 30.0
_LIST_SECONDS = 300.0
"""So long a list may take: whoever asks first waits until opencode has set its project up."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened in opencode."""

    type: str = ""
    properties: dict[str, Any] = {}


_event = msgspec.json.Decoder(Event)


class OpencodeServer:
    """One server, and the password that it is shown. What is asked in other folders is not seen."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        user: str = "opencode",
        password: str = "",
        folder: Path | None = None,
    ) -> None:
        """Take an address, and the folder whose sessions are meant: without one it is that of the server itself.

        Raises:
            BadRequestError: it is none, or plain HTTP to another machine.
        """
        self.url = _checked(url)
        self._client = httpx2.AsyncClient(
            base_url=self.url,
            auth=httpx2.BasicAuth(user, password) if password else None,
            params=None if folder is None else {"directory": str(folder)},
            timeout=httpx2.Timeout(_REPLY_SECONDS),
            follow_redirects=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Hang up."""
        await self._client.aclose()

    async def questions(self) -> list[Any]:
        """Return the questions that wait."""
        return await self._list("/question")

    async def permissions(self) -> list[Any]:
        """Return the requests for permission that wait."""
        return await self._list("/permission")

    async def reply(self, kind: str, request_id: str, verb: str, body: Mapping[str, Any]) -> bool:
        """Send a reply; say whether it was still waited for.

        Raises:
            UnreachableError: the server does not answer.
        """
        path = f"/{kind}/{quote_path(request_id, safe='')}/{verb}"
        answer = await self._send("POST", path, body)
        return answer.is_success

    async def say(self, session_id: str, text: str) -> bool:
        """Put a text to the agent of a session, as its user would; say whether it was taken.

        Raises:
            UnreachableError: the server does not answer.
        """
        path = f"/session/{quote_path(session_id, safe='')}/prompt_async"
        answer = await self._send("POST", path, {"parts": [{"type": "text", "text": text}]})
        return answer.is_success

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, until the line breaks.

        Raises:
            UnreachableError: the server does not answer, or the line broke.
        """
        timeout = httpx2.Timeout(_REPLY_SECONDS, read=SILENCE_SECONDS)
        try:
            async with self._client.stream("GET", "/event", timeout=timeout) as answer:
                self._check(answer)
                pending = b""
                async for piece in answer.aiter_bytes():
                    pending += piece
                    *lines, pending = pending.split(b"\n")
                    if len(pending) > MAX_EVENT_BYTES:
                        raise UnreachableError(f"opencode at {self.url} sends an event without an end.")
                    for line in lines:
                        found = _read(line)
                        if found is not None:
                            yield found
        except httpx2.HTTPError:
            pass
        raise UnreachableError(f"The line to opencode at {self.url} is broken.")

    async def _list(self, path: str) -> list[Any]:
        answer = await self._send("GET", path, seconds=_LIST_SECONDS)
        self._check(answer)
        try:
            told = msgspec.json.decode(answer.content)
        except (msgspec.MsgspecError, RecursionError):
            told = None
        if not isinstance(told, list):
            raise AssentError(f"What answers at {self.url} does not speak as opencode does.")
        return told

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, seconds: float = _REPLY_SECONDS
    ) -> httpx2.Response:
        timeout = httpx2.Timeout(_REPLY_SECONDS, read=seconds)
        try:
            return await self._client.request(method, path, json=body, timeout=timeout)
        except httpx2.ReadTimeout:
            raise UnreachableError(f"opencode at {self.url} does not answer in {seconds:.0f} s.") from None
        except httpx2.HTTPError:
            raise UnreachableError(
                f"No opencode answers at {self.url}. Start one with: opencode serve"
            ) from None

    def _check(self, answer: httpx2.Response) -> None:
        if answer.status_code == httpx2.codes.UNAUTHORIZED:
            raise AssentError(f"opencode at {self.url} wants its password: set OPENCODE_SERVER_PASSWORD.")
        if not answer.is_success:
            raise AssentError(f"opencode at {self.url} answered with status {answer.status_code}.")


def _read(line: bytes) -> Event | None:
    if not line.startswith(b"data:"):
        return None
    try:
        return _event.decode(line[5:])
    except (msgspec.MsgspecError, RecursionError):
        return None


def _checked(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError):
        raise BadRequestError(f'"{quote(url)}" is no address, as in {DEFAULT_URL}.') from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise BadRequestError(f'"{quote(url)}" is no address, as in {DEFAULT_URL}.')
    if parsed.userinfo:
        raise BadRequestError("A password stands in OPENCODE_SERVER_PASSWORD, and never in an address.")
    if parsed.scheme == "http" and not _is_here(parsed.host):
        raise BadRequestError(
            f"{quote(parsed.host)} is another machine: use https, or a tunnel to {DEFAULT_URL}."
        )
    return str(parsed).rstrip("/")


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
