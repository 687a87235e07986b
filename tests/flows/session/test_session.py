"""A code review from its first gate to its end: every gate, every option, every command, every way out."""

from typing import Any

import pytest
from msgspec.structs import replace

from assent.flows.session.effect import (
    ClearSession,
    CountTodos,
    DeepDive,
    Discover,
    InitTodo,
    SaveFindings,
    SaveSession,
)
from assent.flows.session.finding import MOVES, Phase, begin
from assent.flows.session.posting import Event, PostReview
from assent.flows.session.state import parse_state
from assent.flows.session.talk import Closing, How
from assent.flows.step import Ended
from assent.protocol.ask import State
from assent.protocol.error import StillOpen
from assent.protocol.gate import AREAS
from assent.protocol.review import Chunk, Review, Severity
from tests.flows.session.seat import (
    PULL,
    REVIEW,
    STARTED,
    TO_LOOP,
    TO_SYNTHESIS,
    VISUAL,
    Seat,
    new_finding,
    opening,
    resume,
)
from tests.proves import proves

__all__: list[str] = []

DISCARD_CHUNK = "This will remove 4 findings from this chunk. They won't be recoverable. Proceed? [y/n]"  # G23, word for word
DISCARD_ALL = "This will discard all 6 findings and exit without posting. Proceed? [y/n]"  # G24
DESELECT = "This will unmark 2 findings. They won't be posted. Proceed? [y/n]"
ALL_IDS = ["H1", "M1", "M2", "L1", "H2", "L2"]


def open_at(*replies: str, review: Review = REVIEW, **changes: Any) -> Seat:
    """Return a seat whose replies have run out, at the gate that they led to."""
    seat = Seat(*replies)
    with pytest.raises(StillOpen):
        seat.drive(opening(review, **changes))
    return seat


def ended(*replies: str | Ended, review: Review = REVIEW, **changes: Any) -> tuple[Closing, Seat]:
    """Return how a session ended, and the seat."""
    seat = Seat(*replies)
    closing = seat.drive(opening(review, **changes))
    assert seat.replies == []
    return closing, seat


# The way through


@proves("G28", "G30", "G31", "G33")
def test_review_goes_from_gate_to_gate_to_one_review_that_is_posted() -> None:
    """No phase is entered without an answer, and every finding that was shown is in the review."""
    closing, seat = ended(*TO_SYNTHESIS, "Post all marked")
    assert seat.gates == ["Phase Gate", "Chunk Plan", "Chunk Loop", "Chunk Loop", "Chunk Loop", "Synthesis"]
    assert (closing.how, seat.posted_ids) == (How.POSTED, ["H1", "H2", "M2", "L2", "L1", "M1"])
    assert seat.posted[0].event is Event.REQUEST_CHANGES
    assert seat.echoed == []


@proves("G36", "G37")
@pytest.mark.parametrize(
    "style", [str.upper, str.lower, lambda label: f"  {label} "], ids=["upper", "lower", "spaced"]
)
def test_numbers_and_labels_lead_the_same_way(style: object) -> None:
    """The position, the label in any case: one session."""
    assert callable(style)
    numbers = ended("1", "1", "1", "1.", "1)", "1")[0]
    labels = ended(*(style(label) for label in (*TO_SYNTHESIS, "Post all marked")))[0]
    assert numbers == labels


@proves("G16", "G17", "G19", "G20", "G21")
def test_unrecognised_replies_are_echoed_and_change_nothing() -> None:
    """However many; commands of other gates are among them."""
    wrong = ["", "proceed with visual review", "discard", "deselect H1", "toggle H1", "all", "none", "5", "0"]
    seat = open_at(*wrong)
    assert [line.split(". ")[0].rstrip(".") for line in seat.echoed] == [
        f'I didn\'t recognize "{reply}"' for reply in wrong
    ]
    assert seat.gates == ["Phase Gate"]
    assert [type(effect) for effect in seat.done] == [SaveSession]


# Before the chunks


def test_overview_shows_how_large_the_change_is() -> None:
    """Files, lines, commits and chunks."""
    (body,) = open_at().bodies
    assert body == "acme/shop#7: Retry payments\n4 files, 338 changed lines, 3 commits, 3 chunks."


def test_small_change_suggests_the_quick_mode_and_a_wide_one_warns() -> None:
    """G-U5: under 100 lines, and from 50 files on."""
    wide = Review(PULL, (Chunk("all", tuple(f"f{number}" for number in range(50)), 99),))
    (body,) = open_at(review=wide).bodies
    assert "Fewer than 100 changed lines: quick mode will do." in body
    assert "Warning: 50 files are a lot for one review." in body
    narrow = Review(PULL, (Chunk("all", tuple(f"f{number}" for number in range(49)), 100),))
    assert "\n49 files, 100 changed lines, 0 commits, 1 chunk." in open_at(review=narrow).bodies[0]
    assert open_at(review=narrow).bodies[0].count("\n") == 1


@pytest.mark.parametrize("area", AREAS)
def test_focus_typed_with_its_area_is_set_at_once(area: str) -> None:
    """`set focus security` needs no question."""
    seat = open_at(f"set focus {area}")
    assert seat.gates == ["Phase Gate", "Phase Gate"]
    assert seat.session.focus == area
    assert f"Focus: {area}." in seat.bodies[-1]


def test_focus_without_an_area_asks_for_it_and_back_leaves_it() -> None:
    """G-X6: one question; an area that there is not is unrecognised."""
    seat = open_at("Set focus", "colours", "back", "2", "types")
    question = f"What should the review focus on? ({', '.join(AREAS)}) Or back."
    assert seat.gates == ["Phase Gate", question, "Phase Gate", question, "Phase Gate"]
    assert len(seat.echoed) == 1
    assert seat.session.focus == "types"


