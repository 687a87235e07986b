"""The glossary's words are words of the project."""

import re

from tools.page import ROOT, pages

__all__: list[str] = []

GLOSSARY = (ROOT / "GLOSSARY.md").read_text()
BOLD = re.compile(r"\*\*([^*]+)\*\*")


def texts() -> str:
    """Return all source and all pages but the glossary, in lower case."""
    sources = [path.read_text() for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".sql"}]
    others = [page.text for page in pages() if page.name not in {"GLOSSARY.md", "CHANGELOG.md"}]
    return "\n".join(sources + others).lower()


def unused(words: list[str], text: str) -> list[str]:
    """List the words that a text does not hold, as a word or as a part of a name."""
    shapes = {word: "[ _]?".join(map(re.escape, word.lower().split())) for word in words}
    return [word for word, shape in shapes.items() if not _has(text, shape)]


def _has(text: str, shape: str) -> bool:
    # What comes before is looked at last: a pattern that begins with its word is found many times faster.
    found = re.finditer(rf"{shape}s?(?![a-z])", text)
    return any(not "a" <= text[each.start() - 1 : each.start()] <= "z" for each in found)


def test_every_word_of_the_glossary_is_used() -> None:
    """In the code or on a page; a word that nobody uses is dropped."""
    words = BOLD.findall(GLOSSARY)
    assert len(words) > 30
    assert unused(words, texts()) == []


def test_word_that_nobody_uses_is_reported() -> None:
    """Twin of the test above."""
    assert unused(["ask", "flow kind", "gizmo"], "asks of a flowkind") == ["gizmo"]


def test_word_is_explained_once() -> None:
    """One meaning each."""
    words = [word.lower() for word in BOLD.findall(GLOSSARY)]
    assert sorted(words) == sorted(set(words))
