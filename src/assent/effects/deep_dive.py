"""Looking into a finding: a command gets it as JSON on standard input, and what it prints is shown.

Rule 1: no shell. The command is a list of words; the finding is only ever standard input.
Rule 2: it is bounded in time and output, and ended with its whole group.
Rule 3: a command that stands in a repository's file runs only after a person accepted that file; whoever makes the
        performer sees to it.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
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
_LOOK_SECONDS = 0.1
"""How soon it is seen that a command ended whose own children still hold its output."""
_PIPE_BYTES = 64 << 10

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
            said, size = _talk(child, asked, time.monotonic() + seconds)
        except TimeoutError:
            raise EffectError(f'"{quote(command[0])}" took longer than {seconds:g} s.') from None
        finally:
            _end(child)
        text = said.decode(errors="replace")
        if size > len(said):
            text += f"\n… and {size - len(said):,} bytes more."
        if child.returncode:
            raise EffectError(f'"{quote(command[0])}" ended with status {child.returncode}: {quote(text)}')
        return text

    return dive


def _talk(child: subprocess.Popen[bytes], asked: bytes, until: float) -> tuple[bytes, int]:
    """Tell the child what is asked; return the first of what it says, and how much that was in all.

    What is left of it when the child has ended is read; what its own children say later is not waited for.
    """
    said, size = b"", 0
    stdin, stdout = child.stdin, child.stdout
    assert stdin is not None and stdout is not None  # noqa: S101, PT018 - both are pipes
    os.set_blocking(stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(stdin, selectors.EVENT_WRITE)
        selector.register(stdout, selectors.EVENT_READ)
        while True:
            has_ended = child.poll() is not None
            if time.monotonic() >= until:
                raise TimeoutError
            ready = {key.fileobj for key, _ in selector.select(0 if has_ended else _LOOK_SECONDS)}
            if stdin in ready:
                asked = _tell(stdin.fileno(), asked)
                if not asked:
                    selector.unregister(stdin)
                    stdin.close()
            if stdout in ready:
                more = os.read(stdout.fileno(), _PIPE_BYTES)
                size += len(more)
                said += more[: MAX_DIVE_BYTES - len(said)]
                if not more and has_ended:
                    return said, size
                if not more:
                    selector.unregister(stdout)
            elif has_ended:
                return said, size


def _tell(descriptor: int, text: bytes) -> bytes:
    """Write what fits; return the rest, nothing where nobody listens."""
    try:
        return text[os.write(descriptor, text) :]
    except BlockingIOError:
        return text
    except BrokenPipeError:
        return b""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child with all that it started, and let its pipes go."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
