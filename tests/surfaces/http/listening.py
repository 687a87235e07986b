"""Whoever follows a project's events from outside: over a real WebSocket, or as server-sent events."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

import httpx2
import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection
from websockets.typing import Subprotocol

from assent.client.client import Client
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.signing import SOCKET, sign_in

__all__ = ["Address", "Heard", "Listener", "Reader", "ask_two", "post_many", "refusal", "serving"]


class Heard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event as it came: these four parts and no other."""

    sequence: int
    type: str
    at: str
    data: Any


class Address(Protocol):
    """Where a server listens, in this process or another."""

    port: int

    @property
    def url(self) -> str: ...


def _events(server: Address, project: str, after: int | None) -> str:
    query = "" if after is None else f"?after={after}"
    return f"127.0.0.1:{server.port}/projects/{project}/events{query}"


class Listener:
    """A WebSocket client; a lazy one reads from its connection only what it is asked for."""

    def __init__(
        self,
        server: Address,
        token: str,
        *,
        project: str = "test",
        after: int | None = None,
        is_lazy: bool = False,
        is_browser: bool = False,
    ) -> None:
        shown = {"Authorization": f"Bearer {token}"}
        offered: list[Subprotocol] | None = None
        if is_browser:  # which names the page that opens a socket
            _, _, path = _events(server, project, after).partition("/")
            signed = sign_in(server.url, token=token).sign(SOCKET, f"/{path}")
            shown = {"Origin": server.url}
            offered = [Subprotocol("assent"), Subprotocol(f"signed.{signed}")]
        line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        if is_lazy:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        line.settimeout(None)
        opening = connect(
            f"ws://{_events(server, project, after)}",
            sock=line,
            additional_headers=shown,
            subprotocols=offered,
            open_timeout=PATIENCE,
            close_timeout=1.0 if is_lazy else PATIENCE,
            max_queue=1 if is_lazy else None,
            compression=None if is_lazy else "deflate",  # so that what lies on the way has its size
            max_size=None,
            proxy=None,
        )
        self._stack = ExitStack()
        self.connection: Connection = self._stack.enter_context(opening)

    def hear(self) -> Heard:
        """Return the next event."""
        return msgspec.json.decode(self.connection.recv(timeout=PATIENCE), type=Heard)

    def take(self, count: int) -> list[Heard]:
        """Return the next events."""
        return [self.hear() for _ in range(count)]

    def until(self, event_type: str) -> list[Heard]:
        """Return the next events, up to one of this type."""
        found = [self.hear()]
        while found[-1].type != event_type:
            found.append(self.hear())
        return found

    def rest(self) -> tuple[list[Heard], int | None]:
        """Return what still comes, and the code with which it ended; None where it broke off."""
        found: list[Heard] = []
        try:
            while True:
                found.append(self.hear())
        except ConnectionClosed as closed:
            return found, closed.rcvd.code if closed.rcvd is not None else None

    def close(self) -> None:
        """Go away."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Reader:
    """A client of server-sent events, which takes the stream apart by the rules of its specification."""

    def __init__(self, reply: httpx2.Response) -> None:
        self.reply = reply
        self._lines = reply.iter_lines()
        self.last_id = ""
        self.comments = 0

    @classmethod
    @contextmanager
    def on(
        cls,
        server: Address,
        token: str,
        *,
        project: str = "test",
        after: int | None = None,
        last_id: str | None = None,
    ) -> Iterator[Self]:
        """Open a stream."""
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        url = f"http://{_events(server, project, after)}"
        with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE) as reply:
            yield cls(reply)

    def frame(self) -> dict[str, str] | None:
        """Return the fields of the next event or comment; None at the end."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if not line:
                return fields
            name, _, value = line.partition(":")
            if not name:
                self.comments += 1
            assert name not in fields
            fields[name] = value.removeprefix(" ")
            self.last_id = fields.get("id", self.last_id)
        return None

    def hear(self) -> Heard | None:
        """Return the next event; None at the end."""
        while (fields := self.frame()) is not None:
            if "data" in fields:
                heard = msgspec.json.decode(fields["data"], type=Heard)
                assert (fields["id"], fields["event"]) == (str(heard.sequence), heard.type)
                return heard
        return None

    def take(self, count: int) -> list[Heard]:
        """Return the next events."""
        found = [self.hear() for _ in range(count)]
        return [heard for heard in found if heard is not None]


def refusal(
    server: Address, headers: dict[str, str], *, project: str = "test", query: str = ""
) -> tuple[int, Any]:
    """Return the status and the body with which a handshake is refused."""
    url = f"ws://{_events(server, project, None)}{query}"
    try:
        with connect(url, additional_headers=headers, open_timeout=PATIENCE, proxy=None):
            raise AssertionError("It was let in.")
    except InvalidStatus as refused:
        return refused.response.status_code, json.loads(refused.response.body or b"null")


@contextmanager
def serving(clock: FakeClock | None = None) -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with throwaway(clock=clock) as store, ThrowawayServer(store) as server:
        yield server


def post_many(client: Client, count: int, *, size: int = 10, topic: str = "news") -> None:
    """Put so many messages of this size into a topic."""
    for number in range(count):
        client.post(topic, {"n": number, "text": size * "x"})


def ask_two(agent: Client, task_id: str = "T-1") -> str:
    """Create a task, fail at it with two questions, and return the notification's id."""
    agent.create_task("Add a login page", task_id=task_id)
    handed = agent.hand_in(
        {
            "agent": "Coder",
            "sourceId": task_id,
            "status": "failed",
            "open_questions": [{"id": "q1", "text": "Which database?"}, {"id": "q2", "text": "Pages?"}],
        }
    )
    assert handed.notification is not None
    return handed.notification.notification_id
