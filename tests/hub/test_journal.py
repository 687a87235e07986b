"""What the hub lets into a flow's journal: no gaps, no second result, and nothing that the log does not tell."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from assent.client.client import Client
from assent.hub.audit import verify
from assent.hub.record import Step
from assent.protocol.error import FlowDivergedError
from assent.testing import ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

OPENED = Step("f", 0, "sha256:0", "done", b'{"inputs":1}')
INTENDED = Step("f", 1, "sha256:1", "intended", b'{"path":"a"}')
DONE = Step("f", 1, "sha256:1", "done", b'{"result":1}')
NEXT = Step("f", 2, "sha256:2", "done", b'{"result":2}')


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give a store that goes away."""
    with throwaway() as store:
        yield store


@pytest.fixture
def agent(store: ThrowawayStore) -> Client:
    """Give a client that writes journals."""
    return store.agent()


def write(agent: Client, *steps: Step) -> None:
    """Write entries, one command each."""
    for step in steps:
        agent.write_step(step)


def test_intended_step_becomes_done_once(agent: Client) -> None:
    """The row holds what came of it, the log holds both."""
    write(agent, OPENED, INTENDED, DONE, NEXT)
    assert agent.steps("f") == [replace(step, by="agent:coder") for step in (OPENED, DONE, NEXT)]
    assert [record.subject for record in agent.log()] == ["f"] * 4


def test_step_written_again_is_no_second_entry(agent: Client) -> None:
    """A retry after a lost reply finds its own work."""
    write(agent, OPENED, OPENED, INTENDED, INTENDED, DONE, DONE)
    assert len(agent.log()) == 3


@pytest.mark.parametrize(
    ("kept", "step"),
    [
        ([], DONE),
        ([OPENED], NEXT),
        ([OPENED, INTENDED], NEXT),
        ([OPENED, DONE], INTENDED),
        ([OPENED, DONE], replace(DONE, content=b'{"result":2}')),
        ([OPENED, INTENDED], replace(INTENDED, content=b'{"path":"b"}')),
        ([OPENED, INTENDED], replace(DONE, digest="sha256:2")),
        ([OPENED, DONE, NEXT], replace(DONE, content=b'{"result":2}')),
        ([OPENED], replace(OPENED, content=b'{"inputs":2}')),
    ],
    ids=[
        "before the beginning",
        "after a gap",
        "past an intended one",
        "done and intended again",
        "another result",
        "another intention",
        "another digest",
        "in the middle",
        "other inputs",
    ],
)
def test_step_that_does_not_fit_is_refused(agent: Client, kept: list[Step], step: Step) -> None:
    """Two drivers that both believe to be alone cannot both write."""
    write(agent, *kept)
    before = agent.steps("f"), agent.log()
    with pytest.raises(FlowDivergedError):
        agent.write_step(step)
    assert (agent.steps("f"), agent.log()) == before


def test_journals_are_found_again_by_replaying_the_log(store: ThrowawayStore, agent: Client) -> None:
    """Rows and log agree, for several flows and projects."""
    write(agent, OPENED, INTENDED, replace(OPENED, flow_id="g"), DONE)
    write(store.agent(project="other"), OPENED)
    assert verify(agent.hub.store).problems == ()


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE steps SET content = x'7b7d' WHERE step = 1",
        "DELETE FROM steps WHERE step = 1",
        "INSERT INTO steps SELECT project_number, 'g', 0, digest, state, content, by FROM steps WHERE step = 0",
    ],
    ids=["changed", "removed", "added"],
)
def test_journal_that_the_log_does_not_tell_is_reported(agent: Client, query: str) -> None:
    """Twin of the test above: an answer slipped into a journal is seen."""
    write(agent, OPENED, DONE)
    store = agent.hub.store
    with store.mutex_of("p"), store.transaction() as transaction:
        transaction._session._connection.execute(query)  # type: ignore[attr-defined]  # behind the port's back
    assert len(verify(store).problems) == 1


def test_follower_of_the_feed_is_rung_for_a_journal(store: ThrowawayStore, agent: Client) -> None:
    """A journal is part of the log, so it is part of the feed; nobody has to look by the clock."""
    with store.hub().follow(store.project, 0) as feed:
        agent.write_step(OPENED)
        assert feed._listener is not None
        assert feed._listener.wait(PATIENCE)
        assert [record.type for record in feed.read()] == ["flow.stepped"]
