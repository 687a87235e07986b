"""What a credential opens that is not good, not good for this, or not good here: nothing; and what it is told: nothing."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from websockets.sync.client import connect

from assent.client.embedded import EmbeddedDoor
from assent.client.verbs import VERBS
from assent.protocol.principal import Role
from assent.surfaces.http.events import EVENTS
from tests.patience import PATIENCE
from tests.surfaces.http.credentials import BAD, Thief, a_thief, knock
from tests.surfaces.http.world import BODIES, CALLS, Place, Sent, Trial, World, a_world

__all__: list[str] = []

NOWHERE = "p-nowhere"


@pytest.fixture(scope="module")
def thief() -> Iterator[Thief]:
    """Give one thief for all doors."""
    with a_thief() as found:
        yield found


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all that know their own project only."""
    with a_world() as found:
        yield found


@pytest.mark.parametrize("name", list(CALLS))
def test_verb_opens_to_no_credential_that_is_not_good(thief: Thief, name: str) -> None:
    """401, the same for all of them, and nothing is written; of the events also as a WebSocket."""
    tally = knock(thief, name)
    assert tally.problems == []
    assert tally.tries == len(BAD) * (2 if name == EVENTS.name else 1)


def test_thief_is_let_in_with_a_good_credential(thief: Thief, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin of the test above: the same requests with the good secret, or signed with the good key, succeed."""
    good = thief.world.tokens[Role.HUMAN]
    trial = thief.world.place().trial("show_ask")
    monkeypatch.setitem(thief.headers, "good", {"authorization": f"bearer {good}"})
    monkeypatch.setitem(thief.signers, "good session", thief.good)
    kinds = ("good", "good session")
    assert [thief.send(trial, kind).status for kind in kinds] == [200, 200]
    path = thief.world.place().trial(EVENTS.name).path
    assert [thief.try_socket(path, kind).status for kind in kinds] == [101, 101]
    assert {*thief.headers, *thief.signers, "bad token, good session"} == {*BAD, *kinds}


def test_signing_out_needs_a_good_credential(thief: Thief) -> None:
    """It ends a token, so it is for whoever has one."""
    before = thief.world.look()
    for kind in BAD:
        headers = thief.shown(kind, "POST", "/sign-out")
        assert thief.world.line.post("/sign-out", headers=headers).status_code == 401
    assert thief.world.look() == before


def test_unknown_credential_costs_the_look_up_of_a_good_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is looked up once, by its digest, so that nobody learns from the work done how near a guess was."""
    looked: list[str] = []
    really = EmbeddedDoor.token_by_digest

    def counted(door: EmbeddedDoor, digest: str) -> object:
        looked.append(digest)
        return really(door, digest)

    monkeypatch.setattr(EmbeddedDoor, "token_by_digest", counted)
    good = world.tokens[Role.HUMAN]
    near = good[:-1] + ("0" if good[-1] != "0" else "1")
    trial = Trial(VERBS["who_am_i"], "/whoami")
    assert [world.send_as(trial, secret).status for secret in (good, near)] == [200, 401]
    assert len(looked) == 2
    assert looked[0][:8] != looked[1][:8]


# Another project's things. Three projects of equal shape: ours, and two that are not.


class Neighbours:
    """Somebody with a token for one project, beside two others."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ours, self.theirs, self.others = (world.place(Role.HUMAN) for _ in range(3))
        self.secret = world.server.token(Role.HUMAN, "near", projects=(self.ours.project,))

    def send(self, trial: Trial) -> Sent:
        """Send a request with the token that is good in our project."""
        return self.world.send_as(trial, self.secret)


@pytest.fixture(scope="module")
def neighbours(world: World) -> Neighbours:
    """Give the three projects."""
    return Neighbours(world)


PASSING = {"sequence", "posted_at", "request_id", "timestamp"}
"""What differs between any two replies."""


def same_but(sent: Sent, name: str) -> bytes:
    """Return a reply without what was asked for, and without what differs in any case."""
    plain = (
        msgspec.json.encode(blur(msgspec.json.decode(sent.body))) if sent.body.startswith(b"{") else sent.body
    )
    return plain.replace(name.encode(), b"*")


def blur(value: Any) -> Any:
    """Return a value without what passes."""
    if isinstance(value, dict):
        return {key: None if key in PASSING else blur(part) for key, part in value.items()}
    return [blur(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [name for name, verb in CALLS.items() if "{project}" in verb.path])
def test_foreign_project_and_missing_one_look_alike(neighbours: Neighbours, name: str) -> None:
    """404 for every verb, byte for byte the same, and nothing is written in either."""
    world = neighbours.world
    trials = [neighbours.theirs.trial(name), neighbours.others.trial(name)]
    path = trials[0].path.replace(neighbours.theirs.project, NOWHERE)
    trials.append(Trial(trials[0].verb, path, trials[0].body))
    before = world.look()
    sent = [neighbours.send(trial) for trial in trials]
    assert [each.status for each in sent] == [404, 404, 404]
    assert len({each.body for each in sent}) == 1
    assert world.look() == before
    assert NOWHERE not in before


def test_foreign_socket_and_missing_one_look_alike(thief: Thief, monkeypatch: pytest.MonkeyPatch) -> None:
    """The handshake is refused with 404, and the same words."""
    world = thief.world
    ours, theirs = world.place(), world.place()
    theirs.make("open_ask", {"prompt": "Whose?"})
    secret = world.server.token(Role.HUMAN, "near", projects=(ours.project,))
    monkeypatch.setitem(thief.headers, "near", {"authorization": f"Bearer {secret}"})
    sent = [thief.try_socket(EVENTS.path.format(project=name), "near") for name in (theirs.project, NOWHERE)]
    assert [each.status for each in sent] == [404, 404]
    assert sent[0].body == sent[1].body


@pytest.mark.parametrize("name", [name for name, verb in VERBS.items() if "{project}" not in verb.path])
def test_list_of_all_projects_has_only_ones_own(neighbours: Neighbours, name: str) -> None:
    """What spans projects spans those of the token: no byte of another is in it."""
    for place in (neighbours.ours, neighbours.theirs, neighbours.others):
        place.make("open_ask", {"prompt": f"Is {place.project} next?"})
        place.make("add_notification", {"source": "plan", "sourceId": place.project, "questions": ["Which?"]})
        place.parts(VERBS["show_run"])
    body = BODIES[name](neighbours.ours) if name in BODIES else None
    sent = neighbours.send(Trial(VERBS[name], VERBS[name].path, body))
    assert sent.status == (403 if name == "verify" else 200)
    assert neighbours.theirs.project.encode() not in sent.body
    assert neighbours.others.project.encode() not in sent.body
    if name.startswith("count"):
        everybody = neighbours.world.send_as(
            Trial(VERBS[name], VERBS[name].path), neighbours.world.tokens[Role.HUMAN]
        )
        assert msgspec.json.decode(sent.body)["count"] < msgspec.json.decode(everybody.body)["count"]


IDS = {"ask", "receipt", "run", "notification", "task", "token"}


def part_of(name: str) -> str:
    """Return the id in the path of a verb; empty where there is none."""
    return next((part for part in IDS if f"{{{part}" in VERBS[name].path), "")


@pytest.mark.parametrize("name", [name for name in VERBS if part_of(name)])
def test_foreign_id_in_a_path_and_missing_one_look_alike(neighbours: Neighbours, name: str) -> None:
    """Our project, their thing: the reply is that to an id which nobody ever had."""
    part, world = part_of(name), neighbours.world
    theirs = neighbours.theirs.parts(VERBS[name])[part]
    missing = theirs[:-4] + ("0000" if not theirs.endswith("0000") else "1111")
    trials = [neighbours.ours.trial(name, **{part: found}) for found in (theirs, missing)]
    before = world.look()
    sent = [neighbours.send(trial) for trial in trials]
    assert sent[0].status == sent[1].status
    assert same_but(sent[0], theirs) == same_but(sent[1], missing)
    if sent[0].status != 404:
        assert name in {"control_run", "read_chat", "say_in_chat"}
    assert world.look()[neighbours.theirs.project] == before[neighbours.theirs.project]


QUERIES = {
    "list_asks": ("ask", "?state=all&ending={}"),
    "list_all_asks": ("ask", "?state=all&ending={}"),
    "list_asks behind one": ("ask", "?state=all&before={}"),
    "list_all_asks behind one": ("ask", "?state=all&before={}"),
    "list_notifications": ("notification", "?status=all&source=plan&source_id={}"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_foreign_id_in_a_query_and_missing_one_look_alike(neighbours: Neighbours, name: str) -> None:
    """Nothing is found by it."""
    part, query = QUERIES[name]
    verb = VERBS[name.split(maxsplit=1)[0]]
    neighbours.ours.parts(VERBS["show_ask"])  # something of ours is there, and older than theirs
    theirs = neighbours.theirs.parts(VERBS[f"show_{part}"])[part]
    path = neighbours.ours.path(verb)
    sent = [neighbours.send(Trial(verb, path + query.format(found))) for found in (theirs, "nobody-0")]
    assert [each.status for each in sent] == [200, 200]
    assert sent[0].body == sent[1].body


def bodies(place: Place) -> dict[str, tuple[str, str]]:
    """Return by verb and field what stands in a body and is somebody's: how to make it, and one that nobody has."""
    return {
        "open_ask run_id": (place.parts(VERBS["show_run"])["run"], "run-nobody"),
        "request_approval run_id": (place.parts(VERBS["show_run"])["run"], "run-nobody"),
        "request_approval task_id": (place.parts(VERBS["show_task"])["task"], "task-nobody"),
        "create_task parent": (place.parts(VERBS["show_task"])["task"], "task-nobody"),
        "create_task dependencies": (place.parts(VERBS["show_task"])["task"], "task-nobody"),
        "update_task dependencies": (place.parts(VERBS["show_task"])["task"], "task-nobody"),
        "hand_in sourceId": (place.parts(VERBS["show_task"])["task"], "task-nobody"),
        "hold run_id": (place.parts(VERBS["show_run"])["run"], "run-nobody"),
        "create_token projects": (place.project, NOWHERE),
    }


@pytest.mark.parametrize(
    "place",
    [
        *("open_ask run_id", "request_approval run_id", "request_approval task_id", "create_task parent"),
        *("create_task dependencies", "update_task dependencies", "hand_in sourceId", "hold run_id"),
        "create_token projects",
    ],
)
def test_foreign_id_in_a_body_and_missing_one_look_alike(neighbours: Neighbours, place: str) -> None:
    """Whatever comes of it, the same comes of an id that nobody has; and their project is left alone."""
    name, field = place.split()
    theirs, missing = bodies(neighbours.theirs)[place]
    before = neighbours.world.look()[neighbours.theirs.project]
    seen = []
    for found in (theirs, missing):
        trial = neighbours.ours.trial(name)
        body = {key: value for key, value in trial.body.items() if not (name == "hold" and key == "flow_id")}
        body |= {field: [found] if field in {"dependencies", "projects"} else found}
        sent = neighbours.send(Trial(trial.verb, trial.path, body))
        told = msgspec.json.decode(sent.body) if b"{" in sent.body else {}
        seen.append((sent.status, sent.code, set(told), same_but(sent, found) if sent.code else b""))
    assert seen[0] == seen[1]
    assert neighbours.world.look()[neighbours.theirs.project] == before


def test_key_of_another_project_finds_nothing(neighbours: Neighbours) -> None:
    """An ask's key, and an Idempotency-Key, are a project's own: under theirs we get an ask of ours."""
    body = {"prompt": "The same?", "options": ["A", "B"], "key": "shared"}
    theirs = neighbours.theirs.make("open_ask", body)
    trial = Trial(VERBS["open_ask"], neighbours.ours.path(VERBS["open_ask"]), body)
    headers = {"authorization": f"Bearer {neighbours.secret}", "idempotency-key": "shared"}
    ours = msgspec.json.decode(neighbours.world.send(trial, headers).body)
    assert (ours["replayed"], ours["project"]) == (False, neighbours.ours.project)
    assert ours["ask_id"] != theirs["ask_id"]


def test_events_of_another_project_do_not_come(neighbours: Neighbours) -> None:
    """A socket on our project hears of ours, also when theirs is louder."""
    world = neighbours.world
    url = world.server.url.replace("http:", "ws:") + EVENTS.path.format(project=neighbours.ours.project)
    headers = {"authorization": f"Bearer {neighbours.secret}"}
    with connect(url, additional_headers=headers, proxy=None) as socket:
        for place in (neighbours.theirs, neighbours.others, neighbours.ours):
            place.make("open_ask", {"prompt": f"Is {place.project} next?"})
        told = str(socket.recv(timeout=PATIENCE))
    assert neighbours.ours.project in told
    assert neighbours.theirs.project not in told
