"""Spans of time as people say them."""

from __future__ import annotations

from datetime import timedelta

__all__ = ["render_span"]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def render_span(span: timedelta, *, is_rough: bool = False) -> str:
    """Return `span` in one unit, or two where the second matters; a rough one always in one.

    >>> render_span(timedelta(minutes=100)), render_span(timedelta(seconds=12))
    ('1 h 40 min', '12 s')
    """
    seconds = max(0, int(span.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min"
    if seconds < _DAY:
        minutes = 0 if is_rough else seconds % _HOUR // _MINUTE
        return f"{seconds // _HOUR} h" + (f" {minutes} min" if minutes else "")
    days = seconds // _DAY
    return "1 day" if days == 1 else f"{days} days"
