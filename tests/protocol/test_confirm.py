"""What is said when work waits for a go-ahead, and what a reply to it means."""

import pytest
from msgspec.structs import replace

from assent.protocol.confirm import (
    DROP,
    MAX_SUMMARY_BYTES,
    RERUN,
    Meaning,
    check_summary,
    confirm_prompt,
    direction_prompt,
    is_confirm_of,
    is_direction,
    read_reply,
    read_summary,
    render_ai_message,
    render_message,
)
from assent.protocol.error import BadRequestError, TooLargeError, UnrecognisedError
from assent.protocol.plan import Moment, Owner
from assent.protocol.prompt import MAX_TITLE, Field, Option, check_prompt
from assent.protocol.reply import recognise
from assent.protocol.report import Report
from tests.proves import proves

__all__: list[str] = []

PHASE = Owner("phase", "P1", "Storage", 3, 1)
TASK = Owner("task", "T1.2", "Rename the table", 9, 4)


# Replies


@pytest.mark.parametrize("text", ["y", "Y", "yes", "YES", " Yes ", "yes.", "Y!", "yes !", "\tyes\n"])
def test_yes_in_any_case_and_spacing_confirms(text: str) -> None:
    """C-X11."""
    assert read_reply(text) is Meaning.YES


@pytest.mark.parametrize("text", ["n", "N", "no", "NO", " No. ", "n\n"])
def test_plain_no_without_text_is_a_decline(text: str) -> None:
    """C-X1."""
    assert read_reply(text) is Meaning.NO


@pytest.mark.parametrize("text", ["stop", "Stop!", "cancel", "ABORT", "abort.", "halt", "quit"])
def test_word_that_halts_stops(text: str) -> None:
    """C-X11."""
    assert read_reply(text) is Meaning.STOP


@pytest.mark.parametrize(
    "text",
    [
        "n, rename it",
        "no, use another table",
        "yes, but rename it first",
        "y but",
        "yes yes",
        "yeah",
        "ok",
        "sí",
        "да",
        "请先改名",
        "はい",
        "stop the server before you rename it",
        "cancel T1.3 and go on",
        "nope",
        "0",
        "1",
        "A",
        "?",
        "y\nrename it",
        "y\u200b",
        "\u0443",  # a Cyrillic letter that looks like a y
        "drop",
        "drop it",
        "...",
    ],
)
def test_any_other_text_of_any_language_is_a_wish_for_changes(text: str) -> None:
    """C-X11: nothing is guessed, above all no yes."""
    assert read_reply(text) is Meaning.CHANGES


def test_dropping_is_only_ever_said_in_so_many_words() -> None:
    """C-X7: CANCELLED comes from an explicit wish."""
    assert read_reply(f" {DROP.upper()}. ") is Meaning.DROP
    assert read_reply(f"do not {DROP}") is Meaning.CHANGES


def test_rerun_means_something_only_where_a_reviewer_gave_nothing() -> None:
    """C-X6."""
    assert read_reply(RERUN, can_rerun=True) is Meaning.RERUN
    assert read_reply(RERUN) is Meaning.CHANGES


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\u2800 "])
def test_blank_reply_is_no_answer_at_all(text: str) -> None:
    """Silence is neither a yes nor a no: the ask stays open."""
    with pytest.raises(UnrecognisedError):
        recognise(confirm_prompt(TASK, Moment.BEFORE, "Rename it"), text)


@pytest.mark.parametrize("text", ["y", "N", "请先改名", "A", "1", "stop", "first: rename\nthen: test"])
def test_prompt_takes_every_other_reply_as_it_is(text: str) -> None:
    """No option stands in the way of a person's own words."""
    assert recognise(confirm_prompt(TASK, Moment.BEFORE, "Rename it"), text) == {"confirm": (text,)}


# Messages


BEFORE = (
    "Confirm (human) task T1.2: Rename the table. When=before. "
    "Summary: Rename users to people. Continue? (Y/N)"
)
AFTER = "Confirm (human) phase P1: Storage. When=after. Summary: Rename users to people. Continue? (Y/N)"


@proves("C35")
@pytest.mark.parametrize(
    ("owner", "moment", "text"), [(TASK, Moment.BEFORE, BEFORE), (PHASE, Moment.AFTER, AFTER)]
)
def test_human_message_is_as_it_is_written(owner: Owner, moment: Moment, text: str) -> None:
    """Literally; the full stop of the summary is the message's own."""
    assert render_message(owner, moment, "Rename users to people") == text
    assert render_message(owner, moment, " Rename users to people. ") == text
    assert confirm_prompt(owner, moment, "Rename users to people").title == text


