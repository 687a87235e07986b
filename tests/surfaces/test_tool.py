"""Gates through selection tools that are as strict as the real ones: the same inputs, the same result as in plain text."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from assent.client.drive import Surface, drive
from assent.effects.performer import Intention, Performers, World
from assent.flows.gate import AddTodo, pass_gate
from assent.flows.question import Answers, Questions, question_round
from assent.flows.step import Answered, Ask, Ended, Flow, ask
from assent.protocol.answer import FieldValues
from assent.protocol.dialog import Dialog, Given
from assent.protocol.error import StillOpen
from assent.protocol.gate import (
    CHUNK_LOOP,
    CONTEXTS,
    PHASE_GATE,
    SYNTHESIS,
    Choice,
    Context,
    Gate,
    render_gate,
)
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.surfaces.tool import FallbackSurface, ToolFailedError, ToolSurface
from tests.proves import proves
from tests.surfaces.tools import AcpPermission, ClaudeCode, Codex, McpForm, Person, PlainText, Tool

__all__: list[str] = []

IDS = ("H1", "M1", "L1")
TOOLS: list[type[Tool]] = [ClaudeCode, Codex, McpForm, AcpPermission]
TYPING: list[type[Tool]] = [ClaudeCode, Codex, McpForm]


class Todos:
    """Performs by remembering."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def intend(self, effect: AddTodo) -> Intention:
        return Intention(effect.text)

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - every task is a new one
        return World.BEFORE

    def perform(self, intention: Intention) -> None:
        self.kept.append(intention.path)


class Came(NamedTuple):
    """What came of a gate."""

    choice: Choice | Ended
    said: list[str]
    kept: list[str]


def gate(context: Context) -> Gate:
    """Return a gate with findings and chunks."""
    return Gate(context, "Chunk 2 of 5. 3 findings.", IDS, 5)


def play(surface: Surface, said: list[str], context: Context) -> Came:
    """Play the gate to its end."""
    todos = Todos()
    performers: Performers = {AddTodo: todos}
    return Came(drive(pass_gate(gate(context)), surface, performers), said, todos.kept)


def play_tool(kind: type[Tool], context: Context, *inputs: Given) -> tuple[Came, Tool]:
    """Play it through a tool."""
    tool = kind(Person(*inputs))
    said: list[str] = []
    came = play(ToolSurface(tool.select, tool.capability, said.append), said, context)
    assert not tool.person.inputs
    return came, tool


def play_text(context: Context, *inputs: str) -> Came:
    """Play it in plain text."""
    surface = PlainText(*inputs)
    came = play(surface, surface.said, context)
    assert not surface.inputs
    return came


OPTIONS = [
    (context, text)
    for context in CONTEXTS.values()
    for number, label in enumerate(context.options, start=1)
    for text in (str(number), label.upper())
]
COMMANDS: list[tuple[Context, tuple[str, ...]]] = [
    (CHUNK_LOOP, ("discard", "y")),
    (CHUNK_LOOP, ("discard", "yes")),
    (CHUNK_LOOP, ("discard", "n", "1")),
    (CHUNK_LOOP, ("deselect H1",)),
    (CHUNK_LOOP, ("deselect H1, L1", "yes")),
    (CHUNK_LOOP, ("deselect M1 L1", "no", "deselect M1")),
    (CHUNK_LOOP, ("deep-dive M1",)),
    (CHUNK_LOOP, ("pause",)),
    (PHASE_GATE, ("set focus security",)),
    (PHASE_GATE, ("pause",)),
    (CONTEXTS["Chunk Plan"], ("skip to chunk 3",)),
    (CONTEXTS["Deep-dive"], ("pause",)),
    (SYNTHESIS, ("discard", "no", "discard", "y")),
    (SYNTHESIS, ("select specific H1, M1",)),
    (SYNTHESIS, ("deep-dive L1",)),
    (CONTEXTS["Post-only"], ("toggle H1 M1",)),
    (CONTEXTS["Post-only"], ("all",)),
    (CONTEXTS["Post-only"], ("none",)),
    (CONTEXTS["Visual Discovery"], ("pause",)),
    (CONTEXTS["Continue (mismatch)"], ("pause",)),
]
TYPED: list[tuple[Context, tuple[str, ...]]] = [
    (CHUNK_LOOP, ("todo: look again", "1")),
    (PHASE_GATE, ("TODO: ask Ana", "todo: and Sam", "Cancel")),
    (CHUNK_LOOP, ("discard", "maybe", "2")),
    (CHUNK_LOOP, ("deselect H1, H9", "deselect H1")),
    (CHUNK_LOOP, ("9", "0", "con", "1. Deep-dive", "continue")),
    (CHUNK_LOOP, ("todo:", "deselect", "toggle H1", "4")),
    (CONTEXTS["Visual Discovery"], ("proceed", "discard", "a", "3)")),
    (CONTEXTS["Chunk Plan"], ("skip to chunk 9", "skip to chunk 5")),
    (CONTEXTS["Deep-dive"], ("1, 2", "1 2", "4.")),
    (CONTEXTS["Continue (mismatch)"], ("yes", "q1: 1", "Start fresh")),
]


