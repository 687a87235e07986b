"""`input()` without a terminal: lines are what people typed, in their order, also after a restart."""

import builtins
from collections.abc import Iterator

import pytest

from assent.hosts.stdin import EMPTY_LINE, ask_instead_of_input, human_input
from assent.protocol.error import Declined, KeyReusedError, StillOpen
from assent.testing import ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store of the test's own."""
    with throwaway() as made:
        yield made


def test_program_that_reads_lines_gets_them_from_a_person(store: ThrowawayStore) -> None:
    """The program is as it was; afterwards so is `input`."""
    before = builtins.input
    with store.scripted_person() as ana:
        ana.will_answer("Your name?", "Ana").will_answer("How old?", "a")
        with ask_instead_of_input(store.agent(), wait=PATIENCE):
            lines = [input("Your name? "), input("How old?")]
    assert lines == ["Ana", "a"]
    assert builtins.input is before


def test_program_that_was_started_again_gets_its_lines_again(store: ThrowawayStore) -> None:
    """Under a key the first question is the first ask, in every process."""
    agent = store.agent()
    with pytest.raises(StillOpen), ask_instead_of_input(agent, key="job", wait=0):
        input("One?")
    store.person().answer(agent.inbox()[0].ask_id, "1st")
    with store.scripted_person() as ana:
        ana.will_answer("Two?", "2nd")
        with ask_instead_of_input(agent, key="job", wait=PATIENCE):
            assert [input("One?"), input("Two?")] == ["1st", "2nd"]
    assert len(agent.inbox(all_states=True)) == 2
    with pytest.raises(KeyReusedError), ask_instead_of_input(agent, key="job", wait=0):
        input("Something else?")


def test_same_question_twice_is_asked_twice(store: ThrowawayStore) -> None:
    """A loop that asks until it likes the answer must not hear the old one for ever."""
    with store.scripted_person() as ana:
        ana.will_answer("Go on?", "n").will_answer("Go on?", "y")
        with ask_instead_of_input(store.agent(), key="job", wait=PATIENCE):
            assert [input("Go on?"), input("Go on?")] == ["n", "y"]


def test_empty_line_is_sent_in_words_and_every_ask_says_so(store: ThrowawayStore) -> None:
    """Enter means something to many programs, and an empty answer is none."""
    with store.scripted_person() as ana:
        ana.will_answer("Port [80]:", EMPTY_LINE)
        line = human_input("Port [80]:", client=store.agent(), wait=PATIENCE)
    assert line == ""
    assert EMPTY_LINE in ana.seen[0].prompt.body


@pytest.mark.parametrize(
    ("prompt", "title", "shown"),
    [("", "", "The program waits for a line."), ("\u200b", "Feedback?", "Feedback?"), (7, "", "7")],
    ids=["nothing", "nothing to see", "a number"],
)
def test_prompt_that_shows_nothing_gets_a_title(
    store: ThrowawayStore, prompt: object, title: str, shown: str
) -> None:
    """Some programs print their question and call `input()` bare."""
    with pytest.raises(StillOpen):
        human_input(prompt, client=store.agent(), title=title, wait=0)
    assert store.agent().inbox()[0].prompt.title == shown


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["line feed", "both", "carriage return"])
def test_line_has_no_end_of_line_in_it(store: ThrowawayStore, end: str) -> None:
    """`input` never returns one, and programs rely on it."""
    with store.scripted_person() as ana:
        ana.will_answer("Text?", f"two{end}lines")
        assert human_input("Text?", client=store.agent(), wait=PATIENCE) == "two lines"


def test_declined_line_is_raised_and_input_comes_back(store: ThrowawayStore) -> None:
    """A no is neither an empty line nor the end of the input."""
    before = builtins.input
    with store.scripted_person() as ana:
        ana.will_decline("Password?", "never")
        with pytest.raises(Declined), ask_instead_of_input(store.agent(), wait=PATIENCE):
            input("Password?")
    assert builtins.input is before
