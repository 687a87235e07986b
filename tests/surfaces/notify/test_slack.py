"""Slack: one message for each ask, with buttons only for what one press can answer, which folds when the ask is decided."""

import json
from datetime import timedelta

import pytest

from assent.protocol.ask import Kind
from assent.protocol.error import BadRequestError, StillOpen
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.target import Notice, What
from assent.surfaces.notify.letter import write_letter
from assent.surfaces.notify.slack import (
    MAX_BUTTONS,
    options_for_buttons,
    read_place,
    read_press,
    render_blocks,
)
from tests.samples import NOON, new_ask
from tests.surfaces.notify.office import URL, Office
from tests.surfaces.notify.sink import Answer, Sink
from tests.surfaces.notify.slack_double import CHANNEL, SlackDouble

__all__: list[str] = []

PEOPLE = {"U024BE7LH": "ana"}
NO = ["Decline", "Decline, and say why"]


@pytest.fixture
def channel(office: Office, slack: SlackDouble) -> SlackDouble:
    """Give a channel in which ana may press."""
    office.add(slack.address, "team", people=PEOPLE)
    return slack


def test_message_has_a_button_for_each_option_and_one_to_decline(
    office: Office, channel: SlackDouble
) -> None:
    """Each says which ask, which prompt and which option it is about."""
    ask = office.ask(body="Of the button.")
    office.send()
    assert channel.shown() == (
        "A question in shop waits for you:\n"
        "> Which colour?\n"
        "> Of the button.\n"
        f"Asked by agent:coder. Answer: assent answer {ask.ask_id[-6:]}\n"
        f"<{URL}/#/inbox/shop/{ask.ask_id}|Open it in the inbox>"
    )
    buttons = channel.buttons()
    assert list(buttons) == ["Red", "Blue", *NO]
    pressed = {label: read_press(button["value"]) for label, button in buttons.items()}
    assert {label: press.key for label, press in pressed.items()} == {
        "Red": "Red",
        "Blue": "Blue",
        "Decline": None,
        "Decline, and say why": None,
    }
    assert {(press.project, press.ask_id, press.digest) for press in pressed.values()} == {
        ("shop", ask.ask_id, ask.digest)
    }
    assert not channel.only["unfurl_links"]


def test_message_folds_when_the_ask_is_decided_anywhere(office: Office, channel: SlackDouble) -> None:
    """The same message, changed: no button is left, and it says who said what."""
    ask = office.ask()
    office.send()
    office.answer(ask)
    office.send()
    assert channel.buttons() == {}
    assert channel.shown().startswith("A question in shop is decided:\n> Which colour?\nana answered at ")
    assert '"Blue"' in channel.only["text"]
    assert office.outbox.message_of(office.far("team")[0], ask.ask_id) == ""


def test_message_that_somebody_deleted_is_folded_no_more(office: Office, channel: SlackDouble) -> None:
    """Whoever deleted it has no need of its end; it is no failure."""
    ask = office.ask()
    office.send()
    channel.messages.clear()
    office.answer(ask)
    office.send()
    target, far = office.far("team")
    assert (target.failed, far.attempts, channel.messages) == (0, 0, {})


def test_what_is_overdue_is_said_in_the_thread_of_its_message(office: Office, channel: SlackDouble) -> None:
    """The buttons of the first message go on working."""
    office.ask(deadline=timedelta(hours=1))
    office.send()
    office.wait(3_600)
    office.send()
    assert channel.replies == [channel.replies[0]]
    assert channel.replies[0].startswith(
        "A question in shop is overdue, and still waits:\n&gt; Which colour?"
    )
    assert {message.get("thread_ts") for message in channel.messages.values()} == {None, channel.only["ts"]}
    assert "Red" in channel.buttons()


def test_agent_s_text_is_no_markup_and_nothing_of_it_is_hidden(office: Office, channel: SlackDouble) -> None:
    """In blocks it is plain text; in the text beside them, which a phone shows, it is escaped."""
    office.ask("Tell <!channel> *now*", ["Yes\u202e", "<@U1> & co"], body="<https://evil.example.com|here>")
    office.send()
    sections = [block for block in channel.only["blocks"] if block["type"] == "section"]
    marked = [block["text"]["text"] for block in sections if block["text"]["type"] == "mrkdwn"]
    assert len(marked) == 1
    assert marked[0].startswith(f"<{URL}")
    assert "&lt;!channel&gt;" in channel.only["text"]
    assert "<!" not in channel.only["text"]
    assert channel.only["mrkdwn"] is False
    assert list(channel.buttons()) == ["Yes<U+202E>", "<@U1> & co", *NO]


def test_approval_can_only_be_declined_there(office: Office, channel: SlackDouble) -> None:
    """Who approves has to see all of it, and to be more than a name in a chat."""
    with pytest.raises(StillOpen):
        office.agent.approve("Drop it", action={"drop": "users"}, wait=0)
    office.send()
    assert list(channel.buttons()) == NO
    assert "Open it in the inbox" in channel.shown()
    assert "users" not in json.dumps(channel.only)


