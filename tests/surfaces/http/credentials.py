"""Credentials that must open nothing, and what the server says to whoever shows one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import msgspec
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from assent.protocol.principal import Assurance, Role
from assent.protocol.token import SECRET_BYTES, SECRET_PREFIX, digest_of
from assent.testing import FakeClock, throwaway
from tests.patience import PATIENCE
from tests.surfaces.http.signing import SESSION, SOCKET, Signer, offer, sign_in
from tests.surfaces.http.world import CALLS, Sent, Trial, World, a_world

__all__ = ["BAD", "Tally", "Thief", "a_thief", "knock"]

_OFFERED = "sec-websocket-protocol"
_UNKNOWN = SECRET_PREFIX + "0" * (2 * SECRET_BYTES)


class Thief:
    """Somebody with every sort of credential but a good one."""

    def __init__(self, world: World, expired: str, revoked: str, foreign: str) -> None:
        self.world = world
        good = world.tokens[Role.HUMAN]
        self.headers: dict[str, dict[str, str]] = {
            "none": {},
            "empty": {"authorization": ""},
            "bare bearer": {"authorization": "Bearer"},
            "garbage": {"authorization": "Bearer hunter2"},
            "garbage, long": {"authorization": "Bearer " + "assent_" * 500},
            "unknown": {"authorization": f"Bearer {_UNKNOWN}"},
            "one digit more": {"authorization": f"Bearer {good}0"},
            "one digit less": {"authorization": f"Bearer {good[:-1]}"},
            "upper case": {"authorization": f"Bearer {good.upper()}"},
            "twice": {"authorization": f"Bearer {good}, Bearer {good}"},
            "no scheme": {"authorization": good},
            "other scheme": {"authorization": f"Basic {good}"},
            "token scheme": {"authorization": f"Token {good}"},
            "colon": {"authorization": f"Bearer: {good}"},
            "other header": {"x-api-key": good},
            "proxy": {"proxy-authorization": f"Bearer {good}"},
            "expired": {"authorization": f"Bearer {expired}"},
            "revoked": {"authorization": f"Bearer {revoked}"},
            "other store": {"authorization": f"Bearer {foreign}"},
            "session without a signature": {SESSION: "hunter2"},
        }
        self.signers: dict[str, Signer] = {}
        """Who signs each request as it goes out, by what is wrong with it."""

    def add_sessions(self, expired: Signer, revoked: Signer) -> None:
        """Have sessions, too: those that have ended, and parts of one that is good."""
        url, boot = self.world.server.url, revoked.boot
        secret = self.world.tokens[Role.HUMAN]
        good = sign_in(url, token=secret)
        digits = secret.removeprefix(SECRET_PREFIX)
        name, key = good.name, good.key.hex()
        self.headers["name as a token"] = {"authorization": f"Bearer {SECRET_PREFIX}{name}"}
        self.headers["key as a token"] = {"authorization": f"Bearer {SECRET_PREFIX}{key}"}
        self.headers["name alone"] = {SESSION: name, "cookie": f"assent_session={name}"}
        self.signers = {
            "expired session": expired,
            "revoked session": revoked,
            "name without its key": Signer(url, name, 64 * "0", boot),
            "key of another session": Signer(url, name, revoked.key.hex(), boot),
            "name of another session": Signer(url, revoked.name, key, boot),
            "name and key swapped": Signer(url, key, name, boot),
            "token for both": Signer(url, digits, digits, boot),
            "digest of a token as the key": Signer(url, digits, digest_of(secret), boot),
            "page of another port": Signer("http://127.0.0.1:1", name, key, boot),
        }
        self.good = good

    def shown(self, kind: str, method: str, path: str, body: bytes = b"") -> dict[str, str]:
        """Return the headers of a request with this credential; those of a socket are offered."""
        if kind == "bad token, good session":
            signed = self.good.sign(method, path, body)
            return {"authorization": f"Bearer {_UNKNOWN}", SESSION: signed, _OFFERED: offer(signed)}
        if kind not in self.signers:
            return self.headers[kind]
        signed = self.signers[kind].sign(method, path, body)
        return {SESSION: signed} if method != SOCKET else {_OFFERED: offer(signed)}

    def send(self, trial: Trial, kind: str) -> Sent:
        """Send a request with this credential."""
        text = b"" if trial.body is None else msgspec.json.encode(trial.body)
        return self.world.send(trial, self.shown(kind, trial.verb.method, trial.path, text))

    def try_socket(self, path: str, name: str) -> Sent:
        """Try to follow events over a WebSocket."""
        url = self.world.server.url.replace("http:", "ws:") + path
        headers = dict(self.shown(name, SOCKET, path))
        offered = headers.pop(_OFFERED, "")
        names = [Subprotocol(part) for part in offered.split(", ")] if offered else None
        try:
            with connect(
                url, additional_headers=headers, subprotocols=names, proxy=None, open_timeout=PATIENCE
            ):
                return Sent(101, b"")
        except InvalidStatus as refused:
            reply = refused.response
            return Sent(reply.status_code, bytes(reply.body or b""), reply.headers.get("content-type", ""))


BAD = (
    *(
        "none",
        "empty",
        "bare bearer",
        "garbage",
        "garbage, long",
        "unknown",
        "one digit more",
    ),
    *("one digit less", "upper case", "twice", "no scheme", "other scheme", "token scheme", "colon"),
    *("other header", "proxy", "expired", "revoked", "other store", "session without a signature"),
    *("name as a token", "key as a token", "name alone", "expired session", "revoked session"),
    *("name without its key", "key of another session", "name of another session", "name and key swapped"),
    *("token for both", "digest of a token as the key", "page of another port", "bad token, good session"),
)
"""The names of a thief's credentials."""


