"""The rooms lean on each other only as drawn, and nothing loads late in secret.

The first test reads the package itself. The twins plant a fault in a small tree and see it reported, so a
reader that went blind would not stay green.
"""

from pathlib import Path

import pytest

from tests.house.arrows import cycles, hidden_imports, read_package, wrong_arrows

__all__: list[str] = []

PACKAGE = Path(__file__).parents[2] / "src" / "assent"


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Lay out a package named assent with these files."""
    top = folder / "assent"
    for place, source in files.items():
        path = top / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return top


def test_package_imports_follow_the_drawing() -> None:
    """Rooms know only the rooms below them, no two know each other, and only commands and public names load late."""
    modules = read_package(PACKAGE)
    assert {"protocol", "engine"} <= {module.room for module in modules}, "nothing was read"
    assert any(module.leans_on for module in modules), "nothing was read"
    assert wrong_arrows(modules) == []
    assert cycles(modules) == []
    assert hidden_imports(modules) == []


@pytest.mark.parametrize(
    "source",
    [
        "import assent.hub.handle",
        "from assent.hub import handle",
        "from assent import hub",
        "from ..hub import handle",
        "from .. import hub",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from assent.hub import handle",
        "import importlib\nHUB = importlib.import_module('assent.hub')",
    ],
    ids=["import", "from", "from-top", "relative", "relative-top", "types-only", "by-name"],
)
def test_planted_wrong_arrow_is_reported_however_it_is_written(tmp_path: Path, source: str) -> None:
    """Twin: the engine decides and must not know who makes it move."""
    top = plant(tmp_path, {"engine/ask.py": source, "hub/handle.py": ""})
    found = wrong_arrows(read_package(top))
    assert [complaint.partition(" may not import assent.hub")[0] for complaint in found] == [
        f"engine/ask.py:{source.count(chr(10)) + 1}:"
    ]


def test_planted_import_of_the_top_is_reported(tmp_path: Path) -> None:
    """Twin: the top gathers every room, so a room that imports it knows them all."""
    top = plant(tmp_path, {"__init__.py": "", "client/drive.py": "from assent import connect"})
    assert wrong_arrows(read_package(top)) == ["client/drive.py:1: may not import assent.connect"]


def test_planted_unknown_room_is_reported(tmp_path: Path) -> None:
    """Twin: a new room needs its place in the drawing first."""
    top = plant(tmp_path, {"attic/box.py": "from assent.protocol import ask", "protocol/ask.py": ""})
    assert wrong_arrows(read_package(top)) == ["attic/box.py: no such room"]


def test_drawn_arrows_are_accepted(tmp_path: Path) -> None:
    """Twin of the twins: what the drawing has is not reported."""
    top = plant(
        tmp_path,
        {
            "__init__.py": "def __getattr__(name):\n    from assent.client import connect\n",
            "__main__.py": "from assent.cli import main",
            "testing.py": "from assent.hub import clock",
            "hub/handle.py": "from assent.engine import ask\nfrom . import clock\nfrom .clock import now",
            "hub/clock.py": "import time",
            "engine/ask.py": "from assent.protocol.prompt import Prompt",
            "protocol/prompt.py": "",
            "client/__init__.py": "from assent.hub.handle import handle",
            "cli/__init__.py": "import assent\ndef main():\n    from assent.client import connect\n",
        },
    )
    modules = read_package(top)
    assert (wrong_arrows(modules), hidden_imports(modules), cycles(modules)) == ([], [], [])


def test_planted_hidden_import_is_reported(tmp_path: Path) -> None:
    """Twin: an import in a method or a lambda is as hidden as one in a function."""
    top = plant(
        tmp_path,
        {
            "hub/handle.py": "class A:\n    async def f(self):\n        if self:\n            import json\n",
            "hub/late.py": "late = lambda: __import__('json')\n",
        },
    )
    assert hidden_imports(read_package(top)) == [
        "hub/handle.py:4: import inside a function",
        "hub/late.py:1: import inside a function",
    ]


def test_planted_cycle_of_three_rooms_is_reported(tmp_path: Path) -> None:
    """Twin: the cycle is found although no two rooms import each other directly."""
    top = plant(
        tmp_path,
        {
            "engine/a.py": "from assent.storage import b",
            "storage/b.py": "from assent.hub import c",
            "hub/c.py": "from assent.engine import a",
            "cli/d.py": "from assent.hub import c",
        },
    )
    assert cycles(read_package(top)) == ["engine", "hub", "storage"]
