"""Terms: what an approval will be good for, said when it is asked for.

They stand beside the prompt of the ask, so that whoever answers it, in whichever process, makes the receipt at once:
nobody has to come back for it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NewType

import msgspec

from assent.protocol.error import BadRequestError
from assent.protocol.policy import Category

__all__ = ["DEFAULT_LIFE_SECONDS", "MAX_LIFE_SECONDS", "ReceiptId", "Terms", "check_life"]

ReceiptId = NewType("ReceiptId", str)
DEFAULT_LIFE_SECONDS = 3_600
"""An approval is for what is about to happen: within the hour, where nothing else is said."""
MAX_LIFE_SECONDS = 30 * 86_400
"""As long as a person's token lives. What is done later is another decision."""


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What follows from a yes."""

    receipt_id: ReceiptId
    """The id that the receipt will have."""
    life_seconds: int
    """How long it can be redeemed after it was granted."""
    category: Category | None = None
    """The category of change whose policy made it an ask; None where a person is always asked."""


def check_life(life: timedelta) -> int:
    """Return `life` in whole seconds.

    Raises:
        BadRequestError: it is shorter than a second, longer than the limit, or no number of seconds.
    """
    seconds, part = divmod(life, timedelta(seconds=1))
    if part or not 1 <= seconds <= MAX_LIFE_SECONDS:
        raise BadRequestError(f"An approval lives for 1 to {MAX_LIFE_SECONDS:,} whole seconds.")
    return seconds
