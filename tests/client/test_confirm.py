"""Confirms from Python: the same question while it waits, the answer that came meanwhile, and a new one after that."""

from collections.abc import Callable
from pathlib import Path

import pytest

import assent
from assent import Ask
from assent.client import durable
from assent.effects.direct import Direct
from assent.effects.performer import Performers
from assent.effects.reviewer import reviewer_performers
from assent.flows.confirm import How, RunReviewer
from assent.protocol.error import BadRequestError, EffectError, NotFoundError
from assent.testing import throwaway
from assent.testing.store import ThrowawayStore
from tests.client.talk import Crash
from tests.flows.plan_page import ai, fill, human
from tests.proves import proves

__all__: list[str] = []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that is a project."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(folder: Path, *spots: object) -> Path:
    """Write a plan with these confirms."""
    plan = folder / "plan.xml"
    plan.write_bytes(fill(spots))  # type: ignore[arg-type]
    return plan


def meeting(store: ThrowawayStore, *replies: str) -> tuple[list[str], Callable[[Ask], None]]:
    """Return what will be asked, and somebody who answers it."""
    asked: list[str] = []
    person = store.person()

    def meet(ask: Ask) -> None:
        person.answer(ask.ask_id, replies[len(asked)])
        asked.append(ask.prompt.title)

    return asked, meet


@proves("C28")
def test_both_halves_are_asked_in_every_round(folder: Path) -> None:
    """C-X4: what was confirmed in an earlier round says nothing about this one."""
    plan = write(folder, human("T1.1", "both"))
    with throwaway() as store:
        asked, meet = meeting(store, "y", "y", "y", "y")
        for _ in range(2):
            for moment in ("before", "after", "before", "after"):
                verdict = assent.confirm_plan(store.agent(), plan, "T1.1", moment, "S", present=meet, wait=0)
                assert verdict.how is How.CONFIRMED
            plan.write_bytes(fill([human("T1.1", "both")]))
    assert ["When=after" in title for title in asked] == [False, True, False, True]


@proves("C45")
def test_yes_that_comes_after_the_reviewer_failed_counts_tomorrow(folder: Path) -> None:
    """The file says BLOCKED while the person is asked; asked again, it is the same question."""
    plan = write(folder, ai("T1.1", "before"))

    def fail(_: RunReviewer) -> None:
        raise EffectError("gone")

    performers: Performers = {RunReviewer: Direct(RunReviewer, fail)}
    with throwaway() as store:
        agent = store.agent()
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", performers=performers, wait=0)
        (ask,) = agent.inbox()
        store.person().answer(ask.ask_id, "y")
        verdict = assent.confirm_plan(agent, plan, "T1.1", "before", "S", performers=performers, wait=0)
    assert verdict.how is How.CONFIRMED


@pytest.mark.parametrize(
    ("reply", "how"), [("rename it", How.CHANGES), ("y", How.CONFIRMED), ("n", How.DECLINED)]
)
def test_answer_is_not_lost_by_a_crash_before_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, reply: str, how: How
) -> None:
    """The status was written already; what was said is still told."""
    plan = write(folder, human("T1.1", "both", "DONE"))

    def die(*_: object) -> None:
        raise Crash

    with throwaway() as store:
        asked, meet = meeting(store, reply)
        with monkeypatch.context() as patched:
            patched.setattr(durable.Driver, "_finish", die)
            with pytest.raises(Crash):
                assent.confirm_plan(store.agent(), plan, "T1.1", "after", "S", present=meet, wait=0)
        verdict = assent.confirm_plan(store.agent(), plan, "T1.1", "after", "S", wait=0)
    assert (verdict.how, len(asked)) == (how, 1)


@pytest.mark.parametrize("status", ["DONE", "CANCELLED"])
def test_status_that_a_person_set_by_hand_is_taken_as_it_is(folder: Path, status: str) -> None:
    """And what had been asked is taken back."""
    plan = write(folder, human("T1.1", "before"))
    with throwaway() as store:
        agent = store.agent()
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0)
        write(folder, human("T1.1", "before", status))
        assert assent.confirm_plan(agent, plan, "T1.1", "before", "S", wait=0).how is How.CONFIRMED
        assert agent.inbox() == []


def test_yes_to_another_summary_is_no_yes_to_this_one(folder: Path) -> None:
    """The first question is taken back, answered or not, and the second is asked."""
    plan = write(folder, human("T1.1", "before"))
    with throwaway() as store:
        agent = store.agent()
        for summary in ("Rename a column", "Drop the table", "Drop the table"):
            with pytest.raises(assent.StillOpen):
                assent.confirm_plan(agent, plan, "T1.1", "before", summary, wait=0)
        (ask,) = agent.inbox()
        assert "Drop the table" in ask.prompt.title
        store.person().answer(ask.ask_id, "y")
        with pytest.raises(assent.StillOpen):
            assent.confirm_plan(agent, plan, "T1.1", "before", "Drop the database", wait=0)


@proves("C31", "C33")
def test_changes_are_applied_and_the_confirm_is_asked_again_until_it_is_settled(folder: Path) -> None:
    """The orchestrator applies; the next question has the next summary."""
    plan = write(folder, human("T1.1", "before"))
    wanted: list[str] = []

    def apply(verdict: assent.Verdict) -> str:
        wanted.append(verdict.text)
        return f"with {verdict.text}"

    with throwaway() as store:
        asked, meet = meeting(store, "a view", "two views", "y")
        verdict = assent.confirm_plan(
            store.agent(), plan, "T1.1", "before", "bare", apply=apply, present=meet, wait=0
        )
    assert (verdict.how, wanted) == (How.CONFIRMED, ["a view", "two views"])
    assert [title.partition("Summary: ")[2].partition(".")[0] for title in asked] == [
        "bare",
        "with a view",
        "with two views",
    ]


@proves("C38")
def test_callers_mistake_is_refused_before_anything_is_written(folder: Path) -> None:
    """C-X13: relative paths, folders that are not there, plans and moments that there are not."""
    plan = write(folder, ai("T1.1", "before"))
    content = plan.read_bytes()
    performers = reviewer_performers({}, {}, lambda _: None)
    with throwaway() as store:
        agent = store.agent()
        for track_dir in ("here", "/nowhere/at/all"):
            with pytest.raises(BadRequestError):
                assent.confirm_plan(
                    agent, plan, "T1.1", "before", "S", track_dir=track_dir, performers=performers, wait=0
                )
        with pytest.raises(BadRequestError, match="before or after"):
            assent.confirm_plan(agent, plan, "T1.1", "both", "S", wait=0)
        with pytest.raises(NotFoundError):
            assent.confirm_plan(agent, folder / "no.xml", "T1.1", "before", "S", wait=0)
        assert agent.inbox() == []
    assert plan.read_bytes() == content
