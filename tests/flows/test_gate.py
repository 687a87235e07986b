"""The gate flow: it stops, goes on with what was chosen, and destroys nothing without a yes."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.client.drive import Finished, advance, drive
from assent.flows.gate import AddTodo, ask_for, check, pass_gate
from assent.flows.step import Answered, Ask, Done, Ended, Failed, Result, Said, Say, Step
from assent.protocol.answer import FieldValues
from assent.protocol.ask import Kind, State
from assent.protocol.block import render_brief
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.gate import CONTEXTS, Check, Choice, Context, Gate, render_gate
from assent.protocol.reply import recognise
from tests.protocol.gate_table import CHUNKS, IDS, ROWS, Row
from tests.protocol.strategies import modest
from tests.proves import proves

__all__: list[str] = []

every_gate = pytest.mark.parametrize("row", ROWS, ids=[row.context for row in ROWS])
LOOP = Gate(CONTEXTS["Chunk Loop"], "Chunk 1 of 2.", IDS, 2)
SYNTHESIS = Gate(CONTEXTS["Synthesis"], "All chunks are done.", IDS, 2, 9)
DISCARD_CHUNK = "This will remove 4 findings from this chunk. They won't be recoverable. Proceed? [y/n]"
DISCARD_ALL = "This will discard all 9 findings and exit without posting. Proceed? [y/n]"
UNMARK_TWO = "This will unmark 2 findings. They won't be posted. Proceed? [y/n]"
DESTRUCTIVE = [
    (LOOP, "discard", DISCARD_CHUNK),
    (SYNTHESIS, "discard", DISCARD_ALL),
    (LOOP, "deselect h1 M1", UNMARK_TWO),
]


class Stage:
    """A surface that keeps all that a person would see, in order, and reads from a list."""

    def __init__(self, *replies: str | Answered | Ended) -> None:
        self.replies = list(replies)
        self.shown: list[str] = []

    def present(self, ask: Ask) -> None:
        assert ask.kind is Kind.GATE
        self.shown.append(render_gate(ask.prompt))

    def read(self) -> str | Answered | Ended | None:
        self.shown.append("(stop)")
        return self.replies.pop(0) if self.replies else None

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        self.shown += [refusal.message, render_brief(ask.prompt)]

    def say(self, markdown: str) -> None:
        self.shown.append(markdown)


def play(gate: Gate, *replies: str | Answered | Ended) -> tuple[Choice | Ended | None, list[str]]:
    """Return what came of a gate, nothing if it is still open, and what was seen."""
    stage = Stage(*replies)
    try:
        came = drive(pass_gate(gate), stage)
    except StillOpen:
        return None, stage.shown
    assert not stage.replies, "the gate was passed before all of them were read"
    return came, stage.shown


def answered(gate: Gate, text: str) -> Answered:
    return Answered(recognise(gate.prompt, text), text)


# Present, stop, read


@proves("G1", "G11", "G14")
@every_gate
def test_every_gate_is_shown_once_and_then_waits(row: Row) -> None:
    """G1, G11: the same steps at each; with no reply nothing follows the gate, and nothing is decided."""
    gate = Gate(CONTEXTS[row.context], "Here we are.", IDS, CHUNKS)
    assert play(gate) == (None, [render_gate(gate.prompt), "(stop)"])
    for number, label in enumerate(row.options, start=1):
        assert play(gate, str(number)) == (Choice(label), [render_gate(gate.prompt), "(stop)"])


@proves("G11", "G12", "G14")
def test_flow_does_not_run_between_an_ask_and_its_answer() -> None:
    """By construction: the ask is the last thing that it yields before somebody sends the answer in."""
    flow = pass_gate(LOOP)
    assert advance(flow, None) == Ask(LOOP.prompt, Kind.GATE)
    assert inspect.getgeneratorstate(flow) == inspect.GEN_SUSPENDED
    after = advance(flow, answered(LOOP, "1"))
    assert isinstance(after, Finished)
    assert after.value == Choice("Continue")


@proves("G12", "G13")
@pytest.mark.parametrize("result", [Said(), Done(), Failed("x", "y")])
def test_nothing_but_an_answer_or_an_end_gets_past_a_gate(result: Result) -> None:
    """A driver that sends anything else is told so, and nothing is chosen."""
    flow = pass_gate(LOOP)
    advance(flow, None)
    with pytest.raises(TypeError):
        advance(flow, result)


@pytest.mark.parametrize("state", [State.DECLINED, State.WITHDRAWN, State.SUPERSEDED])
def test_gate_that_ended_without_an_answer_is_no_choice(state: State) -> None:
    """It is handed on as what it is."""
    assert play(LOOP, Ended(state, "later"))[0] == Ended(state, "later")


def test_values_that_answer_no_gate_choose_nothing() -> None:
    """An answer that nobody checked ends in an error, and not in a choice without a name."""
    flow = pass_gate(LOOP)
    advance(flow, None)
    with pytest.raises(AssentError):
        advance(flow, Answered({"action": ("5",)}))


@proves("G17", "G18", "G19", "G20", "G21")
def test_unrecognised_reply_is_echoed_with_the_brief_list_for_ever() -> None:
    """G17-G21, G-X9: the echo, the numbered list alone, and a stop; a thousand times, then the right one."""
    brief = "1. Continue\n2. Deep-dive\n3. Pause & save\n4. Skip to synthesis"
    came, shown = play(LOOP, *["contin"] * 999, "", "1")
    assert came == Choice("Continue")
    once = ['I didn\'t recognize "contin".', brief, "(stop)"]
    assert shown == [
        render_gate(LOOP.prompt),
        "(stop)",
        *(once * 999),
        'I didn\'t recognize "".',
        brief,
        "(stop)",
    ]


# Checks


@proves("G22", "G23", "G24", "G25")
@pytest.mark.parametrize(("gate", "command", "question"), DESTRUCTIVE)
@pytest.mark.parametrize("reply", ["y", "Y", "yes", " YES "])
def test_destructive_command_goes_on_after_a_yes(gate: Gate, command: str, question: str, reply: str) -> None:
    """G22-G25: the exact question, and then what was typed before it."""
    came, shown = play(gate, command, reply)
    head, *ids = command.split()
    assert came == Choice(head, tuple(name.upper() for name in ids))
    assert shown == [render_gate(gate.prompt), "(stop)", question, "(stop)"]


@proves("G26")
@pytest.mark.parametrize(("gate", "command", "question"), DESTRUCTIVE)
@pytest.mark.parametrize(
    "reply", ["n", "No", "", " ", "1", "Continue", "yep", "discard", "y\u200b", "todo: x", "pause", "ｙ"]
)
def test_destructive_command_changes_nothing_after_anything_else(
    gate: Gate, command: str, question: str, reply: str
) -> None:
    """G26, G-X4, G-X9: the full gate again; what is neither yes nor no is echoed above it, and means nothing else."""
    block = render_gate(gate.prompt)
    came, shown = play(gate, command, reply)
    assert came is None
    quoted = reply.strip().replace("\u200b", "<U+200B>")
    echo = [] if quoted.lower() in ("n", "no") else [f'I didn\'t recognize "{quoted}".']
    assert shown == [block, "(stop)", question, "(stop)", *echo, block, "(stop)"]


@proves("G22", "G26")
@modest
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    | st.sampled_from(["y", "yes", "Y ", "YES", "no"])
)
def test_only_a_yes_lets_a_destructive_command_through(reply: str) -> None:
    """Whatever else is typed at the question."""
    # After a yes the gate is passed, and nothing behind it is read.
    more = [] if reply.strip().lower() in ("y", "yes") else ["1"]
    came, _ = play(LOOP, "discard", reply, *more)
    assert came == Choice("Continue" if more else "discard")


@proves("G27")
@pytest.mark.parametrize(("gate", "command", "question"), DESTRUCTIVE)
def test_check_stops_like_a_gate(gate: Gate, command: str, question: str) -> None:
    """G27: without a reply to it nothing follows, and nothing was done."""
    assert play(gate, command) == (None, [render_gate(gate.prompt), "(stop)", question, "(stop)"])


@pytest.mark.parametrize("state", [State.DECLINED, State.WITHDRAWN])
def test_check_that_ended_without_a_reply_is_no_yes(state: State) -> None:
    """The gate is shown again."""
    came, shown = play(LOOP, "discard", Ended(state), "1")
    assert came == Choice("Continue")
    assert shown.count(render_gate(LOOP.prompt)) == 2


@proves("G22")
@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("deselect M1", Choice("deselect", ("M1",))),
        ("deselect M1, m1 M1", Choice("deselect", ("M1",))),
        ("deep-dive h1", Choice("Deep-dive", ("H1",))),
        ("pause", Choice("Pause & save")),
        ("4", Choice("Skip to synthesis")),
    ],
)
def test_what_destroys_nothing_goes_on_at_once(typed: str, choice: Choice) -> None:
    """G-X5: one id is no bulk, however often it is named."""
    assert play(LOOP, typed) == (choice, [render_gate(LOOP.prompt), "(stop)"])


def test_none_at_post_only_is_not_checked() -> None:
    """G-X5: it is taken back by `all`, and the protocol does not name it."""
    gate = Gate(CONTEXTS["Post-only"], "x", IDS)
    assert [play(gate, typed)[0] for typed in ("none", "all", "toggle H1 M1")] == [
        Choice("none"),
        Choice("all"),
        Choice("toggle", ("H1", "M1")),
    ]


def test_unknown_id_changes_nothing_and_is_named() -> None:
    """G-X8: the known one beside it is not taken either."""
    came, shown = play(LOOP, "deselect H1, H9")
    assert came is None
    assert shown[2] == 'I didn\'t recognize "deselect H1, H9". There is no H9 here.'


def test_check_asks_and_returns_what_was_said() -> None:
    """For the flow's own questions that end in [y/n], too."""
    stage = Stage("perhaps", "Y")
    assert drive(check("Discard the saved one? [y/n]"), stage) is False
    assert drive(check("Discard the saved one? [y/n]"), stage) is True
    question = "Discard the saved one? [y/n]"
    assert stage.shown == [question, "(stop)", 'I didn\'t recognize "perhaps".', question, "(stop)"]


