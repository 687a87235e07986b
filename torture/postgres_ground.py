"""The ground of the trials on PostgreSQL: a server of their own with one database, which can be ended in any way."""

from __future__ import annotations

import signal
import time
from types import TracebackType
from typing import Self

import psycopg

from tools.postgres import PostgresServer

__all__ = ["Ground"]

_START_SECONDS = 30.0


class Ground:
    """A PostgreSQL server with one empty database, for as long as a trial lasts."""

    def __init__(self) -> None:
        self.server = PostgresServer()
        try:
            self.url = self.server.new_database()
        except BaseException:
            self.server.close()
            raise

    def away(self, how: signal.Signals, seconds: float) -> float:
        """End the server in this way, leave it away for so long, start it; return the monotonic moment it was back."""
        self.server.stop(how)
        time.sleep(seconds)
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.server.start()
            except RuntimeError:
                # After a SIGKILL its children are still there for a moment, and the next server will not begin.
                if time.monotonic() > until:
                    raise
                self.server.stop()
                time.sleep(0.05)
            else:
                return time.monotonic()

    def hashes(self) -> dict[int, str]:
        """Return the hash of every event by its number, read without the package."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute("SELECT event_number, encode(hash, 'hex') FROM assent.events")
            return {number: str(hash_) for number, hash_ in found}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.close()
