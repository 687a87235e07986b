"""A page at which somebody has signed in, as it looks on the wire: written anew here, so that it is compared and not repeated."""

from __future__ import annotations

import hmac
import itertools
import secrets
from collections.abc import Generator
from hashlib import sha256

import httpx2

from tests.patience import PATIENCE

__all__ = ["SESSION", "SOCKET", "Signer", "offer", "sign_in"]

SESSION = "assent-session"
SOCKET = "WEBSOCKET"
"""What stands for the method of a socket."""


def _mac(key: bytes, *parts: object) -> str:
    return hmac.new(key, "\n".join(map(str, parts)).encode(), sha256).hexdigest()


class Signer(httpx2.Auth):
    """One tab of one session. As the `auth` of a client it signs whatever that sends."""

    requires_request_body = True

    def __init__(self, origin: str, name: str, key: str, boot: str = "") -> None:
        self.origin, self.name, self.key, self.boot = origin, name, bytes.fromhex(key), boot
        self.tab = secrets.token_hex(16)
        self._numbers = itertools.count(1)

    def tab_beside(self) -> Signer:
        """Return one more tab of the same session, which has the proof already."""
        return Signer(self.origin, self.name, self.key.hex(), self.boot)

    def ask_proof(self, line: httpx2.Client, **changes: str) -> httpx2.Response:
        """Send a nonce, as a page does before anything else; keep the boot where the proof is right."""
        nonce = secrets.token_hex(32)
        body = {"session": self.name, "nonce": nonce, "origin": self.origin} | changes
        reply = line.post("/proof", json=body, auth=httpx2.Auth())
        if reply.status_code == 200 and self.believes(reply, nonce):
            self.boot = reply.json()["boot"]
        return reply

    def believes(self, reply: httpx2.Response, nonce: str) -> bool:
        """Say whether a reply proves who sent it."""
        told = reply.json()
        proof: str = told["proof"]
        return proof == _mac(self.key, "assent proof", nonce, self.origin, told["boot"])

    def sign(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        number: int | None = None,
        tab: str = "",
        boot: str = "",
        origin: str = "",
    ) -> str:
        """Return what a request shows; with the next number of this tab unless one is given."""
        counted = (boot or self.boot, tab or self.tab, next(self._numbers) if number is None else number)
        digest = sha256(body).hexdigest()
        mac = _mac(self.key, "assent request", method, target, digest, origin or self.origin, *counted)
        return ".".join(map(str, (self.name, *counted, digest, mac)))

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Sign a request on its way out."""
        target = request.url.raw_path.decode("ascii")
        request.headers[SESSION] = self.sign(request.method, target, request.content)
        yield request


def offer(shown: str) -> str:
    """Return what a page offers as subprotocols of a socket."""
    return f"assent, signed.{shown}"


def sign_in(url: str, **shown: str) -> Signer:
    """Sign in at a server with `token=` or `code=`, and have it prove itself."""
    with httpx2.Client(base_url=url, headers={"origin": url}, timeout=PATIENCE, trust_env=False) as line:
        reply = line.post("/sign-in", json=shown)
        assert reply.status_code == 200, reply.text
        signer = Signer(url, reply.json()["session"], reply.json()["key"])
        signer.ask_proof(line)
        assert signer.boot
        return signer
