"""Every module of the package is reached from something that users start or import.

The twins plant small packages, so a reader that went blind would not stay green.
"""

from pathlib import Path

import pytest

from tools.reach import ENTRIES, PACKAGE, find_used, is_outside, reach, read_graph

__all__: list[str] = []

ROOT = Path(__file__).parents[2]


def plant(folder: Path, files: dict[str, str]) -> Path:
    """Lay out a package named assent with these files."""
    top = folder / "assent"
    for place, source in {"__init__.py": "", **files}.items():
        path = top / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return top


def test_no_module_is_dead() -> None:
    """What no entry point leads to helps nobody: connect it or delete it."""
    graph = read_graph(PACKAGE)
    assert set(ENTRIES) <= graph.keys()
    assert sorted(graph.keys() - reach(graph)) == []


@pytest.mark.parametrize(
    ("source", "is_reached"),
    [
        ("from assent.attic import box", True),
        ("from assent.attic.box import Box", True),
        ("import assent.attic.box", True),
        ("from .attic import box", True),
        ("def late():\n    from assent.attic.box import Box", True),
        ("HOMES = {'assent.attic.box': ('Box',)}", True),
        ("'''Says assent.attic.box in passing.'''", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from assent.attic.box import Box", False),
    ],
    ids=["from", "name", "import", "relative", "late", "by-name", "in-prose", "types-only"],
)
def test_planted_module_is_reached_by_what_runs(tmp_path: Path, source: str, *, is_reached: bool) -> None:
    """Twin: a module that only the type checker or a sentence names is dead."""
    top = plant(tmp_path, {"__init__.py": source, "attic/__init__.py": "", "attic/box.py": ""})
    assert ("assent.attic.box" in reach(read_graph(top), ["assent"])) is is_reached


def test_commands_are_reached_by_their_table(tmp_path: Path) -> None:
    """A command is loaded by the name that the table gives it; a file beside it is no command."""
    top = plant(
        tmp_path,
        {
            "cli/__init__.py": "from assent.cli import table",
            "cli/table.py": "COMMANDS = {'ask': Entry('asking')}",
            "cli/asking.py": "from assent import hub",
            "cli/aside.py": "",
            "hub.py": "",
        },
    )
    found = reach(read_graph(top), ["assent.cli"])
    assert found == {"assent", "assent.cli", "assent.cli.table", "assent.cli.asking", "assent.hub"}


def test_test_file_uses_what_its_helpers_use() -> None:
    """Through helpers and through `conftest.py`; and it is outside if one of them comes in as users do."""
    pure, command = ROOT / "tests/protocol/test_gate.py", ROOT / "tests/cli/test_ask.py"
    assert "assent.protocol.gate" in find_used(pure)
    assert "assent.cli.exit" in find_used(command)
    assert (is_outside(pure), is_outside(command)) == (False, True)