def test_focus_brings_findings_of_its_category_over_the_threshold() -> None:
    """G-U1: ten more, 75 becomes 85; the rest stays hidden below 80."""
    assert "Secret" not in open_at(*TO_LOOP).bodies[-1]
    seat = open_at("set focus security", *TO_LOOP)
    assert "- [x] H2 Secret in a log  src/retry.py:88" in seat.bodies[-1]
    assert [(held.finding_id, held.finding.confidence) for held in seat.session.held] == [
        ("H1", 95),
        ("H2", 85),
        ("M1", 90),
        ("M2", 85),
        ("L1", 80),
    ]


def test_focus_never_makes_a_finding_surer_than_sure() -> None:
    """The cap is 100."""
    review = Review(PULL, (Chunk("one", ("a", "b"), 9, (new_finding(confidence=95),)),))
    seat = open_at("set focus correctness", *TO_LOOP, review=review)
    assert [held.finding.confidence for held in seat.session.held] == [100]


def test_self_review_leaves_minor_findings_out() -> None:
    """And gives no verdict; the overview says so."""
    closing, seat = ended(*TO_SYNTHESIS, "Post all marked", review=replace(REVIEW, self_review=True))
    assert "Self-review: minor findings are left out." in seat.bodies[0]
    assert (closing.how, seat.posted_ids) == (How.POSTED, ["H1", "H2", "M2", "M1"])
    assert seat.posted[0].event is Event.COMMENT


@pytest.mark.parametrize("replies", [("Cancel",), ("Proceed", "Cancel")], ids=["phase", "plan"])
def test_cancel_ends_the_session_and_keeps_nothing(replies: tuple[str, ...]) -> None:
    """Nothing was posted."""
    closing, seat = ended(*replies)
    assert (closing, seat.state, seat.posted) == (Closing(How.CANCELLED), None, [])


@proves("G29")
def test_visual_discovery_is_asked_only_where_there_is_something_to_see() -> None:
    """G-U4: its answer is a boolean."""
    assert "Visual Discovery" not in open_at("Proceed").gates
    for label, is_visual in [("Proceed with Visual Review", True), ("Skip Visual Review", False)]:
        seat = open_at("Proceed", label, review=VISUAL)
        assert seat.gates == ["Phase Gate", "Visual Discovery", "Chunk Plan"]
        assert seat.bodies[1] == "2 screens changed."
        assert seat.session.is_visual is is_visual


def test_refreshed_context_is_shown_at_the_same_gate() -> None:
    """Again and again; until there is nothing to see any more."""
    seat = open_at("Proceed", "3", "Refresh Context", review=VISUAL)
    assert seat.gates[1:] == ["Visual Discovery"] * 3
    assert seat.bodies[1:] == ["2 screens changed.", "3 screens changed.", "3 screens changed."]
    gone = Seat("Proceed", "Refresh Context")
    gone.visual = None
    with pytest.raises(StillOpen):
        gone.drive(opening(VISUAL))
    assert gone.gates == ["Phase Gate", "Visual Discovery", "Chunk Plan"]
    assert gone.said == ["There are no visual changes any more."]


def test_discovery_that_fails_leaves_the_gate_as_it_was() -> None:
    """Nothing is decided by a failure."""
    seat = Seat("Proceed", "Refresh Context", fails=(Discover,))
    with pytest.raises(StillOpen):
        seat.drive(opening(VISUAL))
    assert seat.said == ["The context was not refreshed: The disk is full."]
    assert seat.bodies[1] == seat.bodies[2] == "2 screens changed."


def test_blank_summary_is_nothing_to_see() -> None:
    """A gate cannot show it."""
    blank = replace(REVIEW, visual=replace(VISUAL.visual, summary=" \u200b"))  # type: ignore[type-var]
    assert open_at("Proceed", review=blank).gates == ["Phase Gate", "Chunk Plan"]


def test_plan_lists_chunks_with_size_time_and_comments() -> None:
    """A minute per 60 lines, two at least (G-U5)."""
    assert open_at("Proceed").bodies[-1].split("\n") == [
        "- Chunk 1: payment retries (2 files, 286 lines, about 5 min, 1 comment)",
        "- Chunk 2: settings (1 file, 40 lines, about 2 min)",
        "- Chunk 3: documents (1 file, 12 lines, about 2 min)",
    ]


def test_skipping_to_a_chunk_starts_there() -> None:
    """Typed with its number, or asked for (G-X6); a chunk that there is not is unrecognised."""
    question = "Which chunk do you want to start with? (1, 2, 3) Or back."
    for replies in [("skip to chunk 2",), ("Skip to chunk N", "2"), ("2", "9", "back", "2", "2")]:
        seat = open_at("Proceed", *replies)
        assert seat.gates[-1] == "Chunk Loop"
        assert set(seat.gates) <= {"Phase Gate", "Chunk Plan", "Chunk Loop", question}
        assert seat.statuses == ["skipped", "in-progress", "pending"]
        assert seat.bodies[-1].startswith("Chunk 2 of 3, settings.")
    assert open_at("Proceed", "skip to chunk 4").gates[-1] == "Chunk Plan"
    assert open_at("Proceed", "skip to chunk 0").gates[-1] == "Chunk Plan"


