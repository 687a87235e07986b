"""Coverage by room, as a table; fails where a room is below its floor.

    python -m tools.coverage_table              compare with the floors
    python -m tools.coverage_table --propose    print the table and floors to copy, and fail for nothing

Rule 1: a file that no test loads counts with all of its statements.
Rule 2: a room without a floor fails, so that a new room gets one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage
from coverage.exceptions import NoDataError

from tools.coverage_floors import FLOORS

__all__ = ["Row", "faults", "main", "measure", "print_table", "proposed"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "assent"
DATA = ROOT / ".coverage" / "data"
MARGIN = 1.0
"""Percentage points that a proposed floor lies below what was measured: a race decides which branches run."""


@dataclass
class Row:
    """What was measured in one room."""

    statements: int = 0
    statements_run: int = 0
    branches: int = 0
    branches_taken: int = 0

    @property
    def percent(self) -> float:
        """Statements and branches together, as coverage.py counts."""
        whole = self.statements + self.branches
        return 100.0 * (self.statements_run + self.branches_taken) / whole if whole else 100.0


def measure(package: Path, data: Path) -> dict[str, Row]:
    """Join the data of all processes and count it room by room.

    Raises:
        NoDataError: no process left any data.
    """
    coverage = Coverage(data_file=str(data), config_file=str(ROOT / "pyproject.toml"))
    coverage.combine([str(data.parent)], strict=True, keep=True)
    files = [str(path) for path in sorted(package.rglob("*.py"))]
    coverage.get_data().touch_files(files)
    told = data.parent / "report.json"
    coverage.json_report(morfs=files, outfile=str(told))
    rooms: dict[str, Row] = {}
    for name, report in json.loads(told.read_text())["files"].items():
        place = (Path.cwd() / name).relative_to(package)
        row = rooms.setdefault(place.parts[0] if len(place.parts) > 1 else "", Row())
        numbers = report["summary"]
        row.statements += numbers["num_statements"]
        row.statements_run += numbers["covered_lines"]
        row.branches += numbers["num_branches"]
        row.branches_taken += numbers["covered_branches"]
    return rooms


def faults(rooms: dict[str, Row], floors: dict[str, float]) -> list[str]:
    """List the rooms that are below their floor or have none, and the floors without a room."""
    found = []
    for room in sorted(rooms.keys() | floors.keys()):
        if room not in floors:
            found.append(f"{called(room)} has no floor in tools/coverage_floors.py")
        elif room not in rooms:
            found.append(f"{called(room)} has a floor and no files")
        elif rooms[room].percent < floors[room]:
            found.append(f"{called(room)} is at {rooms[room].percent:.2f} %, below its {floors[room]:.1f} %")
    return found


def proposed(rooms: dict[str, Row]) -> dict[str, float]:
    """Return floors a little below what was measured."""
    return {room: max(0.0, math.floor(row.percent - MARGIN)) for room, row in sorted(rooms.items())}


def print_table(rooms: dict[str, Row], floors: dict[str, float]) -> None:
    """Print a line for each room."""
    print(f"{'room':<12}{'statements':>12}{'branches':>10}{'percent':>9}{'floor':>7}")
    for room, row in sorted(rooms.items()):
        floor = f"{floors[room]:.1f}" if room in floors else "none"
        print(f"{called(room):<12}{row.statements:>12}{row.branches:>10}{row.percent:>9.2f}{floor:>7}")


def called(room: str) -> str:
    return room or "(top)"


def main(argv: list[str] | None = None) -> int:
    """Print the table, and say which rooms are below their floor."""
    parser = argparse.ArgumentParser(prog="tools.coverage_table", description="Print coverage by room.")
    parser.add_argument(
        "--propose", action="store_true", help="print floors to copy, and compare with nothing"
    )
    chosen = parser.parse_args(argv)
    try:
        rooms = measure(PACKAGE, Path(os.environ.get("COVERAGE_FILE", DATA)))
    except NoDataError:
        print("coverage: no data; `make test COVERAGE=1` measures.", file=sys.stderr)
        return 1
    print_table(rooms, FLOORS)
    if chosen.propose:
        for room, floor in proposed(rooms).items():
            print(f'    "{room}": {floor:.1f},')
        return 0
    complaints = faults(rooms, FLOORS)
    for complaint in complaints:
        print(f"coverage: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
