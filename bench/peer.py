"""Starting the processes of a measurement and talking with them; every wait is bounded."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assent.client.identity import AGENT_MARKS
from tools.warm import spawn

__all__ = ["Peer", "clean_environment"]

_PATIENCE_SECONDS = 120.0
ROOT = Path(__file__).parents[1]


def clean_environment(runtime: Path) -> dict[str, str]:
    """Return an environment for any side: no agent's mark, no settings, bytecode kept, notes and sockets apart."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in AGENT_MARKS and not name.startswith(("ASSENT_", "PYTHON"))
    }
    return {
        **kept,
        "XDG_RUNTIME_DIR": str(runtime),
        "XDG_STATE_HOME": str(runtime),
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }


class Peer:
    """One process of one side."""

    def __init__(self, side: str, role: str, store: Path, runtime: Path, *, is_warm: bool = False) -> None:
        environment = clean_environment(runtime)
        if is_warm:
            # A fork has the paths of its Python, which are ours.
            del environment["PYTHONPATH"]
            environment |= {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
        start: Callable[..., subprocess.Popen[bytes]] = spawn if is_warm else subprocess.Popen
        self._process = start(
            [sys.executable, "-m", "bench.child", side, role, str(store)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._heard = b""
        self.hear()

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call and return the reply."""
        self.send(name, **arguments)
        return self.hear()

    def send(self, name: str, **arguments: Any) -> None:
        """Call, and hear the reply later."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"call": name, **arguments}).encode() + b"\n")
        self._process.stdin.flush()

    def hear(self, seconds: float = _PATIENCE_SECONDS) -> dict[str, Any]:
        """Return the next line.

        Raises:
            TimeoutError: it did not come in time.
            EOFError: the process has ended.
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        until = time.monotonic() + seconds
        while b"\n" not in self._heard:
            if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError(f"Nothing was heard for {seconds:.0f} seconds.")
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                raise EOFError("A process of the measurement ended by itself.")
            self._heard += piece
        line, self._heard = self._heard.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def kill(self) -> None:
        """End it the hard way."""
        self._process.kill()
        self._process.wait(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(5)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.kill()
        self._process.stdout.close()
