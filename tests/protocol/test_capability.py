"""What surfaces can show: the known ones as data, and records that no prompt could be folded for."""

import pytest
from msgspec.structs import replace

from assent.protocol.capability import (
    CAPABILITIES,
    LEAST_HEADER,
    LEAST_LABEL,
    LEAST_TEXT,
    Capability,
    FreeText,
)
from assent.protocol.error import BadRequestError
from tests.proves import proves

__all__: list[str] = []


@proves("G6")
@pytest.mark.parametrize(
    ("name", "questions", "options"),
    [
        ("claude-code", 4, (2, 4)),
        ("codex", 3, (2, 3)),
        ("gemini", 4, (2, 4)),
        ("opencode", None, (1, None)),
        ("vscode", None, (2, None)),
        ("mcp-form", None, (1, None)),
        ("acp-permission", 1, (1, None)),
        ("acp-form", None, (1, None)),
        ("pi", 1, (1, None)),
        ("github-comment", None, (1, None)),
        ("stdio", None, (1, None)),
    ],
)
def test_known_host_has_the_limits_that_it_enforces_or_advises(
    name: str, questions: int | None, options: tuple[int, int | None]
) -> None:
    """The tool's constraints, in particular how many options it takes."""
    known = CAPABILITIES[name]
    assert (known.max_questions, (known.min_options, known.max_options)) == (questions, options)
    assert known.name == name
    assert known.allows_text == (name != "acp-permission")


@pytest.mark.parametrize(
    "limits",
    [
        {"max_options": 1},
        {"max_questions": 0},
        {"min_options": 0},
        {"min_options": 3},
        {"header_max": LEAST_HEADER - 1},
        {"label_max": LEAST_LABEL - 1},
        {"text_max": LEAST_TEXT - 1},
    ],
)
def test_record_without_room_for_any_gate_is_refused(limits: dict[str, int]) -> None:
    """Found where it is written, and not by a person who misses an option."""
    with pytest.raises(BadRequestError, match='like "narrow"'):
        replace(Capability("narrow", FreeText.ALWAYS), **limits)


def test_record_at_the_least_limits_is_accepted() -> None:
    """Twin of the test above."""
    least = replace(CAPABILITIES["codex"], max_options=2, label_max=LEAST_LABEL, text_max=LEAST_TEXT)
    assert least.allows_text
