"""Coverage is counted by room, and a room below its floor is named."""

import subprocess
import sys
from pathlib import Path

import pytest
from coverage.exceptions import NoDataError

from tools.coverage_floors import FLOORS
from tools.coverage_table import PACKAGE, Row, faults, measure, proposed

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
_FORKS = """
import os
import room.half
if os.fork() == 0:
    room.half.choose(is_left=False)
    os._exit(0)
os.wait()
"""


def test_every_room_has_a_floor_and_every_floor_a_room() -> None:
    """A new room cannot stay uncounted."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {""}
    assert set(FLOORS) == rooms


def test_room_below_its_floor_and_room_without_one_are_named() -> None:
    """Twin of the table that passes."""
    rooms = {"engine": Row(10, 9, 10, 9), "hub": Row(10, 10)}
    assert faults(rooms, {"engine": 90.0, "hub": 100.0}) == []
    assert faults(rooms, {"engine": 90.1, "storage": 1.0}) == [
        "engine is at 90.00 %, below its 90.1 %",
        "hub has no floor in tools/coverage_floors.py",
        "storage has a floor and no files",
    ]
    assert proposed(rooms) == {"engine": 89.0, "hub": 99.0}


def test_file_that_nothing_loads_counts_and_a_forked_child_is_heard(tmp_path: Path) -> None:
    """The child ends with `os._exit`, and the branch that only it took is counted."""
    package = tmp_path / "src" / "assent"
    (package / "room").mkdir(parents=True)
    (package / "room" / "half.py").write_text(
        "def choose(is_left):\n    if is_left:\n        return 1\n    return 2\n"
    )
    (package / "room" / "never.py").write_text("NEVER = 1\n")
    data = tmp_path / "data" / "data"
    data.parent.mkdir()
    with pytest.raises(NoDataError):
        measure(package, data)
    (tmp_path / "story.py").write_text(_FORKS)
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={ROOT / 'pyproject.toml'}", "-m", "story"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{package}", "COVERAGE_FILE": str(data)},
        check=True,
        timeout=60,
    )
    assert measure(package, data) == {
        "room": Row(statements=5, statements_run=3, branches=2, branches_taken=1)
    }
