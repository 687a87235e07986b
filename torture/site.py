"""A server for the trials that reach Assent over HTTP: a worker that serves a store, and tokens for those who call it."""

from __future__ import annotations

import itertools
import os
import signal
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPException

import msgspec
from starlette.responses import Response

from assent.cli.exit import run
from assent.client.client import Client
from assent.client.http.door import HttpDoor
from assent.client.verbs import Verb
from assent.protocol.principal import Assurance, Principal, Role
from assent.surfaces.http import app
from assent.surfaces.http.serve import open_socket
from torture.look import hub_of
from torture.nest import Nest, Worker, WorkerLostError
from torture.nursery import Wire
from torture.swap import swap

__all__ = ["PROJECT", "Served", "Trusted", "caller", "minter", "server"]

PROJECT = "harbour"
_PATIENCE = 120.0


class Trusted(msgspec.Struct, frozen=True):
    """Where the server is, and the token of one who calls it."""

    url: str
    secret: str
    role: Role
    name: str


def caller(trusted: Trusted) -> Client:
    """Return a client that calls the server."""
    door = HttpDoor(trusted.url, trusted.secret)
    return Client(door, PROJECT, Principal(trusted.role, trusted.name))


class Served:
    """A store with a server on it, seen from a trial; it can be killed and started again at the same address."""

    def __init__(self, nest: Nest, store: str | None = None, *, role: str = "torture.site:server") -> None:
        """Serve the nest's own store, or another one: the address of a database may have several servers."""
        self._nest = nest
        self._store = store or str(nest.store)
        self._role = role
        self.port = _free_port()
        self.worker = self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, untold: int = 0) -> Worker:
        """Start it, and wait until it answers; with `untold` it dies between the deed and the reply of that change."""
        self.worker = self._nest.start(self._role, store=self._store, port=self.port, untold=untold)
        until = time.monotonic() + _PATIENCE
        while not self.is_well():
            if time.monotonic() > until or (self.worker.is_gone and not untold):
                raise WorkerLostError(f"The server does not answer. {self.worker.error} {self._nest.words()}")
            if self.worker.is_gone:
                break  # it died of its first change, before it was asked how it is
            time.sleep(0.002)
        return self.worker

    def is_well(self) -> bool:
        """Say whether it answers."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)) as connection:
            try:
                connection.request("GET", "/healthz")
                return connection.getresponse().status == 200
            except (OSError, HTTPException):
                return False

    def trust(self, *who: tuple[Role, str]) -> list[Trusted]:
        """Return a token for each of these."""
        worker = self._nest.start("torture.site:minter", twin="", store=self._store, who=list(who))
        secrets = worker.hear()["secrets"]
        worker.join()
        return [
            Trusted(self.url, secret, Role(role), name)
            for secret, (role, name) in zip(secrets, who, strict=True)
        ]


def _free_port() -> int:
    with closing(open_socket("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


# Workers


def server(wire: Wire, store: str, port: int, untold: int = 0) -> None:
    """Run `assent serve`, until it is killed, or kills itself before it tells of its change number `untold`."""
    if untold:
        _die_before_reply(untold)
    status = run(["serve", "--port", str(port), "--store", store, "--project", PROJECT])
    wire.say(ended=status)


def _die_before_reply(untold: int) -> None:
    reply, changes = app._reply, itertools.count(1)

    def last(verb: Verb, value: object) -> Response:
        if verb.is_change and verb.name != "hold" and next(changes) == untold:
            os.kill(os.getpid(), signal.SIGKILL)
        return reply(verb, value)

    swap(app, "_reply", last)


def minter(wire: Wire, store: str, who: list[tuple[Role, str]]) -> None:
    """Make tokens, as somebody at a terminal does."""
    hub = hub_of(store)
    person = Client(hub, PROJECT, Principal(Role.HUMAN, "minter"), assurance=Assurance.TERMINAL)
    made = [person.create_token(role, name=name, projects=(PROJECT,)) for role, name in who]
    wire.say(secrets=[secret for _, secret in made])
    hub.close()
