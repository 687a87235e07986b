"""A moment by the clock of one running server, as two headers tell it: `Assent-Clock` and `Assent-Not-After`.

`Assent-Now` is another one: the time of day, by which deadlines are judged there.
"""

from __future__ import annotations

import re

import msgspec

from assent.protocol.error import BadRequestError

__all__ = [
    "CLOCK_HEADER",
    "NOT_AFTER_HEADER",
    "NOW_HEADER",
    "BootTime",
    "parse_boot_time",
    "render_boot_time",
]

CLOCK_HEADER = "assent-clock"
"""On every reply: what the server's clock says."""
NOT_AFTER_HEADER = "assent-not-after"
"""On a command to a run: when it is too late for it."""
NOW_HEADER = "assent-now"
"""On every reply to a verb that succeeds: the moment by the clock of the server's store, as ISO 8601 has it."""

_read = re.compile(r"([0-9a-z]{1,64})\.([0-9]{1,18})").fullmatch


class BootTime(msgspec.Struct, frozen=True):
    """So many milliseconds by the clock of the server that calls itself `boot`."""

    boot: str
    milliseconds: int


def render_boot_time(time: BootTime) -> str:
    """Return it as a header has it.

    >>> render_boot_time(BootTime("5f0a", 91_000))
    '5f0a.91000'
    """
    return f"{time.boot}.{time.milliseconds}"


def parse_boot_time(text: str) -> BootTime:
    """Return what a header says.

    Raises:
        BadRequestError: it is no such moment.
    """
    found = _read(text)
    if found is None:
        raise BadRequestError(
            "A moment by a server's clock is what its Assent-Clock says: boot.milliseconds."
        )
    return BootTime(found[1], int(found[2]))
