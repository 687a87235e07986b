"""Reads the pages: their fenced blocks, their links, their words in code.

A block says in its first line what it is. The first word is the language; what follows says what to do with it, and
readers of the rendered page do not see it:

    ```python run              executed; `answers="A|B"` lets a person answer what it asks, one after the other
    ```python file=agent.py    put into the page's folder, for blocks that follow
    ```text output             what the block before it printed
    ```console play            typed into a terminal and compared; see tools/play.py
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Block", "Page", "pages"]

ROOT = Path(__file__).resolve().parent.parent

_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<words>[^`\n]*)\n(?P<text>.*?)^(?P=ticks) *$", re.MULTILINE | re.DOTALL
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    words: Mapping[str, str]
    """What follows the language: `file=x.py` is {"file": "x.py"}, a bare word is {"run": ""}."""
    text: str
    line: int
    """The number of its first line in the file."""
    start: int
    end: int
    """Where its text stands in the page."""


class Page:
    """One Markdown file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """Its place in the project."""
        return self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.name

    def blocks(self) -> list[Block]:
        """Return the fenced blocks in order."""
        return [_block(found, self.text) for found in _FENCE.finditer(self.text)]

    def prose(self) -> str:
        """Return the text without the blocks, line for line."""
        return _FENCE.sub(lambda found: "\n" * found[0].count("\n"), self.text)

    def snippets(self) -> Iterator[str]:
        """Yield everything that is set as code: the lines of all blocks, and what stands between backticks."""
        for block in self.blocks():
            yield from block.text.splitlines()
        yield from _INLINE.findall(self.prose())

    def links(self) -> Iterator[tuple[int, str]]:
        """Yield the line and target of every link."""
        prose = self.prose()
        for found in _LINK.finditer(prose):
            yield prose.count("\n", 0, found.start()) + 1, found["target"]

    def anchors(self) -> set[str]:
        """Return the names that a link can point at: the headings, as code hosts spell them."""
        return {_anchor(found["title"]) for found in _HEADING.finditer(self.prose())}


def _block(found: re.Match[str], text: str) -> Block:
    language, *words = shlex.split(found["words"]) or [""]
    told = {name: value for name, _, value in (word.partition("=") for word in words)}
    line = text.count("\n", 0, found.start("text")) + 1
    return Block(language, told, found["text"], line, found.start("text"), found.end("text"))


def _anchor(title: str) -> str:
    plain = re.sub(r"[`*]|\[|\]\([^)]*\)", "", title).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def pages() -> list[Page]:
    """Return every page of the project: those at the top and those in docs/."""
    return [Page(path) for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))]
