"""Repeated questions and confirmations, also those that try not to look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.open_question import MAX_QUESTION_TEXT, MAX_QUESTIONS, Question
from assent.protocol.repeat import digest_questions, is_confirmation, normalise, sift
from tests.effort import MUCH, effort
from tests.notification_samples import QUESTIONS, new_question
from tests.protocol.strategies import modest, texts

__all__: list[str] = []


def ask(*words: str) -> tuple[Question, ...]:
    """Return questions with these texts."""
    return tuple(new_question(number, text) for number, text in enumerate(words, start=1))


def kept(new: tuple[str, ...], before: tuple[str, ...] = (), *, had_confirmation: bool = False) -> list[str]:
    """Return the texts that people are still asked."""
    return [question.text for question in sift(ask(*new), before, had_confirmation)]


# Normal form


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Which database?", "which database"),
        ("  WHICH\t\n database ", "which database"),
        ("which\u00a0database?!", "which database"),
        ("Which database ?", "which database"),
        ("Which database…", "which database"),
        ("Welche Datenbank？", "welche datenbank"),
        ("Какая база?", "какая база"),
        ("Use C#?", "use c#"),
        ("Use C++?", "use c++"),
        ("What of f()?", "what of f()"),
        ("?!", ""),
        ("", ""),
    ],
    ids=ascii,
)
def test_normal_form_is_trimmed_lower_collapsed_and_without_an_end(text: str, normal: str) -> None:
    """Q-X5. Signs that mean something are no punctuation: C and C# are two languages."""
    assert normalise(text) == normal


@modest
@given(texts)
def test_normal_form_has_itself_as_normal_form(text: str) -> None:
    """Otherwise a text that was stored as such would be asked again."""
    assert normalise(normalise(text)) == normalise(text)


# Repeats

TWINS = [
    "Which database?",
    "which DATABASE",
    "  Which   database ?! ",
    "Whіch dаtаbаsе?",  # Cyrillic letters
    "Which\u200b data\u00adbase?\u200b",
    "Ｗｈｉｃｈ database？",
    "𝐖𝐡𝐢𝐜𝐡 database?",
    "Which database?\u2060.",
]


@pytest.mark.parametrize("twin", TWINS, ids=ascii)
def test_question_that_looks_like_one_asked_before_is_dropped(twin: str) -> None:
    """Q-X5: in a cycle nobody is asked twice, in whichever letters."""
    assert kept((twin, "And which port?"), before=("Which database?",)) == ["And which port?"]
    assert kept(("Which database?",), before=(twin,)) == []


def test_question_that_stands_twice_in_one_result_is_asked_once() -> None:
    """The first of them, with its id."""
    assert sift(ask("Which?", "Why?", "which"), (), had_confirmation=False) == ask("Which?", "Why?")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use C?", "Use C#?"),
        ("Which database?", "Which databases?"),
        ("Is it 2?", "Is it 3?"),
        ("Wie groß?", "Wie gross ist es?"),
        ("База?", "Баз?"),
        ("数据库" * 200 + "一", "数据库" * 200 + "二"),
    ],
    ids=ascii,
)
def test_question_that_is_another_one_is_asked(one: str, other: str) -> None:
    """Twin: a question that nobody was asked costs work on a guess."""
    assert kept((other,), before=(one,)) == [other]


def test_nothing_remains_where_all_was_asked_before() -> None:
    """Q-X5: the result then counts as one without questions."""
    assert kept(("Which database?", " which database"), before=("WHICH DATABASE",)) == []


# Confirmations

CONFIRMATIONS = [
    "Are you sure?",
    "are you SURE you want to delete all the tasks or only some",
    "Are you really sure that is what you want?",
    "Are you certain?",
    "This deletes three tables. Are you sure?",
    "Delete everything? Are you sure?",
    "Please confirm.",
    "Please confirm that version 1.2 goes, e.g. for all users.",
    "Please confirm that this is what you want.",
    "Please confirm: that's how it should be?",
    "Please confirm, yes or no?",
    "Could you confirm whether or not it goes?",
    "Do you really want to drop the column?",
    "Shall I proceed?",
    "Should we go ahead with it?",
    "Are you **sure**?",
    "Аrе уоu ѕurе?",  # Cyrillic letters
    "Are\u200b you\u00a0su\u00adre\u2060?",
    "ＡＲＥ ＹＯＵ ＳＵＲＥ？",
    "Das löscht alles. " * 50 + "Are you sure？",
]
OTHERS = [
    "",
    "?",
    "Which database should we use: PostgreSQL or SQLite?",
    "Should the API support pagination?",
    "Please confirm which database you want.",
    "Please confirm the name and what port to use.",
    "Please confirm PostgreSQL or SQLite.",
    "Which database should we use? Please confirm.",
    "Please confirm. How many users are there?",
    "PostgreSQL or SQLite? Are you sure?",
    "What do you really want here?",
    "Which of them are you sure about?",
    "Should we proceed with PostgreSQL or with SQLite?",
    "How should the confirm dialog look?",
    "Are you sureties?",
    "Where are your sure-fire examples?",
    "Sind Sie sicher?",
    "Das löscht alles. " * 50 + "Are you sure? Which of them?",
]


