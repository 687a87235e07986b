"""SQL lives in files: every query has a name and a sentence, and every name that is used is there."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from assent.storage.queries import load_queries
from assent.storage.sqlite import store as store_module

__all__: list[str] = []

STORAGE = Path(store_module.__file__).parents[1]
STORES = ["sqlite", "postgres"]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> str:
    """Give the name of a store."""
    name: str = request.param
    return name


@pytest.fixture
def queries(store: str) -> dict[str, str]:
    """Give a store's queries."""
    return load_queries(f"assent.storage.{store}", "queries.sql")


def test_query_is_one_line_without_comment_or_semicolon(queries: dict[str, str]) -> None:
    """Comments of the file are for readers, not for the database."""
    assert queries
    for query in queries.values():
        assert query
        assert "--" not in query
        assert "\n" not in query
        assert not query.endswith(";")


def test_query_has_a_sentence(store: str, queries: dict[str, str]) -> None:
    """The file says what each query is for."""
    text = files(f"assent.storage.{store}").joinpath("queries.sql").read_text(encoding="utf-8")
    sentences = re.findall(r"^-- \w+: (.+)", text, re.MULTILINE)
    assert len(sentences) == len(queries)
    assert all(sentence[0].isupper() for sentence in sentences)


def test_queries_in_the_code_and_in_the_file_are_the_same(store: str, queries: dict[str, str]) -> None:
    """No name that is used is missing, and no query is left over."""
    paths = [*(STORAGE / "sql").glob("*.py"), *(STORAGE / store).glob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    used = {name for name in queries if re.search(rf'"{name}"', code)}
    assert used == queries.keys()
    asked = set(re.findall(r'(?:_queries\[|_query\(|_rows\(|_one\(|_asks\(|_session\.\w+\()"(\w+)"', code))
    assert asked <= queries.keys()