def test_review_of_everything_at_once_has_one_chunk() -> None:
    """With the findings of all."""
    seat = open_at("Proceed", "Review all at once")
    assert seat.statuses == ["in-progress"]
    assert [held.finding_id for held in seat.session.held] == ["H1", "H2", "M1", "M2", "L1", "L2"]
    assert seat.bodies[-1].startswith("Chunk 1 of 1, everything at once. 6 findings in 4 files, 338 lines.")


def test_one_file_is_not_cut_into_chunks() -> None:
    """G-U5: there is no plan to choose from."""
    chunks = (Chunk("a", ("x",), 10, (new_finding(),)), Chunk("b", ("x",), 20, (new_finding(),)))
    seat = open_at("Proceed", review=Review(PULL, chunks))
    assert seat.gates == ["Phase Gate", "Chunk Loop"]
    assert seat.bodies[-1].startswith("Chunk 1 of 1, everything at once. 2 findings in 1 file, 30 lines.")


def test_quick_mode_goes_through_in_one_pass_and_saves_nothing() -> None:
    """G-U3, G-U12: what was saved at the gate before stays as it was; there is no list of tasks."""
    seat = open_at("Quick mode")
    assert seat.gates == ["Phase Gate", "Chunk Loop"]
    assert (seat.session.mode, seat.session.phase, seat.todo) == ("full", Phase.OVERVIEW, None)
    closing, seat = ended("3", "Continue", "Post all marked")
    assert (closing.how, len(seat.posted_ids), seat.state) == (How.POSTED, 6, None)
    assert [effect for effect in seat.done if isinstance(effect, InitTodo)] == []


def test_quick_mode_without_a_person_here_is_saved_as_any_gate_may_be_answered_later() -> None:
    """Else a reply would find no session."""
    seat = open_at("Quick mode", is_headless=True)
    assert (seat.session.mode, seat.session.phase, seat.statuses) == ("quick", Phase.REVIEW, ["in-progress"])
    again = Seat()
    with pytest.raises(StillOpen):
        again.drive(opening(saved=seat.session, is_resuming=True))
    assert again.bodies == seat.bodies[-1:]


# The chunks


def test_findings_are_listed_by_severity_and_the_surest_first() -> None:
    """Each with its id, its mark and its place (G-U1)."""
    assert open_at(*TO_LOOP).bodies[-1].split("\n") == [
        "Chunk 1 of 3, payment retries. 4 findings in 2 files, 286 lines.",
        "- [x] H1 Retry loop never ends on 429  src/retry.py:88",
        "  > It never ends.",
        "- [x] M1 Key is built twice  src/retry.py:88",
        "  > It never ends.",
        "- [x] M2 Timeout swallowed  src/charge.py:88",
        "  > It never ends.",
        "- [x] L1 Name says seconds  src/retry.py:88",
        "  > It never ends.",
        "",
        "Commands: `discard`, `todo: {text}`, `deselect {IDs}`",
    ]


def test_ids_run_on_over_the_chunks() -> None:
    """The counters are the whole review's."""
    seat = open_at(*TO_LOOP, "Continue")
    assert [held.finding_id for held in seat.session.held] == ALL_IDS
    assert seat.statuses == ["reviewed", "in-progress", "pending"]


@proves("G22", "G23", "G25", "G41")
def test_discarded_chunk_loses_its_findings_and_their_ids_are_not_used_again() -> None:
    """After a yes; the numbers run on (G-U1)."""
    seat = open_at(*TO_LOOP, "discard", "y", "Continue")
    assert seat.gates[2:] == ["Chunk Loop", DISCARD_CHUNK, "Chunk Loop", "Chunk Loop"]
    assert seat.said == ["Removed 4 findings of chunk 1."]
    assert "Chunk 1 of 3, payment retries. 0 findings" in seat.bodies[4]
    assert [held.finding_id for held in seat.session.held] == ["H2", "L2"]
    _, again = closing_of(seat, "Skip to synthesis", "Post all marked")
    assert again.posted_ids == ["H2", "L2"]


def closing_of(seat: Seat, *replies: str | Ended) -> tuple[Closing, Seat]:
    """Resume and return how that ended, which it did."""
    closing, other = resume(seat, *replies)
    assert closing is not None
    return closing, other


def test_discarded_findings_do_not_come_back_with_a_resumed_chunk() -> None:
    """The chunk is still in progress, and stays empty."""
    seat = open_at(*TO_LOOP, "discard", "yes")
    _, again = closing_of(seat, "pause")
    assert again.bodies[0].startswith("Chunk 1 of 3, payment retries. 0 findings")
    assert again.session.held == ()


@proves("G26", "G27")
@pytest.mark.parametrize("command", ["discard", "deselect H1, M2"])
@pytest.mark.parametrize(
    ("reply", "is_echoed"), [("n", False), ("NO", False), ("maybe", True), ("", True), ("1", True)]
)
def test_anything_but_a_yes_changes_nothing_and_shows_the_gate_again(
    command: str, reply: str, *, is_echoed: bool
) -> None:
    """G-X4: what is neither yes nor no is echoed above it."""
    seat = open_at(*TO_LOOP, command, reply)
    assert seat.gates[3] == (DISCARD_CHUNK if command == "discard" else DESELECT)
    assert seat.gates[4] == seat.gates[2] == "Chunk Loop"
    assert seat.bodies[4] == seat.bodies[2]
    assert seat.said == ([f'I didn\'t recognize "{reply}".'] if is_echoed else [])
    assert seat.marks == dict.fromkeys(["H1", "M1", "M2", "L1"], True)