@contextmanager
def a_thief() -> Iterator[Thief]:
    """Give a thief at a server, on a clock of its own."""
    clock = FakeClock()
    with a_world(clock) as world, throwaway() as elsewhere:
        person = world.store.person("minter", assurance=Assurance.TERMINAL)
        _, expired = person.create_token("human", name="late", projects=("*",), life=timedelta(hours=1))
        late = sign_in(world.server.url, token=expired)
        clock.advance(timedelta(hours=1))
        token, revoked = person.create_token("human", name="gone", projects=("*",))
        person.revoke_token(token.token_id)
        stranger = elsewhere.person("minter", assurance=Assurance.TERMINAL)
        _, foreign = stranger.create_token("human", name="ana", projects=("*",))
        thief = Thief(world, expired, revoked, foreign)
        ended = sign_in(world.server.url, token=world.tokens[Role.HUMAN])
        assert world.line.post("/sign-out", auth=ended).status_code == 204
        thief.add_sessions(late, ended)
        yield thief


class Tally(msgspec.Struct):
    """What came of many tries."""

    tries: int = 0
    problems: list[str] = []


def knock(thief: Thief, name: str) -> Tally:
    """Try one verb with every bad credential: all must be told the same, and nothing may happen."""
    tally = Tally()
    trial = thief.world.place(Role.AGENT).trial(name)
    before, bodies = thief.world.look(), set()
    for kind in BAD:
        answers = [thief.send(trial, kind)]
        if name == "follow_events":
            answers.append(thief.try_socket(trial.path, kind))
        for sent in answers:
            tally.tries += 1
            bodies.add(sent.body)
            if (sent.status, sent.code) != (401, "unauthorised"):
                tally.problems.append(f"{name} with {kind}: {sent.status} {sent.body[:100]!r}")
    if len(bodies) != 1:
        tally.problems.append(f"{name} tells the credentials apart: {bodies}")
    if thief.world.look() != before:
        tally.problems.append(f"{name} wrote something")
    assert name in CALLS
    return tally
