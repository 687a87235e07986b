"""The effects that a flow can have on a document: read it, and write it as a whole.

A change is a read, a computation in the flow, and a write that names what it was computed from: if the document is
no longer that, nothing is written and the flow is told. Paths are relative to a root that the flow does not know.
"""

from __future__ import annotations

import msgspec

from assent.flows.step import Done, Effect, Failed, Flow, do
from assent.protocol.canonical import convert

__all__ = ["Document", "ReadDocument", "WriteDocument", "read_document", "write_document"]


class ReadDocument(Effect, frozen=True, tag="read_document"):
    """Look a document up; Done holds a `Document`."""

    path: str
    """Relative to the root, with slashes."""


class WriteDocument(Effect, frozen=True, tag="write_document"):
    """Make a document hold exactly `content`, if it still is what `before` says."""

    path: str
    before_digest: str | None
    """The digest of its bytes, as `protocol.canonical.digest` spells it; None: there is no such file."""
    content: bytes
    """Bytes and not text: what the flow did not mean to change stays, whatever its encoding."""


class Document(msgspec.Struct, frozen=True):
    """A document as it was found."""

    content: bytes
    digest: str | None
    """None: there is no such file."""


def read_document(path: str) -> Flow[Document | Failed]:
    """Return the document as it is now; where there is none, one without a digest."""
    found = yield from do(ReadDocument(path))
    return convert(found.result, Document) if isinstance(found, Done) else found


def write_document(path: str, before: Document, content: bytes) -> Flow[Done | Failed]:
    """Replace what was read as `before`; fail if somebody changed it since."""
    return (yield from do(WriteDocument(path, before.digest, content)))