def test_without_people_there_are_no_buttons(office: Office, slack: SlackDouble) -> None:
    """Nobody could press them."""
    office.add(slack.address)
    office.ask()
    office.send()
    assert slack.buttons() == {}


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ([f"Option {number}" for number in range(MAX_BUTTONS + 1)], ""),
        (["x" * 76, "y"], ""),
        (["x" * 60 + "\u200b\u200b", "y"], ""),
        ([Option("k" * 1_990, "Red"), "Blue"], ""),
        (["Red", "Blue"], "x" * 3_000),
        (["Red", "Blue"], "\u200b" * 400),
        ([Option("Red", "Red", description="x" * 3_000), "Blue"], ""),
        ([], ""),
    ],
    ids=[
        "many",
        "long",
        "long when shown",
        "long key",
        "long body",
        "long body when shown",
        "long notes",
        "none",
    ],
)
def test_what_a_message_cannot_show_whole_is_linked_and_can_be_declined(
    office: Office, channel: SlackDouble, options: list[str | Option], body: str
) -> None:
    """A press must not say yes to what was not seen."""
    office.ask(options=options, body=body)
    office.send()
    assert list(channel.buttons()) == NO
    assert "Open it in the inbox" in channel.shown()


def test_message_with_buttons_shows_all_of_the_prompt(office: Office, channel: SlackDouble) -> None:
    """A body that is longer than a letter's cut, what is recommended, and what an option means."""
    options = [Option("r", "Red", recommended=True, description="As before"), Option("b", "Blue")]
    office.ask(options=options, body="x" * 2_500)
    office.send()
    assert "x" * 2_500 in channel.shown()
    assert "> Red (recommended): As before" in channel.shown()
    assert list(channel.buttons()) == ["Red", "Blue", *NO]


def test_press_that_cannot_be_undone_is_asked_about_twice(office: Office, channel: SlackDouble) -> None:
    """By Slack's own dialog."""
    office.ask(options=[Option("d", "Delete it", destructive=True), Option("k", "Keep it")])
    office.send()
    buttons = channel.buttons()
    assert buttons["Delete it"]["style"] == "danger"
    assert buttons["Delete it"]["confirm"]["text"]["text"] == '"Delete it" cannot be undone.'
    assert "confirm" not in buttons["Keep it"]
    asked_first = {label: read_press(button["value"]).is_confirmed for label, button in buttons.items()}
    assert [label for label, is_confirmed in asked_first.items() if is_confirmed] == ["Delete it"]


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("Two", fields=(Field("a", options=(Option("1", "1"),)), Field("b"))),
        Prompt("Several", fields=(Field("a", options=(Option("1", "1"),), multiple=True),)),
        Prompt("Acts", fields=(Field("a", options=(Option("1", "1"),)),), action={"drop": 1}),
        Prompt("Nothing"),
    ],
    ids=["a round", "several choices", "an action", "no field"],
)
def test_what_one_press_cannot_say_has_no_option_buttons(prompt: Prompt) -> None:
    """And is never dropped: the link leads to all of it."""
    ask = new_ask(prompt=prompt)
    assert options_for_buttons(ask) == ()
    letter = write_letter(Notice("msg_1", What.OPENED, ask, 1, NOON), URL)
    blocks = render_blocks(ask, letter, has_buttons=True)
    assert sum(block["type"] == "actions" for block in blocks) == 1


def test_approval_has_no_option_buttons_whatever_its_form() -> None:
    """Twin of the test above, by its kind."""
    assert options_for_buttons(new_ask())
    assert options_for_buttons(new_ask(kind=Kind.APPROVAL)) == ()


@pytest.mark.parametrize("error", ["not_in_channel", "invalid_auth"])
def test_refusal_of_slack_is_told_by_its_name(office: Office, channel: SlackDouble, error: str) -> None:
    """It says what to do: invite the bot, or give it another token."""
    office.ask()
    channel.refusals = [error]
    office.send()
    assert office.far("team")[1].last_error == f"Slack refused it: {error}."


@pytest.mark.parametrize("body", [b"<html>", b'{"ok": true}', b'{"ok": false, "error": "<b> x"}', b"[]"])
def test_reply_that_is_not_slack_s_is_no_success(office: Office, channel: SlackDouble, body: bytes) -> None:
    """And nothing of it is repeated."""
    office.ask()
    channel.sink.answers = [Answer(200, body)]
    office.send()
    assert office.far("team")[1].last_error in {
        "Slack replied with what cannot be read.",
        "Slack refused it: ?.",
    }


def test_incoming_webhook_of_slack_is_told_one_way(
    office: Office, http: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No buttons, and of the end comes another message."""
    monkeypatch.setattr("assent.protocol.target.SLACK_HOOK_HOST", "127.0.0.1")
    office.add(f"http://{http.place}/services/T0/B0/secret")
    assert office.far()[0].service == "slack-hook"
    ask = office.ask()
    office.send()
    office.answer(ask)
    office.send()
    first, second = (sent.json for sent in http.sent)
    assert {block["type"] for block in first["blocks"]} == {"section"}
    assert first["text"].startswith("A question in shop waits for you:")
    assert second["text"].startswith("A question in shop is decided:")


def test_slack_address_says_where_and_as_whom() -> None:
    """The case of both counts."""
    place = read_place(f"slack://xoxb-1-Ab@{CHANNEL}")
    assert (place.token, place.channel, place.api) == ("xoxb-1-Ab", CHANNEL, "https://slack.com/api")
    for wrong in ("slack://", "slack://C1", "slack://@C1", "slack://xoxb-1@"):
        with pytest.raises(BadRequestError):
            read_place(wrong)


@pytest.mark.parametrize("value", ["", "{}", "[]", '{"project": 1}', "yes", "\ud800"])
def test_value_of_somebody_else_s_button_is_none_of_ours(value: str) -> None:
    """Whatever it is."""
    with pytest.raises(BadRequestError):
        read_press(value)
