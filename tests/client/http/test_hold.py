"""The right to drive something, kept by a server: also where the server is away for a moment when it is asked for."""

import threading
import time
from types import SimpleNamespace

import httpx2
import pytest

from assent.client.door import run_call, until
from assent.client.http import hold
from assent.client.http.hold import ServerHold
from assent.client.http.line import ServerLine
from assent.protocol.error import AssentError
from assent.protocol.wire_run import HoldBody
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.client.http.test_restart import wait_until
from tests.patience import PATIENCE

__all__: list[str] = []


def test_run_that_begins_while_the_server_restarts_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like any other request: a server that has answered before is tried again."""
    with throwaway() as store, ThrowawayServer(store) as server:
        agent = server.agent()
        agent.count()
        server.stop()
        pauses: list[float] = []

        def come_back(seconds: float) -> None:
            pauses.append(seconds)
            server.start()

        monkeypatch.setattr(hold, "time", SimpleNamespace(monotonic=time.monotonic, sleep=come_back))
        with agent.run(max=2) as run:
            turns = [turn.number for turn in run]
        assert (turns, len(pauses)) == ([1, 2], 1)


@pytest.mark.parametrize(
    ("status", "media"),
    [(302, "text/plain"), (204, "text/plain"), (200, "text/html")],
    ids=["away", "empty", "page"],
)
def test_reply_of_somebody_in_between_is_no_hold(status: int, media: str) -> None:
    """A proxy's page, or a way to elsewhere, gives nobody the right to drive anything."""

    def respond(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": media}, content=b"held\n")

    line = ServerLine("http://127.0.0.1:1", "")
    line._client = httpx2.Client(base_url=line.url, transport=httpx2.MockTransport(respond))
    with pytest.raises(AssentError, match="not as an Assent server does"):
        ServerHold(line, "/projects/test", HoldBody(flow_id="f"))
    assert line.client.is_closed is False


def test_hold_that_is_taken_again_while_it_is_released_is_let_go() -> None:
    """The server was away, and came back in that very moment: nobody would ever close what it gives then."""
    with throwaway() as store, ThrowawayServer(store) as server:
        line = ServerLine(server.url, server.token("agent", "coder"))
        kept = ServerHold(line, f"/projects/{store.project}", HoldBody(flow_id="f"))
        take = kept._take

        def take_late() -> httpx2.Response:
            response = take()
            kept._is_released.set()
            return response

        kept._take = take_late  # type: ignore[method-assign]
        server.stop()
        server.start()
        wait_until(kept._is_released.is_set)
        wait_until(lambda: server.connections == 0)
        assert server.connections == 0
        line.close()


def test_hold_of_a_client_that_was_closed_is_asked_for_no_more() -> None:
    """Another server may come to listen on that port, and would get requests that are not for it."""
    with throwaway() as store, ThrowawayServer(store) as server:
        door = server.door(server.token("agent"))
        before = holders()
        taken = run_call(until(door.hold(store.project, "flow")))
        (thread,) = holders() - before
        server.stop()
        door.close()
        thread.join(PATIENCE)
        assert (thread.is_alive(), taken.is_held) == (False, False)


def holders() -> set[threading.Thread]:
    """Return the threads that keep a hold."""
    return {thread for thread in threading.enumerate() if thread.name == "assent-hold"}
