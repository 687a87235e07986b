"""The protocols by id: what an asker may name, and what is asked then."""

from collections.abc import Iterable

import pytest

from assent.protocol.block import render_field, render_question
from assent.protocol.catalogue import PROTOCOLS, check_protocol, find_protocol, follow_protocol
from assent.protocol.error import BadPromptError, BadRequestError, UnrecognisedError
from assent.protocol.plan import ConfirmProtocol
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, question
from assent.protocol.reply import recognise
from tests.proves import proves

__all__: list[str] = []

SINGLE_CLOSED, SINGLE_FREE, MULTI_CLOSED, MULTI_FREE, HUMAN, AI = PROTOCOLS
OPTIONS = (Option("pg", "PostgreSQL"), Option("lite", "SQLite"))


def round_of(count: int, *, free: bool = False, options: Iterable[Option] = OPTIONS) -> Prompt:
    """Return a prompt with so many questions."""
    return Prompt(
        "Setup",
        fields=tuple(
            Field(f"q{number}", f"Which {number}?", tuple(options), free=free)
            for number in range(1, 1 + count)
        ),
    )


@proves("C1")
def test_six_protocols_go_by_their_ids() -> None:
    """C1: these and no others, each under its own id."""
    assert list(PROTOCOLS) == [
        "ask-single-question-closed",
        "ask-single-question-free",
        "ask-multi-question-closed",
        "ask-multi-question-free",
        "yield-human-confirm",
        "yield-ai-confirm",
    ]
    assert all(protocol.protocol_id == key for key, protocol in PROTOCOLS.items())


@proves("C2")
def test_protocols_are_referred_to_from_prompts_and_from_plans() -> None:
    """C2: four of them by whoever asks, two of them by the confirms of a plan, and none by both."""
    asked = {key for key, protocol in PROTOCOLS.items() if not protocol.is_confirm}
    assert {find_protocol(key).protocol_id for key in asked} == asked
    assert {member.value for member in ConfirmProtocol} == set(PROTOCOLS) - asked


@pytest.mark.parametrize("protocol_id", [HUMAN, AI, "ask-single-question", "ASK-SINGLE-QUESTION-FREE", ""])
def test_id_by_which_nothing_is_asked_is_refused(protocol_id: str) -> None:
    """A confirm is no question, and nothing is guessed from half an id."""
    with pytest.raises(BadRequestError):
        check_protocol(protocol_id, round_of(1))


@proves("C3", "C4", "C6")
def test_single_closed_question_is_one_question_with_fixed_options() -> None:
    """C3, C4, C6: anything more, and any other text, is refused before it is asked."""
    check_protocol(SINGLE_CLOSED, question("Which?", ["PostgreSQL", "SQLite"]))
    for prompt in (round_of(2), round_of(1, free=True), question("Which?")):
        with pytest.raises(BadPromptError):
            check_protocol(SINGLE_CLOSED, prompt)
    with pytest.raises(UnrecognisedError):
        recognise(question("Which?", ["PostgreSQL", "SQLite"]), "MySQL")


@proves("C8", "C9")
@pytest.mark.parametrize("label", ["其他（可填写）", "自由输入", "Another one"])
def test_single_free_question_takes_options_and_own_words(label: str) -> None:
    """C8, C9: one question with lettered options, the last of which stands for one's own words."""
    prompt = question("Which?", ["PostgreSQL", "SQLite"], free=True, other=label)
    check_protocol(SINGLE_FREE, prompt)
    assert render_field(prompt.fields[0]).split("\n") == ["A) PostgreSQL", "B) SQLite", f"C) {label}"]
    assert recognise(prompt, "b") == {"q1": ("SQLite",)}
    assert recognise(prompt, "C) MySQL") == recognise(prompt, "MySQL") == {"q1": ("MySQL",)}
    for wrong in (round_of(2, free=True), round_of(1)):
        with pytest.raises(BadPromptError):
            check_protocol(SINGLE_FREE, wrong)


