"""Looking into a finding: a command gets it as JSON on standard input, and what it prints is shown.

Rule 1: no shell. The command is a list of words; the finding is only ever standard input.
Rule 2: it is bounded in time and output, and ended with its whole group.
Rule 3: a command that stands in a repository's file runs only after a person accepted that file; whoever makes the
        performer sees to it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

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

    def dive(action: str, finding: dict[str, Json]) -> str:
        asked = msgspec.json.encode({"action": action, "finding": finding})
        try:
            child = subprocess.Popen(  # noqa: S603 - a list of words, chosen by the person who started us
                list(command),
                cwd=folder,
                env={**environ, "ASSENT_PRINCIPAL": "agent:deep-dive"},  # what it runs can answer nothing
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise EffectError(f'"{quote(command[0])}" cannot be run: {error.strerror}.') from error
        try:
            said, _ = child.communicate(asked, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise EffectError(f'"{quote(command[0])}" took longer than {seconds:g} s.') from None
        finally:
            with suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        text = said[:MAX_DIVE_BYTES].decode(errors="replace")
        if len(said) > MAX_DIVE_BYTES:
            text += f"\n… and {len(said) - MAX_DIVE_BYTES:,} bytes more."
        if child.returncode:
            raise EffectError(f'"{quote(command[0])}" ended with status {child.returncode}: {quote(text)}')
        return text

    return dive
