"""A request that is sent again under its Idempotency-Key, because its reply was lost, is done once."""

from collections.abc import Iterator

import msgspec
import pytest

from assent.client.verbs import VERBS
from assent.protocol.principal import Role
from tests.surfaces.http.world import Sent, Trial, World, a_world

__all__: list[str] = []

HELD = {"hold", "release", "start_run"}
"""What lives as long as a connection; tests/client has their rules."""
PASSING = {"claim", "timestamp", "driver"}
"""A claim is renewed by saying it again, a RESULT that is told again has the moment at which that is, and who drives a
run is whoever holds it when that is told."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all."""
    with a_world() as found:
        yield found


def told(sent: Sent) -> dict[str, object]:
    """Return what a reply says, without what may differ."""
    return {key: value for key, value in msgspec.json.decode(sent.body).items() if key not in PASSING}


@pytest.mark.parametrize(
    "name", [name for name, verb in VERBS.items() if verb.is_change and name not in HELD]
)
def test_verb_sent_again_under_its_key_is_done_once(world: World, name: str) -> None:
    """The second reply is the first one, and the project is as it was. A secret alone is not told a second time."""
    place = world.place()
    trial = place.trial(name)
    headers = {"authorization": f"Bearer {world.tokens[Role.HUMAN]}", "idempotency-key": f"again-{name}"}
    first = world.send(trial, headers)
    assert first.status == VERBS[name].status
    before = world.look().get(place.project, 0)
    second = world.send(trial, headers)
    if name == "create_token":
        assert (second.status, second.code) == (409, "command_reused")
    else:
        assert (second.status, told(second)) == (first.status, told(first))
    # A RESULT told again stands in the topic again, behind its REQUEST; nothing else is written twice.
    assert world.look().get(place.project, 0) - before == (2 if name == "control_run" else 0)


@pytest.mark.parametrize("name", ["open_ask", "request_approval", "add_notification", "create_task"])
def test_key_of_one_request_is_refused_to_another(world: World, name: str) -> None:
    """A key stands for one body: another under it is neither done nor taken for the first."""
    place = world.place()
    first, other = place.trial(name), place.trial(name)
    headers = {"authorization": f"Bearer {world.tokens[Role.HUMAN]}", "idempotency-key": f"other-{name}"}
    assert world.send(first, headers).status == VERBS[name].status
    before = world.look()
    assert world.send(Trial(other.verb, other.path, other.body), headers).status == 409
    assert world.look() == before


def test_key_is_of_one_principal(world: World) -> None:
    """Somebody else who happens to choose the same key has their own request done."""
    place = world.place()
    replies = [
        world.send(
            place.trial("open_ask"),
            {"authorization": f"Bearer {world.tokens[role]}", "idempotency-key": "popular"},
        )
        for role in (Role.HUMAN, Role.AGENT)
    ]
    assert [reply.status for reply in replies] == [201, 201]
    assert len({str(told(reply)["ask_id"]) for reply in replies}) == 2


@pytest.mark.parametrize("key", ["k" * 201, "a\tb"], ids=["long", "a tab"])
def test_key_that_is_none_is_refused(world: World, key: str) -> None:
    """Rather than be cut, or be taken for another."""
    trial = world.place().trial("open_ask")
    headers = {"authorization": f"Bearer {world.tokens[Role.HUMAN]}", "idempotency-key": key}
    sent = world.send(trial, headers)
    assert (sent.status, sent.code) == (400, "bad_request")
