"""A reply that is lost on its way: the request is sent again and done once, whatever it asks for."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from assent.client.client import Client
from assent.client.http.door import HttpDoor
from assent.client.http.exchange import Sent, exchange
from assent.client.verbs import VERBS
from assent.protocol.principal import Principal, Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.client.http.fault import LossyLine
from tests.client.talk import TALK, void
from tests.work_samples import DATABASE, asking

__all__: list[str] = []

ACTION = {"drop": "users.legacy_id"}
CHANGES = {name for name, verb in VERBS.items() if verb.is_change}


class Place:
    """An agent and a person in one project, on one line."""

    def __init__(self, url: str, secrets: dict[Role, str], project: str) -> None:
        self.project = project
        self.doors = {role: HttpDoor(url, secret) for role, secret in secrets.items()}
        self.agent = Client(self.doors[Role.AGENT], project, Principal(Role.AGENT, "coder"))
        self.ana = Client(self.doors[Role.HUMAN], project, Principal(Role.HUMAN, "ana"))

    def send(self, method: str, path: str, body: Any, key: str) -> Any:
        """Send a request of one's own, as the door sends its requests."""
        line = self.doors[Role.HUMAN]._line
        content = b"" if body is None else msgspec.json.encode(body)
        headers = {"idempotency-key": key, "content-type": "application/json"}
        sent = Sent(method, f"/projects/{self.project}{path}", {}, content, headers, 0.0)
        return json.loads(line.talk(exchange(line, sent)))

    def look(self) -> Any:
        """Say what one's page shows."""
        line = self.doors[Role.HUMAN]._line
        content = msgspec.json.encode({"page": "page-0001", "project": self.project})
        sent = Sent("PUT", "/presence", {}, content, {"content-type": "application/json"}, 0.0)
        return json.loads(line.talk(exchange(line, sent)))


def asks(place: Place) -> None:
    """Ask, and end asks in every way."""
    agent, ana = place.agent, place.ana
    ana.answer(agent.open("Which?", ["a", "b"]).ask_id, "1")
    ana.answer(agent.open("Which one?", ["a", "b"]).ask_id, {"q1": ["a"]})
    ana.decline(agent.open("Why?").ask_id, "no time")
    kept = agent.open("When?", key="when")
    ana.claim(kept.ask_id)
    agent.report_undelivered(kept.ask_id, "nobody home")
    agent.withdraw(kept.ask_id, "too late")
    agent.open("When?", key="when")


def approvals(place: Place) -> None:
    """Have an action approved, and do it."""
    place.ana.set_policy({"scopeChanges": "notify_and_proceed"})
    receipt = place.agent.approve("Drop a column", action=ACTION, category="scopeChanges")
    assert place.agent.redeem(receipt.receipt_id, ACTION).redeemed_at is not None


def topics(place: Place) -> None:
    """Post."""
    place.agent.post("notes", {"text": "one"})
    place.agent.post("notes", {"text": "one"})
    place.ana.post("notes", {"text": "two"})


def runs(place: Place) -> None:
    """Drive a run with another in it, and steer it."""
    with place.agent.run(run_id="r-1", max=2, model="haiku") as run:
        for turn in run:
            run.tell(f"turn {turn.number}\n")
            if turn.number == 1:
                place.ana.pause("r-1")
                place.ana.resume("r-1")
                place.send("POST", "/runs/r-1/control", {"command": "escalate", "model": "opus"}, "k-1")
                with run.nested(mode="loop", max=1) as inner:
                    list(inner)
    assert place.agent.read_output("r-1").text == "turn 1\nturn 2\n"
    with pytest.raises(ZeroDivisionError), place.agent.run(run_id="r-2"):
        raise ZeroDivisionError


def flows(place: Place) -> None:
    """Drive a durable flow."""
    place.agent.drive("f", TALK, "Which colour?", present=lambda ask: void(place.ana.answer(ask.ask_id, "2")))


def work(place: Place) -> None:
    """Hand in results, resolve and dismiss, work on tasks, say something."""
    agent, ana = place.agent, place.ana
    agent.create_task("Build", task_id="task-1")
    made = agent.create_task("Test")
    agent.update_task(made.task_id, title="Test it")
    agent.block_task(made.task_id, "no rig")
    told = agent.hand_in(asking(DATABASE)).notification
    assert told is not None
    ana.resolve(told.notification_id, "SQLite")
    again = agent.add_notification("prd", "doc", ["Why?"])
    ana.dismiss(again.notification_id)
    place.send("POST", "/tasks/task-1/chat", {"text": "hello"}, "k-2")
    agent.add_notification("prd", "other", ["When?"])
    place.send("DELETE", "/notifications", None, "k-3")


def tokens(place: Place) -> None:
    """Make a token, and end it; look who is there."""
    assert place.look() == {"present": []}
    token, _ = place.ana.create_token("agent", name="ci")
    place.ana.revoke_token(token.token_id)


STORIES: tuple[Callable[[Place], None], ...] = (asks, approvals, topics, runs, flows, work, tokens)


@pytest.fixture(scope="module")
def place() -> Iterator[Callable[[str, str], Place]]:
    """Give a server, and what makes places on it."""
    with throwaway() as store, ThrowawayServer(store) as server:
        secrets = {
            role: server.token(role, name) for role, name in ((Role.AGENT, "coder"), (Role.HUMAN, "ana"))
        }
        made: list[Place] = []

        def make(url: str, project: str) -> Place:
            made.append(Place(url or server.url, secrets, project))
            return made[-1]

        yield make
        for each in made:
            for door in each.doors.values():
                door.close()


def trace(place: Place) -> list[tuple[str, str | None]]:
    """Return what stands in the log: each event's type and topic.

    Without a REQUEST that came again and its cached RESULT, which the protocol of controls wants to be seen.
    """
    again = {"control.repeated", "control.replied"}
    return [(record.type, record.topic) for record in place.ana.log() if record.type not in again]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_every_reply_is_lost_once_and_everything_is_done_once(
    place: Callable[[str, str], Place], story: Callable[[Place], None]
) -> None:
    """The log is that of the same story on a line that loses nothing."""
    calm = place("", f"calm-{story.__name__}")
    story(calm)
    with LossyLine(int(calm.doors[Role.HUMAN].url.rpartition(":")[2])) as line:
        rough = place(line.url, f"rough-{story.__name__}")
        story(rough)
        lost = line.lost
    assert lost
    quiet = place("", rough.project)
    assert trace(quiet) == trace(calm)
    assert quiet.ana.verify().problems == ()


def test_the_stories_lose_the_reply_to_every_verb_that_changes_something(
    place: Callable[[str, str], Place],
) -> None:
    """A verb that is new in the table needs its line in a story."""
    with LossyLine(int(place("", "all").doors[Role.HUMAN].url.rpartition(":")[2])) as line:
        everything = place(line.url, "everything")
        for story in STORIES:
            if story is not work:
                story(everything)
        work(place(line.url, "everything-else"))
        assert set(line.lost) == CHANGES
