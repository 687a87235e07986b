"""Webhooks: signed as Standard Webhooks says, and checked here by that project's own library (S9)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from assent.protocol.error import BadRequestError, StillOpen
from assent.surfaces.notify.webhook import sign
from tests.samples import NOON
from tests.surfaces.notify.office import SIGNING, URL, Office
from tests.surfaces.notify.sink import Answer, Sent, Sink

__all__: list[str] = []


@pytest.fixture
def hook(office: Office, http: Sink, monkeypatch: pytest.MonkeyPatch) -> Sink:
    """Give a program that is told of every event, on the clock of the office."""
    office.add(f"http://{http.place}/in/a-secret-path")
    monkeypatch.setattr("standardwebhooks.webhooks.datetime", _Clock(office))
    return http


class _Clock:
    """Stands for the module's `datetime`, with a present of our own."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def now(self, tz: Any = None) -> Any:
        return self._office.clock.at.astimezone(tz)

    def __getattr__(self, name: str) -> Any:
        return getattr(type(NOON), name)


def check(sent: Sent, secret: str = SIGNING) -> Any:
    """Take a message as a receiver should."""
    Webhook(secret).verify(sent.body, sent.headers)
    return json.loads(sent.body)


def test_webhook_is_signed_as_the_standard_says(office: Office, hook: Sink) -> None:
    """Over its id, its moment and its exact bytes; what it says is a type, a moment and the ask."""
    ask = office.ask(body="Of the button.")
    office.send()
    (sent,) = hook.sent
    assert sent.path == "/in/a-secret-path"
    assert sent.headers["content-type"] == "application/json"
    told = check(sent)
    assert (told["type"], told["timestamp"]) == ("ask.opened", "2030-01-01T12:00:00Z")
    assert told["data"] == {
        "project": "shop",
        "ask_id": ask.ask_id,
        "short_id": ask.ask_id[-6:],
        "kind": "question",
        "state": "open",
        "title": "Which colour?",
        "body": "Of the button.",
        "asker": "agent:coder",
        "run_id": None,
        "opened_at": "2030-01-01T12:00:00Z",
        "deadline": None,
        "escalate_to": None,
        "ended_by": None,
        "assurance": None,
        "is_unattended": False,
        "link": f"{URL}/#/inbox/shop/{ask.ask_id}",
        "sequence": 2,
    }


def test_webhook_is_told_of_the_end_and_of_what_is_overdue(office: Office, hook: Sink) -> None:
    """Also of what was over before it could be told: a program wants every event."""
    ask = office.ask(deadline=timedelta(hours=1))
    office.wait(7_200)
    office.answer(ask)
    office.send()
    assert [check(sent)["type"] for sent in hook.sent] == ["ask.opened", "ask.overdue", "ask.ended"]
    assert [check(sent)["data"]["ended_by"] for sent in hook.sent] == ["human:ana"] * 3


def test_webhook_that_is_tried_again_has_the_same_id_and_a_fresh_moment(office: Office, hook: Sink) -> None:
    """So that whoever gets it twice drops one, and nobody drops it as too old."""
    office.ask()
    hook.answers = [Answer(500)]
    office.send()
    office.wait(600)
    office.send()
    first, second = hook.sent
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 600
    check(second)


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "msg_other"},
        {"webhook-timestamp": "1"},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": ""},
    ],
)
def test_webhook_that_was_changed_is_not_believed(office: Office, hook: Sink, change: dict[str, str]) -> None:
    """Twin of the tests above: by the same library."""
    office.ask()
    office.send()
    (sent,) = hook.sent
    sent.headers |= change
    with pytest.raises(WebhookVerificationError):
        check(sent)


def test_webhook_of_another_secret_or_body_is_not_believed(office: Office, hook: Sink) -> None:
    """Nor one that comes late."""
    office.ask()
    office.send()
    (sent,) = hook.sent
    with pytest.raises(WebhookVerificationError):
        check(sent, "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=")
    with pytest.raises(WebhookVerificationError):
        check(Sent(sent.path, sent.headers, sent.body + b" "))
    office.wait(301)
    with pytest.raises(WebhookVerificationError):
        check(sent)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!!"])
def test_secret_that_is_none_signs_nothing(secret: str) -> None:
    """A signature that everybody could make is worse than none."""
    with pytest.raises(BadRequestError):
        sign(secret, "msg_1", NOON, b"{}")


def test_webhook_says_nothing_of_the_action_at_stake(office: Office, hook: Sink) -> None:
    """It tells that something waits; what would be done is seen where it is decided."""
    with pytest.raises(StillOpen):
        office.agent.approve("Drop it", action={"drop": "users"}, wait=0)
    office.send()
    (sent,) = hook.sent
    assert check(sent)["data"]["title"] == "Drop it"
    assert b"users" not in sent.body