@proves("G44", "G5")
@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize(("context", "text"), OPTIONS, ids=str)
def test_every_option_of_every_gate_gives_the_same_through_a_tool(
    kind: type[Tool], context: Context, text: str
) -> None:
    """By number and by label, with a row or typed."""
    came, tool = play_tool(kind, context, text)
    assert came == play_text(context, text)
    assert tool.requests


@proves("G44", "G7")
@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize(("context", "inputs"), COMMANDS, ids=str)
def test_every_command_gives_the_same_through_a_tool(
    kind: type[Tool], context: Context, inputs: tuple[str, ...]
) -> None:
    """Also where nothing can be typed and three rows are all there is; checks included."""
    assert play_tool(kind, context, *inputs)[0] == play_text(context, *inputs)


@proves("G44")
@pytest.mark.parametrize("kind", TYPING)
@pytest.mark.parametrize(("context", "inputs"), TYPED, ids=str)
def test_text_gives_the_same_through_a_tool_right_or_wrong(
    kind: type[Tool], context: Context, inputs: tuple[str, ...]
) -> None:
    """Tasks are kept, and what is wrong is asked for again, as in plain text."""
    assert play_tool(kind, context, *inputs)[0] == play_text(context, *inputs)


@proves("G6")
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.name)
def test_gate_is_never_more_than_the_strict_tools_take(context: Context) -> None:
    """The tools of these tests refuse what the real ones do, so a request that came through was within the limits."""
    for kind in TOOLS:
        last = str(len(context.options))
        _, tool = play_tool(kind, context, last)
        assert tool.requests


def test_planted_request_over_the_limits_is_refused_by_the_strict_tool() -> None:
    """Twin: a tool of these tests that took anything would prove nothing."""
    five = tuple(Option(str(n), str(n)) for n in range(5))
    flow = ask(Prompt("Which?", fields=(Field("q1", options=five),)))
    wide = ToolSurface(ClaudeCode(Person("1")).select, McpForm.capability, print)
    with pytest.raises(ToolFailedError, match="length <= 4"):
        drive(flow, wide)


# What was not recognised.


@proves("G17", "G18", "G20")
@pytest.mark.parametrize("kind", TYPING)
def test_unrecognised_reply_is_echoed_above_the_list_for_ever(kind: type[Tool]) -> None:
    """In the next dialog, without the context, with the same rows."""
    wrong = [f"nonsense {number}" for number in range(50)]
    _, tool = play_tool(kind, CHUNK_LOOP, *wrong, "2")
    first, *again = tool.person.seen
    assert "3 findings" in first.text
    for text, dialog in zip(wrong, again, strict=True):
        assert dialog.text.startswith(f'I didn\'t recognize "{text}".')
        assert "3 findings" not in dialog.text
        assert dialog.rows == first.rows


