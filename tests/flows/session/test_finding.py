"""What a session holds: ids that are never used twice, marks, and chunks that move as the table says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.session.finding import (
    MOVES,
    ChunkStatus,
    Held,
    Session,
    begin,
    discard,
    enter,
    in_order,
    mark,
    merge,
    move,
    next_chunk,
    toggle,
)
from assent.protocol.review import Category, Chunk, Finding, PullRequest, Review, Severity
from tests.protocol.strategies import modest

__all__: list[str] = []

STARTED = "2030-01-01T12:00:00Z"
H, M, L = Severity.CRITICAL, Severity.WARNING, Severity.INFO


def finding(severity: Severity, confidence: int = 90, category: Category = Category.BUG) -> Finding:
    return Finding(severity, f"{severity} {confidence}", "a.py", 1, category, confidence, "d")


def session(*chunks: tuple[Finding, ...], is_own: bool = False) -> Session:
    """Return a session about to begin."""
    parts = tuple(
        Chunk(f"part {number}", (f"{number}.py", "both.py"), number * 10, findings)
        for number, findings in enumerate(chunks, start=1)
    )
    return begin(Review(PullRequest("acme", "tool", 7, "0123abc"), parts, self_review=is_own), STARTED)


def ids(held: tuple[Held, ...]) -> list[str]:
    return [each.finding_id for each in held]


def test_session_begins_with_every_chunk_waiting() -> None:
    """Nothing is held before it was shown; chunks are numbered from 1."""
    new = session((finding(H),), ())
    assert [(part.number, part.status) for part in new.parts] == [
        (1, ChunkStatus.PENDING),
        (2, ChunkStatus.PENDING),
    ]
    assert (new.held, new.marked, new.mode, new.started) == ((), (), "full", STARTED)


def test_ids_run_on_over_all_chunks_in_the_order_of_severity() -> None:
    """G-U1: a prefix and a counter of its own for each severity; within one, the surest first."""
    first = enter(
        session((finding(L), finding(H, 80), finding(M), finding(H, 99)), (finding(M), finding(H))), 1
    )
    assert ids(first.held) == ["H1", "H2", "M1", "L1"]
    assert [held.finding.confidence for held in first.held] == [99, 80, 90, 90]
    both = enter(first, 2)
    assert ids(both.of_chunk(2)) == ["H3", "M2"]
    assert ids(in_order(both.held)) == ["H1", "H3", "H2", "M1", "M2", "L1"]


def test_finding_is_marked_when_it_is_added() -> None:
    """G-U2."""
    entered = enter(session((finding(H), finding(L))), 1)
    assert entered.marked == entered.held
    assert len(entered.held) == 2


def test_chunk_that_is_entered_again_adds_nothing() -> None:
    """Its findings keep their ids and marks, also where they were discarded."""
    once = mark(enter(session((finding(H), finding(M)), (finding(H),)), 1), ["M1"], is_marked=False)
    assert enter(once, 1).held == once.held
    gone = discard(once, 1)
    assert enter(gone, 1).held == ()


def test_number_is_never_used_again() -> None:
    """G-U1: also after its finding was discarded."""
    gone = discard(enter(session((finding(H),), (finding(H),)), 1), 1)
    assert gone.held == ()
    assert ids(enter(gone, 2).held) == ["H2"]


def test_discard_leaves_other_chunks_alone() -> None:
    """It removes the chunk's findings, and only those."""
    both = enter(enter(session((finding(H), finding(M)), (finding(H),)), 1), 2)
    assert ids(discard(both, 1).held) == ["H2"]
    assert ids(discard(both, 2).held) == ["H1", "M1"]


@pytest.mark.parametrize(
    ("confidence", "focus", "shown"),
    [(79, "", False), (80, "", True), (70, "security", True), (69, "security", False), (70, "types", False)],
)
def test_finding_is_shown_from_eighty_on(confidence: int, focus: str, shown: bool) -> None:
    """G-U1: with ten more in the focus."""
    new = replace(session((finding(H, confidence, Category.SECURITY),)), focus=focus)
    entered = enter(new, 1)
    assert bool(entered.held) == shown
    if shown:
        assert entered.held[0].finding.confidence == confidence + 10 * bool(focus)


def test_own_review_leaves_minor_findings_out() -> None:
    """G-U1: and counts them nowhere."""
    assert ids(enter(session((finding(L), finding(M)), is_own=True), 1).held) == ["M1"]


@modest
@given(st.sets(st.sampled_from(["H1", "H2", "M1", "L1", "H9"])), st.booleans())
def test_marks_change_where_they_are_named_and_nowhere_else(named: set[str], is_marked: bool) -> None:
    """For one, some or all; what is not there changes nothing."""
    held = enter(session((finding(H), finding(H), finding(M), finding(L))), 1)
    start = mark(held, ["H2"], is_marked=False)
    changed, turned = mark(start, named, is_marked), toggle(start, named)
    for before, after, flipped in zip(start.held, changed.held, turned.held, strict=True):
        is_named = before.finding_id in named
        assert after.is_marked == (is_marked if is_named else before.is_marked)
        assert flipped.is_marked == (before.is_marked != is_named)
        assert before.finding == after.finding == flipped.finding
    assert toggle(turned, named) == start


@pytest.mark.parametrize("start", list(ChunkStatus))
@pytest.mark.parametrize("end", list(ChunkStatus))
def test_chunk_moves_and_an_unusual_move_is_told(start: ChunkStatus, end: ChunkStatus) -> None:
    """G-U6: four moves are usual; any other is made all the same, with a warning."""
    usual = {
        ("pending", "in-progress"),
        ("in-progress", "reviewed"),
        ("in-progress", "skipped"),
        ("pending", "skipped"),
    }
    first, _ = move(session((), ()), 2, start)
    moved, warning = move(first, 2, end)
    assert [part.status for part in moved.parts] == [ChunkStatus.PENDING, end]
    assert bool(warning) == (start is not end and (start, end) not in usual)
    if warning:
        assert warning == f"Chunk 2 went from {start} to {end}, which is not usual."
    assert {(before, after) for before, row in MOVES.items() for after in row} == usual


def test_next_chunk_is_the_first_that_was_not_looked_at() -> None:
    """G-U13: one in progress counts as such."""
    new = session((), (), ())
    reviewed, _ = move(new, 1, ChunkStatus.REVIEWED)
    begun, _ = move(reviewed, 2, ChunkStatus.IN_PROGRESS)
    for state, number in ((new, 1), (reviewed, 2), (begun, 2)):
        found = next_chunk(state)
        assert found is not None
        assert found.number == number
    skipped, _ = move(move(begun, 2, ChunkStatus.SKIPPED)[0], 3, ChunkStatus.SKIPPED)
    assert next_chunk(skipped) is None


def test_merged_chunks_are_one_with_everything() -> None:
    """G-U5: each file once, all lines, all findings; one chunk keeps its label."""
    merged = merge(session((finding(L),), (finding(H),)))
    (part,) = merged.parts
    assert (part.number, part.chunk.label, part.chunk.lines) == (1, "everything at once", 30)
    assert part.chunk.files == ("1.py", "both.py", "2.py")
    assert ids(enter(merged, 1).held) == ["H1", "L1"]
    assert merge(session(())).parts[0].chunk.label == "part 1"
