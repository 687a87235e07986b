"""Forms that a host carries: taken whole or refused, whatever stands in them."""

from typing import Any

import pytest

from assent.hosts.form import headline, host_form
from assent.protocol.error import BadPromptError
from assent.protocol.prompt import MAX_TITLE, check_prompt
from tests.samples import new_ask

__all__: list[str] = []

YES = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        "form",
        {},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {"oneOf": [{"const": "x", "pattern": "y"}]}}},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "string", "$ref": "#/nowhere"}}},
        {"type": "object", "properties": [1]},
        {1, 2},
    ],
    ids=["none", "text", "nothing", "no fields", "unknown rule", "nested", "reference", "list", "no JSON"],
)
def test_form_that_cannot_be_shown_whole_is_refused(schema: Any) -> None:
    """A rule that nobody would check must not look as if somebody did."""
    with pytest.raises(BadPromptError):
        host_form("Sure?", schema)


def test_titles_that_nobody_could_tell_apart_are_shown_beside_the_values() -> None:
    """Two values of the same title stay two options."""
    titled = [{"const": "a", "title": "Same"}, {"const": "b", "title": "Same"}]
    schema = {"type": "object", "properties": {"x": {"type": "string", "oneOf": titled}}, "required": ["x"]}
    options = host_form("?", schema).prompt.fields[0].options
    assert [(option.label, option.description) for option in options] == [("a", "Same"), ("b", "Same")]


@pytest.mark.parametrize(
    "message", ["", " \n ", "first\nsecond", "x" * 3_000], ids=["empty", "blank", "lines", "long"]
)
def test_message_of_any_shape_makes_a_prompt_that_can_be_asked(message: str) -> None:
    """What does not fit into a title is in the body, whole."""
    prompt = host_form(message, YES).prompt
    check_prompt(prompt)
    assert "\n" not in prompt.title
    assert message.strip() in f"{prompt.title}\n{prompt.body}"


def test_headline_of_a_long_text_is_cut_and_the_text_kept() -> None:
    """Nothing of what a person is to decide about is lost."""
    title, body = headline("y" * (MAX_TITLE + 1), "more")
    assert (len(title), title[-1]) == (MAX_TITLE, "…")
    assert body == "y" * (MAX_TITLE + 1) + "\n\nmore"


def test_ask_without_an_answer_has_no_content() -> None:
    """No answer is no empty form."""
    form = host_form("Sure?", YES)
    assert form.content(new_ask(prompt=form.prompt)) is None
