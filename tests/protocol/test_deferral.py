"""A deferred finding gets one entry in its document, in the right place, and nothing else there changes."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assent.protocol.deferral import MAX_DOCUMENT_BYTES, SECTION, append_deferral, parse_deferrals
from assent.protocol.deferral_entry import is_same, key_of, render_entry
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.finding import Finding
from assent.protocol.outline import parse_outline
from tests.protocol.documents import DAY, documents, findings, hostile_texts, new_finding
from tests.protocol.strategies import modest

__all__: list[str] = []

READER = MarkdownIt("commonmark", {"html": True})
HEADING = f"### From {DAY} review"
ENTRY = """\
- **Two tiers are never told apart** — Scope (P1, coherence, scope-guardian, anchor 75)

  Readers cannot know which tier they are in.

  <!-- section="scope" title="two tiers are never told apart" evidence="There are \\"two tiers\\" of use." -->
"""
PART = f"{HEADING}\n\n{ENTRY}"
WHOLE = f"{SECTION}\n\n{PART}"
OTHER = '- **Other** — Scope (P2, anchor 100)\n\n  Text.\n\n  <!-- section="scope" title="other" evidence="" -->\n'


def appended(document: str, finding: Finding | None = None, date: str = DAY) -> str:
    """Return a document with an entry in it."""
    return append_deferral(document.encode(), finding or new_finding(), date).content.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", WHOLE),
        ("\n\n", f"{WHOLE}\n\n"),
        ("# Plan\n\nText.\n", f"# Plan\n\nText.\n\n{WHOLE}"),
        ("# Plan", f"# Plan\n\n{WHOLE}"),
        ("# Plan\n\nText.\n\n\n \t\n", f"# Plan\n\nText.\n\n{WHOLE}\n\n \t\n"),
        ("---\ntitle: Plan\n---\n", f"---\ntitle: Plan\n---\n\n{WHOLE}"),
        ("---\ntitle: Plan\n---\n\n", f"---\ntitle: Plan\n---\n\n{WHOLE}\n"),
        ("- a\n  - b\n", f"- a\n  - b\n\n{WHOLE}"),
        ("## deferred / open questions\n", f"## deferred / open questions\n\n{WHOLE}"),
        ("### Deferred / Open Questions\n", f"### Deferred / Open Questions\n\n{WHOLE}"),
        (f"```\n{SECTION}\n```\n", f"```\n{SECTION}\n```\n\n{WHOLE}"),
        (f"<!--\n{SECTION}\n-->\ntext\n", f"<!--\n{SECTION}\n-->\ntext\n\n{WHOLE}"),
        (f"a\n\n    {SECTION}\n", f"a\n\n    {SECTION}\n\n{WHOLE}"),
        (f"---\nx: |\n  y\n{SECTION}\n---\n", f"---\nx: |\n  y\n{SECTION}\n---\n\n{WHOLE}"),
    ],
)
def test_document_without_the_section_gets_it_at_its_end(before: str, after: str) -> None:
    """Absent: created at the end, in a document with only front matter after it (W-U10)."""
    assert appended(before) == after


@pytest.mark.parametrize(
    "footer",
    [
        *("---\n", "***\n", "_ _ _\n\n", "---\n\n© us\n", "---\na\nb\n\nc\nd\ne", "[a]: /b\n[c]: /d 'e'\n"),
        *(
            "[^1]: A note.\n",
            "[^1]: A note,\nmore\n\n    and more\n",
            "<!-- vim: tw=80 -->\n",
            "<!--\nmany\nlines\n-->\n",
        ),
        *("---\n\n[Home](/)\n\n<!-- end -->\n\n[a]: /b\n", "<!-- a -->\n---\nshort\n"),
    ],
)
def test_new_section_stands_above_a_footer(footer: str) -> None:
    """A trailing rule, with the short text below it; definitions and comments. Later entries join it there."""
    assert appended(f"# Plan\n\nText.\n\n{footer}") == f"# Plan\n\nText.\n\n{WHOLE}\n{footer}"
    second = new_finding(title="Other", evidence=())
    twice = appended(appended(f"# Plan\n\nText.\n\n{footer}"), second)
    assert twice.startswith(f"# Plan\n\nText.\n\n{WHOLE}\n- **Other** —")
    assert twice.endswith(f" -->\n\n{footer}")


@pytest.mark.parametrize(
    "ending",
    [
        *(
            "---\n\n## Next\n\nText.\n",
            "---\na\nb\nc\nd\ne\nf\n",
            "---\n\n- a list\n",
            "[a]: is no definition, really\n",
        ),
        *("<!-- a --> text\n", "Text\n---\n"),
    ],
)
def test_what_only_looks_like_a_footer_keeps_its_place(ending: str) -> None:
    """A rule in the middle of a document, an underlined heading, a long text."""
    assert appended(f"# Plan\n\n{ending}") == f"# Plan\n\n{ending}\n{WHOLE}"


@pytest.mark.parametrize(
    "alone", ["---\n\nshort\n", "<!-- lint off -->\n", "[a]: /b\n", "---\nx: 1\n---\n<!-- a -->\n"]
)
def test_what_has_nothing_above_it_is_no_footer(alone: str) -> None:
    """The section does not push a document's beginning down."""
    assert appended(alone) == f"{alone}\n{WHOLE}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{SECTION}\n", f"{SECTION}\n\n{PART}"),
        (f"{SECTION}\n## Next\n", f"{SECTION}\n\n{PART}\n## Next\n"),
        (
            f"# A\n{SECTION}\n\nText.\n\n\n# B\n{SECTION}\n",
            f"# A\n{SECTION}\n\nText.\n\n{PART}\n\n# B\n{SECTION}\n",
        ),
        (f"{SECTION} ##  \n", f"{SECTION} ##  \n\n{PART}"),
        ("Deferred / Open Questions\n---\n\na\n", f"Deferred / Open Questions\n---\n\na\n\n{PART}"),
        (f"{SECTION}\n\n{HEADING}\n", f"{SECTION}\n\n{PART}"),
        (f"{SECTION}\n\n{HEADING}\n\n{OTHER}", f"{SECTION}\n\n{HEADING}\n\n{OTHER}\n{ENTRY}"),
        (
            f"{SECTION}\n{HEADING}\n{OTHER}#### More\nx\n### From 2026-01-01 review\n{OTHER}",
            f"{SECTION}\n{HEADING}\n{OTHER}#### More\nx\n\n{ENTRY}\n### From 2026-01-01 review\n{OTHER}",
        ),
        (
            f"{SECTION}\n\n### From 2027-01-01 review\n\n{OTHER}\n## Next\n",
            f"{SECTION}\n\n### From 2027-01-01 review\n\n{OTHER}\n{PART}\n## Next\n",
        ),
        (f"{HEADING}\n\n{OTHER}\n{SECTION}\n", f"{HEADING}\n\n{OTHER}\n{SECTION}\n\n{PART}"),
        (f"{SECTION}\n\n---\n\n© us\n", f"{SECTION}\n\n{PART}\n---\n\n© us\n"),
    ],
)
def test_document_with_the_section_gets_the_entry_there(before: str, after: str) -> None:
    """Present anywhere: inside it there, under its day, never a second section (W-U10)."""
    assert appended(before) == after


