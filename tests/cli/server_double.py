"""A server as far as a command can tell: a door that is no hub of this process, and acts for whoever holds the token.

`python -m tests.cli.server_double ARGUMENTS…` is `assent` with such doors. The token is the holder's own name, as in
ASSENT_TOKEN=agent:coder, and the store behind it is a file in the home folder. What travels, and how, is for the tests
of the HTTP door.
"""

import os
import sys
from pathlib import Path
from typing import Any, TypeVar

import assent
from assent.cli.exit import run
from assent.client.door import Wait, run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.hub.command import Request, Told
from assent.hub.compose import hub_on_file
from assent.hub.future import LightFuture
from assent.protocol.error import UnauthorisedError
from assent.protocol.principal import Principal, parse_principal

__all__ = ["ADDRESS", "ServerDouble", "root", "server_file", "settled"]

T = TypeVar("T")

ADDRESS = "http://127.0.0.1:1"
root = str(Path(__file__).parents[2])
"""Where a process has to look for this module."""


def settled(value: T) -> LightFuture[T]:
    """Return what has come already."""
    future: LightFuture[T] = LightFuture()
    future.set(value, None)
    return future


def server_file(home: str) -> Path:
    """Return the file behind the server."""
    return Path(home) / "server" / "server.db"


class ServerDouble:
    """Fits `client.door.Door`, and is none of this process's own."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._token = token
        self._door = EmbeddedDoor(hub_on_file(server_file(os.environ["HOME"])))

    def who(self) -> Wait[Principal | None]:
        """Say whose token it is."""

        def start(_: object) -> LightFuture[Principal | None]:
            if not self._token:
                raise UnauthorisedError
            return settled(parse_principal(self._token))

        return Wait(start)

    def send(self, request: Request, project: str, _: Principal, command_id: str) -> Wait[Told]:
        """Act for the holder, whatever was said."""
        holder = run_call(until(self.who()))
        assert holder is not None
        return self._door.send(request, project, holder, command_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)


if __name__ == "__main__":
    vars(assent)["HttpDoor"] = ServerDouble
    sys.exit(run(sys.argv[1:]))
