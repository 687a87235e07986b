"""What a walk-through wants done to the world, beside reading and writing its document (W76).

A fix becomes an edit in two steps. Somebody computes the whole document with the fixes in it, which changes nothing;
then that is written, once. So a crash leaves the document as it was or with all of it.
"""

from __future__ import annotations

import msgspec

from assent.flows.step import Done, Effect, Failed, Flow, do
from assent.protocol.canonical import convert
from assent.protocol.finding import Finding

__all__ = ["CheckAppend", "Edited", "MakeEdits", "Writable", "check_append", "make_edits"]


class CheckAppend(Effect, frozen=True, tag="check_append"):
    """Look whether the document can be written, and with what; Done holds a `Writable`."""

    path: str
    """Relative to the root, with slashes."""


class Writable(msgspec.Struct, frozen=True):
    """Whether a document can be written, decided once (W-U12)."""

    is_writable: bool
    reason: str = ""
    """Why not, as in `document is read-only in this environment`; goes on after a dash, so no capital and no full stop."""
    takes_words: bool = True
    """Whether there is somebody who works a fix in words into it; an exact edit needs nobody."""


class MakeEdits(Effect, frozen=True, tag="make_edits"):
    """Compute the document with fixes in it; nothing is written. Done holds an `Edited`."""

    path: str
    findings: tuple[Finding, ...]
    """In the order in which they are worked in; each sees what the one before left."""


class Edited(msgspec.Struct, frozen=True):
    """A document with fixes in it."""

    before_digest: str | None
    """Of the document that it was computed from."""
    content: bytes
    failed: dict[str, str] = {}
    """By id: why a fix is not in it, a sentence each."""
    present: tuple[str, ...] = ()
    """By id: what was in the document already, as after a round that was left; nothing had to be done."""


def check_append(path: str) -> Flow[Writable]:
    """Return whether the document can be appended to."""
    found = yield from do(CheckAppend(path))
    if isinstance(found, Failed):
        return Writable(False, found.message.rstrip("."))
    return convert(found.result, Writable)


def make_edits(path: str, findings: tuple[Finding, ...]) -> Flow[Edited | Failed]:
    """Return the document with as many of the fixes in it as could be worked in."""
    found = yield from do(MakeEdits(path, findings))
    return convert(found.result, Edited) if isinstance(found, Done) else found