@pytest.mark.parametrize(
    ("before", "closing"),
    [
        ("# Plan\n```py\ncode\n\n", "```"),
        ("# Plan\n<!-- todo\n", "-->"),
        (f"{SECTION}\n~~~~\n{SECTION}", "~~~~"),
    ],
)
def test_code_or_comment_that_never_ends_is_ended_first(before: str, closing: str) -> None:
    """Otherwise the entry would be a part of it, and the next one would not find it."""
    after = appended(before)
    assert after.startswith(before + ("" if before.endswith("\n") else "\n") + f"{closing}\n\n")
    assert parse_deferrals(after.encode(), DAY) == (key_of(new_finding()),)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("bom", ["\ufeff", ""])
def test_line_ends_and_byte_order_mark_are_kept(end: str, bom: str) -> None:
    """New lines end as the document's do."""
    before = f"{bom}# Plan\n\n\tText. \n{SECTION}\n\n## Next\n".replace("\n", end)
    after = f"{bom}# Plan\n\n\tText. \n{SECTION}\n\n{PART}\n## Next\n".replace("\n", end)
    assert appended(before) == after
    assert appended(bom) == bom + WHOLE


def test_entry_says_where_it_stands() -> None:
    """The report repeats it."""
    found = append_deferral(b"", new_finding(), DAY)
    assert found.location == '"## Deferred / Open Questions" > "### From 2026-11-16 review"'
    assert found.is_new