@proves("G40")
def test_deselected_finding_is_not_posted() -> None:
    """One id runs at once, two ask first (G-X5); a notice says what is still marked."""
    _, seat = ended(*TO_LOOP, "deselect l1", "deselect H1 m2", "Y", "4", "1")
    assert seat.gates[2:6] == ["Chunk Loop", "Chunk Loop", DESELECT, "Chunk Loop"]
    assert seat.said[:2] == ["Marked for posting: H1, M1, M2.", "Marked for posting: M1."]
    assert seat.posted_ids == ["M1"]


def test_last_mark_taken_back_leaves_nothing_marked() -> None:
    """And the notice says so."""
    seat = open_at(*TO_LOOP, "deselect H1, M1, M2, L1", "y")
    assert seat.said == ["Nothing is marked for posting."]
    assert not any(seat.marks.values())


def test_unknown_id_in_a_list_changes_nothing_at_all() -> None:
    """G-X8: all or nothing, and the sentence names it."""
    seat = open_at(*TO_LOOP, "deselect H1, H9")
    assert seat.echoed == ['I didn\'t recognize "deselect H1, H9". There is no H9 here.']
    assert all(seat.marks.values())


def test_finding_of_an_earlier_chunk_can_be_deselected_later() -> None:
    """Its id is the review's."""
    seat = open_at(*TO_LOOP, "Continue", "deselect H1")
    assert seat.marks["H1"] is False
    assert seat.said == ["Marked for posting: H2, L2."]


@proves("G38")
@pytest.mark.parametrize(
    "before",
    [(), ("Proceed",), TO_LOOP, (*TO_LOOP, "deep-dive H1"), TO_SYNTHESIS],
    ids=["phase", "plan", "loop", "dive", "synthesis"],
)
def test_task_for_later_is_kept_at_every_gate_and_the_gate_shown_again(before: tuple[str, ...]) -> None:
    """G-X3: it destroys nothing."""
    seat = open_at(*before, "todo: ask Sam -- about 429")
    assert seat.gates[-1] == seat.gates[-2]
    assert seat.bodies[-1] == seat.bodies[-2]
    assert seat.said[-1] == 'Kept for later: "ask Sam -- about 429".'
    assert seat.todo is not None
    assert "- [ ] ask Sam -- about 429 <!-- id: " in seat.todo


@proves("G39", "G32")
def test_deep_dive_leads_into_a_gate_of_its_own_and_back() -> None:
    """After each of the first three actions the gate is there again; the last one returns (G-U7)."""
    actions = ["Analyze context", "2", "check similar patterns"]
    seat = open_at(*TO_LOOP, "deep-dive m1", *actions, "Return to chunk")
    assert seat.gates[3:] == ["Deep-dive"] * 4 + ["Chunk Loop"]
    assert [(dive.action, dive.held.finding_id) for dive in dives(seat)] == [
        ("Analyze context", "M1"),
        ("Suggest fix", "M1"),
        ("Check similar patterns", "M1"),
    ]
    assert seat.said[0] == "Analyze context, M1:\n\n: Analyze context on M1"
    assert seat.bodies[3].split("\n") == [
        "M1 Key is built twice",
        "Recommended, bug, confidence 90, src/retry.py:88",
        "> It never ends.",
    ]


def dives(seat: Seat) -> list[DeepDive]:
    """Return what was looked into."""
    return [effect for effect in seat.done if isinstance(effect, DeepDive)]


def test_deep_dive_without_an_id_asks_for_one_and_back_leaves_it() -> None:
    """Only the chunk's findings are offered; one that is not is unrecognised."""
    seat = open_at(*TO_LOOP, "Continue", "Deep-dive", "H1", "back", "2", "h2", "4")
    question = "Which finding do you want to look into? Or back."
    assert seat.gates[3:] == [
        "Chunk Loop",
        question,
        "Chunk Loop",
        question,
        "Deep-dive",
        "Chunk Loop",
    ]
    assert seat.bodies[4].count("- [x]") == 2
    assert len(seat.echoed) == 1


def test_deep_dive_where_nothing_was_found_says_so() -> None:
    """A question with no answer is not asked."""
    seat = open_at("Proceed", "skip to chunk 3", "Deep-dive")
    assert seat.said == ["There is no finding to look into."]
    assert seat.gates[-1] == "Chunk Loop"


def test_deep_dive_that_fails_is_told_and_the_gate_shown_again() -> None:
    """It is no end of the session."""
    seat = Seat(*TO_LOOP, "deep-dive H1", "1", fails=(DeepDive,))
    with pytest.raises(StillOpen):
        seat.drive(opening())
    assert seat.said == ["Analyze context did not work: The disk is full."]
    assert seat.gates[-1] == "Deep-dive"


@pytest.mark.parametrize("way", ["synthesis", "post-only"])
def test_deep_dive_works_wherever_there_are_findings(way: str) -> None:
    """G-X3; it returns to the gate that it came from."""
    before = TO_SYNTHESIS if way == "synthesis" else ()
    replies = ("deep-dive L2", "Analyze context", "Return to chunk")
    seat = open_at(*before, *replies, is_post_only=way == "post-only")
    assert seat.gates[-4:-1] == [seat.gates[-1], "Deep-dive", "Deep-dive"]
    assert [dive.held.finding_id for dive in dives(seat)] == ["L2"]
    saves = [effect for effect in seat.done if isinstance(effect, SaveSession)]
    assert bool(saves) is (way == "synthesis")  # posting is no session, and takes the place of none


