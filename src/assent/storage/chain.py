"""The hash chain over a project's log: change, cut or reorder one event and every later hash is wrong.

The chain covers the digest of a body, not the body, so that a body can be erased and the chain still verifies.
"""

from __future__ import annotations

from hashlib import sha256

__all__ = ["genesis", "link"]


def genesis(project: str) -> bytes:
    """Return the hash before a project's first event."""
    return sha256(b"assent log\n" + project.encode()).digest()


def link(previous: bytes, sequence: int, at: int, type_: str, subject: str, body_digest: bytes) -> bytes:
    """Return the hash of one event, given the one before it."""
    header = f"{sequence}\n{at}\n{type_}\n{subject}\n".encode()
    return sha256(previous + header + body_digest).digest()
