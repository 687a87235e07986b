"""One gate by itself, as a pure flow: what changes marks comes back to it, everything else leads away."""

from collections.abc import Sequence

import pytest

from assent.flows.choose import Chosen, choose, render_choice
from assent.flows.session.finding import Session, begin, enter
from assent.flows.step import Answered, Ask, Ended, Result, Said, Say
from assent.protocol.ask import State
from assent.protocol.gate import (
    CHUNK_LOOP,
    CHUNK_PLAN,
    PHASE_GATE,
    POST_ONLY,
    SYNTHESIS,
    Choice,
    Context,
    Gate,
)
from assent.protocol.reply import recognise
from assent.protocol.review import Category, Chunk, Finding, PullRequest, Review, Severity
from tests.proves import proves

__all__: list[str] = []


def session() -> Session:
    """Return a session with the findings H1, M1 and L1."""
    findings = tuple(
        Finding(severity, f"Finding {line}", "a.py", line, Category.BUG, 90, "It is so.")
        for line, severity in enumerate(Severity, start=1)
    )
    review = Review(PullRequest("acme", "shop", 7, "0123456"), (Chunk("all", ("a.py",), 20, findings),))
    return enter(begin(review, ""), 1)


def play(
    context: Context, replies: Sequence[str | Ended], held: Session | None = None
) -> tuple[object, list[str]]:
    """Play a gate with typed replies; return what came of it and the titles that were asked, with what was said."""
    ids = () if held is None else tuple(each.finding_id for each in held.held)
    flow = choose(Gate(context, "Here.", ids, 3), held)
    left: list[str | Ended] = list(replies)
    shown: list[str] = []
    result: Result | None = None
    while True:
        try:
            step = next(flow) if result is None else flow.send(result)
        except StopIteration as end:
            assert not left
            return end.value, shown
        if isinstance(step, Say):
            shown.append(step.markdown)
            result = Said()
        else:
            assert isinstance(step, Ask)
            shown.append(step.prompt.title)
            reply = left.pop(0)
            result = reply if isinstance(reply, Ended) else Answered(recognise(step.prompt, reply), reply)


@proves("G40")
def test_deselect_changes_marks_and_asks_again() -> None:
    """The result has what remains."""
    came, shown = play(CHUNK_LOOP, ["deselect m1", "1"], session())
    assert came == Chosen(Choice("Continue"), ("H1", "L1"))
    assert shown == ["Chunk Loop", "Marked for posting: H1, L1.", "Chunk Loop"]


@proves("G43")
@pytest.mark.parametrize(
    ("replies", "marked"),
    [
        (["none"], ()),
        (["none", "all"], ("H1", "M1", "L1")),
        (["toggle h1 l1"], ("M1",)),
        (["toggle h1", "toggle h1, m1"], ("H1", "L1")),
        (["select specific h1"], ("M1", "L1")),
    ],
)
def test_marks_are_turned_at_the_post_only_gate(replies: list[str], marked: tuple[str, ...]) -> None:
    """Each command comes back to the gate."""
    came, _ = play(POST_ONLY, [*replies, "1"], session())
    assert came == Chosen(Choice("Post all marked"), marked)


def test_select_specific_marks_only_those_at_the_synthesis() -> None:
    """Whatever was marked before."""
    came, _ = play(SYNTHESIS, ["select specific m1", "3", "l1, h1", "2"], session())
    assert came == Chosen(Choice("Post only Action Required"), ("H1", "L1"))


@pytest.mark.parametrize(
    ("context", "replies", "choice"),
    [
        (PHASE_GATE, ["2", "Types"], Choice("Set focus", ("types",))),
        (PHASE_GATE, ["set focus types"], Choice("Set focus", ("types",))),
        (PHASE_GATE, ["2", "back", "1"], Choice("Proceed")),
        (CHUNK_PLAN, ["skip to chunk n", "2"], Choice("Skip to chunk N", ("2",))),
        (CHUNK_LOOP, ["Deep-dive", "h1"], Choice("Deep-dive", ("H1",))),
        (CHUNK_LOOP, ["discard", "n", "discard", "y"], Choice("discard")),
        (PHASE_GATE, ["pause"], Choice("pause")),
    ],
)
def test_everything_else_leads_away(context: Context, replies: list[str], choice: Choice) -> None:
    """With what it needs, asked for once where it was not typed."""
    came, _ = play(context, replies, session())
    assert came == Chosen(choice, ("H1", "M1", "L1"))


def test_gate_without_findings_marks_nothing() -> None:
    """There is nothing to mark, and the result says so."""
    came, shown = play(CHUNK_LOOP, ["2"])
    assert came == Chosen(Choice("Deep-dive"), None)
    assert shown == ["Chunk Loop"]


def test_gate_that_ended_without_an_answer_is_no_choice() -> None:
    """A declined follow-up leads back to the gate; a declined gate is the end."""
    no = Ended(State.DECLINED, "later", "human:ana")
    assert play(PHASE_GATE, ["2", no, no])[0] == no


@pytest.mark.parametrize(
    ("context", "choice", "text"),
    [
        (CHUNK_LOOP, Choice("Continue"), "Continue"),
        (CHUNK_PLAN, Choice("Skip to chunk N", ("3",)), "Skip to chunk 3"),
        (CHUNK_PLAN, Choice("Skip to chunk N"), "Skip to chunk N"),
        (POST_ONLY, Choice("toggle", ("H1", "L1")), "toggle H1, L1"),
        (Context("Deploy", ("Go",), ("note: {text}",)), Choice("note", ("a, b",)), "note: a, b"),
        (Context("Plan", ("Go",), ("build N",)), Choice("build n"), "build n"),
    ],
)
def test_choice_is_spelled_as_it_would_be_typed(context: Context, choice: Choice, text: str) -> None:
    """So that a script can compare it."""
    assert render_choice(Gate(context, "Here.", ("H1", "L1"), 3).prompt, choice) == text
