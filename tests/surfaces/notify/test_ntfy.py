"""ntfy: a push message, with a way to the inbox, that is replaced when the ask is decided."""

import re
from datetime import timedelta
from typing import Any

import pytest

from assent.protocol.error import BadRequestError
from assent.surfaces.notify.ntfy import MAX_MESSAGE_BYTES, cut_bytes, read_place
from tests.surfaces.notify.office import URL, Office
from tests.surfaces.notify.sink import Answer, Sink

__all__: list[str] = []

FIELDS = {"topic", "sequence_id", "title", "message", "tags", "priority", "click", "actions"}


@pytest.fixture
def phone(office: Office, http: Sink) -> Sink:
    """Give an ntfy to which somebody listens."""
    office.add(f"ntfy+http://tk_secret@{http.place}/our-topic", "phone")
    return http


def pushed(phone: Sink) -> list[Any]:
    """Return what was pushed, all of it in the form that ntfy takes."""
    for sent in phone.sent:
        message = sent.json
        assert sent.path == "/"
        assert set(message) <= FIELDS
        assert re.fullmatch(r"[-_A-Za-z0-9]{1,64}", message["sequence_id"])
        assert len(message["message"].encode()) <= MAX_MESSAGE_BYTES
        assert 1 <= message["priority"] <= 5
        assert len(message["actions"]) <= 3
    return [sent.json for sent in phone.sent]


def test_push_message_says_what_waits_and_opens_the_inbox(office: Office, phone: Sink) -> None:
    """What the agent wrote is marked, line by line."""
    ask = office.ask(body="Of the button.\nAnd of the frame.")
    office.send()
    (message,) = pushed(phone)
    link = f"{URL}/#/inbox/shop/{ask.ask_id}"
    assert message == {
        "topic": "our-topic",
        "sequence_id": ask.ask_id,
        "title": "A question in shop waits for you",
        "message": "> Which colour?\n> Of the button.\n> And of the frame.\n"
        f"Asked by agent:coder. Answer: assent answer {ask.ask_id[-6:]}",
        "tags": [ask.ask_id[-6:], "opened"],
        "priority": 3,
        "click": link,
        "actions": [{"action": "view", "label": "Open the inbox", "url": link}],
    }
    assert phone.sent[0].headers["authorization"] == "Bearer tk_secret"


def test_push_message_is_replaced_when_the_ask_is_decided(office: Office, phone: Sink) -> None:
    """The same sequence id: a phone shows one message, and it says how it ended."""
    ask = office.ask()
    office.send()
    office.answer(ask)
    office.send()
    first, second = pushed(phone)
    assert first["sequence_id"] == second["sequence_id"]
    assert second["title"] == "A question in shop is decided"
    assert second["message"] == '> Which colour?\nana answered at 2030-01-01 12:00:00 UTC: "Blue".'


def test_push_message_of_what_is_overdue_is_urgent(office: Office, phone: Sink) -> None:
    """It rings again."""
    office.ask(deadline=timedelta(hours=1))
    office.send()
    office.wait(3_600)
    office.send()
    assert [(message["priority"], message["tags"][1]) for message in pushed(phone)] == [
        (3, "opened"),
        (4, "overdue"),
    ]


def test_push_message_is_never_too_long(office: Office, phone: Sink) -> None:
    """A longer one becomes an attachment, which nobody reads."""
    office.ask("ä" * 2_000, body="\u200b" * 5_000)
    office.send()
    (message,) = pushed(phone)
    assert "<U+200B>" in message["message"]
    assert cut_bytes("ää", 4) == "ää"
    assert cut_bytes("äää", 5) == "ä…"


@pytest.mark.parametrize(
    ("address", "url", "authorization"),
    [
        ("ntfy://ntfy.sh/topic", "https://ntfy.sh/", ""),
        ("ntfy://tk_1@ntfy.example.com:8443/topic", "https://ntfy.example.com:8443/", "Bearer tk_1"),
        ("ntfy+http://ana:p%40ss@host/topic/", "http://host/", "Basic YW5hOnBAc3M="),
    ],
)
def test_ntfy_address_says_where_and_as_whom(address: str, url: str, authorization: str) -> None:
    """A token, or a name with a password."""
    place = read_place(address)
    assert (place.url, place.topic, place.authorization) == (url, "topic", authorization)


@pytest.mark.parametrize("address", ["ntfy://host", "ntfy://host/", "ntfy://host/a/b", "ntfy://host/a%2Fb"])
def test_ntfy_address_without_a_topic_is_refused(address: str) -> None:
    """Nobody could listen to it."""
    with pytest.raises(BadRequestError):
        read_place(address)


def test_ntfy_that_is_busy_is_left_alone_as_long_as_it_wants(office: Office, phone: Sink) -> None:
    """It says so by a number or by a moment."""
    office.ask()
    phone.answers = [
        Answer(429, headers={"retry-after": "100"}),
        Answer(503, headers={"retry-after": "Tue, 01 Jan 2030 12:10:00 GMT"}),
        Answer(429, headers={"retry-after": "999999"}),
        Answer(429, headers={"retry-after": "later"}),
    ]
    waits = []
    for _ in range(4):
        office.send()
        _, far = office.far("phone")
        waits.append(far.next_try_at / 1e6 - office.clock.at.timestamp())
        office.wait(waits[-1])
    assert waits == [100, 500, 3_600, 40]
    office.send()
    assert office.far("phone")[1].attempts == 0
