"""One run of the benchmark: its scale, its folder on the disk, and the processes that it starts."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from bench import bare
from bench.peer import Peer
from bench.scale import Scale

__all__ = ["Session"]

S = TypeVar("S")


class Session:
    """Everything that a measurement needs; the folder is emptied before and removed afterwards."""

    def __init__(self, scale: Scale, folder: Path) -> None:
        self.scale = scale
        self.folder = folder
        self.part = ""
        self._began = time.monotonic()
        # A socket's path ends at 107 bytes, so it cannot lie under any project's folder.
        self.runtime = Path(tempfile.mkdtemp(prefix="assent-bench-"))

    def __enter__(self) -> Self:
        self._clear()
        self.folder.mkdir(parents=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()
        shutil.rmtree(self.runtime, ignore_errors=True)

    def _clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def begin(self, part: str) -> None:
        """Name the measurement that runs; the files of the last one are gone."""
        self.part = part
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def store(self, side: str) -> Path:
        """Return the path of a side's file in this measurement, made ready for it."""
        path = self.folder / f"{self.part}-{side}.db"
        if side.startswith("bare") and not path.exists():
            bare.create(path)
        return path

    def start(self, stack: ExitStack, side: str, role: str = "agent", store: Path | None = None) -> Peer:
        """Start a process of a side; the stack ends it."""
        return stack.enter_context(
            Peer(side, role, store or self.store(side), self.runtime, is_warm=self.scale.is_warm)
        )

    def repetitions(self, count: int | None = None) -> Iterator[int]:
        """Count the repetitions, or so many, and tell on standard error how far we are."""
        count = count or self.scale.repetitions
        for number in range(count):
            self.tell(f"repetition {number + 1} of {count}")
            yield number

    def turns(self, number: int, sides: Sequence[S]) -> list[S]:
        """Return the sides in the order of this repetition: each goes first in turn."""
        first = number % len(sides)
        return [*sides[first:], *sides[:first]]

    def tell(self, what: str) -> None:
        """Say on standard error what is running."""
        print(f"[{time.monotonic() - self._began:5.0f} s] {self.part}: {what}", file=sys.stderr, flush=True)
