"""A flow on a surface, in memory: only recognised replies go in, and no reply is no decision."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assent.client.drive import drive
from assent.effects.document import document_performers
from assent.flows.document import read_document, write_document
from assent.flows.question import Answers, Questions, question_round
from assent.flows.step import Answered, Ask, Done, Ended, Failed, Flow, ask, say
from assent.protocol.ask import State
from assent.protocol.error import AssentError, BadPromptError, BadRequestError, StillOpen
from assent.protocol.prompt import Field, Prompt, question

__all__: list[str] = []

WHICH = question("Which database?", ["PostgreSQL", "SQLite"])


class Script:
    """A surface that reads its replies from a list and remembers what it showed."""

    def __init__(self, *replies: str | Ended) -> None:
        self.replies = list(replies)
        self.shown: list[str] = []

    def present(self, ask: Ask) -> None:
        self.shown.append(ask.prompt.title)

    def read(self) -> str | Ended | None:
        return self.replies.pop(0) if self.replies else None

    def echo(self, ask: Ask, refusal: AssentError) -> None:  # noqa: ARG002 - a real one shows the options again
        self.shown.append(refusal.message)

    def say(self, markdown: str) -> None:
        self.shown.append(markdown)


def one_question() -> Flow[Answered | Ended]:
    """Ask, and return what comes."""
    came = yield from ask(WHICH)
    yield from say("Thank you.")
    return came


def test_flow_receives_a_recognised_reply() -> None:
    """With the text as it was typed, and who typed it."""
    surface = Script("b)")
    came = drive(one_question(), surface, by="human:ana")
    assert came == Answered({"q1": ("SQLite",)}, "b)", "human:ana")
    assert surface.shown == ["Which database?", "Thank you."]


@pytest.mark.parametrize("wrong", ["", "   ", "3", "Postgres", "yes", "x" * 70_000])
def test_unrecognised_reply_is_echoed_and_asked_for_again(wrong: str) -> None:
    """As often as it takes; nothing of it reaches the flow."""
    surface = Script(wrong, wrong, "2")
    came = drive(one_question(), surface)
    assert isinstance(came, Answered)
    assert came.values == {"q1": ("SQLite",)}
    assert len(surface.shown) == 4
    assert surface.shown[1] == surface.shown[2] != ""


def test_no_reply_is_no_decision() -> None:
    """The flow stops where it is and is told nothing, not even that."""
    reached: list[str] = []

    def flow() -> Flow[None]:
        try:
            yield from ask(WHICH)
            reached.append("went on")
        finally:
            reached.append("closed")

    with pytest.raises(StillOpen):
        drive(flow(), Script("what?"))
    assert reached == ["closed"]


def test_surface_that_runs_dry_is_not_taken_for_the_end_of_the_flow() -> None:
    """A StopIteration from a surface is its fault, never a result."""

    class Dry(Script):
        def read(self) -> str | Ended | None:
            return next(iter(()))

    with pytest.raises(StopIteration):
        drive(one_question(), Dry())


def test_no_to_being_asked_reaches_the_flow_as_such() -> None:
    """Where a surface has a button for it, a no is not an empty answer."""
    no = Ended(State.DECLINED, "not mine", "human:ana")
    assert drive(one_question(), Script(no)) == no


def test_prompt_that_nobody_could_answer_is_refused_before_it_is_shown() -> None:
    """In memory as in a store."""
    surface = Script("1")
    with pytest.raises(BadPromptError):
        drive(ask(Prompt("Which?", "", (Field("q1"),))), surface)
    assert surface.shown == []


def test_round_of_five_questions_is_asked_in_two() -> None:
    """The same flow plays in memory and with a journal."""
    fields = tuple(Field(f"q{number}", "Why?", free=True) for number in range(1, 6))
    surface = Script("q1: a\nq2: b\nq3: c", "q1: d\nq2: e")
    answers = drive(question_round(Questions(fields, "Reasons")), surface)
    assert answers == Answers({f"q{number}": (letter,) for number, letter in enumerate("abcde", 1)})
    assert surface.shown == ["Reasons (1 of 2)", "Reasons (2 of 2)"]


def append(path: str, line: bytes) -> Flow[Done | Failed]:
    """Append to a document."""
    found = yield from read_document(path)
    if isinstance(found, Failed):
        return found
    return (yield from write_document(path, found, found.content + line))


def test_effect_is_done_by_the_performers_that_were_passed_in(tmp_path: Path) -> None:
    """And a refusal is a result that the flow can handle."""
    performers = document_performers(tmp_path)
    assert drive(append("log.md", b"one\n"), Script(), performers) == Done()
    assert drive(append("log.md", b"two\n"), Script(), performers) == Done()
    assert (tmp_path / "log.md").read_bytes() == b"one\ntwo\n"
    refused = drive(append("../log.md", b"three\n"), Script(), performers)
    assert isinstance(refused, Failed)
    assert refused.code == "path_refused"


def test_effect_without_a_performer_stops_the_flow() -> None:
    """It is never skipped."""
    with pytest.raises(BadRequestError, match="Nobody here performs ReadDocument"):
        drive(append("log.md", b""), Script())


@pytest.mark.parametrize("thing", ["a text", None, 3], ids=str)
def test_thing_that_is_no_step_stops_the_flow(thing: object) -> None:
    """Otherwise a flow could go on with nothing in its hands."""

    def flow() -> Flow[str]:
        yield thing  # type: ignore[misc]  # the fault is the point
        return "went on"

    make: Callable[[], Flow[str]] = flow
    with pytest.raises(AssertionError):
        drive(make(), Script())
