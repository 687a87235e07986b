"""What is marked and written of an ask: when it can be sent, and what would be sent."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.protocol.answer import check_values
from assent.protocol.ask import Kind
from assent.protocol.prompt import Prompt
from assent.surfaces.tui.reply import (
    FieldReply,
    Reply,
    destructive,
    fit_reply,
    is_long,
    keycap,
    lacking,
    mark,
    note_text,
    own,
    send_label,
    summary,
    type_command,
    unmark,
    values_of,
    write,
)
from tests.surfaces.tui.asks import (
    APPROVAL,
    CHECK,
    CONFIRM,
    FREE,
    GATE,
    LONG,
    ONE,
    OWN,
    ROUND,
    SEVERAL,
    make_ask,
)

__all__: list[str] = []

KINDS = {
    "one": (ONE, Kind.QUESTION),
    "several": (SEVERAL, Kind.QUESTION),
    "free": (FREE, Kind.QUESTION),
    "own": (OWN, Kind.QUESTION),
    "long": (LONG, Kind.QUESTION),
    "round": (ROUND, Kind.QUESTION),
    "confirm": (CONFIRM, Kind.CONFIRM),
    "approval": (APPROVAL, Kind.APPROVAL),
}


@pytest.mark.parametrize(
    ("prompt", "kind", "lack"),
    [
        (ONE, Kind.QUESTION, "Mark one first"),
        (SEVERAL, Kind.QUESTION, "Mark one first"),
        (FREE, Kind.QUESTION, "Write an answer first"),
        (ROUND, Kind.QUESTION, "Answer Q1 first"),
        (CONFIRM, Kind.CONFIRM, "Mark one first"),
        (GATE, Kind.GATE, "Mark one first"),
        (CHECK, Kind.GATE, "Type a reply first"),
        (APPROVAL, Kind.APPROVAL, "Mark one first"),
    ],
    ids=["one", "several", "free", "round", "confirm", "gate", "check", "approval"],
)
def test_reply_with_nothing_in_it_says_what_it_lacks(prompt: Prompt, kind: Kind, lack: str) -> None:
    """Every kind, in words that say what to do."""
    assert lacking(make_ask(prompt, kind=kind), Reply()) == lack


def test_mark_in_a_question_with_one_answer_takes_the_place_of_the_last() -> None:
    """One of several: the last mark counts, and words of one's own go with it."""
    field = OWN.fields[0]
    reply = mark(mark(own(Reply(), field), field, "30 seconds"), field, "5 minutes")
    assert reply.of("q1") == FieldReply(("5 minutes",))


def test_mark_in_a_question_with_several_answers_is_taken_back_by_the_same_key() -> None:
    """Marks stay in the order in which they were made."""
    field = SEVERAL.fields[0]
    reply = mark(mark(mark(Reply(), field, "Virginia"), field, "Frankfurt"), field, "Virginia")
    assert values_of(make_ask(SEVERAL), reply) == {"q1": ["Frankfurt"]}


def test_own_words_are_lacking_until_they_are_written() -> None:
    """Marked without words is no answer; written they are sent as they are, without the space around them."""
    ask, field = make_ask(OWN), OWN.fields[0]
    marked = own(Reply(), field)
    assert lacking(ask, marked) == "Write your own words"
    assert values_of(ask, write(marked, field, " an hour ")) == {"q1": ["an hour"]}


def test_words_that_are_still_being_written_mark_nothing() -> None:
    """An option stays marked while somebody types beside it."""
    field = OWN.fields[0]
    reply = note_text(mark(Reply(), field, "5 minutes"), field, "an ho")
    assert reply.of("q1") == FieldReply(("5 minutes",), "an ho")


def test_unmark_leaves_what_was_written() -> None:
    """A mark is one key; a text is not."""
    field = OWN.fields[0]
    assert unmark(write(Reply(), field, "an hour"), field).of("q1") == FieldReply(text="an hour")


def test_command_takes_the_place_of_a_mark_and_a_mark_that_of_a_command() -> None:
    """A gate gets one reply."""
    field = GATE.fields[0]
    typed = type_command(mark(Reply(), field, field.options[0].key), "deselect M4")
    assert typed == Reply({}, "deselect M4")
    assert mark(typed, field, field.options[1].key).command == ""


