"""Presses of buttons in Slack: signed, fresh, by people who are named, for what was shown, and once (S9, S29)."""

import asyncio
import hmac
import json
import logging
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from assent.client.embedded import EmbeddedDoor
from assent.protocol.ask import Ask, State
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Option
from assent.surfaces.http import slack as slack_door
from assent.surfaces.http.app import build_app
from assent.surfaces.http.guard import Guard
from assent.surfaces.http.names import names_of
from assent.surfaces.http.site import Site
from assent.surfaces.http.slack import SLACK_PATH, slack_routes
from assent.testing import FakeClock, throwaway
from tests.patience import PATIENCE
from tests.samples import NOON
from tests.surfaces.notify.office import Office
from tests.surfaces.notify.slack_double import CHANNEL, SlackDouble, slack_double

__all__: list[str] = []

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
ANA, EVE = "U024BE7LH", "U0EVE0EVE"
PORT = 8484
REPLY_URL = "https://hooks.slack.com/actions/T0/1/secret"
NOT_NAMED = "You are not named for this target, or the message is not the one that was sent."


class Scene:
    """A server that Slack sends presses to, and a channel in which asks are told of."""

    def __init__(self, office: Office, slack: SlackDouble) -> None:
        self.office, self.slack = office, slack
        self.told: list[tuple[str, str]] = []
        """What was said to whoever pressed."""
        self.site = Site(EmbeddedDoor(office.hub))
        self.site.slack_secret = SECRET
        self.app = Starlette(routes=slack_routes(self.site, self._tell))
        self.line = self.client(self.app)
        office.add(slack.address, "team", people={ANA: "ana"})

    async def _tell(self, url: str, text: str) -> None:
        self.told.append((url, text))

    @staticmethod
    def client(app: Any) -> TestClient:
        """Return a line to an application behind its guard."""
        guarded = Guard(app, names_of("127.0.0.1", PORT))
        return TestClient(guarded, f"http://127.0.0.1:{PORT}", client=("127.0.0.1", 1))

    def ask(self, *arguments: Any, **parts: Any) -> Ask:
        """Open an ask, and have the channel told of it."""
        ask = self.office.ask(*arguments, **parts)
        self.office.send()
        return ask

    def press(self, label: str, user: str = ANA, **changes: Any) -> httpx2.Response:
        """Press a button of the one message, as Slack tells it."""
        return self.deliver(self.payload(self.slack.buttons()[label]["value"], user, **changes))

    def payload(self, value: str, user: str = ANA, **changes: Any) -> dict[str, Any]:
        """Return what Slack sends of a press, as its documentation has it."""
        return {
            "type": "block_actions",
            "user": {"id": user, "username": "somebody", "team_id": "T0"},
            "api_app_id": "A0",
            "container": {
                "type": "message",
                "message_ts": self.slack.only["ts"],
                "channel_id": CHANNEL,
                "is_ephemeral": False,
            },
            "channel": {"id": CHANNEL, "name": "shop"},
            "response_url": REPLY_URL,
            "trigger_id": "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
            "actions": [{"type": "button", "action_id": "assent:1", "block_id": "x", "value": value}],
        } | changes

    def deliver(
        self,
        payload: Mapping[str, Any] | bytes,
        *,
        secret: str = SECRET,
        late: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send a press, signed as Slack does, unless told otherwise."""
        body, usual = self.signed(payload, secret=secret, late=late)
        return self.line.post(SLACK_PATH, content=body, headers=usual | dict(headers or {}))

    def signed(
        self, payload: Mapping[str, Any] | bytes, *, secret: str = SECRET, late: int = 0
    ) -> tuple[bytes, dict[str, str]]:
        """Return the body of a press and its headers, as Slack makes them."""
        body = payload if isinstance(payload, bytes) else urlencode({"payload": json.dumps(payload)}).encode()
        moment = str(int(self.office.clock.at.timestamp()) - late)
        signature = "v0=" + hmac.new(secret.encode(), f"v0:{moment}:".encode() + body, sha256).hexdigest()
        return body, {
            "content-type": "application/x-www-form-urlencoded",
            "x-slack-request-timestamp": moment,
            "x-slack-signature": signature,
        }

    def send_dialog(self, words: str, user: str = ANA, **changes: Any) -> httpx2.Response:
        """Fill in the last dialog and send it, as Slack tells it."""
        view = self.slack.dialogs[-1]
        typed = {"words": {"words": {"type": "plain_text_input", "value": words}}}
        told = {"id": "V0", "private_metadata": view["private_metadata"], "state": {"values": typed}}
        payload = {
            "type": "view_submission",
            "user": {"id": user, "team_id": "T0"},
            "response_urls": [],
            "view": told | changes,
        }
        return self.deliver(payload)

    def state(self, ask: Ask) -> State:
        """Return how an ask is now."""
        return self.office.person.show(ask.ask_id).state


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Give a server and a channel, at noon."""
    clock = FakeClock(NOON)
    with throwaway(project="shop", clock=clock) as store, slack_double() as slack:
        yield Scene(Office(store, clock), slack)


def test_press_of_somebody_who_is_named_answers_and_the_message_folds(scene: Scene) -> None:
    """In their name here; by the word of a server that has checked Slack's signature, and no more than that."""
    ask = scene.ask()
    assert scene.press("Blue").status_code == 200
    answer = scene.office.person.show(ask.ask_id).answer
    assert answer is not None
    assert (answer.values, answer.by, answer.via) == ({"q1": ("Blue",)}, "human:ana@slack", f"slack:{ANA}")
    assert answer.assurance is Assurance.DECLARED
    scene.office.send()
    assert scene.slack.buttons() == {}
    assert "ana@slack answered at" in scene.slack.shown()
    assert scene.told == []


def test_press_of_decline_declines(scene: Scene) -> None:
    """A person's no, also to an approval, which a press can never give."""
    with pytest.raises(StillOpen):
        scene.office.agent.approve("Drop it", action={"drop": "users"}, wait=0)
    scene.office.send()
    (ask,) = scene.office.person.inbox()
    scene.press("Decline")
    assert scene.state(ask) is State.DECLINED


def test_no_with_words_is_asked_for_in_a_dialog_and_tells_them(scene: Scene) -> None:
    """The press itself decides nothing; a dialog that is closed leaves nothing behind. Also of an approval."""
    with pytest.raises(StillOpen):
        scene.office.agent.approve("Drop it", action={"drop": "users"}, key="drop", wait=0)
    scene.office.send()
    (ask,) = scene.office.person.inbox()
    for _ in range(2):
        assert scene.press("Decline, and say why").content == b""
        assert scene.state(ask) is State.OPEN
    assert scene.slack.dialogs[-1]["blocks"][0]["text"]["text"] == "> Drop it"
    assert scene.send_dialog(" Not on a Friday. ").content == b""
    outcome = scene.office.person.show(ask.ask_id).outcome
    assert outcome is not None
    assert (outcome.state, outcome.reason) == (State.DECLINED, "Not on a Friday.")
    assert (outcome.by, outcome.via) == ("human:ana@slack", f"slack:{ANA}")
    scene.office.send()
    assert 'Reason: "Not on a Friday.".' in scene.slack.shown()


def test_dialog_of_somebody_else_or_of_what_is_over_decides_nothing(scene: Scene) -> None:
    """It says why, where it stands."""
    ask = scene.ask()
    scene.press("Decline, and say why", EVE)
    assert (scene.slack.dialogs, scene.told) == ([], [(REPLY_URL, NOT_NAMED)])
    scene.press("Decline, and say why")
    refused = scene.send_dialog("No.", EVE)
    assert refused.json() == {"response_action": "errors", "errors": {"words": NOT_NAMED}}
    said = json.loads(scene.slack.dialogs[-1]["private_metadata"])
    for change in ({"key": "Blue"}, {"has_words": False}, {"place": "C0:1"}, {"digest": "0"}):
        assert scene.send_dialog("x", private_metadata=json.dumps(said | change)).json()["errors"]
    assert scene.state(ask) is State.OPEN
    scene.office.answer(ask)
    late = scene.send_dialog("No.").json()["errors"]["words"]
    assert late.startswith("Too late, nothing was changed: ana answered at ")
    scene.press("Decline, and say why")
    assert len(scene.slack.dialogs) == 1
    assert scene.told[-1][1] == late


def test_dialog_that_slack_does_not_open_is_told_and_decides_nothing(scene: Scene) -> None:
    """The other button still says no."""
    ask = scene.ask()
    scene.slack.refusals = ["expired_trigger_id"]
    scene.press("Decline, and say why")
    assert scene.told == [(REPLY_URL, "Slack refused it: expired_trigger_id.")]
    assert scene.state(ask) is State.OPEN


def test_what_cannot_be_undone_counts_from_a_button_before_which_slack_asks(scene: Scene) -> None:
    """A press that comes without that says nothing more than what the hub says to everybody."""
    ask = scene.ask(options=[Option("d", "Delete it", destructive=True), Option("k", "Keep it")])
    button = scene.slack.buttons()["Delete it"]
    assert button["confirm"]["text"]["text"] == '"Delete it" cannot be undone.'
    bare = {name: value for name, value in json.loads(button["value"]).items() if name != "is_confirmed"}
    scene.deliver(scene.payload(json.dumps(bare)))
    assert scene.told[0][1].startswith('"Delete it" cannot be undone: confirm that you mean it.')
    assert scene.state(ask) is State.OPEN
    scene.press("Delete it")
    assert scene.state(ask) is State.ANSWERED


def test_press_in_the_message_of_another_ask_decides_neither(scene: Scene) -> None:
    """Both messages are ours; a button counts where it was put."""
    first = scene.ask()
    place = scene.slack.only["ts"]
    value = scene.slack.buttons()["Blue"]["value"]
    scene.slack.messages.clear()
    second = scene.ask("Which size?", ["S", "L"])
    scene.deliver(scene.payload(value))
    scene.press("L", container={"channel_id": CHANNEL, "message_ts": place})
    assert scene.told == [(REPLY_URL, NOT_NAMED)] * 2
    assert (scene.state(first), scene.state(second)) == (State.OPEN, State.OPEN)


def test_two_people_who_press_at_once_decide_once(scene: Scene) -> None:
    """The second is told who was first, and so is the first when they press again."""
    scene.office.remove("team")
    scene.office.add(scene.slack.address, "team", people={ANA: "ana", EVE: "eve"})
    ask = scene.ask()
    blue, red = (scene.slack.buttons()[label]["value"] for label in ("Blue", "Red"))
    scene.deliver(scene.payload(blue, EVE))
    scene.deliver(scene.payload(red))
    scene.deliver(scene.payload(red, EVE))
    answer = scene.office.person.show(ask.ask_id).answer
    assert answer is not None
    assert (answer.by, answer.values) == ("human:eve@slack", {"q1": ("Blue",)})
    assert {text.partition(" at ")[0] for _, text in scene.told} == {
        "Too late, nothing was changed: eve@slack answered"
    }


def test_sender_s_own_words_about_itself_are_not_believed(scene: Scene) -> None:
    """Who it is, where it came in and how sure that is, is what the server saw."""
    ask = scene.ask()
    value = scene.slack.buttons()["Blue"]["value"]
    said = json.dumps(json.loads(value) | {"assurance": "token", "via": "page", "by": "human:root"})
    told = scene.payload(said, assurance="token", via="page", unattended=False)
    told["user"] |= {"name": "root", "assurance": "token"}
    scene.deliver(told, headers={"assent-via": "page", "x-forwarded-user": "root"})
    answer = scene.office.person.show(ask.ask_id).answer
    assert answer is not None
    assert (answer.by, answer.via, answer.assurance) == (
        "human:ana@slack",
        f"slack:{ANA}",
        Assurance.DECLARED,
    )


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_whoever_follows_a_link_decides_nothing(scene: Scene, method: str) -> None:
    """Slack, phones and mail programs fetch what they show."""
    ask = scene.ask()
    value = scene.slack.buttons()["Blue"]["value"]
    address = f"{SLACK_PATH}?{urlencode({'payload': json.dumps(scene.payload(value))})}"
    assert scene.line.request(method, address).status_code == 405
    assert scene.state(ask) is State.OPEN


def test_press_that_would_approve_is_refused(scene: Scene) -> None:
    """There is no such button; whoever makes one up is told where to go."""
    with pytest.raises(StillOpen):
        scene.office.agent.approve("Drop it", action={"drop": "users"}, wait=0)
    scene.office.send()
    (ask,) = scene.office.person.inbox()
    value = json.loads(scene.slack.buttons()["Decline"]["value"])
    for option in ask.prompt.fields[0].options:
        scene.deliver(scene.payload(json.dumps(value | {"key": option.key})))
    assert {text for _, text in scene.told} == {"A button cannot answer this: open it in the inbox."}
    assert scene.state(ask) is State.OPEN


@pytest.mark.parametrize("user", [EVE, "", "U024BE7LH ", "u024be7lh"])
def test_press_of_somebody_who_is_not_named_decides_nothing(scene: Scene, user: str) -> None:
    """They are told so, where only they see it."""
    ask = scene.ask()
    assert scene.press("Blue", user).status_code == 200
    assert scene.press("Decline", user).status_code == 200
    assert scene.told == [(REPLY_URL, NOT_NAMED)] * 2
    assert scene.state(ask) is State.OPEN


def test_press_in_another_message_or_channel_decides_nothing(scene: Scene) -> None:
    """A message that somebody copied has buttons, too."""
    ask = scene.ask()
    for container in (
        {"channel_id": CHANNEL, "message_ts": "1700000009.000100"},
        {"channel_id": "C0OTHER", "message_ts": scene.slack.only["ts"]},
        {},
    ):
        scene.press("Blue", container=container)
    assert scene.told == [(REPLY_URL, NOT_NAMED)] * 3
    assert scene.state(ask) is State.OPEN


def test_press_after_the_target_was_removed_decides_nothing(scene: Scene) -> None:
    """Its people are nobody here any more."""
    ask = scene.ask()
    scene.office.remove("team")
    scene.press("Blue")
    assert (scene.told, scene.state(ask)) == ([(REPLY_URL, NOT_NAMED)], State.OPEN)


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "0" * 64},
        {"key": "Green"},
        {"ask_id": "ask_other"},
        {"project": "other"},
        {"key": 7},
        {"x": 1},
    ],
)
def test_press_that_says_something_else_than_its_button_decides_nothing(
    scene: Scene, change: dict[str, object]
) -> None:
    """Another prompt, an option that there is not, another ask or project."""
    ask = scene.ask()
    value = json.loads(scene.slack.buttons()["Blue"]["value"]) | change
    assert scene.deliver(scene.payload(json.dumps(value))).status_code == 200
    is_same = change == {"x": 1}
    assert scene.state(ask) is (State.ANSWERED if is_same else State.OPEN)
    assert len(scene.told) == (0 if is_same else 1)


