"""The planted faults of the store on PostgreSQL: each takes one guard away that several processes lean on."""

from __future__ import annotations

from collections.abc import Callable

from assent.hub import waiters
from assent.storage.postgres import store as store_module
from assent.storage.postgres.bell import PostgresBell
from assent.storage.postgres.hold import PostgresHold
from assent.storage.postgres.store import PostgresStore
from assent.storage.queries import load_queries
from torture.run_twins import RUN_PLANTS
from torture.swap import swap

__all__ = ["POSTGRES_PLANTS"]


def _believe_it_saved() -> None:
    swap(PostgresStore, "_is_saved", lambda *_: True)


def _believe_it_lost() -> None:
    swap(PostgresStore, "_is_saved", lambda *_: False)


def _nobody_rings_or_looks() -> None:
    swap(PostgresBell, "ring", lambda *_: None)
    swap(waiters, "NET_SECONDS", 600.0)


def _lease_for_ever() -> None:
    swap(PostgresHold, "is_held", property(lambda _: True))


def _lease_for_ever_without_fence() -> None:
    _lease_for_ever()
    RUN_PLANTS["drive-without-fence"]()


def _take_from_the_living() -> None:
    condition = " WHERE holds.until <= clock_timestamp() OR holds.holder = $4"

    def loosened(package: str, name: str) -> dict[str, str]:
        found = load_queries(package, name)
        text = " ".join(found["take_hold"].split())
        assert condition in text, "the planted fault has lost its place"
        # The fourth value stays where it was, so that the statement takes as many.
        return found | {"take_hold": text.replace(condition, " WHERE $4::text IS NOT NULL")}

    swap(store_module, "load_queries", loosened)


def _newest_last() -> None:
    def turned(package: str, name: str) -> dict[str, str]:
        found = load_queries(package, name)
        assert "a.opened DESC" in found["open_asks"], "the planted fault has lost its place"
        return found | {"open_asks": found["open_asks"].replace("a.opened DESC", "a.opened")}

    swap(store_module, "load_queries", turned)


POSTGRES_PLANTS: dict[str, Callable[[], None]] = {
    "believe-it-saved": _believe_it_saved,
    "believe-it-lost": _believe_it_lost,
    "nobody-rings-or-looks": _nobody_rings_or_looks,
    "lease-for-ever": _lease_for_ever,
    "lease-for-ever-without-fence": _lease_for_ever_without_fence,
    "take-from-the-living": _take_from_the_living,
    "newest-last": _newest_last,
}
