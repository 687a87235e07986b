"""GitHub through its REST API.

Rule 1: the address comes from the environment, never from a repository or a finding, and is an https one unless it
        is on this very machine.
Rule 2: the token goes to that address and nowhere else: redirects are not followed, and no message holds it.
Rule 3: time and size of an answer are bounded.
"""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Mapping
from functools import cached_property

import httpx2
import msgspec

from assent.effects.github.channel import (
    HEADERS,
    MAX_ANSWER_BYTES,
    REQUEST_SECONDS,
    check_request,
    parse_answer,
)
from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import GitHubError

__all__ = ["DEFAULT_ADDRESS", "RestChannel", "find_token", "rest_channel"]

DEFAULT_ADDRESS = "https://api.github.com"
TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
"""In the order in which `gh` reads them, too."""


def find_token(environ: Mapping[str, str]) -> str | None:
    """Return the token that the environment has."""
    return next((environ[name].strip() for name in TOKENS if environ.get(name, "").strip()), None)


def rest_channel(environ: Mapping[str, str]) -> RestChannel | None:
    """Return the way through the REST API, if there is a token.

    Raises:
        GitHubError: the address is not one that a token may be sent to.
    """
    token = find_token(environ)
    return None if token is None else RestChannel(environ.get("GITHUB_API_URL") or DEFAULT_ADDRESS, token)


class RestChannel:
    """The REST API at one address, with one token."""

    def __init__(self, address: str, token: str) -> None:
        try:
            self._address = httpx2.URL(address.rstrip("/"))
        except httpx2.InvalidURL:
            raise GitHubError("GITHUB_API_URL is not an address.") from None
        self._is_near = _is_loopback(self._address.host)
        is_safe = self._address.scheme == "https" or (self._address.scheme == "http" and self._is_near)
        if not is_safe or not self._address.host or self._address.userinfo or self._address.query:
            raise GitHubError(f'"{quote(self._address.host)}" is reached only by an https address.')
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise GitHubError("The token holds characters that no token has.")
        self._headers = {
            **HEADERS,
            "Authorization": f"Bearer {token}",
            "User-Agent": "assent",
            "Content-Type": "application/json",
        }

    def __repr__(self) -> str:
        return f"RestChannel({str(self._address)!r})"

    @cached_property
    def _trust(self) -> ssl.SSLContext | bool:
        """Whom to believe; loading the certificates takes longer than a request, and plain http needs none."""
        return httpx2.create_ssl_context() if self._address.scheme == "https" else False

    def request(self, method: str, path: str, body: Json = None) -> Json:
        """Ask once."""
        check_request(method, path)
        content = None if body is None else msgspec.json.encode(body)
        # A proxy is for the way out; what is on this machine is asked directly.
        client = httpx2.Client(
            timeout=REQUEST_SECONDS,
            follow_redirects=False,
            trust_env=not self._is_near,
            headers=self._headers,
            verify=self._trust,
        )
        try:
            with client, client.stream(method, f"{self._address}{path}", content=content) as answer:
                return parse_answer(answer.status_code, _lower(answer.headers), _read(answer))
        except httpx2.HTTPError as error:
            # Only the kind of it: its words may hold the address with all that was put into it.
            kind = (
                "did not answer in time"
                if isinstance(error, httpx2.TimeoutException)
                else "cannot be reached"
            )
            raise GitHubError(f"{self._address.host} {kind} ({type(error).__name__}).") from None


def _read(answer: httpx2.Response) -> bytes:
    deadline = time.monotonic() + REQUEST_SECONDS
    text = bytearray()
    for piece in answer.iter_bytes():
        text += piece
        if len(text) > MAX_ANSWER_BYTES:
            raise GitHubError("GitHub's answer is too long.", status=answer.status_code)
        if time.monotonic() > deadline:  # each piece came in time, but there were too many
            raise GitHubError("GitHub's answer took too long.", status=answer.status_code)
    return bytes(text)


def _lower(headers: httpx2.Headers) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