@pytest.mark.parametrize("text", CONFIRMATIONS, ids=ascii)
def test_question_that_asks_for_mere_assent_is_a_confirmation(text: str) -> None:
    """Q-X4, the three phrases and their like, in whichever letters."""
    assert is_confirmation(text)


@pytest.mark.parametrize("text", OTHERS, ids=ascii)
def test_question_that_asks_for_more_is_no_confirmation(text: str) -> None:
    """Twin: what only sounds like one is asked. Phrases of other languages are not known."""
    assert not is_confirmation(text)


def test_only_the_first_confirmation_of_a_cycle_is_asked() -> None:
    """Q11: at most one, whether it comes in the same result or in a later one."""
    new = ("Are you sure?", "Which one?", "Do you really want that?", "Please confirm.")
    assert kept(new) == ["Are you sure?", "Which one?"]
    assert kept(new, had_confirmation=True) == ["Which one?"]
    assert kept(("Please confirm.",), ("Are you sure?",), had_confirmation=True) == []


@modest
@given(
    st.lists(st.sampled_from([*CONFIRMATIONS, *OTHERS[2:]]) | texts.filter(str.strip), max_size=8),
    st.lists(st.sampled_from([*CONFIRMATIONS, *OTHERS]), max_size=4),
    st.booleans(),
)
def test_cycle_never_asks_a_second_confirmation_nor_a_question_twice(
    new: list[str], before: list[str], had_confirmation: bool
) -> None:
    """Q11 and Q12 as a property: what is left is in order, new, and sifted once for all."""
    asked = sift(ask(*new), before, had_confirmation)
    left = [question.text for question in asked]
    assert sum(map(is_confirmation, left)) <= (0 if had_confirmation else 1)
    assert sift(asked, before, had_confirmation) == asked
    assert sift(ask(*new), [*before, *left], had_confirmation or any(map(is_confirmation, left))) == ()
    assert [text for text in new if text in left][:1] == left[:1]


# Sets


def test_set_of_questions_is_the_same_in_any_order_with_any_ids() -> None:
    """Q-X5 (b): an agent that is run again gets other ids for the same questions."""
    again = (new_question(8, " should the api support pagination"), new_question(9, QUESTIONS[0].text))
    assert digest_questions(again) == digest_questions(QUESTIONS)
    assert digest_questions([*QUESTIONS, *again]) == digest_questions(QUESTIONS)


@pytest.mark.parametrize(
    "other", [(), QUESTIONS[:1], (*QUESTIONS, new_question(3)), ask("Which?", "Why?")], ids=len
)
def test_set_with_a_question_more_or_less_is_another(other: tuple[Question, ...]) -> None:
    """Twin of the test above."""
    assert digest_questions(other) != digest_questions(QUESTIONS)


def test_digest_of_a_set_is_the_same_in_every_process() -> None:
    """It is stored; Python orders a set differently each time that it starts."""
    assert digest_questions(ask(*"hgfedcba")) == (
        "sha256:f83b6048ac96107f71b33a95d956422e4774f9bdd452f46033c2c9cfdbb56925"
    )


def test_texts_cannot_be_put_together_to_look_like_another_set() -> None:
    """Where one question ends is part of the digest."""
    assert digest_questions(ask("a b", "c")) != digest_questions(ask("a", "b c"))


def test_long_question_is_found_again_by_its_normal_form() -> None:
    """How its letters are drawn is looked at in shorter ones only."""
    long = "Какая база данных? " * 40
    assert kept((long.upper(), "Which?"), before=(f" {long}?",)) == ["Which?"]


@pytest.mark.parametrize(
    "unit",
    [
        "are you ",
        "?",
        ". ",
        "!? ",
        " ",
        "a\u0301",
        "\u0301",
        "я ",
        "please confirm which ",
        "\u200b?",
        "１．",
        "ﷺ",
    ],
    ids=ascii,
)
def test_largest_text_takes_no_time_whatever_it_repeats(unit: str) -> None:
    """No rule of these may blow up: a whole cycle of the longest questions takes well under a second."""
    for size in (490, MAX_QUESTION_TEXT - 4):
        long = (unit * MAX_QUESTION_TEXT)[:size]
        with effort() as spent:
            new = ask(*(f"{long}{number}" for number in range(MAX_QUESTIONS)))
            assert len(sift(new, [long] * 10, had_confirmation=False)) <= MAX_QUESTIONS
        assert spent.loops < MUCH
