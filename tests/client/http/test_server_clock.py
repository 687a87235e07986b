"""What is left of a deadline is left by the clock of the server's store, and not by that of whoever looks."""

from datetime import UTC, datetime, timedelta

from assent.client.door import run_call, until
from assent.client.http.door import HttpDoor
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.samples import NOON

__all__: list[str] = []


def test_now_behind_a_servers_door_is_the_servers() -> None:
    """From its first reply on; before that it is this machine's."""
    clock = FakeClock(NOON)
    with throwaway(clock=clock) as store, ThrowawayServer(store) as server:
        door = HttpDoor(server.url, server.token("human", "ana"))
        try:
            assert abs(door.now() - datetime.now(UTC)) < timedelta(minutes=1)
            run_call(until(door.count(None)))
            assert NOON <= door.now() < NOON + timedelta(minutes=1)
            clock.advance(timedelta(days=20))
            run_call(until(door.count(None)))
            assert NOON + timedelta(days=20) <= door.now() < NOON + timedelta(days=20, minutes=1)
        finally:
            door.close()
