"""A hold under its key: had on by whoever lost the connection, and known to be lost by whoever lost the right."""

from collections.abc import Iterator

import pytest

from assent.client.door import run_call, until
from assent.client.http.hold import ServerHold
from assent.hub.record import Hold
from assent.protocol.error import FlowTakenError
from assent.protocol.principal import Role
from assent.protocol.wire_run import HoldBody
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import wait_for

__all__: list[str] = []

FLOW = "review:1"


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on a store of its own."""
    with throwaway() as store, ThrowawayServer(store) as made:
        yield made


def hold_on_file(server: ThrowawayServer) -> Hold:
    """Take the right beside the server."""
    return run_call(until(server.store.agent().door.hold(server.store.project, FLOW)))


def test_hold_that_is_let_go_of_is_free_at_once(server: ThrowawayServer) -> None:
    """Also for somebody on the file, time after time."""
    agent = server.agent()
    for _ in range(20):
        held = run_call(until(agent.door.hold(agent.project, FLOW)))
        with pytest.raises(FlowTakenError):
            hold_on_file(server)
        held.release()
        hold_on_file(server).release()


def test_hold_that_is_asked_for_again_under_its_key_is_had_on(server: ThrowawayServer) -> None:
    """The old connection is dead, though the server has not noticed; another key is refused."""
    line = server.door(server.token(Role.AGENT, "coder"))._line
    first = ServerHold(line, f"/projects/{server.store.project}", HoldBody(flow_id=FLOW))
    again = first._take()
    with pytest.raises(FlowTakenError):
        ServerHold(line, f"/projects/{server.store.project}", HoldBody(flow_id=FLOW))
    first.release()
    again.close()
    hold_on_file(server).release()


def test_driver_whose_hold_somebody_else_took_meanwhile_learns_of_it(server: ThrowawayServer) -> None:
    """The server was away, and another drove on."""
    agent = server.agent()
    held = run_call(until(agent.door.hold(agent.project, FLOW)))
    assert held.is_held
    server.stop()
    other = hold_on_file(server)
    server.start()
    wait_for(lambda: not held.is_held)
    other.release()
    assert not held.is_held
