"""Real requests to a real server, for the page of the wire format.

What differs from run to run (ids, secrets) is replaced by names that stay; the clock stands where it is put.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import msgspec

from assent.protocol.principal import Role
from assent.testing.clock import FakeClock
from assent.testing.server import ThrowawayServer
from assent.testing.store import throwaway

__all__ = ["Exchange", "hold_talk", "lay_out"]

_START = datetime(2030, 1, 1, 9, 0, tzinfo=UTC)
_WIDTH = 100
_ID = re.compile(r"\b(?P<prefix>ask|tok|rcp|cmd)_[0-9a-z]{18}\b")
_SHORT_ID = re.compile(r"\b(?P<prefix>oq|hil|q)-[0-9a-f]{8}\b")
_SECRET = re.compile(r"\bassent_[0-9a-f]{64}\b")
_LONG = "01m7hzh0s5mpy"


class Exchange(msgspec.Struct, frozen=True):
    """One request, and what came back."""

    method: str
    path: str
    body: str
    """As it stands on the page; empty where there was none."""
    status: int
    reply: str
    key: str = ""
    """Its Idempotency-Key."""


class _Names:
    """Ids as a page shows them: in the order in which they appear."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def steady(self, text: str) -> str:
        """Return a text in which nothing differs from run to run."""
        text = _SECRET.sub("assent_" + "0123456789abcdef" * 4, text)
        text = _ID.sub(self._replace(lambda prefix, number: f"{prefix}_{_LONG}{number:05d}"), text)
        return _SHORT_ID.sub(self._replace(lambda prefix, number: f"{prefix}-{number:08x}"), text)

    def _replace(self, name: Callable[[str, int], str]) -> Callable[[re.Match[str]], str]:
        def replace(found: re.Match[str]) -> str:
            number = 1 + sum(known.startswith(found["prefix"]) for known in self._known)
            return self._known.setdefault(found[0], name(found["prefix"], number))

        return replace


class _Talk:
    """An agent and a person who talk to one server, and what they said."""

    def __init__(self, server: ThrowawayServer, clock: FakeClock) -> None:
        self._server, self._clock, self._names = server, clock, _Names()
        self._secrets = {role: server.token(role, name) for role, name in _WHO.items()}
        self.said: dict[str, Exchange] = {}

    def say(
        self,
        name: str,
        role: Role,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str = "",
        cut: str = "",
    ) -> dict[str, Any]:
        """Send a request as somebody, and keep it under a name; what stands at `cut` is shown elsewhere."""
        self._clock.advance(30)
        headers = {"authorization": f"Bearer {self._secrets[role]}"}
        content = b"" if body is None else msgspec.json.encode(body)
        if content:
            headers["content-type"] = "application/json"
        if key:
            headers["idempotency-key"] = key
        reply = httpx2.request(method, self._server.url + path, headers=headers, content=content)
        told: dict[str, Any] = reply.json()
        steady = self._names.steady
        sent = "" if body is None else steady(lay_out(body))
        self.said[name] = Exchange(
            method, steady(path), sent, reply.status_code, steady(lay_out(_without(told, cut))), key=key
        )
        return told

    @contextmanager
    def hold(self, name: str, role: Role, path: str, body: object) -> Iterator[None]:
        """Keep a reply open, and what came of it until then under a name."""
        headers = {"authorization": f"Bearer {self._secrets[role]}", "content-type": "application/json"}
        content = msgspec.json.encode(body)
        with httpx2.stream("POST", self._server.url + path, headers=headers, content=content) as reply:
            lines = reply.iter_lines()  # kept: where nobody reads it any more, the reply is closed
            self.said[name] = Exchange("POST", path, lay_out(body), reply.status_code, next(lines))
            yield

    def listen(self, name: str, path: str, count: int) -> None:
        """Read the first events of a stream, and keep them under a name."""
        headers = {"authorization": f"Bearer {self._secrets[Role.HUMAN]}"}
        lines: list[str] = []
        with httpx2.stream("GET", self._server.url + path, headers=headers) as reply:
            for line in reply.iter_lines():
                lines.append(line)
                if not line and sum(each.startswith("data:") for each in lines) == count:
                    break
        self.said[name] = Exchange("GET", path, "", reply.status_code, self._names.steady("\n".join(lines)))


def _without(told: dict[str, Any], cut: str) -> dict[str, Any]:
    first, _, rest = cut.partition(".")
    if not first:
        return told
    return told | {first: _without(told[first], rest) if rest else "…"}


_WHO = {Role.AGENT: "coder", Role.HUMAN: "ana"}