@pytest.mark.parametrize(
    ("before", "statuses"),
    [
        (TO_LOOP, ["skipped", "skipped", "skipped"]),
        ((*TO_LOOP, "Continue"), ["reviewed", "skipped", "skipped"]),
        (("Proceed", "skip to chunk 3"), ["skipped", "skipped", "skipped"]),
    ],
)
def test_skipping_to_the_synthesis_leaves_the_rest_unreviewed(
    before: tuple[str, ...], statuses: list[str]
) -> None:
    """What was shown stays marked; the synthesis names what was not reviewed."""
    seat = open_at(*before, "Skip to synthesis")
    assert seat.gates[-1] == "Synthesis"
    assert seat.statuses == statuses
    skipped = [str(number) for number, status in enumerate(statuses, 1) if status == "skipped"]
    assert f"Skipped: chunk {', '.join(skipped)}." in seat.bodies[-1]


# Statuses


def test_moves_are_those_of_the_protocol() -> None:
    """G-U6, all four of them."""
    moves = {(before.value, after.value) for before in MOVES for after in MOVES[before]}
    assert moves == {
        ("pending", "in-progress"),
        ("pending", "skipped"),
        ("in-progress", "reviewed"),
        ("in-progress", "skipped"),
    }


# Pausing and resuming


GATES = [
    ((), "Phase Gate"),
    (("Proceed",), "Visual Discovery"),
    (("Proceed", "2"), "Chunk Plan"),
    (("Proceed", "2", "1"), "Chunk Loop"),
    (("Proceed", "2", "1", "Continue"), "Chunk Loop"),
    (("Proceed", "2", "1", "Continue", "Continue", "Continue"), "Synthesis"),
]


@proves("G42")
@pytest.mark.parametrize(("before", "gate"), GATES)
@pytest.mark.parametrize("review", [None, VISUAL], ids=["alone", "with the file"])
def test_paused_session_goes_on_at_the_gate_where_it_was_left(
    before: tuple[str, ...], gate: str, review: Review | None
) -> None:
    """Saved, and over; resumed with its file or without it, it stands at the same gate with the same words."""
    closing, seat = ended(*before, "pause", review=VISUAL)
    assert (closing.how, seat.gates[-1]) == (How.PAUSED, gate)
    again = Seat()
    with pytest.raises(StillOpen):
        again.drive(replace(opening(), review=review, saved=seat.session, is_resuming=True))
    assert (again.gates, again.bodies) == ([gate], [seat.bodies[-1]])
    assert again.said[0].startswith("Resuming acme/shop#7, begun 2030-01-01 12:00: ")


@pytest.mark.parametrize("reply", ["pause", "PAUSE", "Pause & save", "3"])
def test_pause_leaves_the_chunk_in_progress(reply: str) -> None:
    """G-X11: nobody chose to go on."""
    closing, seat = ended(*TO_LOOP, "Continue", reply)
    assert closing.how is How.PAUSED
    assert seat.statuses == ["reviewed", "in-progress", "pending"]


def test_pause_within_a_deep_dive_is_resumed_at_its_chunk() -> None:
    """The finding can be looked into again."""
    _, seat = ended(*TO_LOOP, "deep-dive H1", "pause")
    _, again = closing_of(seat, "pause")
    assert again.gates == ["Chunk Loop"]


def test_pause_in_the_quick_mode_is_saved_as_well() -> None:
    """Somebody asked for it."""
    _, seat = ended("Quick mode", "pause")
    assert (seat.session.mode, seat.statuses) == ("quick", ["in-progress"])
    later = Seat("deselect H1")
    with pytest.raises(StillOpen):
        later.drive(opening(saved=seat.session, is_resuming=True))
    assert later.marks["H1"] is False  # what is saved does not lag behind once it is there
    closing, again = closing_of(seat, "Continue", "Post all marked")
    assert (closing.how, len(again.posted_ids)) == (How.POSTED, 6)


def test_pause_that_cannot_be_saved_is_told() -> None:
    """It does not look like a saved one."""
    seat = Seat("pause", fails=(SaveSession,))
    closing = seat.drive(opening())
    assert closing == Closing(How.FAILED, None, "The disk is full.")
    assert seat.said[-1] == "The session was not saved: The disk is full."


def test_session_that_cannot_be_saved_goes_on_and_warns() -> None:
    """The person decides what to do about it."""
    seat = Seat("Proceed", fails=(SaveSession,))
    with pytest.raises(StillOpen):
        seat.drive(opening())
    assert set(seat.said) == {"Warning: the session was not saved: The disk is full."}
    assert seat.gates == ["Phase Gate", "Chunk Plan"]


def test_resumed_session_goes_on_with_its_marks_and_ids() -> None:
    """As if nothing had been."""
    _, seat = ended(*TO_LOOP, "deselect M2", "Continue", "pause")
    closing, again = closing_of(seat, "Continue", "Continue", "Post all marked")
    assert closing.how is How.POSTED
    assert again.posted_ids == ["H1", "H2", "L2", "L1", "M1"]
    assert again.said[0] == (
        "Resuming acme/shop#7, begun 2030-01-01 12:00: 1 of 3 chunks reviewed, 6 findings, 5 marked."
    )


@proves("G35")
def test_resuming_another_pull_request_asks_which_one() -> None:
    """G-U14: the gate names both; the saved one goes on at its chunk."""
    _, seat = ended(*TO_LOOP, "pause")
    other = replace(REVIEW, pull_request=replace(PULL, number=8))
    again = Seat("1", "pause")
    closing = again.drive(opening(other, saved=seat.session, is_resuming=True))
    assert (closing.how, again.gates) == (How.PAUSED, ["Continue (mismatch)", "Chunk Loop"])
    assert again.bodies[0].startswith("Asked for: acme/shop#8. Saved: acme/shop#7 (")
    assert str(again.session.pull_request) == "acme/shop#7"


