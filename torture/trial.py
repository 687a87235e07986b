"""What a trial is, what it counts, and how its verdict reads."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

__all__ = ["Plan", "Tally", "Trial", "Twin", "Verdict", "is_plain"]

_KEPT = 5
"""Of each kind of fault so many are described; all are counted."""


def is_plain(sentence: str) -> bool:
    """Say whether this is a sentence for people: one line, no stack trace, no name of a Python class."""
    is_one = (
        0 < len(sentence) <= 400 and sentence.isprintable() and sentence.rstrip('"')[-1:] in (".", "!", "?")
    )
    return is_one and not re.search(r"Traceback|apsw|msgspec|\w+(Error|Exception)\b|<\w+ object", sentence)


class Plan(msgspec.Struct, frozen=True):
    """How one run of a trial is to be done."""

    scale: float = 1.0
    seed: int = 7
    twin: str = ""
    """The guard that is missing in this run; empty for the real thing."""
    is_quiet: bool = False

    def count(self, full: int, least: int = 1) -> int:
        """Return the share of a full count that this run does."""
        return max(least, round(full * self.scale))

    def chance(self) -> random.Random:
        """Return this run's own source of chance."""
        return random.Random(self.seed)

    def progress(self, sentence: str) -> None:
        """Say on standard error how far it is."""
        if not self.is_quiet:
            print(f"    {sentence}", file=sys.stderr, flush=True)


class Verdict(msgspec.Struct, frozen=True):
    """What a run found."""

    counts: dict[str, int | float | str]
    faults: dict[str, int]
    """Per kind of broken promise, how often; all zero when the trial is green."""
    details: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    """What should have happened in the run and did not: such a run proves nothing."""

    @property
    def is_green(self) -> bool:
        """Nothing broke, and the run was not empty."""
        return not self.empty and not any(self.faults.values())

    def render(self) -> str:
        """Return the counts and the faults in one line."""
        done = [
            f"{number:,} {name}" if isinstance(number, int) else f"{name} {number}"
            for name, number in self.counts.items()
        ]
        broken = [f"{number:,} {kind}" for kind, number in self.faults.items()]
        lacks = [f"NOT ENOUGH {name}" for name in self.empty]
        return "; ".join(filter(None, (", ".join(done), ", ".join(broken), ", ".join(lacks))))


class Tally:
    """Counts what happens during a run."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self.counts: Counter[str] = Counter()
        self.notes: dict[str, float | str] = {}
        self._faults: dict[str, int] = dict.fromkeys(kinds, 0)
        self._details: list[str] = []
        self._least: dict[str, int] = {}

    def add(self, name: str, number: int = 1) -> None:
        """Count something that happened."""
        self.counts[name] += number

    def fault(self, kind: str, detail: object = "") -> None:
        """Count a broken promise."""
        self._faults[kind] += 1
        if self._faults[kind] <= _KEPT:
            self._details.append(f"{kind}: {detail}")

    def check(self, is_kept: bool, kind: str, detail: object = "") -> None:
        """Count a broken promise unless it was kept."""
        if not is_kept:
            self.fault(kind, detail)

    def require(self, name: str, least: int = 1) -> None:
        """Say how often something must have happened, or the run proves nothing."""
        self._least[name] = least

    def verdict(self) -> Verdict:
        """Return what was found."""
        empty = [
            f"{name}: {self.counts[name]:,} of {least:,}"
            for name, least in self._least.items()
            if self.counts[name] < least
        ]
        counts: dict[str, int | float | str] = {**self.counts, **self.notes}
        return Verdict(counts, dict(self._faults), tuple(self._details), tuple(empty))


class Twin(msgspec.Struct, frozen=True):
    """The same trial with one guard taken away."""

    name: str
    lacks: str
    """What is missing in it."""
    shows: str
    """The kind of fault by which the trial must notice."""
    scale: float
    """How much of the full count is enough to notice."""


class Trial(msgspec.Struct, frozen=True):
    """One promise under one kind of attack."""

    name: str
    claim: str
    run: Callable[[Plan], Verdict]
    twins: tuple[Twin, ...]
    share: float = 0.03
    """How much of the full count the ordinary tests do; 0 where another test makes the same claim."""