def test_entry_keeps_all_of_the_reason_and_leaves_out_fix_and_evidence() -> None:
    """Several paragraphs, a list and code stay in the bullet, word for word."""
    why = "One, 2 < 3 & AT&T, a_b --> c.\n\n- first\n  second\n\n1. `x<y>`\n\n> said\n\n```py\nif a < b:\n\n\treturn\n```\nEnd."
    after = appended("", new_finding(why_it_matters=why, evidence=("Quote one.", "Quote two."), reviewers=()))
    body = after.split("\n\n", 3)[3].rsplit("\n\n", 1)[0]
    assert re.sub("(?m)^  ", "", body) == why.replace("\t", "    ")
    assert "(P1, anchor 75)" in after
    assert "Name the tiers" not in after
    assert after.count("Quote") == 1


@pytest.mark.parametrize(
    ("first", "second", "is_new"),
    [
        ({}, {}, False),
        ({}, {"why_it_matters": "Other.", "severity": "P3", "reviewers": ()}, False),
        ({}, {"title": "TWO tiers: are never told  apart!"}, False),
        ({}, {"evidence": ('there ARE  "TWO tiers" of use.',)}, False),
        ({}, {"evidence": ("Another quote.",)}, True),
        ({}, {"evidence": ()}, False),
        ({"evidence": ()}, {}, False),
        ({"evidence": ()}, {"evidence": ()}, False),
        ({"evidence": ()}, {"evidence": (), "section": "Goals"}, True),
        ({}, {"section": "Goals"}, True),
        ({}, {"title": "Three tiers"}, True),
        ({"title": "<!--"}, {"title": "<!--"}, False),
        ({"title": "a\u200bb"}, {"title": "a\u200bb"}, False),
        ({"evidence": ("x -\\-> y",)}, {"evidence": ("x -\\-> y",)}, False),
    ],
)
def test_second_entry_is_written_only_for_another_key(
    first: dict[str, object], second: dict[str, object], is_new: bool
) -> None:
    """Section, title and evidence in any case; section and title where either has no evidence (W-U10, W-X23)."""
    document = append_deferral(b"# Plan\n", new_finding(**first), DAY).content
    again = append_deferral(document, new_finding(**second), DAY)
    assert again.is_new is is_new
    assert (again.content == document) is not is_new


@pytest.mark.parametrize(
    ("entry", "is_new"),
    [
        ("- **Two tiers are never told apart**\n", False),
        ("* **Two tiers are _never_ told apart!** — Elsewhere (P0)\n\n  <!-- gone -->\n", False),
        ("- Two tiers are never told apart\n", False),
        (
            '- **x**\n\n<!-- dedup-key: section="Scope" title="Two tiers are never told apart" evidence="" -->\n',
            False,
        ),
        ('- **x**\n  <!-- section="goals" title="two tiers are never told apart" evidence="" -->\n', True),
        ("- **Two tiers**\n", True),
        ("Two tiers are never told apart\n", True),
        ("- **Other**\n  - **Two tiers are never told apart**\n", True),
    ],
)
def test_entry_without_a_readable_key_counts_by_its_title(entry: str, is_new: bool) -> None:
    """People may have written or changed it."""
    document = f"{SECTION}\n\n{HEADING}\n\n{entry}".encode()
    assert append_deferral(document, new_finding(), DAY).is_new is is_new


