"""A reviewer's report: read where it is issues-first and whole, and otherwise never taken for one (C40, C-X5)."""

import contextlib
import json
import re

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assent.protocol.error import BadRequestError
from assent.protocol.report import MAX_REPORT_BYTES, REPORT_FORMAT, Report, parse_report, render_report
from tests.effort import MUCH, effort
from tests.protocol.strategies import modest
from tests.proves import proves

__all__: list[str] = []

BOTH = Report(("It leaks.", "No tests."), ("Names.",), "Not yet.")
ORDER = "The report is not in the order blocking, non-blocking, summary."
MISSING = "The report has not all of its three parts."
EMPTY = "A part of the report is empty: it should say None."
BEFORE = "The report does not begin with the blocking issues."
CONTRADICTION = "A list of the report says that it has no issue, and yet has an entry."


def refusal(text: str | bytes) -> str:
    """Return why a text is no report."""
    with pytest.raises(BadRequestError) as caught:
        parse_report(text if isinstance(text, bytes) else text.encode())
    return caught.value.message


def as_json(**changes: object) -> str:
    """Return a report as JSON."""
    return json.dumps({"blocking": [], "non_blocking": [], "summary": "Fine.", **changes})


def as_text(blocking: str = "None", others: str = "None", summary: str = "Fine.") -> str:
    """Return a report as text."""
    return f"1. Blocking issues\n{blocking}\n2. Non-blocking issues\n{others}\n3. Summary\n{summary}\n"


@proves("C40")
@pytest.mark.parametrize(
    "text",
    [
        '{"blocking": ["It leaks.", "No tests."], "non_blocking": ["Names."], "summary": "Not yet."}',
        (
            '\n```json\n{"blocking": ["It leaks.", "No tests."],\n'
            '"non_blocking": ["Names."], "summary": "Not yet."}\n```\n'
        ),
        "1. Blocking issues\n- It leaks.\n- No tests.\n2. Non-blocking issues\n- Names.\n3. Summary\nNot yet.",
        (
            "## 1. Blocking issues\n\n* It leaks.\n* No\n  tests.\n\n## 2. Non-blocking issues\n\n* Names.\n\n"
            "## 3. Summary\n\nNot yet.\n"
        ),
        "**1. Must fix**\n1. It leaks.\n2. No tests.\n**2. Should fix**\n1) Names.\n**3. Summary**\nNot yet.",
        (
            "1) **Must-fix (blocking)**:\r\n  1. It leaks.\r\n  2. No tests.\r\n2) **Should-fix**: Names.\r\n"
            "3) **Brief summary**: Not yet.\r\n"
        ),
        "**1. Blocking:**\n• It leaks.\n• No tests.\n**2. Nonblocking:** Names.\n**3. SUMMARY:** Not yet.",
        (
            "  1. Blocking issues:\n  - It leaks.\n  - No tests.\n  2. Non-blocking issues:\n  - Names.\n"
            "  3. Summary: Not yet."
        ),
    ],
)
def test_report_is_read_as_json_or_as_three_parts_in_order(text: str) -> None:
    """Headings plain or Markdown, lists with dashes, stars or numbers."""
    assert parse_report(text.encode()) == BOTH


@proves("C40")
def test_report_is_rendered_issues_first() -> None:
    """Blocking, then non-blocking, then the summary, whatever came first in the JSON."""
    read = parse_report(b'{"summary": "Not yet.", "non_blocking": ["Names."], "blocking": ["It leaks."]}')
    assert render_report(read) == (
        "1. Blocking issues:\n   - It leaks.\n2. Non-blocking issues:\n   - Names.\n3. Summary: Not yet."
    )
    assert render_report(Report((), (), "Fine.")) == (
        "1. Blocking issues:\n   None\n2. Non-blocking issues:\n   None\n3. Summary: Fine."
    )


def test_format_that_reviewers_are_told_is_one_that_is_read() -> None:
    """Both of its examples."""
    lines = REPORT_FORMAT.split("\n")
    assert parse_report(lines[1].encode()) == Report(("...",), ("...",), "...")
    assert parse_report("\n".join(lines[3:-1]).encode()) == Report(
        ("what must be fixed before the work goes on",), ("what should be fixed",), "One to three sentences."
    )


