"""The messages that the how-to shows are those that are sent."""

import re

import pytest

from assent.protocol.ask import Ask
from assent.protocol.prompt import Option
from tests.surfaces.notify.office import Office
from tests.surfaces.notify.sink import Sink
from tests.surfaces.notify.slack_double import SlackDouble
from tools.page import ROOT

__all__: list[str] = []

PAGE = (ROOT / "docs" / "how-to" / "be-told-of-asks.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"<!-- message: (?P<name>[\w, ]+) -->\n```text\n(?P<text>.*?)```", re.DOTALL)
MESSAGES = {found["name"]: found["text"] for found in SHOWN.finditer(PAGE)}
NAME = "7wqtb2"
"""By which the page calls its ask."""
OPTIONS = [Option("p", "PostgreSQL", recommended=True, description="as in production"), Option("s", "SQLite")]


@pytest.fixture
def ask(office: Office, http: Sink, slack: SlackDouble) -> Ask:
    """Have a phone and a channel told of the page's ask."""
    office.add(f"ntfy+http://{http.place}/topic", "phone")
    office.add(slack.address, "team", people={"U024BE7LH": "ana"})
    asked = office.ask("Which database?", OPTIONS, body="The staging one is full.")
    office.send()
    return asked


def on_phone(http: Sink) -> list[str]:
    """Return what a phone shows of each message."""
    return [
        "\n".join(
            [
                sent.json["title"],
                sent.json["message"],
                *(f"[{action['label']}]" for action in sent.json["actions"]),
                "",
            ]
        )
        for sent in http.sent
    ]


def in_slack(slack: SlackDouble) -> str:
    """Return what people see of the one message."""
    lines = []
    for block in slack.only["blocks"]:
        if block["type"] == "section":
            lines.append(re.sub(r"<[^|>]*\|([^>]*)>", r"\1", block["text"]["text"]))
        else:
            lines.append(" ".join(f"[{button['text']['text']}]" for button in block["elements"]))
    return "\n".join([*lines, ""])


def test_message_on_the_page_is_what_a_phone_shows(office: Office, ask: Ask, http: Sink) -> None:
    """While it waits, and when it is decided."""
    office.answer(ask, "SQLite")
    office.send()
    first, second = (text.replace(ask.ask_id[-6:], NAME) for text in on_phone(http))
    assert MESSAGES["ntfy"] == first
    assert MESSAGES["ntfy, decided"] == second


def test_message_on_the_page_is_what_slack_shows(ask: Ask, slack: SlackDouble) -> None:
    """With its buttons."""
    assert MESSAGES["slack"] == in_slack(slack).replace(ask.ask_id[-6:], NAME)


def test_every_message_on_the_page_is_compared() -> None:
    """Twin of the tests above."""
    assert set(MESSAGES) == {"ntfy", "ntfy, decided", "slack"}
