"""Deliveries of GitHub to a server: a signed hint, and everything that counts is read from GitHub (S8)."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import msgspec
import pytest
from starlette.testclient import TestClient

from assent.client.client import Client
from assent.client.embedded import EmbeddedDoor
from assent.effects.github.rest import RestChannel
from assent.protocol.ask import Ask, State
from assent.protocol.ending import render_ending
from assent.protocol.error import ConflictError, StillOpen
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Option
from assent.protocol.review import PullRequest
from assent.surfaces.comment_gate import PostedGate, post_gate
from assent.surfaces.comment_hook import REPLY_SECONDS, Hook, sign
from assent.surfaces.http import github
from assent.surfaces.http.app import build_app
from assent.surfaces.http.github import SPARE_DELIVERIES, ProjectLedger
from assent.surfaces.http.guard import Guard
from assent.surfaces.http.names import names_of
from assent.surfaces.http.site import Site
from assent.testing import FakeClock, ThrowawayStore, throwaway
from tests.github.double import HEAD, TOKEN, Double, Fault, serve
from tests.proves import proves

__all__: list[str] = []

SECRET = "a secret of both"
PULL = PullRequest("acme", "shop", 7, HEAD)
DOUBT = " (by a comment, which anybody with that login can write)"
PORT = 8484


class Scene:
    """A server that GitHub delivers to, and a pull request with people."""

    def __init__(self, store: ThrowawayStore, double: Double, clock: FakeClock) -> None:
        self.store, self.double, self.clock = store, double, clock
        self.channel = RestChannel(double.address, TOKEN)
        double.permissions = {double.me: "write", "ana": "write", "reader": "read"}
        self.agent: Client = store.agent()
        self.line = self.start()
        self._deliveries = 0
        self._postings = 0

    def start(self) -> TestClient:
        """Start the server, which remembers nothing of the one before."""
        door = EmbeddedDoor(self.store.hub())
        hook = Hook(self.channel, SECRET, ProjectLedger(door, self.store.project))
        guarded = Guard(build_app(Site(door), hook=hook), names_of("127.0.0.1", PORT))
        return TestClient(guarded, f"http://127.0.0.1:{PORT}", client=("127.0.0.1", 1))

    def post(self, ask: Ask) -> PostedGate:
        """Put an ask on the pull request."""
        self._postings += 1
        return post_gate(self.channel, PULL, ask, f"nonce{self._postings}")

    def ask(self) -> tuple[str, str]:
        """Post a question; return its id and its name there."""
        opened = self.agent.open("Which colour?", ["Red", "Blue"])
        self.post(self.agent.show(opened.ask_id))
        return opened.ask_id, opened.ask_id[-6:]

    def payload(self, comment_id: int, **changes: Any) -> dict[str, Any]:
        """Return what GitHub tells about a comment."""
        found = [each for each in self.double.comments if each["id"] == comment_id]
        comment = found[0] if found else {"id": comment_id, "user": {"login": "ana", "id": 1, "type": "User"}}
        return {
            "action": "created",
            "issue": {"number": 7, "pull_request": {"url": "x"}},
            "comment": comment,
            "repository": {"full_name": "acme/shop"},
            "sender": comment["user"],
        } | changes

    def deliver(
        self,
        payload: dict[str, Any] | bytes,
        *,
        headers: Mapping[str, str | bytes] | None = None,
        event: str = "issue_comment",
    ) -> httpx2.Response:
        """Deliver something, signed unless `headers` say otherwise."""
        text = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
        self._deliveries += 1
        usual = {
            "content-type": "application/json",
            "x-github-event": event,
            "x-github-delivery": f"72d3162e-cc78-11e3-{self._deliveries:04}",
            "x-hub-signature-256": sign(SECRET, text),
        }
        told = [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in {**usual, **(headers or {})}.items()
        ]
        return self.line.post("/github/webhook", content=text, headers=told)

    def say(self, login: str, body: str, **told: Any) -> httpx2.Response:
        """Have somebody write a comment that is delivered."""
        return self.deliver(self.payload(self.double.say(login, body, **told)))


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Give a server and a double of GitHub whose clocks agree."""
    clock = FakeClock()
    with throwaway(clock=clock) as store, serve() as double:
        yield Scene(store, double, clock)


