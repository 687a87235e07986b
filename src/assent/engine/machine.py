"""Machine: what the core knows of one noun. Everything that holds for all nouns is derived from these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from assent.protocol.principal import Role

__all__ = ["ASKERS", "INTERNAL", "PEOPLE", "Machine"]

ASKERS = frozenset({Role.AGENT, Role.HUMAN, Role.OPERATOR})
PEOPLE = frozenset({Role.HUMAN})
"""Decided rule 8: a machine is never a human."""
INTERNAL: frozenset[Role] = frozenset()
"""For what is only ever a reaction, or the hub's own."""


class Machine(msgspec.Struct, frozen=True):
    """One noun: who may send which of its commands, its events, and how they are decided and applied."""

    name: str
    """As people read it where a row is named."""
    rights: Mapping[type[Any], frozenset[Role]]
    """Its commands, and the roles that may send each. What else a sender must be, `decide` knows."""
    events: tuple[type[Any], ...]
    decide: Callable[..., tuple[Any, ...]]
    """The events of a command, from the state, the command and what `context` names."""
    evolve: Callable[..., Any]
    """The state after an event, from the state before it, with `project` and `sequence`; None for an event without a row."""
    key: Callable[[Any], str] | None = None
    """The id of what a command is about, where one row is all that it is about."""
    context: tuple[str, ...] = ()
    """What `decide` must be told beside the state: names of what the hub reads for it."""
