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
from assent.protocol.token import SECRET_BYTES, SECRET_PREFIX
from assent.surfaces.http.session import KEY_HEADER, KEY_PROTOCOL, PROTOCOL, cookie_name, cut_secret
from assent.testing import FakeClock, throwaway
from tests.patience import PATIENCE
from tests.surfaces.http.world import CALLS, Sent, World, a_world

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
            "expired session": self.session(*cut_secret(expired)),
            "revoked session": self.session(*cut_secret(revoked)),
            "other cookie": self.session(*cut_secret(good)) | {"cookie": f"session={cut_secret(good)[0]}"},
            "cookie of another port": self.session(*cut_secret(good), port=world.server.port + 1),
            "bad token, good session": {"authorization": f"Bearer {_UNKNOWN}"}
            | self.session(*cut_secret(good)),
        } | self._halves(good, world.tokens[Role.OPERATOR])

    def _halves(self, good: str, other: str) -> dict[str, dict[str, str]]:
        """Return what somebody has who has less than both halves of one session."""
        half, key = cut_secret(good)
        other_half, other_key = cut_secret(other)
        return {
            "cookie alone": self.session(half, None),
            "key alone": self.session(None, key),
            "halves swapped": self.session(key, half),
            "the cookie twice": self.session(half, half),
            "the key twice": self.session(key, key),
            "halves of two": self.session(half, other_key),
            "halves of two, mixed": self.session(other_half, key),
            "all in the cookie": self.session(half + key, None),
            "all in the key": self.session(None, half + key),
            "all in the key, empty cookie": self.session("", half + key),
            "token in the cookie": self.session(good, None),
            "token in the key": self.session(None, good),
            "cut elsewhere": self.session(half + key[:1], key[1:]),
            "upper case halves": self.session(half.upper(), key.upper()),
        }

    def session(self, half: str | None, key: str | None, port: int | None = None) -> dict[str, str]:
        """Return the headers of a page that has these; those of a socket, too, where the key is a subprotocol."""
        headers = {"origin": self.world.server.url}
        if half is not None:
            headers["cookie"] = f"{cookie_name(port or self.world.server.port)}={half}"
        if key is not None:
            headers |= {KEY_HEADER: key, _OFFERED: f"{PROTOCOL}, {KEY_PROTOCOL}{key}"}
        return headers

    def try_socket(self, path: str, name: str) -> Sent:
        """Try to follow events over a WebSocket."""
        url = self.world.server.url.replace("http:", "ws:") + path
        headers = dict(self.headers[name])
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
    *("other header", "proxy", "expired", "revoked", "other store", "expired session", "revoked session"),
    *("other cookie", "cookie of another port", "bad token, good session", "cookie alone", "key alone"),
    *("halves swapped", "the cookie twice", "the key twice", "halves of two", "halves of two, mixed"),
    *("all in the cookie", "all in the key", "all in the key, empty cookie", "token in the cookie"),
    *("token in the key", "cut elsewhere", "upper case halves"),
)
"""The names of a thief's credentials."""


@contextmanager
def a_thief() -> Iterator[Thief]:
    """Give a thief at a server, on a clock of its own."""
    clock = FakeClock()
    with a_world(clock) as world, throwaway() as elsewhere:
        person = world.store.person("minter", assurance=Assurance.TERMINAL)
        _, expired = person.create_token("human", name="late", projects=("*",), life=timedelta(hours=1))
        clock.advance(timedelta(hours=1))
        token, revoked = person.create_token("human", name="gone", projects=("*",))
        person.revoke_token(token.token_id)
        stranger = elsewhere.person("minter", assurance=Assurance.TERMINAL)
        _, foreign = stranger.create_token("human", name="ana", projects=("*",))
        yield Thief(world, expired, revoked, foreign)


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
        answers = [thief.world.send(trial, thief.headers[kind])]
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