@pytest.mark.parametrize("change", [{"owner": "acne"}, {"repo": "shops"}, {"number": 8}])
def test_fresh_start_removes_the_saved_session_and_ends(change: dict[str, object]) -> None:
    """The person starts again themselves (G-U14)."""
    _, seat = ended(*TO_LOOP, "pause")
    other = replace(REVIEW, pull_request=replace(PULL, **change))
    again = Seat("Start fresh")
    again.state = seat.state
    closing = again.drive(opening(other, saved=seat.session, is_resuming=True))
    assert (closing, again.state) == (Closing(How.CLEARED), None)


def test_changed_head_is_asked_about_and_the_saved_session_may_go_on() -> None:
    """G-U13: never silently with stale line numbers."""
    _, seat = ended(*TO_LOOP, "Continue", "pause")
    newer = replace(REVIEW, pull_request=replace(PULL, head_sha="b" * 40))
    again = Seat("Go on with the saved session", "pause")
    again.drive(opening(newer, saved=seat.session, is_resuming=True))
    assert again.gates == ["Head changed", "Chunk Loop"]
    assert "saved at commit aaaaaaaaaaaa and is now at bbbbbbbbbbbb" in again.bodies[0]
    assert again.session.pull_request.head_sha == "a" * 40


def test_changed_head_may_restart_with_the_new_commit() -> None:
    """From the first gate, with nothing of the old one."""
    _, seat = ended(*TO_LOOP, "Continue", "pause")
    newer = replace(REVIEW, pull_request=replace(PULL, head_sha="b" * 40))
    again = Seat("Restart", "pause")
    again.drive(opening(newer, saved=seat.session, is_resuming=True))
    assert again.gates == ["Head changed", "Phase Gate"]
    assert again.session == replace(begin(newer, STARTED), asked=2)


@pytest.mark.parametrize("gate", ["Continue (mismatch)", "Head changed"])
def test_pause_before_it_is_settled_keeps_the_saved_session(gate: str) -> None:
    """Both gates may be left as they are."""
    _, seat = ended(*TO_LOOP, "Continue", "pause")
    pull = replace(PULL, number=8) if gate.startswith("Continue") else replace(PULL, head_sha="b" * 40)
    again = Seat("pause")
    closing = again.drive(opening(replace(REVIEW, pull_request=pull), saved=seat.session, is_resuming=True))
    assert (closing.how, again.gates) == (How.PAUSED, [gate])
    assert again.session.held == seat.session.held


@pytest.mark.parametrize("reply", ["n", "no", "", "start anew"])
def test_new_review_does_not_take_the_place_of_a_saved_one_without_a_yes(reply: str) -> None:
    """G-U14, at its end."""
    _, seat = ended(*TO_LOOP, "pause")
    again = Seat(reply)
    again.state = seat.state
    closing = again.drive(opening(saved=seat.session))
    progress = "0 of 3 chunks reviewed, 4 findings, 4 marked"
    assert again.gates == [f"A review of acme/shop#7 is saved ({progress}). Discard it and start anew? [y/n]"]
    assert (closing, again.state) == (Closing(How.KEPT), seat.state)


def test_new_review_after_a_yes_starts_from_its_first_gate() -> None:
    """The saved one is gone."""
    _, seat = ended(*TO_LOOP, "pause")
    again = Seat("yes", "pause")
    again.drive(opening(VISUAL, saved=seat.session))
    assert again.gates[1:] == ["Phase Gate"]
    assert again.session.held == ()


# The end


def test_synthesis_shows_verdict_tally_and_every_finding() -> None:
    """By severity, the surest first."""
    body = open_at(*TO_SYNTHESIS).bodies[-1]
    assert body.split("\n") == [
        "acme/shop#7 at commit aaaaaaaaaaaa: Request changes.",
        "2 Action Required (H), 2 Recommended (M), 2 Minor (L); 6 marked for posting.",
        "- [x] H1 Retry loop never ends on 429  src/retry.py:88",
        "- [x] H2 No bound on retries  src/conf.py:88",
        "- [x] M1 Key is built twice  src/retry.py:88",
        "- [x] M2 Timeout swallowed  src/charge.py:88",
        "- [x] L2 Unused setting  src/conf.py:88",
        "- [x] L1 Name says seconds  src/retry.py:88",
        "",
        "Commands: `discard`",
    ]


def test_only_action_required_posts_the_critical_findings() -> None:
    """G-U2: the H findings; what was deselected stays out."""
    assert ended(*TO_SYNTHESIS, "2")[1].posted_ids == ["H1", "H2"]
    seat = ended(*TO_LOOP, "deselect H1", "Continue", "Continue", "Continue", "2")[1]
    assert seat.posted_ids == ["H2"]


def test_selected_findings_are_the_only_ones_marked() -> None:
    """Typed with their ids, or asked for; then the same gate (G-U9)."""
    title = "Which findings do you want to post? Give their ids, with commas between them. Or back."
    for replies, asked in [(("select specific l1, H2",), []), (("3", "L1 h2"), [title])]:
        closing, seat = ended(*TO_SYNTHESIS, *replies, "Post all marked")
        assert seat.gates[5:] == ["Synthesis", *asked, "Synthesis"]
        assert (closing.how, seat.posted_ids) == (How.POSTED, ["H2", "L1"])


