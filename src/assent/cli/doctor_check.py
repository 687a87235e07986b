"""One finding of `assent doctor`, and what to do about the errors that stop a look."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from assent.protocol.error import (
    AssentError,
    StoreAwayError,
    StoreBusyError,
    StoreDamagedError,
    StoreFullError,
    StoreReadOnlyError,
    StoreTooNewError,
    StoreUntrustedError,
    UnauthorisedError,
    UnreachableError,
)

__all__ = ["REMEDIES", "Check", "guarded"]

REMEDIES: dict[type[AssentError], str] = {
    StoreReadOnlyError: "Give yourself the right to write the file and its folder (chmod u+w), or name another --store.",
    StoreDamagedError: "Move the file and its -wal and -shm files away and restore a copy; do not delete them.",
    StoreFullError: "Free some space; nothing was lost.",
    StoreBusyError: "Look for a process that hangs while it holds the store.",
    StoreUntrustedError: "assent store adopt shows what it holds, and takes it over.",
    StoreTooNewError: "Upgrade Assent.",
    StoreAwayError: "Start the database, or correct the address.",
    UnreachableError: "Start it with assent serve, or correct the address.",
    UnauthorisedError: "Set ASSENT_TOKEN to a token of that server: assent token create makes one there.",
}
"""The nearest class in an error's line of parents counts."""


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    name: str
    value: str
    ok: bool = True
    remedy: str = ""


def guarded(name: str, check: Callable[[], Check], other: str = "") -> Check:
    """Return what `check` finds, or what stopped it, with a remedy; `other` is that for any other error."""
    try:
        return check()
    except AssentError as error:
        remedy = next((REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES), other)
        return Check(name, error.message, ok=False, remedy=remedy)
    except OSError as error:
        return Check(name, str(error), ok=False, remedy="Look at the rights of the file and its folders.")
