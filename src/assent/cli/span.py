"""Lengths of time as people type them: `90`, `30m`, `2h`, `1d12h`."""

from __future__ import annotations

import re
from datetime import timedelta

import click

__all__ = ["SPAN", "parse_span"]

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PARTS = re.compile(r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII).fullmatch
_SECONDS = re.compile(r"\d{1,10}(?:\.\d{1,6})?", re.ASCII).fullmatch
_LONGEST = 100 * 366 * _UNITS["d"]


def parse_span(text: str) -> timedelta | None:
    """Return the length of time that `text` spells, or nothing.

    >>> parse_span("1h30m"), parse_span("soon")
    (datetime.timedelta(seconds=5400), None)
    """
    folded = text.strip().lower()
    parts = _PARTS(folded)
    if _SECONDS(folded):
        seconds = float(folded)
    elif folded and parts:
        seconds = sum(
            int(part) * unit for part, unit in zip(parts.groups(), _UNITS.values(), strict=True) if part
        )
    else:
        return None
    return timedelta(seconds=seconds) if seconds <= _LONGEST else None


class _Span(click.ParamType[timedelta]):
    name = "time"

    def convert(
        self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        span = value if isinstance(value, timedelta) else parse_span(value)
        if span is None:
            self.fail(f'"{value}" is not a length of time: write seconds, or as in 30m, 2h, 1d.', param, ctx)
        return span


SPAN = _Span()