def test_press_of_whoever_was_not_first_is_told_who_was(scene: Scene) -> None:
    """Also when the message was folded meanwhile."""
    ask = scene.ask(options=["<!channel>", "Blue"])
    payload = scene.payload(scene.slack.buttons()["Blue"]["value"])
    scene.office.answer(ask, "1")
    scene.deliver(payload)
    scene.office.send()  # the message is folded, and somebody still looks at the old one
    scene.deliver(payload, late=1)
    assert [text.partition(" at ")[0] for _, text in scene.told] == [
        "Too late, nothing was changed: ana answered"
    ] * 2


def test_press_that_comes_again_decides_nothing_more(scene: Scene) -> None:
    """Slack tries again, and whoever has caught a request does, too; both get the reply of the first time."""
    ask = scene.ask()
    payload = scene.payload(scene.slack.buttons()["Blue"]["value"])
    for _ in range(3):
        assert scene.deliver(payload).status_code == 200
    assert scene.told == []
    log = [kind for kind, _ in scene.office.log() if kind == "ask.answered"]
    assert (log, scene.state(ask)) == (["ask.answered"], State.ANSWERED)


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "another secret of 16"},
        {"late": 301},
        {"late": -301},
        {"headers": {"x-slack-signature": ""}},
        {"headers": {"x-slack-signature": "v0="}},
        {"headers": {"x-slack-signature": "v1=" + "0" * 64}},
        {"headers": {"x-slack-request-timestamp": ""}},
        {"headers": {"x-slack-request-timestamp": "now"}},
        {"headers": {"x-slack-request-timestamp": "9" * 40}},
        {"headers": {"x-slack-request-timestamp": "-1"}},
    ],
    ids=str,
)
def test_press_without_a_good_and_fresh_signature_is_refused(scene: Scene, wrong: dict[str, Any]) -> None:
    """All alike, before anything of it is read."""
    ask = scene.ask()
    refused = scene.deliver(scene.payload(scene.slack.buttons()["Blue"]["value"]), **wrong)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthorised")
    assert scene.state(ask) is State.OPEN


