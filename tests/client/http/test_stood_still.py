"""A server that stood still: what its sender was told nobody acknowledged, it does not execute when it wakes (I29)."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse

import msgspec
import pytest

from assent.client.boot import boot_milliseconds
from assent.client.client import Client
from assent.client.identity import AGENT_MARKS
from assent.protocol.error import ControlExpiredError
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.run import Status
from assent.protocol.token import ALL_PROJECTS
from assent.protocol.topic import CONTROL_TOPIC
from assent.testing import ThrowawayStore, throwaway
from tests.client.http.process import ServerProcess
from tests.patience import PATIENCE
from tests.proves import proves
from tests.run_samples import request_text
from tools.warm import run

__all__: list[str] = []

RUN_ID = "loop-1703123456-12345"
SHORT = 2
IN_SHORT = f"import assent.surfaces.http.pulse as pulse; pulse.EXPIRY_SECONDS = {SHORT}"
"""A server for which a request is too late so soon: nobody's tests wait for half a minute."""
DOORS = {
    "control": (f"runs/{RUN_ID}/control", b'{"command": "pause"}'),
    "topic": (f"topics/{CONTROL_TOPIC}", request_text(target={"run_id": RUN_ID})),
}
"""The ways in for a command to a run."""


class Sleeper:
    """A server that can be put to sleep, a run, and a person who steers it."""

    def __init__(self, store: ThrowawayStore, server: ServerProcess) -> None:
        self.store, self.server = store, server
        minter = store.person("minter", project="keys", assurance=Assurance.TERMINAL)
        self.secret = minter.create_token(Role.HUMAN, name="ana", projects=(ALL_PROJECTS,))[1]
        self.ana = Client(server.door(self.secret), store.project, Principal(Role.HUMAN, "ana"))

    def send(self, door: str, *, not_after: str = "", on: socket.socket | None = None) -> socket.socket:
        """Send a command on a connection of its own, or on this one, and return that."""
        path, body = DOORS[door]
        bound = f"Assent-Not-After: {not_after}\r\n" if not_after else ""
        head = (
            f"POST /projects/{self.store.project}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n"
            f"Authorization: Bearer {self.secret}\r\nContent-Type: application/json\r\n{bound}"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        line = on or self.connect()
        line.sendall(head.encode() + body)
        return line

    def connect(self) -> socket.socket:
        """Return a connection."""
        return socket.create_connection(("127.0.0.1", self.server.port), PATIENCE)

    def clock(self) -> tuple[str, int]:
        """Return what the server's clock says."""
        with self.connect() as line:
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n".encode())
            told = re.search(r"assent-clock: (\w+)\.(\d+)", line.recv(65_536).decode())
        assert told is not None
        return told[1], int(told[2])

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `assent` as the person."""
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("ASSENT_") and name not in AGENT_MARKS
        }
        own |= {
            "ASSENT_STORE": self.server.url,
            "ASSENT_TOKEN": self.secret,
            "ASSENT_PROJECT": self.store.project,
        }
        return run(
            [sys.executable, "-m", "assent", *words],
            env=own,
            check=False,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )

    def executed(self) -> list[str]:
        """End the server, which finishes what it began; return what the record has of commands to runs."""
        self.server.end(signal.SIGTERM)
        return [record.type for record in self.store.agent().log() if record.type.startswith("control.")]


def read(line: socket.socket) -> tuple[int, str]:
    """Return the status of a reply, and the code in it."""
    with line, HTTPResponse(line) as reply:
        reply.begin()
        told = msgspec.json.decode(reply.read())
        return reply.status, told["error"]["code"] if "error" in told else ""


@contextmanager
def a_sleeper(prelude: str = "") -> Iterator[Sleeper]:
    """Give a server with a run that is under way."""
    with throwaway() as store:
        store.hub()  # the store is there before it
        with ServerProcess(store.path, prelude=prelude) as server, store.agent().run(run_id=RUN_ID) as run:
            assert next(iter(run)).number == 1
            yield Sleeper(store, server)


def sleep_for(server: ServerProcess, seconds: float, meanwhile: Callable[[], None]) -> None:
    """Let a server stand still for so long at least, by the clock that it goes by."""
    until = boot_milliseconds() + seconds * 1_000
    server.stand_still()
    meanwhile()
    while boot_milliseconds() <= until:
        time.sleep(0.05)
    server.wake()


@proves("I29", "I30", "I32")
def test_command_that_a_sleeping_server_did_not_acknowledge_is_never_executed() -> None:
    """Its sender is told so in time; sent again under its id, it is executed for the first time."""
    with a_sleeper() as sleeper:
        ana = sleeper.ana
        assert ana.find_run(RUN_ID).status is Status.RUNNING
        sleeper.server.stand_still()
        begun = time.monotonic()
        with pytest.raises(ControlExpiredError, match="will not be executed"):
            ana.control(RUN_ID, "pause", request_id="req-1", wait=SHORT)
        assert time.monotonic() - begun < PATIENCE
        sleeper.server.wake()
        assert ana.find_run(RUN_ID).status is Status.RUNNING
        assert ana.read(CONTROL_TOPIC) == []
        assert ana.control(RUN_ID, "pause", request_id="req-1").is_success
        assert sleeper.executed() == ["control.requested", "control.acknowledged", "control.resolved"]


@proves("I29")
@pytest.mark.parametrize("door", DOORS)
def test_command_whose_time_is_over_when_the_server_wakes_is_refused(door: str) -> None:
    """Also where its sender still listens: the bound is its own word."""
    with a_sleeper() as sleeper:
        boot, now = sleeper.clock()
        lines: list[socket.socket] = []
        sleep_for(
            sleeper.server, 1.0, lambda: lines.append(sleeper.send(door, not_after=f"{boot}.{now + 500}"))
        )
        assert read(lines[0]) == (409, "expired")
        assert sleeper.executed() == []


@proves("I29")
@pytest.mark.parametrize("door", DOORS)
def test_command_without_a_bound_that_waited_in_a_sleeping_server_is_refused(door: str) -> None:
    """On a connection that it knew, and on one that it had still to accept; soon after, commands are obeyed again."""
    with a_sleeper(IN_SHORT) as sleeper:
        known = sleeper.connect()
        assert sleeper.clock()[0]
        lines: list[socket.socket] = []

        def send_both() -> None:
            lines.extend((sleeper.send(door, on=known), sleeper.send(door)))

        sleep_for(sleeper.server, SHORT + 0.5, send_both)
        assert [read(line) for line in lines] == [(409, "expired")] * 2
        assert sleeper.ana.read(CONTROL_TOPIC) == []
        until = time.monotonic() + PATIENCE
        while (came := read(sleeper.send(door)))[1]:
            assert came == (409, "expired")
            assert time.monotonic() < until
        assert len(sleeper.executed()) == 3


@proves("I29")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("is_reset", [False, True])
def test_command_whose_sender_hung_up_before_the_server_woke_is_not_executed(
    door: str, is_reset: bool
) -> None:
    """However short its sleep was."""
    with a_sleeper() as sleeper:
        assert sleeper.clock()[0]
        sleeper.server.stand_still()
        line = sleeper.send(door)
        if is_reset:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()
        sleeper.server.wake()
        assert sleeper.clock()[0]
        assert sleeper.executed() == []


@proves("I29")
def test_command_line_says_that_nobody_acknowledged_it_and_under_which_id() -> None:
    """As on a file: status 5, the sentence, and how to send the same again."""
    with a_sleeper() as sleeper:
        sleeper.server.stand_still()
        told = sleeper.command("pause", RUN_ID, "--request-id", "req-1")
        assert told.returncode == 5, told.stderr
        assert "Nobody acknowledged the command in time; it will not be executed." in told.stderr
        assert f"assent pause {RUN_ID} --request-id req-1" in told.stderr
        sleeper.server.wake()
        assert sleeper.command("pause", RUN_ID, "--request-id", "req-1").returncode == 0
        assert len(sleeper.executed()) == 3


def test_server_that_was_started_anew_is_obeyed_by_its_own_clock() -> None:
    """A client that knew its predecessor is told so, hears the new clock and goes on."""
    with a_sleeper() as sleeper:
        boot, now = sleeper.clock()
        assert sleeper.ana.find_run(RUN_ID).status is Status.RUNNING
        sleeper.server.end(signal.SIGTERM)
        sleeper.server.start()
        assert sleeper.clock()[0] != boot
        assert read(sleeper.send("control", not_after=f"{boot}.{now + 600_000}")) == (409, "expired")
        assert sleeper.ana.control(RUN_ID, "pause").is_success
