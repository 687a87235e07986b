"""An entry for a deferred finding, appended to its document (W-U10)."""

from __future__ import annotations

import msgspec

from assent.protocol.finding import Finding

__all__ = ["SECTION", "Appended", "append_deferral"]

SECTION = "## Deferred / Open Questions"


class Appended(msgspec.Struct, frozen=True):
    """A document with an entry for a deferred finding in it."""

    content: bytes
    """The whole document."""
    location: str
    """Where the entry stands, as people read it."""
    is_new: bool
    """False: the same entry was there already; the document is unchanged."""


def append_deferral(document: bytes, finding: Finding, date: str) -> Appended:
    """Return the document with an entry for `finding` under `date`, as in `2026-11-16`."""
    raise NotImplementedError(len(document), finding.title, date)
