"""What was deferred in a document against those who change it: whether it is gone is seen, and seen in time."""

import time

import pytest
from hypothesis import given

from assent.protocol.deferral import SECTION, append_deferral, hide_deferrals, loses_deferrals
from assent.protocol.edit import apply_edit
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Edit, Finding
from tests.protocol.documents import DAY, documents, findings, new_finding
from tests.protocol.strategies import modest

__all__: list[str] = []

BEFORE = append_deferral(b"# Plan\n\nText.\n", new_finding(), DAY).content


@modest
@given(documents, findings)
def test_entry_that_was_just_appended_is_missed_as_soon_as_it_is_gone(
    document: str, finding: Finding
) -> None:
    """Whatever the document and the finding."""
    appended = append_deferral(document.encode(), finding, DAY)
    assert not loses_deferrals(appended.content, appended.content)
    if appended.is_new:
        assert loses_deferrals(appended.content, document.encode())
        assert loses_deferrals(appended.content, b"# Rewritten\n")


@pytest.mark.parametrize(
    ("after", "loses"),
    [
        (BEFORE.replace(b"Text.", b"Other text."), False),
        (BEFORE.replace(b"\n", b"\r\n"), False),
        (BEFORE + b"\n## Next\n\nMore.\n", False),
        (append_deferral(BEFORE, new_finding(title="Another"), DAY).content, False),
        (BEFORE.replace(SECTION.encode(), b"## Closed"), True),
        (BEFORE.replace(b"<!-- ", b"<!--  "), True),
        (BEFORE.replace(SECTION.encode(), b"```\n" + SECTION.encode()), True),
        (BEFORE.replace(SECTION.encode(), b"<!--\n" + SECTION.encode()), True),
    ],
    ids=[
        "other text",
        "other line ends",
        "more below",
        "another entry",
        "no heading",
        "no key",
        "in code",
        "in a comment",
    ],
)
def test_change_of_a_document_is_known_to_lose_what_was_deferred(after: bytes, loses: bool) -> None:
    """Lines may come, and the text around may change; no line of the section may go, or be no section any more."""
    assert loses_deferrals(BEFORE, after) is loses


def test_document_without_deferrals_has_none_to_lose() -> None:
    """Whatever an applier makes of it."""
    assert not loses_deferrals(b"# Plan\n", b"# Other\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_edit_that_reaches_into_the_heading_of_the_deferrals_is_refused(end: str) -> None:
    """The shortcut for what stands above them takes a passage whole."""
    text = f"# Plan{end}{end}Text.{end}{end}{SECTION}{end}{end}Entry.{end}"
    for before in ("##", "## Def", f"Text.{end}{end}#", "Entry."):
        with pytest.raises(BadRequestError, match="is not in the document"):
            apply_edit(text.encode(), Edit(before, "x"))
    assert apply_edit(text.encode(), Edit("Text.", "New.")) == text.replace("Text.", "New.").encode()


def test_edit_of_a_document_with_many_entries_does_not_read_them_all() -> None:
    """A pass of many fixes would take minutes."""
    document = b"# Plan\n\n" + b"".join(b"word%d stands.\n" % number for number in range(300))
    entries = "".join(f"- **T{number}** — Scope (P2)\n\n  Text.\n\n" for number in range(2_000))
    document += f"\n{SECTION}\n\n### From {DAY} review\n\n{entries}".encode()
    begun = time.monotonic()
    for number in range(300):
        document = apply_edit(document, Edit(f"word{number} ", f"WORD{number} "))
    assert time.monotonic() - begun < 2
    assert document.count(b"WORD") == 300
    assert len(hide_deferrals(document)) == len(document)
