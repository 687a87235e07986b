"""What the first page promises, and what it must not."""

import re
import tomllib

import pytest

from tools.page import ROOT, Page, pages

__all__: list[str] = []

README = Page(ROOT / "README.md")
LIMIT = (
    "On a file that the agent's own OS user can write, this stops accidents and makes forgery visible, "
    "not impossible; separation that holds needs a server under another user."
)


@pytest.mark.parametrize("name", ["README.md", "docs/explanation/who-answers.md"])
def test_limit_is_stated_in_full(name: str) -> None:
    """Nobody may think that a file keeps an agent out."""
    assert LIMIT in " ".join(Page(ROOT / name).text.split())


def test_readme_is_the_text_of_the_package() -> None:
    """Whoever looks at the package sees the same page."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["readme"] == README.name


def test_first_screen_shows_two_terminals() -> None:
    """Before the first heading below the title: what it is, and that it is so."""
    first = README.text.partition("\n## ")[0]
    terminals = [block for block in README.blocks() if "play" in block.words and block.end < len(first)]
    assert {block.words.get("terminal", "one") for block in terminals} == {"one", "two"}
    assert len(first.splitlines()) < 60


def test_no_page_promises_a_published_package() -> None:
    """There is none: the clone is the way."""
    promised = re.compile(r"\b(?:pip|pipx|uv|conda|brew) (?:tool )?install\b")
    assert [page.name for page in pages() if promised.search(page.text)] == []