def test_signature_is_that_of_the_published_example() -> None:
    """GitHub's own test values."""
    told = sign("It's a Secret to Everybody", b"Hello, World!")
    assert told == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_server_without_a_secret_has_no_such_route(scene: Scene) -> None:
    """Not even a hint that there could be one."""
    door = EmbeddedDoor(scene.store.hub())
    guarded = Guard(build_app(Site(door)), names_of("127.0.0.1", PORT))
    line = TestClient(guarded, f"http://127.0.0.1:{PORT}", client=("127.0.0.1", 1))
    sent = line.post("/github/webhook", json={})
    assert (sent.status_code, sent.json()["error"]["message"]) == (404, "There is nothing here.")


@proves("G2")
def test_delivered_reply_of_a_person_who_may_decides(scene: Scene) -> None:
    """The server looked up who it was: the answer has their number, and says that anybody with the login could write it."""
    ask_id, name = scene.ask()
    sent = scene.say("ana", f"/gate {name} blue")
    assert (sent.status_code, sent.json()) == (200, {"status": "decided", "ask_ids": [ask_id]})
    answer = scene.agent.show(ask_id).answer
    assert answer is not None
    assert (answer.by, answer.via) == ("human:ana@github", f"github:{scene.double.number_of('ana')}")
    assert (answer.values, answer.assurance) == ({"q1": ("Blue",)}, Assurance.COMMENT)
    assert scene.double.comments[0]["body"].startswith(f"**Answered** by `ana`{DOUBT}: `Blue`")
    assert f"ana@github{DOUBT} answered" in render_ending(scene.agent.show(ask_id))
    assert "an agent that uses yours can, too." in scene.double.comments[0]["body"]


def test_delivered_yes_is_an_approval_that_can_be_redeemed_once(scene: Scene) -> None:
    """Through the server it is enough; a plain number is not, as it does not say what it is a yes to."""
    action = {"drop": "users.legacy_id"}
    with pytest.raises(StillOpen):
        scene.agent.approve("Drop it", action=action, key="drop", wait=0)
    (asked,) = scene.agent.inbox()
    scene.post(asked)
    assert '"drop": "users.legacy_id"' in scene.double.comments[0]["body"]
    assert scene.say("ana", "1").json()["status"] == "waiting"
    assert scene.say("ana", f"/gate {asked.ask_id[-6:]} approve").json()["status"] == "decided"
    answer = scene.agent.show(asked.ask_id).answer
    assert answer is not None
    assert answer.assurance is Assurance.COMMENT
    receipt = scene.agent.approve("Drop it", action=action, key="drop", wait=0)
    assert scene.agent.redeem(receipt.receipt_id, action).redeemed_at is not None
    with pytest.raises(ConflictError):
        scene.agent.redeem(receipt.receipt_id, action)


def test_action_that_is_too_long_can_be_declined_and_not_approved(scene: Scene) -> None:
    """No approval without the whole payload in view."""
    with pytest.raises(StillOpen):
        scene.agent.approve("Run it", action={"run": "x" * 70_000}, wait=0)
    (asked,) = scene.agent.inbox()
    name = asked.ask_id[-6:]
    scene.post(asked)
    assert "too long for a comment, so it cannot be approved here" in scene.double.comments[0]["body"]
    assert scene.say("ana", f"/gate {name} approve").json()["status"] == "waiting"
    assert "only declined" in scene.double.comments[-1]["body"]
    assert scene.say("ana", f"/gate {name} decline").json()["status"] == "decided"
    assert scene.agent.show(asked.ask_id).state is State.DECLINED


