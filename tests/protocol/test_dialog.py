"""What tools give back: labels, texts, lists and nothing, and what each of them means."""

import pytest

from assent.protocol.dialog import Dialog, Given, PageTurn, Row, RowKind, unfold

__all__: list[str] = []

COLOURS = (Row("1. Red", reply="1."), Row("2. Blue", reply="2."))
ONE = Dialog("Colour", "Which?", COLOURS)
SEVERAL = Dialog("Colour", "Which?", COLOURS, is_multiple=True)


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ("1. Red", "1."),
        (["2. Blue"], "2."),
        ("2", "2"),
        ("blue", "blue"),
        (["user_note: blue, really"], "blue, really"),
        (["None of the above", "user_note: blue"], "blue"),
        ("None of the above", None),
        (["None of the above"], None),
        (None, None),
        ("", None),
        ([], None),
        (["1. Red", "2. Blue"], "1. Red, 2. Blue"),
        (["1. Red", "user_note: or so"], "1. Red, or so"),
    ],
)
def test_answer_to_a_single_choice_is_a_row_a_text_or_nothing(given: Given, reply: str | None) -> None:
    """Two at once are passed on as they came: which one counts is not ours to say."""
    assert unfold(ONE, given) == reply


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        ("1. Red", "1."),
        ("2. Blue, 1. Red", "2., 1."),
        (["2. Blue", "1. Red"], "2., 1."),
        ("1. Red, 5", "1., 5"),
        ("red, blue", "red, blue"),
        ("", None),
    ],
)
def test_answer_to_several_choices_may_be_a_list_or_joined(given: Given, reply: str | None) -> None:
    """A row and a number that was typed beside it count both."""
    assert unfold(SEVERAL, given) == reply


def test_row_that_leaves_it_open_outweighs_the_others() -> None:
    """Somebody who also says "not now" has not decided."""
    later = Dialog("", "?", (*COLOURS, Row("Not now", kind=RowKind.LATER)), is_multiple=True)
    assert unfold(later, ["1. Red", "Not now"]) is None


def test_page_is_turned_with_what_was_chosen_on_it() -> None:
    """And left without it where the row says so."""
    rows = (*COLOURS, Row("More…", kind=RowKind.PAGE, page=1), Row("Leave", kind=RowKind.LEAVE, page=7))
    gathering = Dialog("", "?", rows, is_multiple=True, gathers=True, chosen=("9.",))
    assert unfold(gathering, ["1. Red", "More…"]) == PageTurn(1, ("9.", "1."))
    assert unfold(gathering, "2. Blue") == PageTurn(0, ("9.", "2."))
    assert unfold(gathering, ["2. Blue", "Leave"]) == PageTurn(7)
