"""What a flow yields and receives: values with a digest, and no way past a step without its result."""

import msgspec
import pytest
from msgspec.structs import replace

from assent.flows.document import ReadDocument, WriteDocument
from assent.flows.step import (
    Answered,
    Ask,
    Done,
    Effect,
    Ended,
    Failed,
    Flow,
    Result,
    Said,
    Say,
    Step,
    ask,
    do,
    say,
    step_digest,
)
from assent.protocol.ask import Kind, State
from assent.protocol.canonical import canonical
from assent.protocol.prompt import question

__all__: list[str] = []

PROMPT = question("Which database?", ["PostgreSQL", "SQLite"])
STEPS: list[Step] = [
    Ask(PROMPT),
    Ask(PROMPT, Kind.GATE),
    Ask(replace(PROMPT, body="More.")),
    Say("Hello."),
    Say("Hello"),
    ReadDocument("plan.md"),
    WriteDocument("plan.md", None, b""),
    WriteDocument("plan.md", "sha256:0", b""),
    WriteDocument("plan.md", None, b"\xff"),
]


class Ring(Effect, frozen=True):
    """An effect of a test."""

    bell: str


class Hang(Effect, frozen=True):
    """Another one with the same fields."""

    bell: str


def test_different_steps_have_different_digests() -> None:
    """A journal knows a step by its digest, so whatever differs must show in it."""
    assert len({step_digest(step) for step in STEPS}) == len(STEPS)


def test_equal_steps_have_equal_digests() -> None:
    """A resumed flow makes its steps anew."""
    again = Ask(question("Which database?", ["PostgreSQL", "SQLite"]))
    assert step_digest(again) == step_digest(STEPS[0])


def test_effects_of_two_kinds_differ_even_with_equal_fields() -> None:
    """An effect that forgot to name its kind goes by its class."""
    assert step_digest(Ring("door")) != step_digest(Hang("door"))


def test_field_at_its_default_is_not_spelled_in_a_step() -> None:
    """A later version may add a field with a default without a change of old steps' digests."""
    assert b"kind" not in canonical(Ask(PROMPT))
    assert b'"kind":"gate"' in canonical(Ask(PROMPT, Kind.GATE))


@pytest.mark.parametrize(
    "result",
    [
        Answered({"q1": ("SQLite",)}, "2", "human:ana"),
        Ended(State.DECLINED, "not now", "human:ana"),
        Said(),
        Done(),
        Done({"found": [1, None]}),
        Failed("world_changed", "Somebody changed it."),
    ],
    ids=lambda result: type(result).__name__,
)
def test_result_survives_its_json_form(result: Result) -> None:
    """A resumed flow receives what the first run received."""
    assert msgspec.json.decode(canonical(result), type=Result) == result


def test_flow_receives_each_result_with_its_type() -> None:
    """A flow waits at every step: it has nothing to go on with before the result is sent in."""

    def flow() -> Flow[list[object]]:
        answer = yield from ask(PROMPT)
        yield from say("Thanks.")
        done = yield from do(Ring("door"))
        return [answer, done]

    talk = flow()
    assert next(talk) == Ask(PROMPT)
    assert talk.send(Answered({"q1": ("SQLite",)})) == Say("Thanks.")
    assert talk.send(Said()) == Ring("door")
    with pytest.raises(StopIteration) as end:
        talk.send(Done())
    assert end.value.value == [Answered({"q1": ("SQLite",)}), Done()]


@pytest.mark.parametrize(
    ("flow", "wrong"),
    [(ask(PROMPT), Said()), (say("Hello."), Done()), (do(Ring("door")), Answered({}))],
    ids=["ask", "say", "do"],
)
def test_result_of_another_step_is_refused_by_the_flow(flow: Flow[object], wrong: Result) -> None:
    """Twin of the test above: a driver that mixes results up is found out at once."""
    next(flow)
    with pytest.raises(TypeError, match="A driver answered"):
        flow.send(wrong)
