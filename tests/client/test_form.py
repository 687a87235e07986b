"""A type or a schema as the shape of an answer, the same for threads and for tasks."""

import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from assent.client.calls import value_of_form
from assent.client.client import Client
from assent.client.form import form_of
from assent.protocol.ask import State
from assent.protocol.error import (
    AnswerRefusedError,
    BadPromptError,
    Declined,
    KeyReusedError,
    StillOpen,
    UnrecognisedError,
)
from assent.protocol.prompt import Prompt
from assent.testing import ThrowawayStore
from tests.client.both import Clients
from tests.patience import PATIENCE

__all__: list[str] = []


class Colour(Enum):
    """An enumeration, as models have them."""

    RED = "red"
    BLUE = "blue"


class Settings(pydantic.BaseModel):
    """How to deploy."""

    model_config = pydantic.ConfigDict(strict=True)

    port: int = pydantic.Field(ge=1, le=65535, description="Where it listens.")
    colour: Colour
    since: date
    days: list[Literal["Mon", "Tue"]]
    dry: bool = True
    note: str | None = None

    @pydantic.field_validator("port")
    @classmethod
    def is_even(cls, port: int) -> int:
        """Refuse what no schema could refuse."""
        if port % 2:
            raise ValueError("ports are even here")
        return port


@dataclass
class Size:
    """A size, as a dataclass."""

    width: Annotated[int, msgspec.Meta(ge=1)]
    unit: Literal["cm", "inch"] = "cm"


class Point(msgspec.Struct):
    """A point, as a Struct."""

    latitude: float
    name: str


RATIO: dict[str, Any] = {
    "type": "object",
    "properties": {"ratio": {"type": "number", "maximum": 1}},
    "required": ["ratio"],
}
ANSWER = "q1: 8080\nq2: blue\nq3: 2026-01-02\nq4: Tue\nq5: no\nq6: -"


@pytest.fixture
def agent(clients: Clients) -> Client:
    """Give a client that asks."""
    return clients.agent()


def test_ask_with_a_model_returns_an_instance_of_it(clients: Clients, agent: Client) -> None:
    """Typed by a person, with the types of the model; what was left out has the model's own default."""
    with clients.store.scripted_person() as person:
        person.will_answer("Deploy settings?", ANSWER)
        settings = agent.ask("Deploy settings?", schema=Settings, wait=PATIENCE)
    assert settings == Settings(
        port=8080, colour=Colour.BLUE, since=date(2026, 1, 2), days=["Tue"], dry=False, note=None
    )
    assert "note" not in settings.model_fields_set
    assert "dry" in settings.model_fields_set


def test_ask_with_a_schema_returns_a_dict(clients: Clients, agent: Client) -> None:
    """Also where it has one property only: the shape does not depend on the count."""
    with clients.store.scripted_person() as person:
        person.will_answer("How much?", "0.25")
        assert agent.ask("How much?", schema=RATIO, wait=PATIENCE) == {"ratio": 0.25}


def test_ask_with_a_dataclass_or_a_struct_returns_one(clients: Clients, agent: Client) -> None:
    """Without pydantic."""
    with clients.store.scripted_person() as person:
        person.will_answer("How large?", "width: 3\nunit: (leave it out)").will_answer(
            "Where?", {"latitude": ["52.5"], "name": ["Berlin"]}
        )
        assert agent.ask("How large?", schema=Size, wait=PATIENCE) == Size(3, "cm")
        assert agent.ask("Where?", schema=Point, wait=PATIENCE) == Point(52.5, "Berlin")


def test_form_shows_what_the_model_says_of_itself() -> None:
    """Its docstring, and each field's title and description."""
    prompt = form_of("Deploy settings?", Settings)
    assert (prompt.title, prompt.body) == ("Deploy settings?", "How to deploy.")
    assert prompt.fields[0].text == "Port\nWhere it listens.\nA whole number, at least 1, at most 65535."
    assert form_of("Again?", Settings, body="Now.").body == "Now."


def test_wrong_value_is_refused_before_the_agent_wakes(store: ThrowawayStore) -> None:
    """The person is told the field and the reason, the ask stays open, and the agent hears of the right one only."""
    agent, ana = store.agent(), store.person()
    came: list[Settings] = []
    asking = threading.Thread(
        target=lambda: came.append(
            agent.ask("Deploy settings?", schema=Settings, key="deploy", wait=PATIENCE)
        )
    )
    opened = agent.open(form_of("Deploy settings?", Settings), key="deploy")
    asking.start()
    with pytest.raises(UnrecognisedError, match=r"q1 \(port\): 99999 is greater than 65535\."):
        ana.answer(opened.ask_id, ANSWER.replace("8080", "99999"))
    with pytest.raises(UnrecognisedError, match=r"^q3 \(since\): \"soon\" is no date"):
        ana.answer(
            opened.ask_id,
            {
                "port": ["1"],
                "colour": ["red"],
                "since": ["soon"],
                "days": ["[]"],
                "dry": ["-"],
                "note": ["-"],
            },
        )
    assert asking.is_alive()
    assert came == []
    assert ana.show(opened.ask_id).is_open
    ana.answer(opened.ask_id, ANSWER)
    asking.join(PATIENCE)
    assert [settings.port for settings in came] == [8080]