@pytest.mark.parametrize("late", [299, -299])
def test_press_that_is_almost_too_late_counts(scene: Scene, late: int) -> None:
    """Twin of the test above."""
    ask = scene.ask()
    assert scene.deliver(scene.payload(scene.slack.buttons()["Blue"]["value"]), late=late).status_code == 200
    assert scene.state(ask) is State.ANSWERED


def test_body_that_was_changed_on_its_way_is_refused(scene: Scene) -> None:
    """The signature is over its exact bytes."""
    ask = scene.ask()
    blue, red = (scene.slack.buttons()[label]["value"] for label in ("Blue", "Red"))
    _, headers = scene.signed(scene.payload(blue))
    assert scene.deliver(scene.payload(red), headers=headers).status_code == 401
    assert scene.state(ask) is State.OPEN


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload",
        b"payload=",
        b"payload=%7B%7D",
        b"payload=[]",
        b"other=1",
        b"payload=%ff",
        urlencode({"payload": json.dumps({"type": "view_submission", "user": {"id": ANA}})}).encode(),
        urlencode({"payload": json.dumps({"type": "block_actions", "user": {"id": ANA}})}).encode(),
        urlencode({"payload": "[" * 100_000}).encode(),
    ],
    ids=lambda body: body[:40].decode(errors="replace"),
)
def test_what_is_no_press_is_refused_in_a_sentence(scene: Scene, body: bytes) -> None:
    """Signed or not."""
    refused = scene.deliver(body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_request")


def test_press_that_takes_long_is_acknowledged_in_time_and_still_counts(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack gives up after three seconds, and shows a warning to whoever pressed."""
    monkeypatch.setattr(slack_door, "_ACK_SECONDS", 0.05)
    ask = scene.ask()
    body, headers = scene.signed(scene.payload(scene.slack.buttons()["Blue"]["value"]))
    real = slack_door._decide

    async def press_slowly() -> State:
        may_go_on = asyncio.Event()

        async def slow(*arguments: Any) -> Ask:
            await asyncio.wait_for(may_go_on.wait(), PATIENCE)
            return await real(*arguments)

        monkeypatch.setattr(slack_door, "_decide", slow)
        transport = httpx2.ASGITransport(scene.app)
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}") as line:
            assert (await line.post(SLACK_PATH, content=body, headers=headers)).status_code == 200
        meanwhile = scene.state(ask)
        may_go_on.set()
        await asyncio.wait_for(asyncio.gather(*scene.site._lingering), PATIENCE)
        return meanwhile

    assert asyncio.run(press_slowly()) is State.OPEN
    assert scene.state(ask) is State.ANSWERED


def test_fault_of_ours_is_logged_by_its_name(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Slack is answered all the same."""

    async def fail(*_: object) -> Ask:
        raise RuntimeError("hush")

    scene.ask()
    monkeypatch.setattr(slack_door, "_decide", fail)
    assert scene.press("Blue").status_code == 200
    assert "a press failed with RuntimeError" in caplog.text
    assert "hush" not in caplog.text


def test_without_a_secret_there_is_no_such_address(scene: Scene) -> None:
    """And a form is taken nowhere else."""
    site = Site(EmbeddedDoor(scene.office.hub))
    scene.line = scene.client(build_app(site))
    assert scene.deliver(b"payload={}").status_code == 404
    site.slack_secret = SECRET
    scene.line = scene.client(build_app(site))
    assert scene.deliver(b"payload={}").status_code == 400
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert scene.line.post("/projects/shop/asks", content=b"a=b", headers=form).status_code == 415


# What is said to whoever pressed


class Posted:
    """What was posted, and where."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.error: AssentError | None = None
        monkeypatch.setattr(slack_door, "post", self._post)

    def _post(self, url: str, body: bytes, _: Mapping[str, str]) -> None:
        self.calls.append((url, json.loads(body)))
        if self.error is not None:
            raise self.error


def test_refusal_is_said_to_whoever_pressed_and_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without markup, and without touching the message."""
    posted = Posted(monkeypatch)
    asyncio.run(slack_door._tell(REPLY_URL, 'Too late: "<!channel>".'))
    assert posted.calls == [
        (
            REPLY_URL,
            {
                "response_type": "ephemeral",
                "replace_original": False,
                "text": 'Too late: "&lt;!channel&gt;".',
            },
        )
    ]


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "http://hooks.slack.com/x",
            "https://evil.example.com/",
            "https://hooks.slack.com.evil.example.com/",
        ),
        *("https://hooks.slack.com@evil.example.com/", "https://127.0.0.1/", "javascript:x", "https://["),
    ],
)
def test_refusal_is_sent_nowhere_but_to_slack(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """The address comes with the press."""
    posted = Posted(monkeypatch)
    asyncio.run(slack_door._tell(url, "No."))
    assert posted.calls == []


def test_refusal_that_cannot_be_said_is_logged_by_its_code(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The address is in no log."""
    caplog.set_level(logging.INFO)
    posted = Posted(monkeypatch)
    posted.error = AssentError("hush")
    asyncio.run(slack_door._tell(REPLY_URL, "No."))
    assert "Slack was not told" in caplog.text
    assert "secret" not in caplog.text