def test_title_with_signs_is_known_again_without_its_key() -> None:
    """What was escaped for the document is read back."""
    finding = new_finding(title="The `a*b` of <b> &amp; *c* \\ [x](y) `")
    without = re.sub("  <!-- .* -->\n", "", appended("", finding))
    assert "<!--" not in without
    assert not append_deferral(without.encode(), finding, DAY).is_new


def test_other_days_are_not_compared() -> None:
    """A finding that is deferred again on another day is news."""
    document = append_deferral(b"", new_finding(), DAY).content
    again = append_deferral(document, new_finding(), "2026-11-17")
    assert again.is_new
    assert again.content.decode() == f"{WHOLE}\n### From 2026-11-17 review\n\n{ENTRY}"


@pytest.mark.parametrize(
    ("document", "date"),
    [
        (b"\xff\xfe", DAY),
        (b"a\xc3", DAY),
        (b"", "2026-13-01"),
        (b"", "20261116"),
        (b"", "today"),
        (b"", "2026-11-16\n"),
    ],
)
def test_what_is_no_text_or_no_date_is_refused(document: bytes, date: str) -> None:
    """In one sentence."""
    with pytest.raises(BadRequestError) as refused:
        append_deferral(document, new_finding(), date)
    assert refused.value.message.endswith(".")


def test_document_that_would_grow_too_large_is_refused() -> None:
    """Before anything is written."""
    with pytest.raises(TooLargeError):
        append_deferral(b"a" * MAX_DOCUMENT_BYTES, new_finding(), DAY)
    with pytest.raises(TooLargeError):
        append_deferral(b"a" * (MAX_DOCUMENT_BYTES + 1), new_finding(), DAY)


def compared(before: str, after: str) -> tuple[list[str], range]:
    """Return the old lines, of which the last one may have got its end, and which of the new lines were added."""
    old, new = list(parse_outline(before).lines), parse_outline(after).lines
    if old and not old[-1].endswith(("\r", "\n")) and new[-1] != old[-1]:
        old[-1] += new[len(old) - 1][len(old[-1]) :]
    pairs = enumerate(zip(old, new, strict=False))
    at = next((place for place, (one, other) in pairs if one != other), len(old))
    return old, range(at, at + len(new) - len(old))


@modest
@given(documents, findings, st.sampled_from(["\n", "\r\n"]))
def test_old_lines_of_any_document_are_there_unchanged_and_in_order(
    text: str, finding: Finding, end: str
) -> None:
    """The new lines stand together in one place."""
    before = text.replace("\r\n", "\n").replace("\n", end)
    after = appended(before, finding)
    old, grown = compared(before, after)
    new = parse_outline(after).lines
    assert [*new[: grown.start], *new[grown.stop :]] == old
    assert len(grown) >= len(render_entry(finding)) or before == after


@modest
@given(documents, findings)
def test_appending_twice_is_appending_once(text: str, finding: Finding) -> None:
    """A step that was done and then forgotten is done again without harm."""
    once = append_deferral(text.encode(errors="replace"), finding, DAY)
    again = append_deferral(once.content, finding, DAY)
    assert not again.is_new
    assert (again.content, again.location) == (once.content, once.location)


@modest
@given(documents, st.lists(findings, max_size=4))
def test_every_entry_is_read_back_whatever_stood_there(text: str, several: list[Finding]) -> None:
    """Exactly the entries that were made, each by its key, in either order."""
    for chosen in (several, several[::-1]):
        content = text.encode()
        expected = list(parse_deferrals(content, DAY))
        for finding in chosen:
            key = key_of(finding)
            is_there = any(is_same(found, key) for found in expected)
            found = append_deferral(content, finding, DAY)
            assert found.is_new is not is_there
            content = found.content
            expected += [] if is_there else [key]
        assert sorted(map(repr, parse_deferrals(content, DAY))) == sorted(map(repr, expected))


