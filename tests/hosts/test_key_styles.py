"""Each host finds answers in its own way: by text, by id, by place, by a property's name. None may lose an option on the way."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assent.hosts.claude_code import question as claude_code
from assent.hosts.codex import question as codex
from assent.hosts.form import host_form
from assent.hosts.opencode import question as opencode
from assent.protocol.host_question import host_prompt, host_replies
from assent.protocol.reply import recognise
from tests.protocol.strategies import modest
from tests.samples import new_answer, new_ask

__all__: list[str] = []

LABELS = st.sampled_from(["B", "2", "yes", "Yes", "", " ", "a, b", "q2: no", "x" * 3_000]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=6
)
OPTIONS = st.lists(
    st.builds(lambda label: {"label": label, "description": ""}, LABELS), min_size=1, max_size=7
)


def typed(prompt: Any, places: list[int]) -> Any:
    """Return the ask as somebody answered it who typed the numbers of these options, as one can always: `2)`."""
    lines = [f"{field.name}: {place + 1})" for field, place in zip(prompt.fields, places, strict=True)]
    reply = "\n".join(lines) if len(lines) > 1 else f"{places[0] + 1})"
    return new_ask(prompt=prompt, answer=new_answer(values=recognise(prompt, reply)))


@modest
@given(st.lists(OPTIONS, min_size=1, max_size=4), st.data())
def test_every_option_of_codex_comes_back_under_its_question_s_id(
    lists: list[list[dict[str, str]]], data: st.DataObject
) -> None:
    """By id, with Codex' own label."""
    given_ = [
        {"id": f"id {place}", "header": "", "question": "Which?", "options": options, "isOther": True}
        for place, options in enumerate(lists)
    ]
    asked = codex.questions({"questions": given_})
    places = [data.draw(st.integers(0, len(options) - 1)) for options in lists]
    ask = typed(host_prompt(asked), places)
    assert codex.answers(asked, host_replies(asked, ask)) == {
        "answers": {
            f"id {number}": {"answers": [lists[number][place]["label"]]}
            for number, place in enumerate(places)
        }
    }


@modest
@given(st.lists(OPTIONS, min_size=1, max_size=4), st.booleans(), st.data())
def test_every_option_of_opencode_comes_back_at_its_question_s_place(
    lists: list[list[dict[str, str]]], multiple: bool, data: st.DataObject
) -> None:
    """By place, with opencode's own label."""
    given_ = [{"question": "Which?", "options": options, "multiple": multiple} for options in lists]
    asked = opencode.questions({"questions": given_})
    places = [data.draw(st.integers(0, len(options) - 1)) for options in lists]
    ask = typed(host_prompt(asked), places)
    assert opencode.answers(host_replies(asked, ask)) == {
        "answers": [[lists[number][place]["label"]] for number, place in enumerate(places)]
    }


@modest
@given(st.lists(OPTIONS, min_size=1, max_size=4), st.data())
def test_every_option_of_claude_code_comes_back_under_its_question_s_text(
    lists: list[list[dict[str, str]]], data: st.DataObject
) -> None:
    """By the text, with Claude Code's own label; and the rest of the input as it came."""
    given_ = {
        "questions": [
            {"question": f"Which {place}?", "header": "", "options": options, "multiSelect": False}
            for place, options in enumerate(lists)
        ]
    }
    asked = claude_code.parse_questions(given_)
    places = [data.draw(st.integers(0, len(options) - 1)) for options in lists]
    ask = typed(host_prompt(asked), places)
    told = {f"Which {number}?": lists[number][place]["label"] for number, place in enumerate(places)}
    assert claude_code.answered_input(given_, asked, ask) == {**given_, "answers": told}


@modest
@given(
    st.lists(st.text("abcxyz", min_size=1, max_size=4), min_size=1, max_size=7, unique=True),
    st.lists(LABELS, min_size=7, max_size=7),
    st.sampled_from(["enum", "enumNames", "oneOf", "items"]),
    st.data(),
)
def test_every_value_of_a_form_comes_back_under_its_property_s_name(
    values: list[str], titles: list[str], style: str, data: st.DataObject
) -> None:
    """Whatever the titles are: the host gets its constant."""
    titled = [{"const": value, "title": title} for value, title in zip(values, titles, strict=False)]
    nodes: dict[str, Any] = {
        "enum": {"type": "string", "enum": values},
        "enumNames": {"type": "string", "enum": values, "enumNames": titles[: len(values)]},
        "oneOf": {"type": "string", "oneOf": titled},
        "items": {"type": "array", "items": {"anyOf": titled}},
    }
    form = host_form(
        "Pick", {"type": "object", "properties": {"choice": nodes[style]}, "required": ["choice"]}
    )
    place = data.draw(st.integers(0, len(values) - 1))
    chosen: Any = [values[place]] if style == "items" else values[place]
    assert form.content(typed(form.prompt, [place])) == {"choice": chosen}
