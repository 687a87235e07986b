"""The list of tasks: five phases, a line a chunk, what people asked to keep; and what they wrote there themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.flows.session.finding import ChunkStatus, begin, move
from assent.flows.session.todo import (
    PHASES,
    add_task,
    begin_list,
    chunk_line,
    count_open,
    next_line,
    tick,
)
from assent.protocol.review import Chunk, Review
from tests.flows.session.seat import PULL, REVIEW, STARTED
from tests.proves import proves

__all__: list[str] = []

SESSION = begin(REVIEW, STARTED)
LIST = """# Review of acme/shop#7

## Flow

- [x] Overview
- [x] Visual discovery
- [x] Chunk plan
- [ ] Chunk review
  - [ ] Chunk 1: payment retries
  - [ ] Chunk 2: settings
  - [ ] Chunk 3: documents
- [ ] Synthesis

## Ad hoc
"""
hostile = st.lists(
    st.sampled_from(
        ["-->", "<!-- id: 1 -->", "- [ ] x", "\n", "## Ad hoc", "## Flow", "[x]", "\u202e", "\x1b"]
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    min_size=1,
    max_size=4,
).map("".join)


def test_list_begins_with_the_five_phases_and_a_line_for_each_chunk() -> None:
    """G-U11: after the plan, so the phases before it are ticked."""
    assert begin_list(SESSION) == LIST
    assert len(PHASES) == 5


def test_chunks_that_are_not_to_be_reviewed_are_ticked_from_the_start() -> None:
    """A person skipped them."""
    session, _ = move(SESSION, 1, ChunkStatus.SKIPPED)
    assert "  - [x] Chunk 1: payment retries\n  - [ ] Chunk 2: settings\n" in begin_list(session)


def test_ticked_line_is_done_and_the_first_that_is_not_is_next() -> None:
    """Update and sync; a line that is not there changes nothing."""
    assert next_line(LIST) == "Chunk review"
    ticked = tick(tick(LIST, "Chunk review"), chunk_line(1, "payment retries"))
    assert next_line(ticked) == "Chunk 2: settings"
    assert tick(ticked, "Chunk 1: payment retries") == ticked
    assert tick(LIST, "Lunch") == LIST
    for line in ("Chunk 2: settings", "Chunk 3: documents", "Synthesis"):
        ticked = tick(ticked, line)
    assert next_line(ticked) is None


@proves("G38")
def test_task_is_an_open_box_with_an_id_behind_it() -> None:
    """In the ad-hoc section, one below the other."""
    kept = add_task(add_task(LIST, "ask Sam", "20300101T120000.000000Z-1"), "look at 429", "t2")
    assert kept == (
        LIST + "\n- [ ] ask Sam <!-- id: 20300101T120000.000000Z-1 -->\n- [ ] look at 429 <!-- id: t2 -->\n"
    )
    assert (count_open(LIST), count_open(kept)) == (0, 2)
    assert count_open(kept.replace("- [ ] ask", "- [x] ask")) == 1


def test_task_that_is_open_already_is_not_kept_twice() -> None:
    """One that is done may come again."""
    kept = add_task(LIST, "ask Sam", "1")
    assert add_task(kept, "  ask   Sam ", "2") == kept
    done = kept.replace("- [ ] ask", "- [x] ask")
    assert add_task(done, "ask Sam", "2") == done + "- [ ] ask Sam <!-- id: 2 -->\n"


def test_task_can_be_kept_before_there_is_a_plan() -> None:
    """And the plan puts its lines above it."""
    kept = add_task("", "ask Sam", "1")
    assert kept == "## Ad hoc\n\n- [ ] ask Sam <!-- id: 1 -->\n"
    assert begin_list(SESSION, kept) == LIST + "\n- [ ] ask Sam <!-- id: 1 -->\n"


EDITED = (
    LIST.replace("- [ ] Synthesis", "- [ ] Synthesis\nNot before Friday!")
    .replace("  - [ ] Chunk 2: settings", "  - [x] Chunk 2: settings")
    .replace(
        "## Ad hoc\n", "## Mine\n\nfirst\n\n\n- [ ] a box of my own\n\n## Ad hoc\n\nSam's:\n\n* [ ] odd\n"
    )
    + "\n## More\n\n- [ ] last\n"
)


def test_edits_of_people_survive_every_change() -> None:
    """Their lines stay word for word and where they are; boxes of other sections are no tasks of ours."""
    kept = add_task(tick(EDITED, "Chunk 1: payment retries"), "ask Sam", "1")
    assert kept == EDITED.replace("- [ ] Chunk 1", "- [x] Chunk 1").replace(
        "* [ ] odd\n", "* [ ] odd\n- [ ] ask Sam <!-- id: 1 -->\n"
    )
    assert count_open(kept) == 1


def test_edits_of_people_survive_the_next_plan() -> None:
    """Only the boxes of the flow are new."""
    again = begin_list(SESSION, add_task(EDITED, "ask Sam", "1"))
    assert again == add_task(EDITED, "ask Sam", "1").replace("  - [x] Chunk 2", "  - [ ] Chunk 2")
    assert begin_list(SESSION, again) == again


def test_list_of_another_review_is_begun_anew_with_the_tasks_of_people() -> None:
    """The head names the review that it is of now."""
    other = begin(Review(PULL, (Chunk("one", ("a", "b"), 1),)), STARTED)
    again = begin_list(other, add_task(LIST.replace("#7", "#6"), "ask Sam", "1"))
    assert again.startswith("# Review of acme/shop#7\n\n## Flow\n")
    assert "settings" not in again
    assert again.count("#") == 6
    assert count_open(again) == 1


@pytest.mark.parametrize("text", ["", "\n", "hello", "## Flow", "## Ad hoc\n- [ ] x", "# Review of x\n"])
def test_any_file_can_be_gone_on_with(text: str) -> None:
    """Whatever a person left there stays."""
    kept = add_task(begin_list(SESSION, text), "task", "1")
    assert kept.startswith("# Review of acme/shop#7\n\n")
    assert count_open(kept) == 1 + text.count("- [ ]")
    assert ("hello" in kept) is ("hello" in text)


@given(hostile, hostile)
def test_text_of_a_task_can_pass_for_nothing_else(first: str, second: str) -> None:
    """One line, one box, one id of its own; whatever it says."""
    kept = LIST
    for number, text in enumerate([first, second]):
        if text.strip():
            kept = add_task(kept, text, f"t{number}")
    added = kept.removeprefix(LIST).split("\n")
    tasks = [line for line in added if line]
    assert kept.startswith(LIST)
    assert len(tasks) == count_open(kept) <= 2
    for line in tasks:
        assert re.fullmatch(r"- \[ \] .* <!-- id: t[01] -->", line)
        assert line.count("<!--") == line.count("-->") == 1
        assert "\x1b" not in line
        assert "\u202e" not in line


@given(hostile.filter(str.strip))
def test_chunk_with_any_label_can_be_ticked(label: str) -> None:
    """Its line is found again."""
    session = begin(Review(PULL, (Chunk(label, ("a", "b"), 1),)), STARTED)
    listed = begin_list(session)
    assert listed.count("- [ ]") == 3 + label.count("- [ ]")
    ticked = tick(tick(listed, "Chunk review"), chunk_line(1, label))
    assert next_line(ticked) == "Synthesis"