def seen(text: str, is_old: Callable[[int], bool]) -> list[tuple[object, ...]]:
    """Return what the lines of a document that are old are rendered from."""

    def told(token: Token) -> tuple[object, ...]:
        children = tuple(told(child) for child in token.children or ())
        # Code that a list or quote never ends takes the blank line before the entry in; nobody sees it.
        return (token.type, token.tag, token.level, token.content.rstrip("\n"), repr(token.attrs), children)

    # Lists are left out: an entry may join one, and what is in a list is looked at all the same.
    return [
        told(token)
        for token in READER.parse(text)
        if token.map and is_old(token.map[0]) and token.type not in ("bullet_list_open", "ordered_list_open")
    ]


@modest
@given(documents, findings)
def test_hostile_text_changes_nothing_of_what_the_document_is(text: str, finding: Finding) -> None:
    """No heading, comment, code, list or link of it is another one afterwards. A parser of Markdown is the judge."""
    before = f"# Plan\n\n{text}"
    closing = parse_outline(before).closing
    before += f"\n{closing}\n" if closing else ""
    after = appended(before, finding)
    _, grown = compared(before, after)
    assert seen(before, lambda _: True) == seen(after, lambda line: line not in grown)


@modest
@given(findings)
def test_hostile_text_stays_in_its_bullet_and_shows_all_of_it(finding: Finding) -> None:
    """One section, one day, one bullet, one comment; no HTML, no link, no picture, nothing that cannot be seen."""
    after = appended("# Plan\n", finding) + "\n## Next\n"
    tokens = READER.parse(after)
    top = [token.type for token in tokens if token.level == 0 and token.nesting == 1]
    assert top == [*["heading_open"] * 3, "bullet_list_open", "heading_open"]
    assert [token.type for token in tokens if token.level == 1].count("list_item_open") == 1
    assert [token.type for token in tokens].count("heading_open") == 4
    comments = [token.content for token in tokens if token.type == "html_block"]
    assert len(comments) == after.count("<!--") == 1
    children = [child for token in tokens for child in token.children or ()]
    assert not {"html_inline", "link_open", "image"} & {child.type for child in children}
    assert all(letter.isprintable() or letter in "\n\t" for letter in after)
    assert parse_deferrals(after.encode(), DAY) == (key_of(finding),)


@pytest.mark.parametrize(
    "mark", ["<!--", "-->", "- > ", "`", "[a]: ", "\\", "*", "<", "&a;", "1. ", "* ", "\t", "[", "`<b>"]
)
def test_long_hostile_text_takes_no_longer_than_its_size(mark: str) -> None:
    """Twenty thousand signs of one kind, in every field."""
    text = (mark * 20_000)[:20_000]
    finding = new_finding(title=text, section=text, why_it_matters=text, evidence=(text,), reviewers=(text,))
    begun = time.monotonic()
    assert append_deferral(b"# Plan\n", finding, DAY).is_new
    assert time.monotonic() - begun < 2


def test_entry_for_a_long_list_in_a_large_document_is_soon_there() -> None:
    """Five hundred entries in a document of thousands of lines: far less than a second for one more."""
    parts = "".join(f"## Part {number}\n\nSome text of it.\n\n- one\n- two\n\n" for number in range(300))
    entries = [render_entry(new_finding(title=f"Finding number {number}")) for number in range(500)]
    listed = "\n".join(line for entry in entries for line in [*entry, ""])
    content = f"{parts}{WHOLE}\n{listed}".encode()
    begun = time.monotonic()
    for number in range(500, 510):
        content = append_deferral(content, new_finding(title=f"Finding number {number}"), DAY).content
    assert time.monotonic() - begun < 5
    assert len(parse_deferrals(content, DAY)) == 511


