"""What a session shows: one line a thing, nothing hidden, and numbers with their nouns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.session.finding import Held, begin, enter, mark
from assent.flows.session.table import (
    render_chunk,
    render_findings,
    render_full,
    render_marks,
    render_overview,
    render_plan,
    render_progress,
    render_tally,
)
from assent.flows.session.talk import ids_of
from assent.protocol.display import display
from assent.protocol.gate import CHUNK_LOOP, POST_ONLY, SYNTHESIS, Gate
from assent.protocol.prompt import MAX_PROMPT_BYTES, check_prompt, encode_prompt
from assent.protocol.review import MAX_CHUNKS, MAX_FINDINGS, Chunk, Review, Severity
from assent.protocol.words import count
from tests.flows.session.seat import PULL, REVIEW, STARTED, new_finding

__all__: list[str] = []

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1_234, "1,234 files")]
)
def test_number_goes_with_its_noun(number: int, said: str) -> None:
    """Also where there is one."""
    assert count(number, "file") == said


@pytest.mark.parametrize(("lines", "minutes"), [(0, 2), (120, 2), (121, 3), (300, 5), (301, 6)])
def test_time_is_a_minute_for_sixty_lines_and_two_at_least(lines: int, minutes: int) -> None:
    """G-U5; a part of a minute counts as one."""
    session = begin(Review(PULL, (Chunk("one", ("a",), lines),)), STARTED)
    assert f"about {minutes} min" in render_plan(session)


def test_progress_counts_chunks_findings_and_marks() -> None:
    """What a resumed session says first."""
    session = mark(enter(begin(REVIEW, STARTED), 1), {"H1"}, False)
    assert render_progress(session) == "0 of 3 chunks reviewed, 4 findings, 3 marked"


def test_ids_are_in_line_where_some_are_longer() -> None:
    """A column stays one."""
    held = [Held(name, 1, new_finding()) for name in ("H1", "M10")]
    assert [line[:10] for line in render_findings(held).split("\n")] == ["- [x] H1  ", "- [x] M10 "]


def test_tally_names_only_what_there_is() -> None:
    """With badge and prefix."""
    held = [Held("M1", 1, new_finding()), Held("L1", 1, new_finding(Severity.INFO), is_marked=False)]
    assert render_tally(held) == "1 Recommended (M), 1 Minor (L); 1 marked for posting."
    assert render_tally([]) == "No findings."
    assert render_marks(held) == "Marked for posting: M1."


def test_finding_in_full_has_all_of_it() -> None:
    """Description and suggestion stand behind a mark of their own, line for line."""
    held = Held(
        "H1", 1, new_finding(Severity.CRITICAL, 95, description="One.\n---\nTwo.", suggestion="x = 1\n")
    )
    assert render_full(held) == (
        "H1 critical at 95\nAction Required, bug, confidence 95, src/retry.py:88\n"
        "> One.\n> ---\n> Two.\n>\n> Suggestion:\n> x = 1\n>"
    )


@given(anything, anything, anything)
def test_text_of_reviewers_makes_no_line_of_its_own(title: str, label: str, said: str) -> None:
    """And nothing of it is hidden."""
    finding = new_finding(title=title, file=f"src/{label}", description=said, suggestion=said)
    pull = replace(PULL, title=title)
    session = enter(begin(Review(pull, (Chunk(label, (label,), 400, (finding,)),)), STARTED), 1)
    chunk = render_chunk(session, session.parts[0])
    assert (len(render_overview(session).split("\n")), len(render_plan(session).split("\n"))) == (2, 1)
    assert [line[:4] for line in chunk.split("\n")] == ["Chun", "- [x", "  > "]
    full = render_full(session.held[0])
    assert all(line.startswith(">") for line in full.split("\n")[2:])
    for shown in (chunk, full, render_overview(session), render_plan(session)):
        assert display(shown) == shown


def test_largest_review_fits_into_its_gates() -> None:
    """As many findings as there may be, with the longest titles and paths that a line shows."""
    finding = new_finding(title="\U0001f600" * 500, file="\U0001f600" * 1_000)
    chunks = [Chunk("\U0001f600" * 500, ("a", "b"), 9, (finding,) * MAX_FINDINGS)]
    chunks += [Chunk("\U0001f600" * 500, ("a", "b"), 9)] * (MAX_CHUNKS - 1)
    session = enter(begin(Review(PULL, tuple(chunks)), STARTED), 1)
    shown = render_findings(session.held)
    for context in (CHUNK_LOOP, SYNTHESIS, POST_ONLY):
        prompt = Gate(context, shown, ids_of(session.held)).prompt
        check_prompt(prompt)
        assert len(encode_prompt(prompt)) < MAX_PROMPT_BYTES
    check_prompt(Gate(CHUNK_LOOP, render_plan(session)).prompt)
