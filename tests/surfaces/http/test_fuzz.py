"""What the server answers to requests that nobody thought of: what its document says, and never with an error of its own.

The full count is `fuzz(world, 120)`, or ASSENT_FUZZ_EXAMPLES=120 in the environment of the tests.
"""

import os
from collections.abc import Iterator

import msgspec
import pytest

from assent.client.verbs import VERBS
from assent.protocol.principal import Role
from assent.surfaces.http import record
from assent.surfaces.http.incoming import Incoming
from tests.surfaces.http.bodies import bad_bodies
from tests.surfaces.http.fuzzing import fuzz
from tests.surfaces.http.world import BODIES, Sent, Trial, World, a_world

__all__: list[str] = []

EXAMPLES = int(os.environ.get("ASSENT_FUZZ_EXAMPLES", "4"))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all that is sent."""
    with a_world() as found:
        yield found


@pytest.mark.timeout(3_600)
def test_random_requests_get_replies_as_declared() -> None:
    """No server error, no status and no body that the document does not declare, for any role and for nobody."""
    with a_world() as world:
        findings = fuzz(world, EXAMPLES)
        audit = world.store.person().verify()
    assert findings.problems == []
    assert findings.sent >= EXAMPLES * len(VERBS) // 2
    assert {200, 201, 400, 401, 403, 404} <= set(findings.statuses)
    assert audit.problems == ()


@pytest.mark.parametrize("fault", ["a body of another shape", "a server error"])
def test_reply_that_is_not_as_declared_is_found_out(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Twin of the test above."""

    async def wrong(_: Incoming) -> object:
        if fault == "a server error":
            raise RuntimeError(fault)
        return {"roles": []}

    monkeypatch.setitem(record.ENDPOINTS, "who_am_i", wrong)
    monkeypatch.setattr("assent.surfaces.http.app.ENDPOINTS", record.ENDPOINTS | dict.fromkeys(VERBS, wrong))
    with a_world() as world:
        findings = fuzz(world, 5, only="who_am_i")
    assert findings.problems


def check_refusal(sent: Sent) -> None:
    """See that a refusal is in our shape, with one clear sentence on one line."""
    told = msgspec.json.decode(sent.body)
    assert set(told) == {"error"}
    assert set(told["error"]) == {"code", "message", "details"}
    assert told["error"]["code"] in {"bad_request", "bad_json", "too_large"}
    sentence = told["error"]["message"]
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert 10 < len(sentence) < 500


@pytest.mark.parametrize("name", sorted(BODIES))
def test_bad_body_is_refused_with_one_sentence(world: World, name: str) -> None:
    """400 or 413 for each, whatever is wrong with it, and nothing is written."""
    place = world.place(Role.HUMAN)
    trial = place.trial(name)
    headers = {"authorization": f"Bearer {world.tokens[Role.HUMAN]}"}
    before, tried = world.look(), 0
    for what, text in bad_bodies(name, trial.body):
        sent = world.send_text(trial, headers, text)
        assert sent.status == (413 if what == "a byte too many" else 400), (what, sent)
        check_refusal(sent)
        tried += 1
    assert tried > 15
    assert world.look() == before
    good = world.send_as(place.trial(name), world.tokens[Role.HUMAN])
    assert good.status == VERBS[name].status  # as it is without the fault


@pytest.mark.parametrize(
    "name", sorted(name for name, verb in VERBS.items() if verb.is_change and not verb.body)
)
def test_body_where_none_belongs_is_refused(world: World, name: str) -> None:
    """A reason that nobody reads must not pass for one that was given."""
    trial = world.place(Role.HUMAN).trial(name)
    headers = {"authorization": f"Bearer {world.tokens[Role.HUMAN]}"}
    before = world.look()
    for text in (b'{"reason":"x"}', b"nope", b"[]", b"null", b'{"x":NaN}'):
        sent = world.send_text(trial, headers, text)
        assert sent.status == 400
        check_refusal(sent)
    assert world.look() == before


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=-1", "limit=99999999", "limit=x", "limit=1&limit=2", "limit="),
        *("after=-1", "after=1.5", "wait=-1", "wait=nan", "wait=x", "nope=1"),
    ],
)
def test_bad_query_is_refused_with_one_sentence(world: World, query: str) -> None:
    """As bodies are."""
    place = world.place()
    path = place.path(VERBS["read_log"])
    sent = world.send_as(Trial(VERBS["read_log"], f"{path}?{query}"), world.tokens[Role.HUMAN])
    assert sent.status == 400
    check_refusal(sent)
