"""A server that stops leaves nobody hanging, also not whoever comes while the door closes."""

from collections.abc import Callable

import pytest

from assent.testing.server import ThrowawayServer
from assent.testing.store import throwaway

__all__: list[str] = []


class Line:
    """A connection as uvicorn knows it; it is its own transport."""

    def __init__(self, others: set[object], *, listens: bool) -> None:
        self._others = others
        self._listens = listens
        self.was_told = self.was_cut = False
        self.transport = self

    def shutdown(self) -> None:
        """Take in that the server stops."""
        self.was_told = True
        if self._listens:
            self._others.discard(self)

    def abort(self) -> None:
        """Be cut off."""
        self.was_cut = True
        self._others.discard(self)


def stop_with(line: Callable[[set[object]], Line], monkeypatch: pytest.MonkeyPatch) -> Line:
    """Stop a server that takes one more connection in just after it has told the others."""
    with throwaway() as store:
        server = ThrowawayServer(store)
        assert server._server is not None
        assert server._loop is not None
        assert server._site is not None
        connections, loop, close = server._server.server_state.connections, server._loop, server._site.close
        late = line(connections)  # type: ignore[arg-type]  # of uvicorn's own types

        def close_and_let_one_in() -> None:
            close()
            loop.call_later(0.05, connections.add, late)  # type: ignore[arg-type]  # as above

        monkeypatch.setattr(server._site, "close", close_and_let_one_in)
        monkeypatch.setattr(server._server.config, "timeout_graceful_shutdown", 1)
        server.stop()
        server.close()
    return late


def test_connection_that_comes_while_the_server_stops_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uvicorn tells those who are there; this one came a moment later."""
    late = stop_with(lambda others: Line(others, listens=True), monkeypatch)
    assert late.was_told
    assert not late.was_cut


def test_connection_that_does_not_let_go_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is on it comes again, and does not wait for somebody who has gone."""
    late = stop_with(lambda others: Line(others, listens=False), monkeypatch)
    assert late.was_told
    assert late.was_cut