def test_selection_that_is_left_changes_nothing() -> None:
    """`back`, or an id that there is not."""
    seat = open_at(*TO_SYNTHESIS, "Select specific", "H1, H7", "back")
    assert seat.gates[-1] == "Synthesis"
    assert seat.marks == dict.fromkeys(ALL_IDS, True)


def test_nothing_marked_is_not_posted() -> None:
    """A posting option says so and the gate comes again."""
    seat = open_at(*TO_SYNTHESIS, "select specific L1", "Post only Action Required")
    assert seat.said == ["Nothing of that is marked, so nothing was posted."]
    assert (seat.gates[-1], seat.posted) == ("Synthesis", [])


def test_review_without_findings_is_posted_as_an_approval() -> None:
    """There was something to say: that there was nothing."""
    clean = Review(PULL, (Chunk("all", ("a", "b"), 300),))
    closing, seat = ended(*TO_LOOP, "Continue", "1", review=clean)
    assert (closing.how, seat.posted[0].event, seat.posted_ids) == (How.POSTED, Event.APPROVE, [])


@pytest.mark.parametrize(
    ("severity", "status", "event"),
    [
        (Severity.CRITICAL, "resolved", Event.REQUEST_CHANGES),
        (Severity.WARNING, "resolved", Event.COMMENT),
        (Severity.INFO, "resolved", Event.APPROVE),
        (Severity.INFO, "open", Event.REQUEST_CHANGES),
        (Severity.INFO, "to-verify", Event.COMMENT),
    ],
)
def test_verdict_follows_the_findings_and_the_threads(severity: Severity, status: str, event: Event) -> None:
    """G-U9; also where the finding itself is not marked."""
    review = Review(
        PULL,
        (Chunk("all", ("a", "b"), 300, (new_finding(severity), new_finding(Severity.INFO, 81))),),
        comments=(replace(REVIEW.comments[0], status=status),),
    )
    prefix = {"critical": "H", "warning": "M", "info": "L"}[severity]
    seat = ended(*TO_LOOP, f"deselect {prefix}1", "Continue", "1", review=review)[1]
    assert seat.posted[0].event is event


def test_after_posting_nothing_is_kept() -> None:
    """G-U10: state, export and list of tasks are removed, and only after the review was posted."""
    _, seat = ended(*TO_SYNTHESIS, "1")
    assert (seat.state, seat.findings, seat.todo) == (None, None, None)
    assert [type(effect) for effect in seat.done[-2:]] == [PostReview, ClearSession]


def test_open_tasks_are_named_before_posting() -> None:
    """G-U9: with the count; a no shows the gate again."""
    replies = ("todo: one", "todo: two", "1", "n", "1", "y")
    closing, seat = ended(*TO_SYNTHESIS, *replies)
    question = "2 tasks are not done. Post anyway? [y/n]"
    assert seat.gates[6:] == ["Synthesis", "Synthesis", question, "Synthesis", question]
    assert closing.how is How.POSTED
    one = open_at(*TO_SYNTHESIS, "todo: one", "2")
    assert (one.gates[-1], one.posted) == ("1 task is not done. Post anyway? [y/n]", [])


def test_failed_posting_saves_the_findings_and_keeps_the_session() -> None:
    """G-U10: nothing is lost."""
    seat = Seat(*TO_SYNTHESIS, "1", fails=(PostReview,))
    closing = seat.drive(opening())
    assert closing == Closing(How.FAILED, None, "The disk is full.")
    assert seat.said[-2:] == ["Not posted: The disk is full.", "The findings are in review-findings.md."]
    assert seat.findings is not None
    assert [held.finding_id for held in parse_state(seat.findings).held] == ALL_IDS
    assert seat.statuses == ["reviewed"] * 3


def test_failed_posting_that_cannot_be_saved_either_is_told() -> None:
    """The session's own state is still there."""
    seat = Seat(*TO_SYNTHESIS, "1", fails=(PostReview, SaveFindings))
    closing = seat.drive(opening())
    assert closing.how is How.FAILED
    assert seat.said[-1] == "The findings were not saved: The disk is full."
    assert seat.state is not None


def test_list_of_tasks_that_cannot_be_read_is_asked_about_before_posting() -> None:
    """Perhaps there are tasks that are not done; only a yes posts all the same."""
    seat = Seat(*TO_SYNTHESIS, "1", "n", fails=(CountTodos,))
    with pytest.raises(StillOpen):
        seat.drive(opening())
    assert seat.gates[-2] == "Nobody knows whether tasks are not done. Post anyway? [y/n]"
    assert (seat.gates[-1], seat.posted) == ("Synthesis", [])
    sure = Seat(*TO_SYNTHESIS, "1", "y", fails=(CountTodos,))
    assert sure.drive(opening()).how is How.POSTED


def test_saved_locally_the_findings_can_be_posted_later() -> None:
    """The state goes, the export and the list stay; nothing is posted."""
    closing, seat = ended(*TO_LOOP, "deselect M1", "4", "Save locally")
    assert (closing.how, seat.posted, seat.state) == (How.SAVED, [], None)
    assert seat.findings is not None
    assert seat.todo is not None
    later = Seat("1")
    later.drive(replace(opening(), review=None, saved=parse_state(seat.findings), is_post_only=True))
    assert later.posted_ids == ["H1", "M2", "L1"]