# Tasks, and what an option needs


def steps_of(gate: Gate, *results: Result) -> list[Step | Choice | Ended]:
    """Send results in one by one; return the steps, and what the flow returned."""
    flow = pass_gate(gate)
    seen: list[Step | Choice | Ended] = []
    step = advance(flow, None)
    for result in results:
        assert not isinstance(step, Finished)
        seen.append(step)
        step = advance(flow, result)
    seen.append(step.value if isinstance(step, Finished) else step)
    return seen


@proves("G38")
@every_gate
def test_task_is_kept_and_the_same_gate_asked_again(row: Row) -> None:
    """G38, G-X9: handed to whoever keeps tasks, then the full gate."""
    gate = Gate(CONTEXTS[row.context], "x", IDS, CHUNKS)
    asked = Ask(gate.prompt, Kind.GATE)
    assert steps_of(gate, answered(gate, "TODO: look at  H1\x1b"), Done(), Said(), answered(gate, "1")) == [
        asked,
        AddTodo("look at  H1\x1b"),
        Say('Kept for later: "look at  H1<U+001B>".'),
        asked,
        Choice(row.options[0]),
    ]


def test_task_that_could_not_be_kept_is_said_and_the_gate_asked_again() -> None:
    """Nobody believes that it is on the list."""
    seen = steps_of(LOOP, answered(LOOP, "todo: x"), Failed("store_full", "The disk is full."), Said())
    assert seen[2:] == [Say("The task was not kept: The disk is full."), Ask(LOOP.prompt, Kind.GATE)]