def test_host_with_a_bound_gets_no_decision_when_it_is_reached() -> None:
    """And never an answer."""
    person = Person(*["nonsense"] * 20)
    tool = McpForm(person)
    surface = ToolSurface(tool.select, tool.capability, print, most=9)
    with pytest.raises(StillOpen):
        drive(pass_gate(gate(CHUNK_LOOP)), surface)
    assert len(tool.requests) == 9


@pytest.mark.parametrize("kind", TOOLS)
@pytest.mark.parametrize("inputs", [(), (None,), (["None of the above"],), ("",)], ids=str)
def test_empty_cancelled_or_timed_out_dialog_is_no_decision(
    kind: type[Tool], inputs: tuple[Given, ...]
) -> None:
    """The ask stays open."""
    if kind is AcpPermission:
        inputs = inputs[:0]
    with pytest.raises(StillOpen):
        play_tool(kind, CHUNK_LOOP, *inputs)


def test_check_that_nobody_answers_confirms_nothing() -> None:
    """The discard is not done, and nothing else either."""
    with pytest.raises(StillOpen):
        play_tool(ClaudeCode, CHUNK_LOOP, "discard")


# Rounds.


FIELDS = (
    Field("db", "Which database?", (Option("pg", "PostgreSQL"), Option("sq", "SQLite"))),
    Field("name", "What name?", free=True),
    Field(
        "days", "Which days?", tuple(Option(d, d) for d in ("Mon", "Tue", "Wed", "Thu", "Fri")), multiple=True
    ),
    Field("sure", "Sure?", (Option("yes", "yes"), Option("no", "no"))),
    Field("own", "Why?", (Option("fun", "Fun"), Option("need", "Need")), free=True),
)
EXPECTED = {
    "db": ("sq",),
    "name": ("Ada\nq2: Lovelace",),
    "days": ("Mon", "Fri"),
    "sure": ("no",),
    "own": ("because",),
}


@pytest.mark.parametrize("kind", TYPING)
def test_round_is_asked_in_as_many_calls_as_the_tool_needs(kind: type[Tool]) -> None:
    """Each answer goes to its question, whatever stands in it."""
    tool = kind(Person("SQLite", "Ada\nq2: Lovelace", "1, 5", "no", "because"))
    surface = ToolSurface(tool.select, tool.capability, print)
    came = drive(ask_all(), surface)
    assert isinstance(came, Answered)
    assert came.values | {"name": EXPECTED["name"]} == EXPECTED
    # On one line, as its second line would read like an answer to the second question.
    assert came.values["name"] == ("Ada q2: Lovelace",)
    assert len(tool.person.seen) == len(FIELDS)


def ask_all() -> Flow[Answered | Ended]:
    """Ask them in one round."""
    return (yield from ask(Prompt("Five things", fields=FIELDS)))


MANY = tuple(
    Field(f"q{number}", f"Question {number}?", (Option("y", "Yes"), Option("n", "No")), free=True)
    for number in range(1, 8)
)
REPLIES = ("Yes", "b", "C) perhaps", "later", "1", "no", "y")
MANY_VALUES: FieldValues = dict(
    zip(
        (field.name for field in MANY),
        (("y",), ("n",), ("perhaps",), ("later",), ("y",), ("n",), ("y",)),
        strict=True,
    )
)


@proves("C7", "C9", "C18", "C22")
@pytest.mark.parametrize("kind", TYPING)
def test_questions_that_take_several_rounds_end_the_same_in_every_tool(kind: type[Tool]) -> None:
    """C7, C9, C18, C22: the same content, the same values as in plain text, and each round begins with Q1 (C-X8)."""
    tool = kind(Person(*REPLIES))
    came = drive(question_round(Questions(MANY)), ToolSurface(tool.select, tool.capability, print))
    lines = [[f"q{n}: {reply}" for n, reply in enumerate(part, 1)] for part in (REPLIES[:4], REPLIES[4:])]
    plain = PlainText(*("\n".join(part) for part in lines))
    assert came == drive(question_round(Questions(MANY)), plain) == Answers(MANY_VALUES)
    assert [dialog.header for dialog in tool.person.seen] == ["Q1", "Q2", "Q3", "Q4", "Q1", "Q2", "Q3"]
    assert [text.count("\nQ") for text in plain.printed] == [4, 3]