@proves("G24", "G41")
def test_discard_at_the_synthesis_ends_without_posting() -> None:
    """After a yes; nothing is kept."""
    closing, seat = ended(*TO_SYNTHESIS, "discard", "y")
    assert seat.gates[-1] == DISCARD_ALL
    assert (closing, seat.posted) == (Closing(How.DISCARDED), [])
    assert (seat.state, seat.findings, seat.todo) == (None, None, None)
    kept = open_at(*TO_SYNTHESIS, "discard", "n")
    assert (kept.gates[-1], kept.marks) == ("Synthesis", dict.fromkeys(ALL_IDS, True))


# Post-only


def at_posting(*replies: str) -> Seat:
    """Return a seat at the Post-only gate, after some replies."""
    return open_at(*replies, is_post_only=True)


def exported(seat: Seat) -> dict[str, bool]:
    """Return the marks of the exported findings."""
    assert seat.findings is not None
    return {held.finding_id: held.is_marked for held in parse_state(seat.findings).held}


@proves("G34", "G43")
def test_marks_are_turned_at_the_post_only_gate() -> None:
    """G-U8: `toggle`, `all`, `none`; the table is drawn again each time."""
    seat = at_posting("toggle h1, L2", "toggle H1")
    assert seat.gates == ["Post-only"] * 3
    assert "- [ ] H1" in seat.bodies[1]
    assert "- [x] H1" in seat.bodies[2]
    assert exported(seat) == {name: name != "L2" for name in ALL_IDS}
    assert not any(exported(at_posting("none")).values())
    assert all(exported(at_posting("none", "ALL")).values())


def test_select_specific_toggles_at_the_post_only_gate() -> None:
    """With ids or after the question; `back` changes nothing (G-U8)."""
    seat = at_posting("select specific H1", "Select specific", "H1 M1", "3", "back", "toggle H9")
    assert exported(seat) == {name: name != "M1" for name in ALL_IDS}
    assert len(seat.echoed) == 1
    assert seat.gates[-1] == "Post-only"


@pytest.mark.parametrize(
    ("replies", "ids", "event"),
    [
        (("1",), ["H1", "H2", "M2", "L2", "L1", "M1"], Event.REQUEST_CHANGES),
        (("2",), ["H1", "H2"], Event.REQUEST_CHANGES),
        (("toggle H1 H2", "1"), ["M2", "L2", "L1", "M1"], Event.COMMENT),
        (("none", "toggle L1", "1"), ["L1"], Event.COMMENT),
    ],
)
def test_post_only_posts_what_is_marked_with_its_own_verdict(
    replies: tuple[str, ...], ids: list[str], event: Event
) -> None:
    """G-U10: critical findings among them request changes, anything else is a comment."""
    closing, seat = ended(*replies, is_post_only=True)
    assert (closing.how, seat.posted_ids, seat.posted[0].event) == (How.POSTED, ids, event)


@pytest.mark.parametrize("reply", ["1", "2"])
def test_post_only_with_nothing_marked_posts_nothing(reply: str) -> None:
    """Not even an empty review."""
    seat = at_posting("none", reply)
    assert (seat.posted, seat.gates[-1]) == ([], "Post-only")


def test_cancelled_post_only_keeps_what_was_saved() -> None:
    """With the marks as they are now (G-U8)."""
    closing, seat = ended("toggle H1", "Cancel", is_post_only=True)
    assert (closing.how, seat.posted) == (How.CANCELLED, [])
    assert exported(seat)["H1"] is False
    assert ClearSession not in map(type, seat.done)


def test_paused_post_only_keeps_its_marks() -> None:
    """In the export, as there is no session."""
    closing, seat = ended("toggle H1", "pause", is_post_only=True)
    assert closing.how is How.PAUSED
    assert (exported(seat)["H1"], seat.state) == (False, None)


def test_post_only_that_fails_keeps_the_findings() -> None:
    """Another try is possible."""
    seat = Seat("1", fails=(PostReview,))
    closing = seat.drive(opening(is_post_only=True))
    assert closing.how is How.FAILED
    assert exported(seat) == dict.fromkeys(ALL_IDS, True)


# No to being asked


@pytest.mark.parametrize(
    ("before", "gate"), [*GATES, ((*TO_LOOP[:1], "2", "1", "deep-dive H1"), "Deep-dive")]
)
@pytest.mark.parametrize(
    ("state", "how"),
    [(State.DECLINED, How.DECLINED), (State.WITHDRAWN, How.ENDED), (State.EXPIRED, How.ENDED)],
)
def test_gate_that_ends_without_an_answer_stops_the_session(
    before: tuple[str, ...], gate: str, state: State, how: How
) -> None:
    """Nothing is assumed; what was saved stays, and it can be resumed there."""
    closing, seat = ended(*before, Ended(state, "not now"), review=VISUAL)
    assert closing == Closing(how, None, "not now")
    assert seat.gates[-1] == gate
    assert seat.posted == []
    again = Seat()
    with pytest.raises(StillOpen):
        again.drive(opening(VISUAL, saved=seat.session, is_resuming=True))
    assert again.gates == [gate if gate != "Deep-dive" else "Chunk Loop"]


def test_check_that_ends_without_an_answer_confirms_nothing() -> None:
    """The gate is shown again."""
    seat = Seat(*TO_LOOP, "discard", Ended(State.DECLINED))
    with pytest.raises(StillOpen):
        seat.drive(opening())
    assert seat.gates[-1] == "Chunk Loop"
    assert len(seat.session.held) == 4


def test_question_that_ends_without_an_answer_leads_back_to_its_gate() -> None:
    """As `back` does."""
    seat = Seat("Set focus", Ended(State.WITHDRAWN))
    with pytest.raises(StillOpen):
        seat.drive(opening())
    assert (seat.gates[-1], seat.session.focus) == ("Phase Gate", "")
