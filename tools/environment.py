"""Empty environment of its own, for checks that must not see what .venv holds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.boot import find_uv
from tools.setup import ROOT
from tools.setup import run as run_setup

__all__ = ["LOCK", "Environment", "bare_environ"]

LOCK = ROOT / "requirements" / "test.txt"
COMMAND_SECONDS = 900
_OURS = ("ASSENT_", "PYTHON", "COVERAGE", "VIRTUAL_ENV", "PYTEST_")


def bare_environ(**more: str) -> dict[str, str]:
    """Return this process's environment without anything that would let it into another one."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)} | more


class Environment:
    """Virtual environment with nothing in it but what is installed here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self._uv = find_uv()
        run_setup(self._uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))

    def install(self, *wanted: str) -> None:
        """Install with uv's own words for requirements and options."""
        run_setup(self._uv, "pip", "install", "--quiet", "--python", str(self.python), *wanted)

    def run(
        self, *arguments: str, cwd: Path, environ: Mapping[str, str] | None = None, shows: bool = False
    ) -> str:
        """Run a program of this environment and return what it printed.

        Raises:
            subprocess.CalledProcessError: it ended with another status than 0.
        """
        program = self.folder / "bin" / arguments[0]
        done = subprocess.run(
            [program, *arguments[1:]],
            cwd=cwd,
            env=dict(environ or bare_environ()),
            stdin=subprocess.DEVNULL,
            stdout=None if shows else subprocess.PIPE,
            text=True,
            timeout=COMMAND_SECONDS,
            check=True,
        )
        return done.stdout or ""
