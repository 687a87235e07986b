"""Gates and sessions from Python: a call returns when a person has answered, and not before."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import assent
from assent import Choice, Closing
from assent.flows.session.talk import How
from assent.protocol.error import BadRequestError, NotFoundError
from assent.testing.store import ThrowawayStore
from tests.client.both import NewStore
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

REVIEW: dict[str, Any] = {
    "pull_request": {"owner": "acme", "repo": "shop", "number": 7, "head_sha": "4be1c0ffee"},
    "chunks": [
        {
            "label": "payments",
            "files": ["pay.py", "tax.py"],
            "lines": 300,
            "findings": [
                {
                    "severity": "critical",
                    "title": "Overdraft",
                    "file": "pay.py",
                    "line": 3,
                    "category": "bug",
                    "confidence": 95,
                    "description": "Nobody checks the sum.",
                }
            ],
        }
    ],
}


@proves("G12", "G16", "G40")
def test_gate_returns_what_a_person_chose_after_the_check(new_store: NewStore) -> None:
    """What is not recognised, and what was not confirmed, does not come back."""
    with new_store() as store, store.scripted_person() as ana:
        ana.will_answer_wrongly("Chunk Loop", "deselect h1 h9").will_answer("Chunk Loop", "deselect h1 h2")
        ana.will_answer("This will unmark 2", "").will_answer("Chunk Loop", "DISCARD").will_answer(
            "This", "yes"
        )
        chosen = assent.pass_gate(store.agent(), "chunk-loop", "Two.", ids=["H1", "H2"], wait=PATIENCE)
    assert chosen == Choice("discard")


def test_gate_keeps_tasks_where_it_is_told_to(new_store: NewStore) -> None:
    """And comes back to the person."""
    tasks: list[str] = []
    with new_store() as store, store.scripted_person() as ana:
        ana.will_answer("Phase Gate", "todo: read it").will_answer("Phase Gate", "set focus types")
        chosen = assent.pass_gate(store.agent(), "Phase Gate", "x", keep=tasks.append, wait=PATIENCE)
    assert (chosen, tasks) == (Choice("Set focus", ("types",)), ["read it"])


def test_gate_that_is_declined_raises_and_chooses_nothing(new_store: NewStore) -> None:
    """A person's no to being asked is typed."""
    with new_store() as store, store.scripted_person() as ana:
        ana.will_decline("Synthesis", "not today")
        with pytest.raises(assent.Declined, match="not today"):
            assent.pass_gate(store.agent(), "synthesis", "x", wait=PATIENCE)


@proves("G13")
def test_gate_that_nobody_answers_stays_open_when_the_wait_lapses(new_store: NewStore) -> None:
    """And is found again by its key, with the answer that came later."""
    with new_store() as store:
        with pytest.raises(assent.StillOpen):
            assent.pass_gate(store.agent(), "phase-gate", "x", key="g", wait=0)
        (ask,) = store.agent().inbox()
        store.person().answer(ask.ask_id, "4")
        assert assent.pass_gate(store.agent(), "phase-gate", "x", key="g", wait=0) == Choice("Cancel")


def test_gate_is_the_same_for_tasks(new_store: NewStore) -> None:
    """One body, two clients."""

    async def talk(store: ThrowawayStore) -> Choice:
        async with store.async_agent() as client:
            return await assent.pass_gate_async(client, "phase-gate", "x", wait=PATIENCE)

    with new_store() as store, store.scripted_person() as ana:
        ana.will_answer("Phase Gate", "1")
        assert asyncio.run(talk(store)) == Choice("Proceed")


def test_session_calls_back_for_deep_dives_and_ends_as_people_choose(
    new_store: NewStore, tmp_path: Path
) -> None:
    """The callback gets the action and the finding; what it returns is said."""
    seen: list[tuple[str, object]] = []
    said: list[str] = []

    def dive(action: str, finding: dict[str, Any]) -> str:
        seen.append((action, finding["id"]))
        return "Look at line 3."

    with new_store() as store, store.scripted_person() as ana:
        ana.will_answer("Phase Gate", "1").will_answer("Chunk Plan", "1").will_answer(
            "Chunk Loop", "deep-dive h1"
        )
        ana.will_answer("Deep-dive", "2").will_answer("Deep-dive", "4").will_answer("Chunk Loop", "1")
        ana.will_answer("Synthesis", "4")
        closing = assent.hold_session(
            store.agent(), REVIEW, deep_dive=dive, folder=tmp_path / "kept", say=said.append, wait=PATIENCE
        )
    assert closing == Closing(How.SAVED)
    assert seen == [("Suggest fix", "H1")]
    assert any("Look at line 3." in text for text in said)
    assert (tmp_path / "kept" / "review-findings.md").exists()


def test_session_that_was_left_is_resumed_at_its_gate(new_store: NewStore, tmp_path: Path) -> None:
    """Also when the gate was answered while nobody ran."""
    with new_store() as store:
        agent, person = store.agent(), store.person()
        with pytest.raises(assent.StillOpen):
            assent.hold_session(agent, REVIEW, folder=tmp_path, wait=0)
        person.answer(agent.inbox()[0].ask_id, "Proceed")
        with pytest.raises(assent.StillOpen):
            assent.hold_session(agent, REVIEW, folder=tmp_path, resume=True, wait=0)
        (ask,) = agent.inbox()
        assert ask.prompt.title == "Chunk Plan"
        person.answer(ask.ask_id, "Cancel")
        closing = assent.hold_session(agent, REVIEW, folder=tmp_path, resume=True, wait=0)
    assert closing.how is How.CANCELLED


@proves("G35")
def test_session_of_another_pull_request_is_asked_about_by_every_call(
    new_store: NewStore, tmp_path: Path
) -> None:
    """What was said of it counts once; the gates behind it keep their places."""
    other = {**REVIEW, "pull_request": {**REVIEW["pull_request"], "number": 8}}
    with new_store() as store:
        agent, person = store.agent(), store.person()

        def resume(review: dict[str, Any]) -> set[str]:
            with pytest.raises(assent.StillOpen):
                assent.hold_session(agent, review, folder=tmp_path, resume=review is other, wait=0)
            return {ask.prompt.title for ask in agent.inbox()}

        def answer(title: str, reply: str) -> None:
            (ask,) = [each for each in agent.inbox() if each.prompt.title == title]
            person.answer(ask.ask_id, reply)

        assert resume(REVIEW) == {"Phase Gate"}
        assert resume(other) == {"Phase Gate", "Continue (mismatch)"}
        answer("Continue (mismatch)", "Resume saved session")
        assert resume(other) == {"Phase Gate"}
        assert resume(other) == {"Phase Gate", "Continue (mismatch)"}
        answer("Phase Gate", "Proceed")
        assert resume(other) == {"Continue (mismatch)"}, "nothing goes on before it is known with what"


def test_session_from_a_bad_review_asks_nothing(new_store: NewStore, tmp_path: Path) -> None:
    """One sentence each, before anything is stored."""
    with new_store() as store:
        for bad in ({}, {**REVIEW, "chunks": []}, {**REVIEW, "commits": "x"}, {**REVIEW, "x": "\ud800"}):
            with pytest.raises(BadRequestError):
                assent.hold_session(store.agent(), bad, folder=tmp_path, wait=0)
        with pytest.raises(NotFoundError, match="no saved session"):
            assent.hold_session(store.agent(), REVIEW, folder=tmp_path, resume=True, wait=0)
        assert store.agent().inbox() == []
