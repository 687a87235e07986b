"""Tests of the pure rooms are told from those that lean on more."""

from pathlib import Path

import pytest

from tools.pure_rooms import alone, pure_tests
from tools.setup import ROOT

__all__: list[str] = []


def test_pure_rooms_have_tests_of_their_own() -> None:
    """Guards the stage of CI against running nothing."""
    pure, others = pure_tests(ROOT)
    assert len(pure) > len(others) > 0
    assert {path.relative_to(ROOT).parts[1] for path in pure} == {"protocol", "engine", "flows"}


@pytest.mark.parametrize(
    ("source", "is_pure"),
    [
        ("import json\nimport msgspec\nfrom assent.engine.ask import Ask", True),
        ("from tests.sample import ONE", True),
        ("import click", False),
        ("import assent", False),
        ("from assent import connect", False),
        ("def late():\n    from assent.hub import clock", False),
        ("from tests.leaning import ONE", False),
        ("from tests.gone import ONE", False),
    ],
)
def test_file_is_pure_if_all_that_it_loads_is(tmp_path: Path, source: str, *, is_pure: bool) -> None:
    """Also through another test file, and inside a function."""
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "sample.py").write_text("from tests.sample import TWO\nimport hypothesis\n")
    (folder / "leaning.py").write_text("import httpx2\n")
    path = folder / "test_it.py"
    path.write_text(source)
    assert alone(tmp_path, path, set()) is is_pure