@pytest.mark.parametrize(
    "headers",
    [
        {"x-hub-signature-256": ""},
        {"x-hub-signature-256": "sha256=" + "0" * 64},
        {"x-hub-signature-256": sign("another secret of both", b"{}")},
        {"x-hub-signature-256": "sha1=0000"},
        {"x-hub-signature-256": "é"},
    ],
    ids=["none", "zeros", "another secret", "sha1", "no ascii"],
)
def test_delivery_that_is_not_signed_is_refused_before_it_is_read(
    scene: Scene, headers: dict[str, str]
) -> None:
    """GitHub is not asked anything, and nothing is decided."""
    ask_id, name = scene.ask()
    comment = scene.double.say("ana", f"/gate {name} 1")
    asked = len(scene.double.log)
    raw = {key: value.encode() for key, value in headers.items()}
    sent = scene.deliver(scene.payload(comment), headers=raw)
    assert (sent.status_code, sent.json()["error"]["code"]) == (401, "unauthorised")
    assert len(scene.double.log) == asked
    assert scene.agent.show(ask_id).is_open


def test_signature_is_over_the_very_bytes(scene: Scene) -> None:
    """One more space, and it is another body."""
    ask_id, name = scene.ask()
    text = msgspec.json.encode(scene.payload(scene.double.say("ana", f"/gate {name} 1")))
    sent = scene.deliver(text + b" ", headers={"x-hub-signature-256": sign(SECRET, text)})
    assert sent.status_code == 401
    assert scene.agent.show(ask_id).is_open


def test_payload_alone_decides_nothing(scene: Scene) -> None:
    """Whatever a signed delivery says of the comment: what GitHub shows counts."""
    ask_id, name = scene.ask()
    lied = scene.payload(scene.double.say("reader", f"/gate {name} 1"))
    ana = {"login": "ana", "id": scene.double.number_of("ana"), "type": "User"}
    lied["comment"] = lied["comment"] | {"user": ana}
    assert scene.deliver(lied).json()["status"] == "waiting"
    talk = scene.payload(scene.double.say("ana", "Looks good."))
    talk["comment"] = talk["comment"] | {"body": f"/gate {name} 1"}
    assert scene.deliver(talk).json()["status"] == "ignored"
    assert scene.deliver(scene.payload(999_999)).json()["status"] == "ignored"
    assert scene.agent.show(ask_id).is_open


def test_comment_that_got_other_words_in_its_first_second_does_not_count(scene: Scene) -> None:
    """GitHub tells moments in seconds, so such an edit shows nowhere but in the delivery; an agent's token may make it."""
    ask_id, name = scene.ask()
    delivered = scene.payload(comment_id := scene.double.say("ana", "Thank you!"))
    text = msgspec.json.encode(delivered)
    (swapped,) = [each for each in scene.double.comments if each["id"] == comment_id]
    swapped["body"] = f"/gate {name} 1"
    assert swapped["created_at"] == swapped["updated_at"]
    assert scene.deliver(text).json()["status"] == "ignored"
    assert scene.agent.show(ask_id).is_open


@pytest.mark.parametrize(
    "changes",
    [{"action": "edited"}, {"action": "deleted"}, {"issue": {"number": 7}}],
    ids=["edited", "deleted", "no pull request"],
)
def test_delivery_about_anything_but_a_new_comment_is_ignored(scene: Scene, changes: dict[str, Any]) -> None:
    """Also where the comment itself would be an answer."""
    ask_id, name = scene.ask()
    payload = scene.payload(scene.double.say("ana", f"/gate {name} 1"), **changes)
    assert scene.deliver(payload).json()["status"] == "ignored"
    assert scene.deliver(payload | {"action": "created"}, event="ping").json()["status"] == "ignored"
    assert scene.agent.show(ask_id).is_open


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"action":"created"}', b"\xff", b"[" * 5_000])
def test_signed_nonsense_is_refused_in_our_shape(scene: Scene, text: bytes) -> None:
    """No stack trace, and one error shape."""
    sent = scene.deliver(text)
    assert (sent.status_code, sent.json()["error"]["code"]) == (400, "bad_request")


