"""What was chosen in Claude Code's dialog comes back as the options that were shown."""

import pytest

from assent.hosts.claude_code.question import parse_questions, parse_response
from assent.protocol.ask import Ask, AskId, Kind, State
from assent.protocol.host_question import host_prompt
from tests.samples import NOON

__all__: list[str] = []

LABELS = ["Lint", "Types, strict", 'say "x", y', "two\nlines"]


@pytest.mark.parametrize(
    ("answer", "chosen", "typed"),
    [
        ("Lint", [0], ""),
        ("Lint, Types, strict", [0, 1], ""),
        ('Lint,"Types, strict"', [0, 1], ""),
        ('say "x", y, Lint', [2, 0], ""),
        ('"say ""x"", y",Lint', [2, 0], ""),
        ("two\nlines, Lint", [3, 0], ""),
        ("Lint, and whatever you like", [0], "and whatever you like"),
        ("Linty", [], "Linty"),
    ],
)
def test_labels_with_commas_quotes_and_line_breaks_map_back(
    answer: str, chosen: list[int], typed: str
) -> None:
    """The host joins them with commas; each label is found, and what is none of them stays as it was typed."""
    options = [{"label": label, "description": ""} for label in LABELS]
    asked = {"question": "Which?", "header": "H", "options": options, "multiSelect": True}
    questions = parse_questions({"questions": [asked]})
    prompt = host_prompt(questions, title="Claude Code asks")
    ask = Ask(AskId("ask_1"), "shop", Kind.QUESTION, State.OPEN, None, prompt, "", "agent:a", None, NOON)
    (field,) = prompt.fields
    values = parse_response({"answers": {"Which?": answer}}, questions, ask)
    expected = [*(field.options[number].key for number in chosen), *([typed] if typed else [])]
    assert values is not None
    assert list(values[field.name]) == expected
