"""What the hub knows and a machine must be told: when, who, and under which command id."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from assent.protocol.principal import Principal, Role

__all__ = ["NOBODY", "UNSTAMPED", "Stamp"]

NOBODY = Principal(Role.OPERATOR, "assent")
"""The hub itself, where a timer and not a person acts."""


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """Set by the hub inside the transaction, never by a caller."""

    at: datetime
    by: Principal
    command_id: str


UNSTAMPED = Stamp(datetime(1970, 1, 1, tzinfo=UTC), NOBODY, "")
