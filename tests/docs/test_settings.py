"""Every setting and every named limit has a line on the settings page, with the value that the code has."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from tools.page import ROOT

__all__: list[str] = []

PAGE = (ROOT / "docs" / "reference" / "settings.md").read_text()
SOURCES = sorted((ROOT / "src" / "assent").rglob("*.py"))
VARIABLE = re.compile(r"_?\bASSENT_[A-Z_]+|\b_ASSENT_[A-Z_]+")
LIMIT = re.compile(r"(?:MAX|MOST|LARGEST|LONGEST|SHORTEST|OLDEST)_[A-Z_]+|[A-Z_]+_(?:MILLI)?SECONDS")
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?P<value>[^|]+?) \|", re.MULTILINE)


def variables(source: str) -> set[str]:
    """Return the variables that a file names."""
    return set(VARIABLE.findall(source))


def limits(path: Path) -> Iterator[tuple[str, object]]:
    """Yield the public limits that a module sets, with their values."""
    text = path.read_text()
    if not LIMIT.search(text):
        return
    names = [
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and LIMIT.fullmatch(target.id) and not target.id.startswith("_")
    ]
    if names:
        place = path.relative_to(ROOT / "src").with_suffix("").parts
        module = importlib.import_module(".".join(place))
        yield from ((name, getattr(module, name)) for name in names)


def told(page: str) -> set[tuple[str, str]]:
    """Return the names and values that a page's tables give; two rooms may have a limit of one name each."""
    return {(found["name"], found["value"].replace(",", "")) for found in ROW.finditer(page)}


def spelled(value: object) -> str:
    """Return a value as the page spells it."""
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_every_variable_has_a_line() -> None:
    """A setting that nobody wrote down is a secret."""
    named = set().union(*(variables(path.read_text()) for path in SOURCES))
    assert {"ASSENT_STORE", "ASSENT_PRINCIPAL"} <= named
    assert [name for name in sorted(named) if f"| `{name}` |" not in PAGE] == []
    assert [name for name in AGENT_MARKS if f"`{name}`" not in PAGE] == []


def test_every_limit_has_a_line_with_its_value() -> None:
    """All limits have a name and a documented default."""
    found = {(name, spelled(value)) for path in SOURCES for name, value in limits(path)}
    names = {name for name, _ in found}
    assert {"MAX_TITLE", "CLAIM_SECONDS"} <= names
    lines = {(name, value) for name, value in told(PAGE) if name in names}
    assert lines == found


def test_page_names_no_limit_that_is_gone() -> None:
    """A line stays only as long as its limit."""
    known = {name for path in SOURCES for name, _ in limits(path)}
    assert [name for name, _ in told(PAGE) if LIMIT.fullmatch(name) and name not in known] == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('environ.get("ASSENT_COLOUR")', {"ASSENT_COLOUR"}),
        ("# _ASSENT_COMPLETE", {"_ASSENT_COMPLETE"}),
        ("assent_store = 1", set()),
    ],
)
def test_variable_in_a_source_is_seen(source: str, names: set[str]) -> None:
    """Twin of the tests above."""
    assert variables(source) == names


def test_line_with_another_value_is_seen() -> None:
    """Twin of the tests above."""
    assert told("| `MAX_TITLE` | 2,000 | of what |\n") == {("MAX_TITLE", "2000")}
    assert spelled((3, 51, 3)) == "3.51.3"
    assert spelled(5.0) == "5"