@pytest.mark.parametrize("name", ["../../user", "acme/shop/pulls", "acme", "", "acme/sh op"])
def test_repository_that_is_none_is_refused(scene: Scene, name: str) -> None:
    """It becomes a part of a path."""
    payload = scene.payload(scene.double.say("ana", "1"), repository={"full_name": name})
    asked = len(scene.double.log)
    assert scene.deliver(payload).status_code == 400
    assert len(scene.double.log) == asked


def test_delivery_that_comes_again_decides_nothing(scene: Scene) -> None:
    """Under its own name, under another one, and after a restart."""
    ask_id, name = scene.ask()
    text = msgspec.json.encode(scene.payload(scene.double.say("ana", f"/gate {name} 1")))
    again = {"x-github-delivery": "72d3162e-again"}
    assert scene.deliver(text, headers=again).json()["status"] == "decided"
    assert scene.deliver(text, headers=again).json()["status"] == "seen"
    assert scene.deliver(text).json()["status"] == "seen"
    scene.line = scene.start()
    assert scene.deliver(text).json()["status"] == "waiting"
    second, _ = scene.ask()
    assert scene.agent.show(second).is_open
    answered = [record for record in scene.agent.log() if record.type == "ask.answered"]
    assert len(answered) == 1
    assert scene.agent.show(ask_id).state is State.ANSWERED


def test_reply_to_an_earlier_posting_is_not_for_the_next_one(scene: Scene) -> None:
    """The same ask was posted again: an old delivery is about what stood there before."""
    ask_id, name = scene.ask()
    text = msgspec.json.encode(scene.payload(scene.double.say("ana", f"/gate {name} 1")))
    del scene.double.comments[0]  # somebody removed the first posting
    scene.post(scene.agent.show(ask_id))
    assert scene.deliver(text).json()["status"] == "waiting"
    assert scene.agent.show(ask_id).is_open


def test_old_comment_does_not_count_by_what_its_author_may_do_now(scene: Scene) -> None:
    """It was written when they might not; then they got the right, and the delivery was sent again."""
    ask_id, name = scene.ask()
    payload = scene.payload(scene.double.say("late-joiner", f"/gate {name} 1"))
    assert scene.deliver(payload).json()["status"] == "waiting"
    scene.double.permissions["late-joiner"] = "write"
    assert scene.deliver(payload).json()["status"] == "seen"
    scene.line = scene.start()
    scene.clock.advance(REPLY_SECONDS + 60)
    assert scene.deliver(payload).json()["status"] == "late"
    assert scene.agent.show(ask_id).is_open


def test_login_that_was_registered_again_is_another_person(scene: Scene) -> None:
    """The comment is by the number that had the name before."""
    ask_id, name = scene.ask()
    comment = scene.double.say("ana", f"/gate {name} 1")
    scene.double.register_again("ana")
    assert scene.deliver(scene.payload(comment)).json()["status"] == "waiting"
    assert scene.agent.show(ask_id).is_open


@pytest.mark.parametrize(
    "told",
    [{"kind": "Bot"}, {"app": {"id": 1}}, {"is_edited": True}, {"login": "reader"}, {"login": "robo-ana"}],
    ids=["bot", "app", "edited", "reader", "poster"],
)
def test_delivered_comment_of_nobody_who_may_decides_nothing(scene: Scene, told: dict[str, Any]) -> None:
    """The same rules as where comments are looked for."""
    ask_id, name = scene.ask()
    told = {"login": "ana"} | told
    sent = scene.say(told.pop("login"), f"/gate {name} 1", **told)
    assert sent.json()["status"] in ("waiting", "ignored")
    assert scene.agent.show(ask_id).is_open


