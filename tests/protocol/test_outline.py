"""The blocks of a document are those that a parser of Markdown finds, and its lines are all of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assent.protocol.outline import BlockKind, parse_outline
from tests.effort import MUCH, effort
from tests.protocol.documents import documents
from tests.protocol.strategies import modest

__all__: list[str] = []

READER = MarkdownIt("commonmark", {"html": True})
NAMES = {
    "heading_open": BlockKind.HEADING,
    "hr": BlockKind.RULE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.HTML,
    "blockquote_open": BlockKind.NESTED,
}


def judged(text: str) -> list[tuple[BlockKind, int, int]]:
    """Return the blocks but paragraphs, as a parser of Markdown finds them: kind, first line, level of a heading."""
    found = []
    for token in READER.parse(text):
        if token.map and token.level == 0 and token.type in NAMES:
            level = int(token.tag[1]) if token.type == "heading_open" else 0
            found.append((NAMES[token.type], token.map[0], level))
        elif token.map and token.level == 1 and token.type == "list_item_open":
            found.append((BlockKind.NESTED, token.map[0], 0))
    return found


@modest
@given(documents)
def test_blocks_of_any_document_are_those_of_a_markdown_parser(text: str) -> None:
    """The two were written apart, from the same rules."""
    body = f"first\n\n{text}"  # so that it has no front matter, which the parser does not know
    blocks = [block for block in parse_outline(body).blocks if block.kind is not BlockKind.PARAGRAPH]
    assert [(block.kind, block.start, block.level) for block in blocks] == judged(body)


@given(st.text())
def test_lines_of_any_text_are_all_of_it(text: str) -> None:
    """Nothing is lost or mended on the way."""
    outline = parse_outline(text)
    assert "".join(outline.lines) == text
    places = [place for block in outline.blocks for place in (block.start, block.stop)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A\n## B ##\n### C #c\n", [(1, "A"), (2, "B"), (3, "C #c")]),
        ("A\nb\n---\nC\n===\n", [(2, "A b"), (1, "C")]),
        ("#no\n####### no\n    # no\n\\# no\n", []),
        ("```\n# no\n```\n# Yes\n", [(1, "Yes")]),
        ("~~~~\n# no\n~~~\n# no\n", []),
        ("<!--\n# no\n-->\n# Yes\n", [(1, "Yes")]),
        ("<div>\n# no\n\n# Yes\n", [(1, "Yes")]),
        ("<pre>\n\n# no\n</pre>\n# Yes\n", [(1, "Yes")]),
        ("- # no\n  # no\n# Yes\n", [(1, "Yes")]),
        ("> # no\n# Yes\n", [(1, "Yes")]),
        ("- ```\n  # no\n# Yes\n", [(1, "Yes")]),
        ("- a\nlazy\n---\n# Yes\n", [(1, "Yes")]),
        ("---\n# no\n---\n# Yes\n", [(1, "Yes")]),
        ("---\n# no\n...\n# Yes\n", [(1, "Yes")]),
        ("+++\n# no\n+++\n# Yes\n", [(1, "Yes")]),
        ("---\n\n# Yes\n\n---\n", [(1, "Yes")]),
        ("---\n# Yes\n", [(1, "Yes")]),
        ("[a]: /b\n---\n# Yes\n", [(1, "Yes")]),
        ("\t# no\n \t# no\n   # Yes\n", [(1, "Yes")]),
    ],
)
def test_headings_are_those_of_the_document_alone(text: str, headings: list[tuple[int, str]]) -> None:
    """Not those in code, comments, lists, quotes or front matter."""
    found = [block for block in parse_outline(text).blocks if block.kind is BlockKind.HEADING]
    assert [(block.level, block.text) for block in found] == headings


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("a\n", ""),
        ("````py\n```\n\n", "````"),
        ("~~~\n", "~~~"),
        ("- ```\n", ""),
        ("<!-- a\n\nb\n", "-->"),
        ("<SCRIPT>\n", "</script>"),
        ("<?php\n", "?>"),
        ("<!A\n", ">"),
        ("<![CDATA[\n", "]]>"),
        ("<div>\n", ""),
    ],
)
def test_what_is_still_open_at_the_end_is_told(text: str, closing: str) -> None:
    """Whatever is put behind it would be a part of it."""
    assert parse_outline(text).closing == closing
    assert parse_outline(f"{text}\n{closing}\n").closing == ""


@pytest.mark.parametrize(
    ("piece", "ending"),
    [
        *(
            ("- ", "a\n"),
            ("> ", "\n"),
            ("`", ""),
            ("<a ", ""),
            (" b", ">"),
            ("[", ""),
            ("#", ""),
            (" ", "#"),
            ("- \n", ""),
        ),
        *(
            ("* ", ""),
            ("<!--\n", ""),
            ("a\n", "===\n"),
            ("[a]: /b\n", "---\n"),
            ("\n- a", ""),
            ("\t", "a"),
            ("-\n\n", ""),
        ),
    ],
)
def test_hostile_document_takes_no_longer_than_its_size(piece: str, ending: str) -> None:
    """Tens of thousands of signs of anything are read in far less than the minutes that a quadratic step would take."""
    text = piece * (20_000 // len(piece)) + ending
    with effort() as spent:
        assert parse_outline(f"<a{text}{text}\n").blocks
        assert parse_outline(text + "\n" * 20_000 + text).blocks
    assert spent.loops < MUCH


@pytest.mark.parametrize(
    "text",
    [
        *(
            "-\n\n  # a\n",
            "- b\n-\n\n  # a\n",
            "-      code\n  # a\n",
            "-      code\n # a\n",
            "a\n2. # b\n",
            "a\n1. b\n",
        ),
        *(
            "a\n*\n# b\n",
            "a\n<b>\nc\n===\n",
            "> a\n\nb\n---\n",
            "> ```\n\n# b\n",
            "-\n\n\n   # a\n",
            "a\n    b\n---\n",
        ),
    ],
)
def test_rare_block_is_that_of_a_markdown_parser(text: str) -> None:
    """Empty entries, code in lists, and what may not interrupt a paragraph."""
    blocks = [block for block in parse_outline(text).blocks if block.kind is not BlockKind.PARAGRAPH]
    assert [(block.kind, block.start, block.level) for block in blocks] == judged(text)