@pytest.mark.parametrize(
    ("way", "text", "sent", "label"),
    [
        ("yes", "", "yes", "Continue"),
        ("no", "left over", "no", "Send the no"),
        ("changes", "rename it", "changes: rename it", "Send the changes"),
    ],
)
def test_confirm_sends_the_words_of_the_way_that_is_marked(
    way: str, text: str, sent: str, label: str
) -> None:
    """What was written for changes is not sent with a yes or a no."""
    ask, field = make_ask(CONFIRM, kind=Kind.CONFIRM), CONFIRM.fields[0]
    reply = mark(note_text(Reply(), field, text), field, way)
    assert (values_of(ask, reply), send_label(ask, reply)) == ({"q1": [sent]}, label)


def test_confirm_with_changes_wants_to_know_which() -> None:
    """A wish for changes without any would halt the work for nothing."""
    ask = make_ask(CONFIRM, kind=Kind.CONFIRM)
    assert lacking(ask, mark(Reply(), CONFIRM.fields[0], "changes")) == "Say what to change"


def test_enter_names_the_stakes_of_what_is_marked() -> None:
    """A yes names the declared risk, an option that it cannot be undone, a round how many are sent."""
    approval, field = make_ask(APPROVAL, kind=Kind.APPROVAL), APPROVAL.fields[0]
    assert send_label(approval, mark(Reply(), field, "Approve")) == "Approve: irreversible"
    assert send_label(approval, mark(Reply(), field, "Reject")) == "Send the no"
    dropping = mark(Reply(), ONE.fields[0], "drop")
    assert destructive(make_ask(), dropping) == ONE.fields[0].options[2]
    assert send_label(make_ask(), dropping) == "Drop it, cannot be undone"
    assert send_label(make_ask(ROUND), Reply()) == "Send all 3"


@pytest.mark.parametrize(
    ("kind", "marked"), [("approval", "Approve"), ("one", "drop"), ("one", "SQLite"), ("confirm", "yes")]
)
def test_reply_that_is_found_again_has_no_mark_that_one_key_would_make_a_yes_of(
    kind: str, marked: str
) -> None:
    """Nothing is marked beforehand where something cannot be undone, not even by the same person a moment ago."""
    prompt, sort = KINDS[kind]
    reply = Reply({prompt.fields[0].name: FieldReply((marked,))})
    assert fit_reply(make_ask(prompt, kind=sort), reply) == Reply()


def test_reply_that_is_found_again_has_only_what_the_ask_offers() -> None:
    """A draft is a file: whatever it says, it chooses nothing that is not there."""
    strange = Reply(
        {"q1": FieldReply(("City 3", "format disk"), "x", is_own=True), "q9": FieldReply(("a",))}, "discard"
    )
    assert fit_reply(make_ask(LONG), strange) == Reply({"q1": FieldReply(("City 3",))})


def test_list_of_more_than_nine_options_goes_by_numbers() -> None:
    """Letters would take the keys of all commands; ten are the first that are too many, one's own words counted."""
    assert not is_long(GATE.fields[0])
    assert is_long(LONG.fields[0])
    assert [keycap(LONG, LONG.fields[0], place) for place in (0, 9, 29)] == ["1", "10", "30"]
    assert keycap(ONE, ONE.fields[0], 1) == "B"


_part = st.builds(
    FieldReply,
    st.lists(
        st.sampled_from(["yes", "changes", "Eu", "SQLite", "30s", "Approve", "City 3", "?"]), max_size=3
    ).map(tuple),
    st.text(max_size=5),
    st.booleans(),
)


@example(kind="free", fields={"q1": FieldReply(text="\u200b")})
@given(
    kind=st.sampled_from(sorted(KINDS)),
    fields=st.dictionaries(st.sampled_from(["q1", "q2", "q3", "approve"]), _part),
)
def test_any_reply_that_lacks_nothing_is_one_that_the_store_takes(
    kind: str, fields: dict[str, FieldReply]
) -> None:
    """What the inbox calls ready is never refused for its form; and it can always be said in words."""
    prompt, sort = KINDS[kind]
    ask = make_ask(prompt, kind=sort)
    reply = fit_reply(ask, Reply(fields))
    assert summary(ask, reply)
    assert lacking(ask, reply) or check_values(prompt, values_of(ask, reply))
