"""The names that users import: all there, and free until they are used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import assent
from tests.patience import PATIENCE

__all__: list[str] = []

PROMISED = {
    "ApprovalDiffersError",
    "AssentError",
    "AsyncClient",
    "Client",
    "ConflictError",
    "Declined",
    "Expired",
    "Field",
    "ForbiddenError",
    "KeyReusedError",
    "NoAnswer",
    "Notification",
    "NotificationService",
    "Option",
    "Policy",
    "Prompt",
    "Receipt",
    "StillOpen",
    "Superseded",
    "Task",
    "UnrecognisedError",
    "Withdrawn",
    "connect",
    "connect_async",
}
"""Renaming one of these breaks somebody's program."""


def test_promised_names_are_public() -> None:
    """Names may be added, never taken away."""
    assert set(assent.__all__) >= PROMISED
    assert len(set(assent.__all__)) == len(assent.__all__)
    assert set(dir(assent)) >= PROMISED


@pytest.mark.parametrize("name", assent.__all__)
def test_public_name_leads_to_something_that_says_what_it_is(name: str) -> None:
    """Every one of them loads, under its own name and with a docstring."""
    found = getattr(assent, name)
    if name != "__version__":
        assert found.__name__ == name
        assert found.__doc__


def test_unknown_name_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        assent.nonsense  # noqa: B018 - looking is the test


def test_type_checkers_see_the_same_names() -> None:
    """The names for type checkers stand in a block of their own, which nothing runs: compare the two lists."""
    tree = ast.parse(Path(assent.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.If)
        for line in node.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert imported == set(assent.__all__) - {"__version__"}


def loaded_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    script = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return set(json.loads(done.stdout))


def test_import_loads_nothing_heavy() -> None:
    """`import assent` costs almost nothing; what a program uses is loaded with its first use."""
    loaded = loaded_after("import assent")
    assert not loaded & {"apsw", "asyncio", "click", "msgspec", "sqlite3", "typing_extensions"}
    assert {name for name in loaded if name.startswith("assent.")} == set()


def test_use_loads_what_it_needs_and_not_the_rest() -> None:
    """Twin: a used name is loaded; a client needs neither the command line nor any extra."""
    loaded = loaded_after("import assent\nassent.connect")
    assert loaded >= {"apsw", "msgspec"}
    assert not loaded & {"click", "starlette", "textual", "psycopg", "mcp", "pydantic"}
