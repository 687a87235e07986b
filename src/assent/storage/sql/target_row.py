"""Targets as rows, and back.

The record is the whole target as the log gives it; `is_live` beside it is only there to find it by, and the audit
compares it. The secret and how far a target is are in no log.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.protocol.display import quote
from assent.protocol.target import Delivery, Secret, Target
from assent.storage.sql.row import UNREADABLE, read_record

__all__ = ["delivery_of", "encode_secret", "encode_target", "secret_of", "strayed_target", "target_of"]

_encode = msgspec.json.Encoder().encode
_target = msgspec.json.Decoder(Target).decode
_secret = msgspec.json.Decoder(Secret).decode


def target_of(record: bytes) -> Target:
    """Return the target of a row.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_target, record, "target")


def secret_of(record: bytes) -> Secret:
    """Return the secret of a row; of a target that was removed it is empty.

    Raises:
        StoreDamagedError: somebody wrote what Assent does not write.
    """
    return read_record(_secret, record, "target's secret")


def encode_target(target: Target) -> bytes:
    """Return the record of a row."""
    return _encode(target)


def encode_secret(secret: Secret) -> bytes:
    """Return the secret of a row."""
    return _encode(secret)


def delivery_of(row: tuple[Any, ...]) -> Delivery:
    """Return how far a target is, by the columns from `cursor` on."""
    return Delivery(*row)


def strayed_target(project: str | None, name: str, is_live: int, record: bytes) -> str | None:
    """Return the name of a target whose columns are not those of its record; an unreadable one is reported elsewhere."""
    try:
        target = _target(record)
    except UNREADABLE:
        return None
    is_same = (target.project, target.name, int(target.is_live)) == (project, name, is_live)
    return None if is_same else f"target {quote(name)}"
