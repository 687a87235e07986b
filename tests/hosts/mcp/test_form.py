"""A prompt as an MCP form: every option can be reached, and nothing is guessed."""

from typing import Any

import pytest

from assent import Ask, Client
from assent.hosts.mcp.form import Form, make_form
from assent.protocol.answer import check_values
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Kind
from assent.protocol.capability import CAPABILITIES
from assent.protocol.error import BadRequestError, UnrecognisedError
from assent.protocol.gate import CONTEXTS, Gate
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.hosts.mcp.world import World

__all__: list[str] = []

OLD, TITLED, NEW = "2025-06-18", "2025-11-25", "2026-07-28"
VERSIONS = (OLD, TITLED, NEW)
MAX_MESSAGE = CAPABILITIES["mcp-form"].text_max or 0
SEVEN = tuple(Option(f"k{n}", f"Option {n}", description=f"about {n}") for n in range(1, 8))


def opened(world: World, prompt: Prompt, kind: Kind = Kind.QUESTION) -> Ask:
    """Return an ask that shows `prompt`."""
    agent: Client = world.agent
    return agent.open(prompt, kind=kind).ask


def form_of(ask: Ask, version: str) -> Form:
    """Return its form."""
    form = make_form(ask, version)
    assert form is not None
    return form


@pytest.mark.parametrize("version", VERSIONS)
def test_option_of_seven_is_reached_by_what_the_form_offers(world: World, version: str) -> None:
    """No option is lost, and each maps back to its own key."""
    ask = opened(world, Prompt("Which?", "", (Field("f", "", SEVEN),)))
    form = form_of(ask, version)
    field = form.schema["properties"]["answer"]
    offered = field["enum"] if version == OLD else [choice["const"] for choice in field["oneOf"]]
    read = [form.read({"answer": value}).values for value in offered]
    assert read == [{"f": (option.key,)} for option in SEVEN]


def test_options_have_titles_with_their_descriptions_where_the_host_knows_titles(world: World) -> None:
    """There is no other place for them; and older hosts get the plain list that they know."""
    options = (
        Option("a", "Keep", recommended=True, description="safe"),
        Option("b", "Drop", destructive=True),
    )
    ask = opened(world, Prompt("Which?", "", (Field("f", "", options),)))
    titled = form_of(ask, TITLED).schema["properties"]["answer"]["oneOf"]
    assert titled == [
        {"const": "Keep", "title": "1. Keep (recommended) - safe"},
        {"const": "Drop", "title": "2. Drop (destructive)"},
    ]
    plain = form_of(ask, OLD).schema["properties"]["answer"]
    assert plain == {
        "type": "string",
        "enum": ["Keep", "Drop"],
        "enumNames": ["1. Keep (recommended) - safe", "2. Drop (destructive)"],
    }


def test_several_options_are_a_list_or_are_typed(world: World) -> None:
    """Hosts of before 2025-11-25 have no lists: there the numbers are typed."""
    ask = opened(world, question("Which?", ["Red", "Blue", "Green"], multiple=True))
    form = form_of(ask, NEW)
    assert form.schema["properties"]["answer"]["type"] == "array"
    assert form.schema["properties"]["answer"]["minItems"] == 1
    assert form.read({"answer": ["Red", "Green"]}).values == {"q1": ("Red", "Green")}
    old = form_of(ask, OLD)
    assert old.schema["properties"]["answer"]["type"] == "string"
    assert "1. Red; 2. Blue; 3. Green" in old.schema["properties"]["answer"]["description"]
    assert old.read({"answer": "1, Green"}).values == {"q1": ("Red", "Green")}


@pytest.mark.parametrize("version", VERSIONS)
def test_own_words_are_chosen_and_typed_and_neither_alone(world: World, version: str) -> None:
    """Two values for one question are none."""
    ask = opened(world, question("Which?", ["Red", "Blue"], free=True))
    form = form_of(ask, version)
    other = "Other: type your answer"
    assert form.schema["required"] == ["answer"]
    assert form.read({"answer": other, "answer_text": " mauve "}).values == {"q1": ("mauve",)}
    assert form.read({"answer": "Red", "answer_text": " "}).values == {"q1": ("Red",)}
    for content in ({"answer": other}, {"answer": "Red", "answer_text": "mauve"}, {"answer_text": "mauve"}):
        with pytest.raises(UnrecognisedError):
            form.read(content)


