"""A figure: what was measured on our side and on the floor, repetition by repetition, beside its goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import median

__all__ = ["Figure", "Reading", "percentile", "render_figure", "render_number"]


class Reading(Enum):
    """How a figure is read."""

    TIMES = "times the floor"
    SHARE = "per cent of the floor"
    VALUE = "the value itself; the floor is for orientation"
    WORST = "the largest value of all repetitions; the floor is for orientation"


@dataclass(frozen=True)
class Figure:
    """One line of the report. `ours` and `floor` hold a value a repetition, in `unit`."""

    part: str
    name: str
    unit: str
    reading: Reading
    ours: Sequence[float]
    floor: Sequence[float] = field(default=())
    goal: float | None = None
    """A ratio, a percentage or a value, as `reading` says; None where the figure is for orientation."""
    floor_name: str = "bare"
    note: str = ""

    @property
    def values(self) -> list[float]:
        """What is compared with the goal, a repetition each."""
        if self.reading in (Reading.VALUE, Reading.WORST):
            return list(self.ours)
        factor = 100.0 if self.reading is Reading.SHARE else 1.0
        return [factor * mine / bare for mine, bare in zip(self.ours, self.floor, strict=True)]

    @property
    def value(self) -> float:
        """The one number that is compared with the goal."""
        return max(self.values) if self.reading is Reading.WORST else median(self.values)

    @property
    def verdict(self) -> str:
        """Say whether the goal was reached, or by how much it was missed."""
        if self.goal is None:
            return ""
        gap = self.goal - self.value if self.reading is Reading.SHARE else self.value - self.goal
        # What is printed is what is judged: a gap that rounds away is none.
        if gap <= 0 or _spell(self, self.value) == _spell(self, self.goal):
            return "reached"
        return f"missed by {_spell(self, gap, is_gap=True)}"

    def as_json(self) -> dict[str, object]:
        """Return everything that was measured, for a file."""
        return {
            "part": self.part,
            "name": self.name,
            "unit": self.unit,
            "reading": self.reading.name.lower(),
            "ours": list(self.ours),
            "floor": list(self.floor),
            "floor_name": self.floor_name,
            "value": self.value,
            "lowest": min(self.values),
            "highest": max(self.values),
            "goal": self.goal,
            "verdict": self.verdict,
            "note": self.note,
        }


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def render_number(number: float) -> str:
    """Write a number with about three digits that mean something."""
    if abs(number) >= 1_000:
        return f"{number:,.0f}"
    if abs(number) >= 100:
        return f"{number:.0f}"
    return (
        f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}" if abs(number) >= 0.1 else f"{number:.3f}"
    )


def render_figure(figure: Figure) -> str:
    """Return a figure as one line: ours, the floor, the ratio with its range, the goal, the verdict."""
    ours = f"{render_number(median(figure.ours))} {figure.unit}"
    floor = f"{figure.floor_name} {render_number(median(figure.floor))}" if figure.floor else ""
    lowest, highest = _digits(figure, min(figure.values)), _digits(figure, max(figure.values))
    spread = f"[{lowest}-{highest}]" if len(figure.values) > 1 else ""
    # A value that is judged as it is has been printed already.
    compared = spread if figure.reading is Reading.VALUE else f"{_spell(figure, figure.value)} {spread}"
    word = "at least" if figure.reading is Reading.SHARE else "at most"
    goal = f"goal {word} {_spell(figure, figure.goal)}" if figure.goal is not None else ""
    line = f"  {figure.name:<40} {ours:>12}  {floor:<16} {compared:<22} {goal:<23} {figure.verdict}".rstrip()
    return f"{line}\n      {figure.note}" if figure.note else line


def _spell(figure: Figure, number: float, *, is_gap: bool = False) -> str:
    unit = {Reading.TIMES: "x", Reading.SHARE: " points" if is_gap else " %"}.get(figure.reading)
    return _digits(figure, number) + (f" {figure.unit}" if unit is None else unit)


def _digits(figure: Figure, number: float) -> str:
    if figure.reading is Reading.TIMES:
        return f"{number:.2f}"
    return f"{number:.0f}" if figure.reading is Reading.SHARE else render_number(number)