@pytest.mark.parametrize(
    "none",
    ["None", "none.", "- None", "* **None.**", "(none)", "_None found_", "1. Nothing", "No issues.", "NONE!"],
)
def test_list_that_says_none_is_empty(none: str) -> None:
    """In so many words, in either list."""
    assert parse_report(as_text(none, none).encode()) == Report((), (), "Fine.")
    assert parse_report(f"1. Blocking: {none}\n2. Should fix: {none}\n3. Summary: Fine.".encode()) == Report(
        (), (), "Fine."
    )


def test_list_names_its_own_kind_when_it_says_none() -> None:
    """That there is no non-blocking issue says nothing about the blocking ones."""
    assert parse_report(as_text("No blocking issues.", "No non-blocking issues found").encode()) == Report(
        (), (), "Fine."
    )
    assert parse_report(as_text("No non-blocking issues", "No blocking issues").encode()) == Report(
        ("No non-blocking issues",), ("No blocking issues",), "Fine."
    )


@pytest.mark.parametrize(
    "words", ["-", "n/a", "no", "0", "?", "None so far, but I did not look", "nOne of it works"]
)
def test_other_words_are_an_issue(words: str) -> None:
    """What might mean that there is none is not guessed."""
    assert parse_report(as_text(words).encode()).blocking == (words,)


def test_numbered_issues_are_not_taken_for_parts() -> None:
    """Even at the left edge, and with the numbers of the parts."""
    text = as_text("1. It leaks.\n2. Non-blocking calls are missing.\n3. Summary is empty.", "1. Names.")
    assert parse_report(text.encode()) == Report(
        ("It leaks.", "Non-blocking calls are missing.", "Summary is empty."), ("Names.",), "Fine."
    )


@proves("C40")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The report is empty."),
        (" \n\t\u200b", "The report is empty."),
        (b"1. Blocking issues: \xff", "The report is not UTF-8 text."),
        ("LGTM", BEFORE),
        ("None\n" + as_text(), BEFORE),
        ("# Review\n" + as_text(), BEFORE),
        ("Blocking: None\nNon-blocking: None\nSummary: Fine.", BEFORE),
        ("3. Summary\nFine.\n1. Blocking issues\nNone\n2. Non-blocking issues\nNone", ORDER),
        ("1. Non-blocking issues\nNone\n2. Blocking issues\nNone\n3. Summary\nFine.", ORDER),
        ("1. Blocking issues\nNone\n3. Summary\nFine.", ORDER),
        ("1. Blocking issues\nNone\n2. Summary\nFine.", ORDER),
        ("2. Non-blocking issues\nNone\n3. Summary\nFine.", ORDER),
        ("1. Blocking issues\nNone\n1. Non-blocking issues\nNone\n1. Summary\nFine.", ORDER),
        (as_text() + as_text("- It leaks."), ORDER),
        (as_text() + "  1. Blocking issues: It leaks.", ORDER),
        ("1. Blocking issues\nNone", MISSING),
        ("1. Blocking issues\nNone\n2. Non-blocking issues\nNone", MISSING),
        ("1. Blocking issues\nNone\n2. Others\nNone\n3. Summary\nFine.", ORDER),
        (as_text(blocking=""), EMPTY),
        (as_text(others="\u200b"), EMPTY),
        (as_text(summary=" "), "The report has an empty part."),
        (as_text() + "## Blocking issues\n- It leaks.", "The report has a heading that is none of its three parts."),
        (as_text("None\nBut it leaks."), CONTRADICTION),
        (as_text("- None\n- It leaks."), CONTRADICTION),
        (as_text(others="- Names.\n- None"), CONTRADICTION),
        (as_json(blocking=["None"]), CONTRADICTION),
        (as_json(non_blocking=["Names.", "no issues"]), CONTRADICTION),
        (as_json(blocking=[""]), "The report has an empty part."),
        (as_json(summary="\u200b"), "The report has an empty part."),
        (as_json(blocking=None), "Expected array, got null at $.blocking."),
        (as_json(blocking="It leaks."), "Expected array, got str at $.blocking."),
        (as_json(critical=["It leaks."]), "Object contains unknown field critical."),
        ('{"blocking": [], "non_blocking": []}', "Object missing required field summary."),
        (as_text("\n".join(f"- issue {number}" for number in range(1_001))), "A list of the report has more than 1,000 issues."),
        ("x" * (MAX_REPORT_BYTES + 1), "A report has at most 65,536 bytes; this one has 65,537."),
    ],
)  # fmt: skip
def test_text_that_is_not_issues_first_is_no_report(text: str | bytes, message: str) -> None:
    """Out of order, in part, empty, or with something else beside it (C-X5)."""
    assert refusal(text) == message