@pytest.mark.parametrize("version", VERSIONS)
def test_question_without_options_is_one_required_text(world: World, version: str) -> None:
    """Free text is a string field."""
    form = form_of(opened(world, question("Why?")), version)
    assert form.schema == {
        "type": "object",
        "properties": {"answer": {"type": "string", "minLength": 1}},
        "required": ["answer"],
    }
    assert form.read({"answer": " because "}).values == {"q1": ("because",)}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", CONTEXTS)
def test_gate_offers_each_option_and_every_command_can_be_typed(
    world: World, version: str, name: str
) -> None:
    """The labels of the table, and a row for the commands beside them."""
    gate = Gate(CONTEXTS[name], "Where things stand.", ("H1", "H2"), 3)
    ask = opened(world, gate.prompt, Kind.GATE)
    form = form_of(ask, version)
    for option in ask.prompt.fields[0].options:
        values = form.read({"answer": option.label}).values
        assert check_values(ask.prompt, values) == {"action": (option.key,)}
    typed = form.read({"answer": "Type a command below", "answer_text": "todo: rename it"}).values
    assert check_values(ask.prompt, typed) == {"action": ("todo: rename it",)}


def test_round_of_questions_is_one_form_with_a_required_field_each(world: World) -> None:
    """All of them, or none of them."""
    fields = (Field("db", "Which database?", (Option("a", "A1"), Option("b", "B1"))), Field("why", free=True))
    form = form_of(opened(world, Prompt("Two things", "", fields)), NEW)
    assert form.schema["required"] == ["q1", "q2"]
    assert form.schema["properties"]["q1"]["title"] == "Which database?"
    assert form.read({"q1": "B1", "q2": "cheap"}).values == {"db": ("b",), "why": ("cheap",)}
    with pytest.raises(UnrecognisedError):
        form.read({"q1": "B1"})


STRANGE: list[Any] = [None, 3, True, ["Red"], {"a": 1}, "Red\x1b", "red", "RED ", "A", "1", ""]


@pytest.mark.parametrize("value", STRANGE, ids=repr)
def test_value_that_the_form_does_not_offer_is_no_answer(world: World, value: Any) -> None:
    """A host sends what it was offered, or it has not understood the form."""
    form = form_of(opened(world, question("Which?", ["Red", "Blue"])), NEW)
    with pytest.raises(UnrecognisedError):
        form.read({"answer": value})


def test_action_is_shown_whole_or_has_no_form(world: World) -> None:
    """Nobody says yes to what they have not seen; and what is no approval of ours is none in a form."""
    strange = Prompt("Drop it?", "", (Field("f", "", SEVEN),), action={"drop": "users"})
    assert make_form(opened(world, strange), NEW) is None
    small, large = {"drop": "users"}, {"drop": "x" * MAX_MESSAGE}
    assert make_form(opened(world, approval_prompt("Drop it?", large)), NEW) is None
    form = form_of(opened(world, approval_prompt("Drop it?", small, risk="all of them")), NEW)
    assert '\n:   "drop": "users"\n' in form.message
    assert "\n: all of them\n" in form.message


def test_words_go_with_a_no_and_never_with_a_yes(world: World) -> None:
    """Of an approval; what is blank is no word."""
    form = form_of(opened(world, approval_prompt("Drop it?", {"drop": "users"})), NEW)
    filled = form.read({"answer": "Reject", "reason": " not on a Friday "})
    assert (filled.values, filled.reason) == ({"approve": ("Reject",)}, "not on a Friday")
    assert form.read({"answer": "Approve", "reason": " "}).reason == ""
    with pytest.raises(BadRequestError):
        form.read({"answer": "Approve", "reason": "but be careful"})


def test_message_marks_the_askers_lines_and_shows_hidden_characters(world: World) -> None:
    """Agent text passes for nothing else, and a long one says that there is more."""
    prompt = question("Go on?\x1b[31m", ["Yes", "No"], body="STOP\n" + "x" * (MAX_MESSAGE + 1))
    form = form_of(opened(world, prompt), NEW)
    assert "\x1b" not in form.message
    assert "\n: STOP\n" in form.message
    assert form.message.splitlines()[-1].startswith("This is not all of it: assent show ask_")
    assert len(form.message) < MAX_MESSAGE + 200
