"""Which surface presents an ask (G2-G4, G8, G-X2). It looks at nothing: whoever calls has looked.

    1. a selection tool, the first that is there
    2. a comment at the remote place, only where nobody can type here
    3. standard input and output, which are always there

Only what is missing or has failed falls to the next. What is loading is waited for: a person who is about to get a
dialog must not find the same gate as text above it.

A tool that a host names but has not loaded is no missing one: it is looked up, and only a lookup that finds nothing
makes it missing (W3, W4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

import msgspec

from assent.protocol.capability import Capability

__all__ = [
    "Availability",
    "Decision",
    "Lookup",
    "Means",
    "availability",
    "choose",
    "rank",
]


class Availability(StrEnum):
    """How things stand with one way to present."""

    AVAILABLE = "available"
    LOADING = "loading"
    MISSING = "missing"
    FAILED = "failed"


class Means(StrEnum):
    """The three ways to present."""

    TOOL = "tool"
    COMMENT = "comment"
    STDIO = "stdio"


class Decision(msgspec.Struct, frozen=True):
    """What presents."""

    means: Means
    tool: str = ""
    """Which tool."""
    is_loading: bool = False
    """It is not there yet: wait for it, and present nothing meanwhile."""


class Lookup(StrEnum):
    """How far a lookup by the loader has come."""

    PENDING = "pending"
    """Not made yet, or not over."""
    FOUND = "found"
    NO_MATCH = "no-match"
    FAILED = "failed"


def availability(host: Capability, exposed: Collection[str], lookup: Lookup = Lookup.PENDING) -> Availability:
    """Return how things stand with a host's own tool, given the names of the tools that it exposes to us now.

    `loading` is for whoever calls to act on: look the tool up by its query, or wait.
    """
    if host.tool in exposed:
        return Availability.AVAILABLE
    if host.loader not in exposed:
        return Availability.MISSING
    return _LOOKED_UP[lookup]


_LOOKED_UP = {
    Lookup.PENDING: Availability.LOADING,
    Lookup.FOUND: Availability.AVAILABLE,
    Lookup.NO_MATCH: Availability.MISSING,
    Lookup.FAILED: Availability.FAILED,
}


def choose(
    tools: Sequence[tuple[str, Availability]], *, is_interactive: bool, remote: Availability
) -> Decision:
    """Return what presents an ask. The tools are named in the order in which they are preferred."""
    return rank(tools, is_interactive=is_interactive, remote=remote)[0]


def rank(
    tools: Sequence[tuple[str, Availability]], *, is_interactive: bool, remote: Availability
) -> tuple[Decision, ...]:
    """Return what presents an ask, and what does if that fails, and so on.

    It ends where something has to be waited for: what comes behind it is not known before.
    """
    ways = [(availability, Decision(Means.TOOL, name)) for name, availability in tools]
    if not is_interactive:
        ways.append((remote, Decision(Means.COMMENT)))
    ways.append((Availability.AVAILABLE, Decision(Means.STDIO)))
    ranked: list[Decision] = []
    for availability, decision in ways:
        if availability is Availability.LOADING:
            return (*ranked, msgspec.structs.replace(decision, is_loading=True))
        if availability is Availability.AVAILABLE:
            ranked.append(decision)
    return tuple(ranked)
