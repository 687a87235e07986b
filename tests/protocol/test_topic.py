"""Topics: their names, and the line that `assent read` prints."""

import json

import msgspec
import pytest

from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.protocol.topic import MAX_TOPIC, Message, check_topic, render_message
from tests.samples import NOON

__all__: list[str] = []


@pytest.mark.parametrize(
    "topic",
    [
        "loop:control",
        "loop:current",
        "loop:anchor",
        "issue:auth-123",
        "project:shop",
        "agent:ä",
        "x",
        "x" * MAX_TOPIC,
    ],
)
def test_topic_needs_no_creation(topic: str) -> None:
    """I-U6: any name that can be typed."""
    check_topic(topic)


@pytest.mark.parametrize(
    "topic",
    [
        "",
        " ",
        "a b",
        "a\tb",
        "a\nb",
        "a\u00a0b",
        "a\u200bb",
        "a\u202eb",
        "a\x00",
        "a\x1b[2J",
        "\ud800",
        "x" * (MAX_TOPIC + 1),
    ],
)
def test_name_that_cannot_be_typed_or_told_apart_is_refused(topic: str) -> None:
    """The sentence shows it without its hidden characters."""
    with pytest.raises(BadRequestError, match="is no topic") as caught:
        check_topic(topic)
    assert display(caught.value.message, lines=False) == caught.value.message


def test_message_is_one_line_with_its_four_names() -> None:
    """The names that scripts rely on, in their order."""
    line = render_message(Message(7, "issue:1", NOON, msgspec.Raw(b'{"a":[1,2.50]}')))
    assert (
        line == b'{"sequence":7,"topic":"issue:1","posted_at":"2030-01-01T12:00:00Z","body":{"a":[1,2.50]}}'
    )
    assert list(json.loads(line)) == ["sequence", "topic", "posted_at", "body"]