def hold_talk() -> dict[str, Exchange]:
    """Let an agent and a person do one of everything; return what was sent and received, by name."""
    clock = FakeClock(_START)
    with throwaway(project="shop", clock=clock) as store, ThrowawayServer(store) as server:
        talk = _Talk(server, clock)
        _talk_of_asks(talk)
        _talk_of_work(talk)
        _talk_of_approvals(talk)
        _talk_of_runs(talk)
        talk.say("whoami", Role.AGENT, "GET", "/whoami")
        talk.say(
            "token",
            Role.HUMAN,
            "POST",
            "/projects/shop/tokens",
            {"role": "agent", "name": "ci", "life_seconds": 3600},
        )
        return talk.said


def _talk_of_asks(talk: _Talk) -> None:
    asks = "/projects/shop/asks"
    question = {"prompt": "Which database?", "options": ["PostgreSQL", "SQLite"], "key": "db"}
    ask = talk.say("ask", Role.AGENT, "POST", asks, question, key="6f1c2a")["ask_id"]
    talk.say("unrecognised", Role.HUMAN, "POST", f"{asks}/{ask}/answer", {"text": "Oracle"})
    talk.say("answer", Role.HUMAN, "POST", f"{asks}/{ask}/answer", {"text": "b"}, key="0d93b7")
    talk.say(
        "conflict",
        Role.HUMAN,
        "POST",
        f"{asks}/{ask}/answer",
        {"values": {"q1": "PostgreSQL"}},
        cut="error.details.ask",
    )
    talk.say("forbidden", Role.AGENT, "POST", f"{asks}/{ask}/answer", {"text": "a"})


def _talk_of_work(talk: _Talk) -> None:
    shop = "/projects/shop"
    talk.say("task", Role.AGENT, "POST", f"{shop}/tasks", {"title": "Export as CSV", "task_id": "T-12"})
    result = {
        "agent": "Coder",
        "sourceId": "T-12",
        "status": "failed",
        "open_questions": [{"text": "Which columns?"}],
    }
    handed = talk.say("result", Role.AGENT, "POST", f"{shop}/agent-results", result)
    talk.say("blocked", Role.AGENT, "GET", f"{shop}/tasks/T-12")
    asked = handed["notification"]
    responses = [{"questionId": asked["questions"][0]["id"], "answer": "Name and price."}]
    path = f"{shop}/notifications/{asked['id']}"
    resolved = talk.say("resolve", Role.HUMAN, "PATCH", path, {"responses": responses})
    talk.listen("stream", f"{shop}/events?after={resolved['sequence'] - 1}", 2)
    talk.say("chat", Role.AGENT, "GET", f"{shop}/tasks/T-12/chat")


def _talk_of_approvals(talk: _Talk) -> None:
    shop = "/projects/shop"
    talk.say("policy", Role.AGENT, "GET", f"{shop}/policy")
    wish = {
        "title": "Drop users.legacy_id?",
        "action": {"sql": "ALTER TABLE users DROP COLUMN legacy_id"},
        "category": "scopeChanges",
        "risk": "irreversible",
        "key": "drop-legacy",
    }
    ask = talk.say("approval", Role.AGENT, "POST", f"{shop}/approvals", wish, cut="ask")["ask"]["ask_id"]
    talk.say("approve", Role.HUMAN, "POST", f"{shop}/asks/{ask}/answer", {"text": "approve"})
    receipt = talk.say("receipt", Role.AGENT, "POST", f"{shop}/approvals", wish)["receipt"]["receipt_id"]
    redeem = f"{shop}/receipts/{receipt}/redeem"
    talk.say("differs", Role.AGENT, "POST", redeem, {"action": {"sql": "DROP TABLE users"}})
    talk.say("redeem", Role.AGENT, "POST", redeem, {"action": wish["action"]})


def _talk_of_runs(talk: _Talk) -> None:
    runs = "/projects/shop/runs"
    frame = {"id": "night", "mode": "loop", "iter": 1, "max": 10, "model": "haiku"}
    start = {"run_id": "night", "frame": frame, "driver": "host:4711"}
    with talk.hold("hold", Role.AGENT, "/projects/shop/holds", {"run_id": "night"}):
        fence = talk.say("start", Role.AGENT, "POST", runs, start)["record"]["fence"]
        talk.say("drive", Role.AGENT, "POST", f"{runs}/night/drive", {"command": "begin", "fence": fence})
        pause = {"command": "pause", "request_id": "5b7e1f0a-3c64-4d1e-9a53-0f6d2c8b7a11"}
        talk.say("control", Role.HUMAN, "POST", f"{runs}/night/control", pause)
        talk.say("run", Role.AGENT, "GET", f"{runs}/night")
        talk.say("topic", Role.AGENT, "GET", "/projects/shop/topics/loop:current")


def lay_out(value: object, indent: str = "") -> str:
    """Return JSON for people: on one line where it fits, else an entry a line."""
    flat = msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
    line = flat.replace("\n", " ")
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list | tuple) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        entries = [
            f"{inner}{msgspec.json.encode(name).decode()}: {lay_out(each, inner)}"
            for name, each in value.items()
        ]
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inner}{lay_out(each, inner)}" for each in value) + f"\n{indent}]"
