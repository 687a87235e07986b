"""A journal is believed by whoever drives its flow, so no other agent can write one for it."""

import pytest

from assent.client.door import run_call, until
from assent.client.journal import make_step, render_opened, render_returned
from assent.flows.kind import FlowKind
from assent.flows.step import Flow, ask
from assent.protocol.ask import Kind
from assent.protocol.error import FlowDivergedError, ForbiddenError, StillOpen
from assent.protocol.prompt import question
from assent.testing.server import ThrowawayServer
from assent.testing.store import throwaway

__all__: list[str] = []

FLOW_ID = "deploy-1"


def talk(version: str) -> Flow[str]:
    """Ask whether a version goes out."""
    came = yield from ask(question(f"Deploy {version}?", ["yes", "no"]), Kind.GATE)
    return str(came)


DEPLOY = FlowKind("deploy", 1, talk, str, str)


def test_journal_that_another_agent_wrote_is_not_believed() -> None:
    """An end that mallory wrote is no end of alice's flow: nobody was asked."""
    with throwaway() as store, ThrowawayServer(store) as server:
        alice, mallory = server.agent("alice"), server.agent("mallory")
        mallory.write_step(make_step(FLOW_ID, 0, render_opened(DEPLOY, "v1")))
        mallory.write_step(make_step(FLOW_ID, 1, render_returned("yes")))
        with pytest.raises(FlowDivergedError, match="agent:mallory wrote in the journal"):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        assert [step.by for step in alice.steps(FLOW_ID)] == ["agent:mallory"] * 2


def test_journal_of_an_agent_takes_no_other_agents_entry() -> None:
    """What alice began, mallory cannot end."""
    with throwaway() as store, ThrowawayServer(store) as server:
        alice, mallory = server.agent("alice"), server.agent("mallory")
        with pytest.raises(StillOpen):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        with pytest.raises(ForbiddenError, match="agent:alice began deploy-1"):
            mallory.write_step(make_step(FLOW_ID, 1, render_returned("yes")))
        with pytest.raises(StillOpen):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        assert len(alice.steps(FLOW_ID)) == 1


def test_writer_that_a_body_names_is_not_believed() -> None:
    """Whose token it is says who wrote."""
    with throwaway() as store, ThrowawayServer(store) as server:
        mallory = server.agent("mallory")
        step = make_step(FLOW_ID, 0, render_opened(DEPLOY, "v1"))
        mallory.write_step(type(step)(step.flow_id, 0, step.digest, step.state, step.content, "agent:alice"))
        assert [step.by for step in mallory.steps(FLOW_ID)] == ["agent:mallory"]


def test_flow_of_an_agent_is_held_by_no_other_agent() -> None:
    """Held by mallory, alice could not go on. Nobody else is in the way: whoever has a person's token may."""
    with throwaway() as store, ThrowawayServer(store) as server:
        alice, mallory, ana = server.agent("alice"), server.agent("mallory"), server.person()
        with pytest.raises(StillOpen):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        sentence = 'agent:alice began the flow "deploy-1": only agent:alice or a person drives it'
        with pytest.raises(ForbiddenError, match=sentence):
            run_call(until(mallory.door.hold(mallory.project, FLOW_ID)))
        with pytest.raises(ForbiddenError, match=sentence):
            mallory.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        run_call(until(ana.door.hold(ana.project, FLOW_ID))).release()
        with pytest.raises(StillOpen):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        ana.answer(alice.inbox()[0].ask_id, "yes")
        assert "yes" in alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)


def test_key_of_an_agents_flow_is_taken_by_no_other_agent() -> None:
    """Taken by mallory, the flow would find another question there. Keys beside it are free, and people may."""
    with throwaway() as store, ThrowawayServer(store) as server:
        alice, mallory, ana = server.agent("alice"), server.agent("mallory"), server.person()
        with pytest.raises(StillOpen):
            alice.drive(FLOW_ID, DEPLOY, "v1", wait=0)
        before = len(ana.log())
        for key in ("deploy-1:2", "deploy-1:name:3"):
            with pytest.raises(ForbiddenError, match='agent:alice began the flow "deploy-1"'):
                mallory.open("Something else?", key=key)
            with pytest.raises(ForbiddenError, match='agent:alice began the flow "deploy-1"'):
                mallory.approve("Something else?", action={"run": 1}, key=key, wait=0)
        assert len(ana.log()) == before
        assert mallory.open("Something else?", key="deploy-10:2").ask.is_open
        assert ana.open("Something else?", key="deploy-1:2").ask.is_open
