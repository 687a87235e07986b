"""Whether and when a project was restored from a backup: what is older than that is looked at twice."""

from __future__ import annotations

from datetime import datetime

from assent.hub.record import RESTORED_TOPIC
from assent.storage.port import Head, Transaction

__all__ = ["find_restored_at"]

_ALL = 10_000


def find_restored_at(transaction: Transaction, head: Head) -> datetime | None:
    """Return when the project was last restored from a backup; None where it never was."""
    found = transaction.messages(head, RESTORED_TOPIC, 0, _ALL)
    return found[-1].posted_at if found else None
