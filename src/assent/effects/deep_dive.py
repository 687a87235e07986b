"""Looking into a finding: a command gets it as JSON on standard input, and what it prints is shown.

A command that stands in a repository's file runs only after a person accepted that file; whoever makes the performer
sees to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from assent.effects.command import Order, run_command
from assent.effects.direct import Direct
from assent.effects.performer import Performers
from assent.flows.session.effect import DeepDive
from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import EffectError

__all__ = ["DIVE_SECONDS", "MAX_DIVE_BYTES", "Dive", "deep_dive_performers", "run_dive"]

DIVE_SECONDS = 600.0
MAX_DIVE_BYTES = 256 << 10

Dive = Callable[[str, dict[str, Json]], str]
"""Gets the action's label and the finding as JSON; returns what is shown."""


def deep_dive_performers(dive: Dive | None) -> Performers:
    """Return who looks into findings."""

    def act(effect: DeepDive) -> str:
        if dive is None:
            raise EffectError("No command is configured that looks into findings.")
        finding = msgspec.to_builtins(effect.held.finding)
        finding |= {"id": effect.held.finding_id, "chunk": effect.held.chunk, "review": effect.session_name}
        return dive(effect.action, finding)

    return {DeepDive: Direct(DeepDive, act)}


def run_dive(
    command: Sequence[str], folder: Path, environ: Mapping[str, str], seconds: float = DIVE_SECONDS
) -> Dive:
    """Return a dive that runs `command`; it gets `{"action": …, "finding": {…}}` on standard input."""
    order = Order(command, folder, environ, "agent:deep-dive", seconds, MAX_DIVE_BYTES)

    def dive(action: str, finding: dict[str, Json]) -> str:
        speech = run_command(order, msgspec.json.encode({"action": action, "finding": finding}))
        text = speech.said.decode(errors="replace")
        if speech.size > len(speech.said):
            text += f"\n… and {speech.size - len(speech.said):,} bytes more."
        if speech.status:
            raise EffectError(f'"{quote(command[0])}" ended with status {speech.status}: {quote(text)}')
        return text

    return dive