@proves("C10")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_number_of_suggestions_is_advice_and_no_rule(count: int) -> None:
    """C10: 2 or 3 are preferred, and other numbers are asked all the same."""
    options = [f"Choice number {number}" for number in range(count)]
    prompt = question("Which?", options, free=True)
    check_protocol(SINGLE_FREE, prompt)
    assert check_prompt(prompt)


@proves("C15", "C18")
def test_closed_round_has_fixed_options_at_every_question() -> None:
    """C15, C18: one question that takes text, or has no options, makes it no closed round."""
    check_protocol(MULTI_CLOSED, round_of(3))
    shown = render_question(round_of(2)).split("\n")
    assert shown.count("A) PostgreSQL") == shown.count("B) SQLite") == 2
    assert not [line for line in shown if line.startswith("C)")]
    for wrong in (round_of(2, free=True), round_of(2, options=()), question("Which?", ["Red", "Blue"])):
        with pytest.raises(BadPromptError):
            check_protocol(MULTI_CLOSED, wrong)
    with pytest.raises(UnrecognisedError):
        recognise(round_of(2), "q1: A\nq2: MySQL")


@proves("C16")
@pytest.mark.parametrize(
    ("count", "most", "fits"),
    [(1, 4, False), (2, 4, True), (4, 4, True), (5, 4, False), (1, 1, True), (5, 6, True), (3, 2, False)],
)
def test_round_has_two_to_four_questions_or_what_the_asker_says(count: int, most: int, fits: bool) -> None:
    """C16, C-X8: one question goes by a single protocol; another most may lie outside 2 to 4."""
    if fits:
        check_protocol(MULTI_CLOSED, round_of(count), most)
    else:
        with pytest.raises(BadPromptError):
            check_protocol(MULTI_CLOSED, round_of(count), most)


@proves("C21", "C22")
def test_free_round_takes_own_words_at_every_question() -> None:
    """C21, C22: each question has lettered options and the free one last; answers come by key, over several lines."""
    prompt = follow_protocol(MULTI_FREE, round_of(2))
    shown = render_question(prompt)
    assert shown.count("C) Other: type your answer") == 2
    assert [line[:2] for line in shown.split("\n") if line.startswith("Q")] == ["Q1", "Q2"]
    typed = "q1: neither,\nas both are slow\n------\nq2: a"
    assert recognise(prompt, typed) == {"q1": ("neither,\nas both are slow",), "q2": ("pg",)}
    with pytest.raises(BadPromptError):
        check_protocol(MULTI_FREE, round_of(2))


@proves("C19")
def test_question_of_a_round_shows_its_context_and_examples() -> None:
    """C19: a question may have lines below it, and an option a line about it."""
    options = (Option("pg", "PostgreSQL", description="as in the old shop"), Option("lite", "SQLite"))
    fields = (
        Field("q1", "Which database?\nThe old shop has 40 tables.", options),
        Field("q2", "Since when?\nFor example: by Friday", free=True),
    )
    shown = render_question(Prompt("Setup", fields=fields)).split("\n")
    assert ": The old shop has 40 tables." in shown
    assert "A) PostgreSQL - as in the old shop" in shown
    assert ": For example: by Friday" in shown


def test_free_protocol_adds_own_words_and_a_closed_one_takes_none_away() -> None:
    """What an asker did not say follows from the protocol; what they said is never dropped."""
    assert follow_protocol(SINGLE_FREE, round_of(1)) == round_of(1, free=True)
    assert follow_protocol(SINGLE_CLOSED, round_of(1)) == round_of(1)
    with pytest.raises(BadPromptError):
        follow_protocol(SINGLE_CLOSED, round_of(1, free=True))


def test_gate_is_asked_by_no_protocol_of_questions() -> None:
    """Its commands are neither options nor words of one's own."""
    with pytest.raises(BadPromptError):
        check_protocol(
            SINGLE_CLOSED, Prompt("?", fields=(Field("q1", options=OPTIONS),), commands=("discard",))
        )