def test_form_with_a_key_is_found_again(clients: Clients, agent: Client) -> None:
    """After a restart the answer is there; another schema is another question."""
    opened = agent.open(form_of("How much?", RATIO), key="ratio")
    with pytest.raises(StillOpen):
        agent.ask("How much?", schema=RATIO, key="ratio", wait=0.0)
    ended = clients.person().answer(opened.ask_id, "1")
    assert value_of_form(ended) == {"ratio": 1}
    assert agent.ask("How much?", schema=RATIO, key="ratio") == {"ratio": 1}
    other = {**RATIO, "properties": {"ratio": {"type": "number", "maximum": 2}}}
    with pytest.raises(KeyReusedError):
        agent.ask("How much?", schema=other, key="ratio")


def test_answer_that_only_the_models_code_refuses_is_a_typed_error(clients: Clients, agent: Client) -> None:
    """No schema could say it, so the ask has ended; the error names the field and carries the ask."""
    with clients.store.scripted_person() as person:
        person.will_answer("Deploy settings?", ANSWER.replace("8080", "8081"))
        with pytest.raises(AnswerRefusedError) as refused:
            agent.ask("Deploy settings?", schema=Settings, wait=PATIENCE)
    assert refused.value.message == (
        "Settings does not take the answer. $.port: Value error, ports are even here."
    )
    assert refused.value.ask is not None
    assert refused.value.ask.state is State.ANSWERED


def test_answer_that_only_a_dataclasss_code_refuses_is_a_typed_error(clients: Clients, agent: Client) -> None:
    """As for a model."""

    @dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("it is odd")

    with clients.store.scripted_person() as person:
        person.will_answer("Which?", "3")
        with pytest.raises(AnswerRefusedError, match="it is odd"):
            agent.ask("Which?", schema=Even, wait=PATIENCE)


def test_form_that_is_declined_has_no_value(clients: Clients, agent: Client) -> None:
    """A person's no is never an object."""
    opened = agent.open(form_of("How much?", RATIO), key="ratio")
    with pytest.raises(StillOpen):
        value_of_form(opened.ask)
    clients.person().decline(opened.ask_id, "ask Sam")
    with pytest.raises(Declined):
        agent.ask("How much?", schema=RATIO, key="ratio", wait=PATIENCE)


class Nested(pydantic.BaseModel):
    """A model within a model."""

    settings: Settings


class Unspeakable(pydantic.BaseModel):
    """A model that has no schema."""

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    thread: threading.Thread


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (Nested, r"^\$\.properties\.settings\.type: "),
        (Unspeakable, "^Unspeakable has no JSON Schema: "),
        (threading.Thread, "^Thread has no JSON Schema: "),
        (int, r"^\$\.type: a form is an object"),
        ({"type": "array"}, r"^\$\.type: a form is an object"),
    ],
)
def test_type_that_is_no_form_is_refused_when_it_is_asked(
    clients: Clients, agent: Client, schema: Any, sentence: str
) -> None:
    """With a sentence that names the place, and nothing is stored."""
    with pytest.raises(BadPromptError, match=sentence):
        agent.ask("What?", schema=schema, wait=PATIENCE)
    assert clients.person().inbox() == []


def test_schema_beside_options_is_refused(agent: Client) -> None:
    """Two ways to say what can be answered are one too many."""
    ask: Any = agent.ask
    for wrong in ({"options": ["a1", "b1"]}, {"multiple": True}, {"free": True}):
        with pytest.raises(BadPromptError, match="all that can be answered is in the schema"):
            ask("What?", schema=RATIO, **wrong)
    with pytest.raises(BadPromptError, match="the question is a text"):
        ask(Prompt("What?"), schema=RATIO)


def test_form_does_not_load_pydantic() -> None:
    """Whoever has no model of it does not pay for it, and needs not have it."""
    program = (
        "import sys, assent.client.form as form\n"
        "import dataclasses\n"
        "Size = dataclasses.make_dataclass('Size', [('width', int)])\n"
        "assert form.build_answer(Size, {'width': 3}) == Size(3)\n"
        "assert len(form.form_of('How large?', Size).fields) == 1\n"
        "assert 'pydantic' not in sys.modules and 'jsonschema' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
