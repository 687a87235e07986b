"""The right to drive something, kept by a server: also where the server is away for a moment when it is asked for."""

import time
from types import SimpleNamespace

import pytest

from assent.client.http import hold
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer

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