def test_gate_by_a_stranger_is_none_and_their_comment_is_left_alone(scene: Scene) -> None:
    """They copied it, letter by letter; an agent with an account of its own could have asked them to."""
    ask_id, name = scene.ask()
    gate = scene.double.comments.pop()
    copied = scene.double.say("reader", gate["body"])
    assert scene.say("ana", f"/gate {name} 1").json()["status"] == "waiting"
    assert scene.agent.show(ask_id).is_open
    scene.agent.withdraw(ask_id)
    scene.say("ana", "Well.")
    (left,) = [each for each in scene.double.comments if each["id"] == copied]
    assert left["body"] == gate["body"]


def test_ask_of_another_project_is_not_answered_from_there(scene: Scene) -> None:
    """Which project it is, the server says."""
    other = scene.store.agent(project="other")
    opened = other.open("Which?", ["A", "B"])
    scene.post(other.show(opened.ask_id))
    assert scene.say("ana", f"/gate {opened.ask_id[-6:]} 1").json()["status"] == "waiting"
    assert other.show(opened.ask_id).is_open


def test_gate_that_ended_elsewhere_is_closed_with_the_next_delivery(scene: Scene) -> None:
    """Nobody answers a dead gate."""
    ask_id, _ = scene.ask()
    scene.store.person("bob").answer(ask_id, "1")
    assert scene.say("ana", "Hello.").json()["status"] == "waiting"
    assert scene.double.comments[0]["body"].startswith("**Answered** by `bob`: `Red`")


def test_delivery_while_github_is_away_can_come_again(scene: Scene) -> None:
    """It failed, and is told so; delivered again it counts."""
    ask_id, name = scene.ask()
    payload = scene.payload(scene.double.say("ana", f"/gate {name} 1"))
    scene.double.faults = [Fault("GET", "/permission", 500)]
    failed = scene.deliver(payload)
    assert (failed.status_code, failed.json()["error"]["code"]) == (502, "github")
    assert scene.agent.show(ask_id).is_open
    assert scene.deliver(payload).json()["status"] == "decided"


