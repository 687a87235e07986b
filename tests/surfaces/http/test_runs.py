"""Runs over HTTP: a command to one comes in time or not at all, and an iteration has begun or is refused."""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx2
import pytest

from assent.client.client import Client
from assent.client.driven import DrivenRun
from assent.protocol.boot_time import CLOCK_HEADER, BootTime, parse_boot_time, render_boot_time
from assent.protocol.error import ControlExpiredError
from assent.protocol.run import Status
from assent.protocol.topic import CONTROL_TOPIC
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.proves import proves
from tests.run_samples import request_body

__all__: list[str] = []

RUN_ID = "loop-1703123456-12345"
DOORS = {
    "control": (f"runs/{RUN_ID}/control", {"command": "pause"}),
    "topic": (f"topics/{CONTROL_TOPIC}", request_body(target={"run_id": RUN_ID})),
}


class Scene:
    """A server, a run under way that an agent drives through it, and a person."""

    def __init__(self, server: ThrowawayServer, run: DrivenRun) -> None:
        self.server, self.run = server, run
        self.ana: Client = server.person()
        self._secrets = {role: server.token(role) for role in ("human", "agent")}

    def post(self, path: str, body: object, *, role: str = "human", **headers: str) -> httpx2.Response:
        """Send a request."""
        own = {"authorization": f"Bearer {self._secrets[role]}"} | headers
        url = f"{self.server.url}/projects/{self.server.store.project}/{path}"
        return httpx2.post(url, json=body, headers=own, timeout=PATIENCE, trust_env=False)

    def begin(self, **parts: object) -> httpx2.Response:
        """Ask for an iteration, as a driver does that knows the run's fence."""
        body = {"command": "begin", "fence": self.run.state.fence} | parts
        return self.post(f"runs/{RUN_ID}/drive", body)


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Give a run of two iterations, before its first."""
    with (
        throwaway() as store,
        ThrowawayServer(store) as server,
        suppress(KeyboardInterrupt),
        server.agent().run(run_id=RUN_ID, max=2) as run,
    ):
        yield Scene(server, run)
        raise KeyboardInterrupt  # the run is left as the test left it


def code_of(reply: httpx2.Response) -> tuple[int, str]:
    """Return how a request was refused."""
    return reply.status_code, reply.json()["error"]["code"]


def shift(clock: str, milliseconds: int) -> str:
    """Return another moment by the same clock."""
    told = parse_boot_time(clock)
    return render_boot_time(BootTime(told.boot, told.milliseconds + milliseconds))


# The clock


def test_every_reply_tells_the_servers_clock(scene: Scene) -> None:
    """Also those to strangers, to what is not there, and to what is no HTTP."""
    url = scene.server.url
    replies = [
        httpx2.get(f"{url}{path}", headers=headers, trust_env=False)
        for path, headers in (
            ("/healthz", {}),
            ("/", {}),
            ("/nothing-here", {}),
            ("/me", {}),
            ("/healthz", {"host": "elsewhere.example"}),
        )
    ]
    with socket.create_connection(("127.0.0.1", scene.server.port), PATIENCE) as line:
        line.sendall(b"\0\r\n\r\n")
        head = line.recv(65_536).decode().lower()
    clocks = [parse_boot_time(reply.headers[CLOCK_HEADER]) for reply in replies]
    assert len({clock.boot for clock in clocks}) == 1
    assert clocks == sorted(clocks, key=lambda clock: clock.milliseconds)
    assert f"{CLOCK_HEADER}: {clocks[0].boot}." in head


@proves("I29")
@pytest.mark.parametrize("door", DOORS)
def test_command_is_executed_in_its_time_and_by_nobody_but_the_server_that_was_meant(
    scene: Scene, door: str
) -> None:
    """The bound is inclusive of nothing that is past; what is no moment is refused as such."""
    path, body = DOORS[door]
    clock = httpx2.get(f"{scene.server.url}/healthz", trust_env=False).headers[CLOCK_HEADER]
    for bound, refusal in (
        (shift(clock, -1), (409, "expired")),
        (f"0{clock}", (409, "expired")),
        ("soon", (400, "bad_request")),
    ):
        assert code_of(scene.post(path, body, **{"assent-not-after": bound})) == refusal
    assert scene.ana.read(CONTROL_TOPIC) == []
    assert scene.post(path, body, **{"assent-not-after": shift(clock, 30_000)}).is_success
    assert scene.ana.find_run(RUN_ID).status is Status.PAUSED


@contextmanager
def held_elsewhere(server: ThrowawayServer) -> Iterator[None]:
    """Hold the file's lock as another process would."""
    descriptor = os.open(f"{server.store.path}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@proves("I29")
def test_command_that_waited_for_the_store_longer_than_its_sender_is_not_executed(scene: Scene) -> None:
    """The server had taken it, and somebody else the store."""
    with held_elsewhere(scene.server), pytest.raises(ControlExpiredError):
        scene.ana.control(RUN_ID, "pause", wait=1.0)
    assert scene.ana.post("notes", {"the store": "is free"}).sequence
    assert scene.ana.read(CONTROL_TOPIC) == []
    assert scene.ana.find_run(RUN_ID).status is Status.RUNNING


# Driving


@proves("I5", "I9")
def test_iteration_that_a_pause_holds_back_is_refused_and_not_begun(scene: Scene) -> None:
    """409, and a driver that read nothing but the status does no work; resumed, the same request begins it."""
    scene.ana.pause(RUN_ID)
    refused = scene.begin()
    assert code_of(refused) == (409, "invalid_state")
    assert "is paused" in refused.json()["error"]["message"]
    assert not scene.ana.find_run(RUN_ID).top.is_open
    scene.ana.resume(RUN_ID)
    assert (scene.begin().status_code, scene.ana.find_run(RUN_ID).top.is_open) == (200, True)


@proves("I11")
def test_iteration_of_a_cancelled_run_is_refused(scene: Scene) -> None:
    """With another code: there is nothing to wait for."""
    scene.ana.cancel(RUN_ID)
    assert code_of(scene.begin()) == (409, "run_ended")


def test_iteration_that_was_begun_is_begun_also_when_it_is_asked_for_again(scene: Scene) -> None:
    """A reply that was lost is told again, paused meanwhile or not."""
    begin = {"command": "begin", "fence": scene.run.state.fence}
    replies = []
    for _ in range(2):
        replies.append(scene.post(f"runs/{RUN_ID}/drive", begin, **{"idempotency-key": "cmd-1"}))
        scene.ana.control(RUN_ID, "pause")
    assert [reply.status_code for reply in replies] == [200, 200]


@proves("I11")
@pytest.mark.parametrize("door", DOORS)
def test_agent_steers_nothing_by_any_way_in(scene: Scene, door: str) -> None:
    """Not its own run either: it would not be paused."""
    path, body = DOORS[door]
    assert code_of(scene.post(path, body, role="agent")) == (403, "forbidden")
    assert scene.ana.read(CONTROL_TOPIC) == []