@proves("C46")
def test_reviewer_message_is_as_it_is_written() -> None:
    """Blocking issues, then the others, and `none` where there are none; the full stop is the message's own."""
    report = Report(("No test.", "No  way\nback"), ("A long name.",), "Not yet.")
    assert render_ai_message(TASK, Moment.AFTER, "critic", report) == (
        "Confirm (ai:critic) task T1.2: Rename the table. When=after. "
        "Issues-first report: No test; No way back / A long name. Proceeding unless blocking issues."
    )
    assert render_ai_message(PHASE, Moment.BEFORE, "critic", Report((), (), "Fine.")) == (
        "Confirm (ai:critic) phase P1: Storage. When=before. "
        "Issues-first report: none / none. Proceeding unless blocking issues."
    )


SEE_BELOW = "Confirm (human) task T1.2: Rename the table. When=before. Summary: see below. Continue? (Y/N)"


@pytest.mark.parametrize("summary", ["one\ntwo", "x" * MAX_TITLE, "one\rtwo", "one\u2028two"])
def test_summary_too_long_for_a_line_stands_whole_below_it(summary: str) -> None:
    """And what else is said stands behind it."""
    prompt = confirm_prompt(TASK, Moment.BEFORE, summary, "More.")
    assert prompt.title == SEE_BELOW
    assert prompt.body == f"{summary}\n\nMore."
    check_prompt(prompt)


@pytest.mark.parametrize("name", ["x" * MAX_TITLE, "one\ntwo"])
def test_name_that_fits_no_line_is_shortened_in_the_question(name: str) -> None:
    """The plan's own words cannot make the question impossible to ask."""
    prompt = confirm_prompt(Owner("task", "T1.2", name, 9, 4), Moment.BEFORE, "Rename it")
    check_prompt(prompt)
    assert len(prompt.title.splitlines()) == 1
    assert prompt.title.endswith("Summary: see below. Continue? (Y/N)")
    assert prompt.body == "Rename it"


@pytest.mark.parametrize("summary", ["", " \n", "\u200b"])
def test_summary_that_says_nothing_is_refused(summary: str) -> None:
    """C26, C27: intent or work is summed up before a person is asked."""
    with pytest.raises(BadRequestError):
        check_summary(summary)


def test_longest_summary_can_be_asked_and_one_byte_more_is_refused() -> None:
    """A limit in bytes, that the prompt holds with room to spare."""
    longest = "x" + "\x01" * (MAX_SUMMARY_BYTES - 1)  # no character takes more bytes in JSON
    check_summary(longest)
    check_prompt(confirm_prompt(TASK, Moment.BEFORE, longest, "x" * 10_000))
    with pytest.raises(TooLargeError):
        check_summary("x" * (MAX_SUMMARY_BYTES - 1) + "é")


# Known again


@pytest.mark.parametrize("owner", [PHASE, TASK, Owner("task", "T" * 3_000, "x" * 3_000, 1, 1)])
@pytest.mark.parametrize(
    "summary", ["Rename it.", "two\nlines", "x" * 5_000, "When=after. Summary: y. Continue? (Y/N)"]
)
def test_prompt_of_a_confirm_is_known_again_with_its_summary_and_as_no_other(
    owner: Owner, summary: str
) -> None:
    """For its own owner and moment, whatever the summary is."""
    prompt = confirm_prompt(owner, Moment.BEFORE, summary)
    assert is_confirm_of(prompt, owner.owner_id, Moment.BEFORE)
    assert not is_confirm_of(prompt, "T9", Moment.BEFORE)
    assert not is_confirm_of(prompt, owner.owner_id[:1], Moment.BEFORE)
    assert read_summary(prompt, Moment.BEFORE).rstrip(".") == summary.rstrip(".")
    plain = confirm_prompt(owner, Moment.BEFORE, "Rename it")
    assert not is_confirm_of(plain, owner.owner_id, Moment.AFTER)


@pytest.mark.parametrize(
    "fields",
    [
        (),
        (Field("confirm", free=True, options=(Option("y", "No, stop"),)),),
        (Field("other", free=True),),
        (Field("confirm", free=True), Field("more", free=True)),
    ],
)
def test_prompt_with_other_answers_is_no_confirm(fields: tuple[Field, ...]) -> None:
    """What is recorded as a yes there may have been read as something else."""
    prompt = replace(confirm_prompt(TASK, Moment.BEFORE, "Rename it"), fields=fields)
    assert not is_confirm_of(prompt, TASK.owner_id, Moment.BEFORE)
    assert not is_direction(prompt)


def test_blocking_issues_are_asked_about_with_two_ways_and_ones_own_words() -> None:
    """The report stands below the question, whatever the reviewer wrote."""
    prompt = direction_prompt(TASK, Moment.AFTER, "critic", Report(("No\nindex",), (), "Not yet."))
    check_prompt(prompt)
    assert is_direction(prompt)
    assert "   - No index" in prompt.body
    assert recognise(prompt, "2") == {"confirm": ("stop",)}
    assert recognise(prompt, "apply changes and re-run") == {"confirm": ("rerun",)}
    assert recognise(prompt, "add an index") == {"confirm": ("add an index",)}