def test_author_without_end_is_slowed_down_and_others_are_heard(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each delivery costs questions to GitHub. However slow the machine is, nothing is spared meanwhile."""
    monkeypatch.setattr(github, "DELIVERIES_PER_SECOND", 0.001)
    scene.line = scene.start()
    ask_id, name = scene.ask()
    statuses = [
        scene.say("flooder", f"Number {number}").status_code for number in range(SPARE_DELIVERIES + 3)
    ]
    assert statuses[:SPARE_DELIVERIES] == [200] * SPARE_DELIVERIES
    assert statuses[-1] == 429
    assert scene.say("ana", f"/gate {name} 1").json()["status"] == "decided"
    assert scene.agent.show(ask_id).state is State.ANSWERED


def test_plain_number_counts_only_where_one_gate_waits(scene: Scene) -> None:
    """Else nobody knows which one it is for."""
    first, _ = scene.ask()
    second, name = scene.ask()
    assert scene.say("ana", "1").json()["status"] == "waiting"
    assert scene.say("ana", f"/gate {name} 1").json()["ask_ids"] == [second]
    assert scene.say("ana", "1").json()["ask_ids"] == [first]


def test_what_cannot_be_undone_is_confirmed_by_a_second_comment_of_the_same_person(scene: Scene) -> None:
    """Whichever server takes it; the hub is told that it was confirmed, and not before."""
    opened = scene.agent.open("What now?", [Option("d", "Delete it", destructive=True), "Keep it"])
    scene.post(scene.agent.show(opened.ask_id))
    name = opened.ask_id[-6:]
    scene.double.permissions["mo"] = "write"
    assert scene.say("ana", f"/gate {name} 1").json()["status"] == "waiting"
    assert "`Delete it` cannot be undone" in scene.double.comments[-1]["body"]
    assert scene.say("mo", f"/gate {name} yes").json()["status"] == "waiting"
    assert scene.agent.show(opened.ask_id).is_open
    scene.line = scene.start()
    assert scene.say("ana", f"/gate {name} yes").json()["status"] == "decided"
    answer = scene.agent.show(opened.ask_id).answer
    assert answer is not None
    assert (answer.by, answer.values, answer.text) == ("human:ana@github", {"q1": ("d",)}, "1")


def test_delivered_no_to_an_approval_has_its_words(scene: Scene) -> None:
    """The agent is told them, and the comment says them."""
    with pytest.raises(StillOpen):
        scene.agent.approve("Drop it", action={"drop": "users"}, key="drop", wait=0)
    (asked,) = scene.agent.inbox()
    scene.post(asked)
    name = asked.ask_id[-6:]
    assert scene.say("ana", f"/gate {name} reject not on a Friday").json()["status"] == "decided"
    answer = scene.agent.show(asked.ask_id).answer
    assert answer is not None
    assert (answer.values, answer.reason) == ({"approve": ("Reject",)}, "not on a Friday")
    told = f"**Answered** by `ana`{DOUBT}: `Reject`, because `not on a Friday`"
    assert scene.double.comments[0]["body"].startswith(told)


def test_sender_s_own_words_about_itself_are_not_believed(scene: Scene) -> None:
    """Who it is, where it came in and how sure that is, is what the server saw."""
    ask_id, name = scene.ask()
    comment = scene.double.say("reader", f"/gate {name} 1")
    ana = {"login": "ana", "id": scene.double.number_of("ana"), "type": "User"}
    told = scene.payload(comment, sender=ana, via="page", assurance="token", permission="admin")
    told["comment"] = told["comment"] | {"user": ana, "author_association": "OWNER"}
    headers = {"assent-via": "page", "x-forwarded-user": "ana", "authorization": "Bearer x"}
    assert scene.deliver(told, headers=headers).json()["status"] == "waiting"
    assert scene.agent.show(ask_id).is_open
    mine = scene.payload(scene.double.say("ana", f"/gate {name} 1"), via="page", assurance="terminal")
    scene.deliver(mine, headers=headers)
    answer = scene.agent.show(ask_id).answer
    assert answer is not None
    assert (answer.via, answer.assurance) == (f"github:{ana['id']}", Assurance.COMMENT)


def test_two_people_at_once_and_one_of_them_twice_decide_once(scene: Scene) -> None:
    """The first comment wins; who was late is told by a sign on theirs."""
    ask_id, name = scene.ask()
    scene.double.permissions["mo"] = "write"
    first = scene.double.say("ana", f"/gate {name} red")
    second = scene.double.say("mo", f"/gate {name} blue")
    third = scene.double.say("ana", f"/gate {name} blue")
    said = [scene.deliver(scene.payload(each)).json()["status"] for each in (second, first, third)]
    assert said == ["decided", "waiting", "waiting"]
    answer = scene.agent.show(ask_id).answer
    assert answer is not None
    assert answer.by == "human:mo@github"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_a_delivery_is_taken_there(scene: Scene, method: str) -> None:
    """Whoever follows a link decides nothing."""
    ask_id, _ = scene.ask()
    assert scene.line.request(method, "/github/webhook").status_code in (404, 405)
    assert scene.agent.show(ask_id).is_open


def test_yes_to_another_ask_confirms_neither(scene: Scene) -> None:
    """Each asks for a yes of its own."""
    names = []
    for _ in range(2):
        opened = scene.agent.open("What now?", [Option("d", "Delete it", destructive=True), "Keep it"])
        scene.post(scene.agent.show(opened.ask_id))
        names.append(opened.ask_id[-6:])
    assert scene.say("ana", f"/gate {names[0]} 1").json()["status"] == "waiting"
    assert scene.say("ana", f"/gate {names[1]} yes").json()["status"] == "waiting"
    assert len(scene.agent.inbox()) == 2
    assert scene.say("ana", f"/gate {names[0]} yes").json()["status"] == "decided"
    (left,) = scene.agent.inbox()
    assert left.ask_id.endswith(names[1])