def test_slip_in_a_round_costs_only_its_own_question() -> None:
    """The others are kept, and it alone is asked again."""
    tool = ClaudeCode(Person("MySQL", "Ada", "1", "maybe", "q1: 1", "no", "sqlite"))
    fields = FIELDS[:4]
    surface = ToolSurface(tool.select, tool.capability, print)
    came = drive(question_round(Questions(fields)), surface)
    assert isinstance(came, Answers)
    assert came.values == {"db": ("sq",), "name": ("Ada",), "days": ("Mon",), "sure": ("no",)}
    asked = [[each.header for each in request.questions] for request in tool.requests]
    assert asked == [["Q1", "Q2", "Q3", "Q4"], ["Q1", "Q4"], ["Q1"]]
    assert tool.person.seen[4].text.startswith('I didn\'t recognize "MySQL".')


def test_round_with_a_question_that_nobody_answered_is_no_decision() -> None:
    """Half a round decides nothing."""
    tool = McpForm(Person("SQLite", "Ada", ""))
    with pytest.raises(StillOpen):
        drive(ask_all(), ToolSurface(tool.select, tool.capability, print))


# When a tool fails.


class Broken:
    """A tool that works so many times and then no more."""

    def __init__(self, tool: Tool, works: int = 0) -> None:
        self.tool, self.works = tool, works

    def select(self, dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        if not self.works:
            raise ConnectionError("the host is gone")
        self.works -= 1
        return self.tool.select(dialogs)


@proves("G8")
@pytest.mark.parametrize("works", [0, 1, 3])
def test_tool_that_fails_hands_the_same_ask_to_the_next_surface(works: int) -> None:
    """There the block is printed, as if it had been asked there at once."""
    tool = ClaudeCode(Person(*["nonsense"] * works))
    broken = ToolSurface(Broken(tool, works).select, tool.capability, print)
    text = PlainText("2")
    came = play(FallbackSurface([broken, text]), text.said, CHUNK_LOOP)
    assert came.choice == Choice("Deep-dive")
    assert text.printed == [render_gate(gate(CHUNK_LOOP).prompt)]


def test_ask_that_a_tool_cannot_show_goes_to_the_next_surface_and_the_one_after_it_does_not() -> None:
    """Each ask begins with the first surface again."""
    tool = AcpPermission(Person("1"))
    text = PlainText("Ada")
    surface = FallbackSurface([ToolSurface(tool.select, tool.capability, print), text])

    def flow() -> Flow[list[object]]:
        name = yield from ask(question("What name?"))
        sure = yield from ask(question("Sure?", ["yes", "no"]))
        return [name, sure]

    came = drive(flow(), surface)
    assert [each.text for each in came if isinstance(each, Answered)] == ["Ada", "1."]
    assert len(text.printed) == 1


def test_failure_of_the_last_surface_is_told() -> None:
    """Nothing is decided, and whoever drives knows why."""
    tool = ClaudeCode(Person())
    broken = ToolSurface(Broken(tool).select, tool.capability, print)
    with pytest.raises(ToolFailedError, match="claude-code failed: the host is gone"):
        drive(pass_gate(gate(CHUNK_LOOP)), FallbackSurface([broken, broken]))


def test_tool_that_answers_another_number_of_questions_has_failed() -> None:
    """Which answer belongs where could only be guessed."""
    surface = ToolSurface(lambda _: ["1", "1"], ClaudeCode.capability, print)
    surface.present(Ask(gate(CHUNK_LOOP).prompt))
    with pytest.raises(ToolFailedError, match="did not answer what it was asked"):
        surface.read()


def test_words_of_the_flow_are_said_where_the_last_ask_was() -> None:
    """Not where it failed."""
    tool, said = ClaudeCode(Person()), list[str]()
    text = PlainText("todo: x", "1")
    play(
        FallbackSurface([ToolSurface(Broken(tool).select, tool.capability, said.append), text]),
        said,
        CHUNK_LOOP,
    )
    assert (said, text.said) == ([], ['Kept for later: "x".'])