@pytest.mark.parametrize(
    "text",
    [
        as_json() + as_json(blocking=["It leaks."]),
        "Here it is:\n```json\n" + as_json() + "\n```",
        "```json\n" + as_json() + "\n```\nBut it leaks.",
        "```json\n" + as_json() + "\n```\n```json\n" + as_json(blocking=["It leaks."]) + "\n```",
        "```json\n" + as_text() + "\n```",
        "```json\n\n```",
        "```\n" + as_json() + "\n```",
        "[" + as_json() + "]",
        '{"blocking": [], "blocking": ["It leaks."], "non_blocking": [], "summary": "Fine."}',
        '{"blocking": ["\\ud800"], "non_blocking": [], "summary": "Fine."}',
        "9" * 5_000 + ". Summary",
    ],
)
def test_json_with_anything_around_it_is_no_report(text: str) -> None:
    """One object, alone or in one fence."""
    assert refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        as_text("x\n" * 30_000),
        as_text("y" * 30_000 + "\nz" * 15_000),
        "```json\n" + " \n```" * 10_000,
        " " * 60_000 + "x",
        "#" * 60_000,
        "1. " + "*" * 60_000,
        "1. " + "blocking issues " * 4_000,
    ],
)
def test_hostile_text_is_settled_at_once(text: str) -> None:
    """No text makes reading take long."""
    with effort() as spent, contextlib.suppress(BadRequestError):
        parse_report(text.encode())
    assert spent.loops < MUCH


# Properties

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30) | st.sampled_from(
    ["None", "2. Non-blocking issues:", "- x", "**", "## 3. Summary", "x\n1. Blocking issues: y", ": z", "3. Summary"]
)  # fmt: skip
ISSUES = st.lists(WORDS, max_size=4).map(tuple)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report that a reviewer may print as JSON."""
    report = Report(draw(ISSUES), draw(ISSUES), draw(WORDS))
    try:
        return parse_report(msgspec.json.encode(report))
    except BadRequestError:
        assume(False)
        raise


def one_line(report: Report) -> Report:
    """Return a report as a list of lines can hold it."""
    return Report(
        tuple(" ".join(issue.split()) for issue in report.blocking),
        tuple(" ".join(issue.split()) for issue in report.non_blocking),
        " ".join(report.summary.split()),
    )


@modest
@given(reports())
def test_rendered_report_is_read_back_as_it_was(report: Report) -> None:
    """Whatever its words are, and whatever they try to be."""
    assert parse_report(render_report(report).encode()) == one_line(report)


SAYS_NONE = re.compile(r"\W*(none|none found|nothing|no (blocking |must[- ]fix )?issues( found)?)\W*")


@modest
@given(
    st.lists(WORDS | st.sampled_from(["None.", "- none", "Nothing!", "no issues"]), max_size=3).map(
        "\n".join
    ),
    WORDS,
    WORDS,
)
def test_no_blocking_issue_is_read_only_from_a_part_that_says_so(
    blocking: str, others: str, summary: str
) -> None:
    """Whatever stands in the parts: the first one is taken for empty only if it says none and nothing else."""
    try:
        report = parse_report(as_text(blocking, others, summary).encode())
    except BadRequestError:
        return
    assert report.blocking or SAYS_NONE.fullmatch(re.sub(r"^\s*\d+[.)]", "", blocking.casefold()))


@modest
@given(st.text(max_size=200) | st.lists(WORDS, max_size=8).map("\n".join))
def test_arbitrary_text_is_no_report(text: str) -> None:
    """Nothing but the three parts, or the object, is one."""
    assume(not text.lstrip().startswith(("1. Blocking issues", "{")))
    assert refusal(text.encode(errors="replace"))


@proves("C40")
@modest
@given(reports(), st.permutations([0, 1, 2]), st.integers(0, 2))
def test_report_with_parts_swapped_or_dropped_is_no_report(
    report: Report, order: list[int], dropped: int
) -> None:
    """However the numbers stand."""
    text = render_report(report)
    second, third = text.index("\n2. Non-blocking issues:\n"), text.rindex("\n3. Summary:")
    parts = [text[:second], text[second + 1 : third], text[third + 1 :]]
    assert refusal("\n".join(part for number, part in enumerate(parts) if number != dropped))
    if order != [0, 1, 2]:
        refusal("\n".join(parts[number] for number in order))
        bare = [part.partition(" ")[2] for part in parts]
        refusal("\n".join(f"{place}. {bare[number]}" for place, number in enumerate(order, start=1)))
