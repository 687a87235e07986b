"""Spans for OpenTelemetry, where the program that asks has loaded it; who has not has set no provider either.

Nothing of it is loaded from here: without it, a call pays for a look into the table of modules. With it, `TRACES` of
`client/traces.py` does the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, Self

from assent.protocol.ask import Ask

if TYPE_CHECKING:
    from assent.client.traces import Traces

__all__ = ["AskSpan", "find_traces", "trace_ask", "trace_headers"]

_LOADED = "opentelemetry.trace"
_NONE: Mapping[str, str] = MappingProxyType({})


class AskSpan(Protocol):
    """From an ask to what came of it."""

    def tell(self, ended: Ask) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...


class _Untraced:
    """Fits `AskSpan` where nobody traces."""

    def tell(self, ended: Ask) -> None:
        """Say nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave everything as it is."""


_UNTRACED = _Untraced()


def find_traces() -> Traces | None:
    """Return who tells OpenTelemetry; None where it is not loaded, or only a part of it is there."""
    return _load() if _LOADED in sys.modules else None


@cache
def _load() -> Traces | None:
    try:
        traces: Traces = sys.modules["assent"].TRACES
    except ImportError:
        return None
    return traces


def trace_ask(project: str) -> AskSpan:
    """Begin the span of an ask."""
    traces = find_traces()
    return _UNTRACED if traces is None else traces.asking(project) or _UNTRACED


def trace_headers() -> Mapping[str, str]:
    """Return the headers that tell a server of which trace a request is."""
    traces = find_traces()
    return _NONE if traces is None else traces.headers()
