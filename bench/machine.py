"""What the figures were measured on: a ratio travels, an absolute number does not."""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path

import apsw

import assent
from assent.storage.sqlite.place import file_system_of

__all__ = ["MEMORY_FILE_SYSTEMS", "Neighbours", "describe", "render_machine"]

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs"})
"""On these a flush costs nothing, so a ratio to a flushed commit means nothing."""


def describe(folder: Path) -> dict[str, str]:
    """Return the machine's parts that decide the figures."""
    return {
        "assent": assent.__version__,
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()}",
        "file_system": file_system_of(folder) or "unknown",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "apsw": apsw.apsw_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def render_machine(parts: dict[str, str]) -> str:
    """Return the head of the report."""
    where = f"{parts['system']}, data on {parts['file_system']}, load {parts['load']}"
    lines = [
        f"Assent {parts['assent']} beside the raw floor of the same run",
        f"{parts['cores']} cores ({parts['processor']}), {where}",
        f"{parts['python']}, apsw {parts['apsw']}, SQLite {parts['sqlite']}; WAL, synchronous=FULL on both sides",
    ]
    if parts["file_system"] in MEMORY_FILE_SYSTEMS:
        lines.append("The folder lies in memory: flushes cost nothing here, so do not believe these ratios.")
    return "\n".join(lines)


class Neighbours:
    """How much of the processors other programs use, from now on. Whoever computes more suffers more from them."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._busy = self._read()

    def share(self) -> float | None:
        """Return the others' part of all the processors' time, 0 to 1, or None where the system does not tell.

        The processes of the measurements count as ours once they have ended.
        """
        busy = self._read()
        if busy is None or self._busy is None:
            return None
        passed = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return max(0.0, (busy - self._busy) / passed)

    def _read(self) -> float | None:
        try:
            fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
        except OSError:
            return None
        user, nice, system, _idle, _waiting, *others = map(int, fields[:8])
        ticks = user + nice + system + sum(others)
        own = os.times()
        return ticks / os.sysconf("SC_CLK_TCK") - sum(own[:4])


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()
