"""Untrusted text in Markdown hides nothing, calls nobody and does not run on. A parser of Markdown is the judge."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assent.protocol.markdown import code, cut, fence, neutralise

__all__: list[str] = []

READER = MarkdownIt("commonmark", {"html": True}).enable("table")
MENTION = re.compile(r"(?:^|[^A-Za-z0-9])@[A-Za-z0-9]")
"""As a site finds mentions in the rendered text: at the edge of a word, where only ASCII letters are of words."""
PIECES = st.sampled_from(
    [
        *("`", "``", "```", "~~~", "\\", "\n", "\n\n", "    ", "   ", "- ", "> ", "|", "'", "a", "<", "@"),
        *("<!--", "-->", "<img src=x>", "<details>", "&lt;", "[a]: /b", "[^1]: x", "| a | b |\n|---|---|\n"),
        *("@ana", "&#64;ana", "_a_@ana", "é@ana", "@org/team", "\\@ana"),
        *("![", "[", "](", "](https://evil.example)", ")", "```suggestion\n", "~~~Mermaid\n"),
    ]
)
HOSTILE = st.lists(PIECES, max_size=14).map("".join)


def flat(text: str) -> list[Token]:
    """Return all that a text is rendered from."""
    tokens = READER.parse(text)
    return [inner for token in tokens for inner in [token, *(token.children or [])]]


@given(st.one_of(HOSTILE, st.text(max_size=60)))
def test_hostile_text_becomes_no_html_and_calls_nobody(text: str) -> None:
    """Whatever an agent writes."""
    tokens = flat(neutralise(text))
    assert not [token.content for token in tokens if token.type in ("html_block", "html_inline")]
    assert not [token.content for token in tokens if token.type == "text" and MENTION.search(token.content)]


@given(
    st.lists(st.sampled_from(["@ana", "@org/team", "`x`", "`", " ", "a", "é", "@", ".", "/"])).map("".join)
)
def test_mention_reads_as_it_was_written(text: str) -> None:
    """It calls nobody, and not a letter of it is another one: an agent's `@scope/package` is what would be installed."""
    tokens = [token for token in flat(neutralise(f"x{text}x")) if token.type in ("text", "code_inline")]
    assert not [token.content for token in tokens if token.type == "text" and MENTION.search(token.content)]
    read, written = "".join(token.content for token in tokens), f"x{text}x"
    for sign in "` ":  # what is plainly code is drawn as code
        read, written = read.replace(sign, ""), written.replace(sign, "")
    assert read == written


@given(HOSTILE)
def test_hostile_text_links_nowhere_unseen_fetches_nothing_and_offers_nothing(text: str) -> None:
    """A picture is a request, a link may lie about where it leads, and some blocks are drawn or applied by a click."""
    tokens = flat(neutralise(text))
    assert not [token for token in tokens if token.type in ("image", "link_open")]
    drawn = ("suggestion", "mermaid", "math", "geojson", "topojson", "stl")
    assert not [token.info for token in tokens if token.info.strip().casefold().startswith(drawn)]


@given(HOSTILE)
def test_hostile_text_does_not_run_on_into_what_follows(text: str) -> None:
    """The options of a gate are seen as they are, whatever stands above them."""
    ours = "**Select an action:**\n1. First\n2. Second"
    alone = [(token.type, token.level, token.content) for token in READER.parse(ours)]
    below = [
        (token.type, token.level, token.content) for token in READER.parse(f"{neutralise(text)}\n\n{ours}")
    ]
    assert below[-len(alone) :] == alone


@given(HOSTILE)
def test_hostile_text_defines_nothing_that_is_not_shown(text: str) -> None:
    """A link definition would be read by whoever takes the source, and seen by nobody."""
    environment: dict[str, object] = {}
    READER.parse(neutralise(text), environment)
    assert not environment.get("references")


@given(st.text(max_size=200))
def test_block_of_code_is_ended_by_nothing_in_it(text: str) -> None:
    """A suggestion may hold fences of its own."""
    tokens = READER.parse(f"{fence(text, 'suggestion')}\n\nOURS")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].info == "suggestion"


@given(st.text(alphabet="`a b\n<", min_size=1, max_size=20))
def test_code_in_a_line_is_one_piece(text: str) -> None:
    """Paths and logins stand as they are."""
    tokens = READER.parseInline(f"x {code(text)} y")[0].children or []
    assert [token.type for token in tokens] == ["text", "code_inline", "text"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use `Vec<T>` here.", "Use `Vec<T>` here."),
        ("mail ana@acme.org", "mail ana@acme.org"),
        ("thanks @ana!", "thanks `@ana`!"),
        ("ask @org/team.", "ask `@org/team`."),
        ("`x`@ana", "\\`x\\``@ana`"),
        ("a \\@ana", "a \\\\`@ana`"),
        ("```python\nx = '<b>'  # @ana\n```", "```python\nx = '<b>'  # @ana\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("one ` only <b>", "one \\` only &lt;b>"),
        ("a\u200bb", "a&lt;U+200B>b"),
    ],
)
def test_honest_text_stays_readable(text: str, shown: str) -> None:
    """Code that is plainly code is left alone."""
    assert neutralise(text) == shown


def test_long_text_is_cut_with_a_sentence() -> None:
    """And a block of code that is cut in its middle does not swallow it."""
    assert cut("short", 100) == "short"
    long = cut("````\n" + "x\n" * 500 + "````", 300)
    assert len(long) <= 300
    assert "\n````\n\n**Cut here:** the text has 1,009 characters, and only 300 can be shown." in long