def test_option_called_like_a_command_does_not_crash_the_gate() -> None:
    """Such a prompt is refused before it is shown; a flow that is driven with it all the same goes by the option."""
    gate = Gate(Context("Mine", ("todo", "stop"), checks=(Check("x", "y"),)), "x")
    values: FieldValues = {"action": ("todo",)}
    assert steps_of(gate, Answered(values))[-1] == Choice("todo")


def test_follow_up_returns_what_was_named() -> None:
    """G-X6: one question, asked until it is answered; nothing where they went back, or where it ended otherwise."""
    stage = Stage("H9", "m1", "BACK", Ended(State.DECLINED))
    played = [drive(ask_for("Which finding?", "ID", ["H1", "M1"]), stage) for _ in range(3)]
    assert played == [("M1",), (), ()]
    question = "Which finding? (H1, M1) Or back."
    echo = ['I didn\'t recognize "H9". Name one of H1, M1.', "Type one of H1, M1 or back."]
    assert stage.shown == [question, "(stop)", *echo, "(stop)", *[question, "(stop)"] * 2]


def test_follow_up_with_a_list_of_its_own_takes_several() -> None:
    """All or none of them (G-X8); the list stands above the question."""
    stage = Stage("H1 H9", "m1, h1 M1")
    assert drive(ask_for("Which ones?", "IDs", ["H1", "M1"], "H1 and M1."), stage) == ("M1", "H1")
    assert stage.shown[0] == "H1 and M1.\n\nWhich ones? Or back."
    assert stage.shown[2] == 'I didn\'t recognize "H1 H9". There is no H9 here.'