@given(hostile_texts)
def test_line_without_signs_comes_through_unchanged(text: str) -> None:
    """Plain prose is not touched."""
    words = " ".join(re.findall("[a-zé]+", text)) or "words"
    assert f"- **{words}** — {words} (P1, {words}, anchor 75)\n\n  {words}.\n" in appended(
        "", new_finding(title=words, section=words, why_it_matters=f"{words}.", reviewers=(words,))
    )


@pytest.mark.parametrize(
    ("why", "shown"),
    [
        ("## Head\n---\n* * *\n``` x y\n> # a\n===", "\\## Head\n\\---\n* * \\*\n\\``` x y\n> \\# a\n\\==="),
        ("[a]: /x\n- [b `]: c`", "[a]\\: /x\n- [b `]\\: c`"),
        ("See [a]: it is plain.", "See [a]: it is plain."),
        ("`<!-- a -->` <b>", "`< !-- a -->` &lt;b>"),
        ("~~~py\n<!-- a\n\n", "~~~py\n< !-- a\n~~~"),
        ("[t](u) ![i](v) &shy; R&D", "[t]\\(u) ![i]\\(v) &amp;shy; R&D"),
        ("a ``<b>`` c", "a ``&lt;b>`` c"),
        ("\\`<b>`", "\\`&lt;b>`"),
        ("`a|<b>`", "`a|&lt;b>`"),
        ("\n \n  a\n\n ", "  a"),
    ],
)
def test_signs_of_a_hostile_reason_are_shown_as_they_were_written(why: str, shown: str) -> None:
    """Each of these would begin, hide, define or fetch something."""
    lines = render_entry(new_finding(why_it_matters=why))[2:-2]
    assert "\n".join(line.removeprefix("  ") for line in lines) == shown


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a\\", "a\\\\"),
        ("a`b", "a\\`b"),
        ("**a*", "\\*\\*a\\*"),
        ("`*`\\*", "`*`\\\\\\*"),
        ("a\n\u200b", "a &lt;U+200B>"),
    ],
)
def test_title_with_signs_stays_between_its_stars(title: str, shown: str) -> None:
    """The words behind it are not made bold by it."""
    assert render_entry(new_finding(title=title))[0].startswith(f"- **{shown}** — Scope (P1")


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        (
            "- **x**\n  <!-- section='' -->\n"
            + "".join(f'  <!-- section="s" title="{t}" evidence="" -->\n' for t in "ab"),
            "b",
        ),
        ("- **hid&lt;U+200B>den**\n", "hid\u200bden"),
    ],
)
def test_entry_is_known_by_its_last_key_or_by_what_its_title_shows(entry: str, title: str) -> None:
    """Whatever people put between."""
    document = f"{SECTION}\n\n{HEADING}\n\n{entry}".encode()
    assert not append_deferral(document, new_finding(title=title, section="s"), DAY).is_new


def test_finding_without_a_title_is_no_entry_of_somebody_else() -> None:
    """Nothing is equal to nothing only where there is a key."""
    document = f"{SECTION}\n\n{HEADING}\n\n-\n".encode()
    assert append_deferral(document, new_finding(title=" "), DAY).is_new


def test_section_in_the_middle_leaves_an_open_end_alone() -> None:
    """Only what the entry would be swallowed by is ended."""
    assert appended(f"{SECTION}\n\n## Next\n\n```\ncode") == f"{SECTION}\n\n{PART}\n## Next\n\n```\ncode"


def test_key_at_the_end_of_a_document_is_no_footer() -> None:
    """An entry is not parted from its key, also where that is not indented."""
    before = f'{SECTION}\n\n{HEADING}\n\n- **x**\n\n<!-- section="a" title="b" evidence="" -->\n'
    assert appended(before) == f"{before}\n{ENTRY}"


def test_document_with_mixed_line_ends_gets_the_more_frequent_one() -> None:
    """One stray line does not decide."""
    assert appended("a\r\nb\nc\nd\n") == f"a\r\nb\nc\nd\n\n{WHOLE}"
    assert appended("a\r\nb\r\nc\nd\r\n").endswith("-->\r\n")
