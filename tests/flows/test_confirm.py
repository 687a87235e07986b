"""Confirms over real files: who is asked when, what the file says meanwhile, and that nothing else in it changes."""

import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from assent.effects.document import DocumentWriter
from assent.effects.performer import Intention
from assent.effects.place import Place
from assent.flows.confirm import How, Verdict
from assent.flows.document import WriteDocument
from assent.protocol.ask import State
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError, ForbiddenError, StillOpen
from assent.protocol.plan import Status
from assent.protocol.report import Report
from assent.testing import throwaway
from tests.flows.confirm_world import SUMMARY, World
from tests.flows.plan_page import Spot, ai, fill, human
from tests.proves import proves

__all__: list[str] = []

FINE = Report((), (), "Fine.")
RISKY = Report((), ("A long name", "No index"), "Go on.")
BAD = Report(("No way back",), ("A long name",), "Not yet.")
GONE = EffectError("The reviewer took longer than 60 seconds.")


@pytest.fixture(params=["in memory", "with a journal"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Give a folder for a plan; each test runs once on either driver."""
    if request.param == "in memory":
        yield World(tmp_path)
        return
    with throwaway() as store:
        yield World(tmp_path, store)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[World]:
    """Give a folder for a plan, and a store."""
    with throwaway() as store:
        yield World(tmp_path, store)


def title(owner: str, moment: str) -> str:
    """Return how a person is asked (C35)."""
    named = {"P1": "phase P1: Storage <1>", "T1.1": "task T1.1: Rename"}[owner]
    return f"Confirm (human) {named}. When={moment}. Summary: {SUMMARY}. Continue? (Y/N)"


def is_asked(when: str, moment: str) -> bool:
    """C26-C28: told in other words than the flow does."""
    return {"before": moment == "before", "after": moment == "after", "both": True}[when]


def claimed(status: str) -> str:
    """Return what is said of a file that tells more than anybody did."""
    return {
        "DONE": "The file says DONE, and nobody confirmed it.",
        "CANCELLED": "The file says CANCELLED, and nobody dropped it.",
    }.get(status, "")


# Every status, every when, every moment


@proves("C23", "C24", "C25", "C26", "C27", "C28", "C29", "C30", "C32")
@pytest.mark.parametrize(
    ("when", "status", "moment"), list(product(("before", "after", "both"), Status, ("before", "after")))
)
def test_human_confirm_is_asked_in_progress_and_done_after_a_yes_whatever_the_file_says(
    world: World, when: str, status: str, moment: str
) -> None:
    """The file says IN_PROGRESS before anybody is asked; DONE and CANCELLED that nobody said are told, and no yes."""
    spot, other = human("T1.1", when, status), human("P1", "both")
    world.write(other, spot)
    before = _writing(world.path)
    if is_asked(when, moment):
        verdict = world.run("T1.1", moment, replies=["y"])
        assert world.bodies == [claimed(status)]
        assert verdict == Verdict(How.CONFIRMED, by="human:ana", confirmed=1)
        assert world.asked == [(title("T1.1", moment), fill([other, spot.to("IN_PROGRESS")]))]
        assert world.holds(other, spot.to("DONE"))
    else:
        assert world.run("T1.1", moment) == Verdict(How.NOTHING)
        assert world.asked == []
        assert world.holds(other, spot)
        assert _writing(world.path) == before


def _writing(path: Path) -> tuple[int, int]:
    """Return what changes whenever a file is written or replaced."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


@proves("C36", "C37", "C41", "C42")
@pytest.mark.parametrize(
    ("when", "status", "moment"), list(product(("before", "after", "both"), Status, ("before", "after")))
)
def test_reviewer_runs_in_progress_and_done_without_blocking_issues(
    world: World, when: str, status: str, moment: str
) -> None:
    """The same moments as a human confirm; nobody is asked."""
    spot = ai("T1.1", when, status)
    world.write(spot)
    if is_asked(when, moment):
        assert world.run("T1.1", moment, reports=[FINE]).how is How.CONFIRMED
        ((effect, file),) = world.reviewed
        assert (effect.agent, effect.moment, effect.owner_id) == ("critic", moment, "T1.1")
        assert (effect.workspace_dir, effect.track_dir) == ("/workspace", "/track")
        assert (effect.owner_kind, effect.summary, effect.plan) == ("task", SUMMARY, "plan.xml")
        assert file == fill([spot.to("IN_PROGRESS")])
        assert world.holds(spot.to("DONE"))
    else:
        assert world.run("T1.1", moment) == Verdict(How.NOTHING)
        assert world.reviewed == []
        assert world.holds(spot)
    assert world.asked == []


@proves("C28")
def test_both_is_two_separate_confirmations_with_done_between_them(world: World) -> None:
    """C-X4: the file alone cannot tell the halves apart; the caller knows which half was confirmed."""
    spot = human("P1", "both")
    world.write(spot)
    assert world.run("P1", "before", replies=["y"]).confirmed == 1
    assert world.holds(spot.to("DONE"))
    before, after = "before:1.human", "after:1.human"
    assert world.run("P1", "before", settled=(before,)).confirmed == 0
    assert world.run("P1", "after", settled=(before,), replies=["y"]).confirmed == 1
    assert world.bodies[1] == "", "the other half was confirmed: the file claims nothing"
    assert world.holds(spot.to("DONE"))
    assert world.run("P1", "after", settled=(before, after)).confirmed == 0
    assert [each[0] for each in world.asked] == [title("P1", "before"), title("P1", "after")]
    assert {each[1] for each in world.asked} == {fill([spot.to("IN_PROGRESS")])}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_owner_without_a_confirm_of_the_moment_goes_on_unasked(world: World, moment: str) -> None:
    """C-U4: no confirm means no question; a task's confirm is not its phase's (C-X12)."""
    spot = human("T1.1", "both")
    world.write(spot)
    assert world.run("P1", moment) == Verdict(How.NOTHING)
    assert world.holds(spot)


@proves("C23")
def test_phase_and_task_are_confirmed_in_order_by_four_calls(world: World) -> None:
    """C-U4: each call touches its own confirm and no other."""
    phase, task = human("P1", "both"), human("T1.1", "both")
    world.write(phase, task)
    calls = [("P1", "before"), ("T1.1", "before"), ("T1.1", "after"), ("P1", "after")]
    for owner, moment in calls:
        assert world.run(owner, moment, replies=["Yes"]).confirmed == 1
    assert [each[0] for each in world.asked] == [title(*call) for call in calls]
    assert [each[1] for each in world.asked] == [
        fill([phase.to("IN_PROGRESS"), task]),
        fill([phase.to("DONE"), task.to("IN_PROGRESS")]),
        fill([phase.to("DONE"), task.to("IN_PROGRESS")]),
        fill([phase.to("IN_PROGRESS"), task.to("DONE")]),
    ]
    assert world.holds(phase.to("DONE"), task.to("DONE"))


# What a person says


@proves("C31", "C33", "C34")
@pytest.mark.parametrize(
    ("reply", "how", "text", "status"),
    [
        ("rename the column, too", How.CHANGES, "rename the column, too", "BLOCKED"),
        ("n, rename it", How.CHANGES, "n, rename it", "BLOCKED"),
        ("请先改名", How.CHANGES, "请先改名", "BLOCKED"),
        ("N", How.DECLINED, "", "BLOCKED"),
        ("no", How.DECLINED, "", "BLOCKED"),
        ("stop", How.STOPPED, "", "BLOCKED"),
        ("Cancel", How.STOPPED, "", "BLOCKED"),
        ("abort!", How.STOPPED, "", "BLOCKED"),
        ("rerun", How.CHANGES, "rerun", "BLOCKED"),
    ],
)
def test_anything_but_a_yes_leaves_blocked_and_says_why(
    world: World, reply: str, how: How, text: str, status: str
) -> None:
    """C-X1: changes come with their words; a no and a stop halt; the next confirm is not asked."""
    first, second = human("T1.1", "before"), human("T1.1", "before")
    world.write(first, second)
    assert world.run("T1.1", "before", replies=[reply]) == Verdict(how, text, by="human:ana")
    assert world.holds(first.to(status), second)


@proves("C31", "C33")
def test_confirm_is_asked_again_after_each_change_until_it_is_done(world: World) -> None:
    """BLOCKED, IN_PROGRESS, BLOCKED, IN_PROGRESS, DONE; whoever applies changes is not this flow."""
    spot = human("T1.1", "after")
    world.write(spot)
    for reply, how, status in [
        ("shorter", How.CHANGES, "BLOCKED"),
        ("even shorter", How.CHANGES, "BLOCKED"),
        ("y", How.CONFIRMED, "DONE"),
    ]:
        assert world.run("T1.1", "after", replies=[reply]).how is how
        assert world.holds(spot.to(status))
    assert [file for _, file in world.asked] == [fill([spot.to("IN_PROGRESS")])] * 3


@pytest.mark.parametrize("how", [State.DECLINED, State.WITHDRAWN])
def test_ask_that_ends_without_an_answer_blocks(world: World, how: State) -> None:
    """Silence is never a yes; a decline is a person's no."""
    spot = human("T1.1", "before")
    world.write(spot)
    verdict = world.run("T1.1", "before", replies=[how])
    assert verdict.how is (How.DECLINED if how is State.DECLINED else How.ENDED)
    assert (verdict.text, verdict.state, verdict.confirmed) == ("because", how, 0)
    assert world.holds(spot.to("BLOCKED"))


def test_dropping_a_confirm_cancels_it_and_goes_on_with_the_next(world: World) -> None:
    """C-X7: CANCELLED is set on the person's wish alone, and is no confirmation."""
    first, second = human("T1.1", "before"), human("T1.1", "both")
    world.write(first, second)
    verdict = world.run("T1.1", "before", replies=["drop this confirm", "y"])
    assert verdict == Verdict(How.CONFIRMED, by="human:ana", confirmed=1)
    assert world.holds(first.to("CANCELLED"), second.to("DONE"))


def test_moment_whose_only_confirm_is_dropped_is_dropped_and_not_confirmed(world: World) -> None:
    """A person does not want to be asked; that is no yes."""
    world.write(human("T1.1", "before"))
    verdict = world.run("T1.1", "before", replies=["drop this confirm"])
    assert verdict == Verdict(How.DROPPED, by="human:ana")
    assert world.holds(human("T1.1", "before", "CANCELLED"))


def test_confirms_of_an_owner_run_in_the_order_of_the_file_each_with_its_status(world: World) -> None:
    """C-X12: those of another moment and those that are settled in the store are left alone."""
    spots = [
        human("T1.1", "before"),
        human("T1.1", "after"),
        ai("T1.1", "both", agent="one"),
        human("T1.1", "before", "CANCELLED"),
        human("T1.1", "both", "BLOCKED"),
        ai("T1.1", "before", agent="two"),
    ]
    world.write(*spots)
    verdict = world.run(
        "T1.1", "before", replies=["y", "y"], reports=[FINE, RISKY], settled=("before:2.human",)
    )
    assert verdict == Verdict(How.CONFIRMED, report=RISKY, by="agent:two", confirmed=4)
    assert world.holds(*(spot if number in (1, 3) else spot.to("DONE") for number, spot in enumerate(spots)))
    assert [effect.agent for effect, _ in world.reviewed] == ["one", "two"]
    running = [fill([*_done(spots[:n]), spots[n].to("IN_PROGRESS"), *spots[n + 1 :]]) for n in (0, 2, 4, 5)]
    assert [world.asked[0][1], world.reviewed[0][1], world.asked[1][1], world.reviewed[1][1]] == running


def _done(spots: list[Spot]) -> list[Spot]:
    return [spot if spot.when == "after" or spot.status == "CANCELLED" else spot.to("DONE") for spot in spots]


# What a reviewer says


@proves("C42", "C44")
def test_reviewer_with_only_minor_issues_goes_on_and_the_risks_are_noted(world: World) -> None:
    """They are said, and stay with what is returned."""
    world.write(ai("P1", "after"))
    verdict = world.run("P1", "after", reports=[RISKY])
    assert verdict == Verdict(How.CONFIRMED, report=RISKY, by="agent:critic", confirmed=1)
    message, risks = world.said
    assert message == (
        "Confirm (ai:critic) phase P1: Storage <1>. When=after. "
        "Issues-first report: none / A long name; No index. Proceeding unless blocking issues."
    )
    assert all(issue in risks for issue in RISKY.non_blocking)
    assert world.holds(ai("P1", "after", "DONE"))


@proves("C46")
def test_reviewer_without_issues_is_told_in_one_line(world: World) -> None:
    """There is no risk to note."""
    world.write(ai("T1.1", "before"))
    assert world.run("T1.1", "before", reports=[FINE]).report is None
    (message,) = world.said
    assert message == (
        "Confirm (ai:critic) task T1.1: Rename. When=before. "
        "Issues-first report: none / none. Proceeding unless blocking issues."
    )


def test_risks_of_several_reviewers_come_back_together(world: World) -> None:
    """In the order of the file."""
    world.write(ai("P1", "after"), ai("P1", "after", agent="other"))
    other = Report((), ("No docs",), "Also fine.")
    verdict = world.run("P1", "after", reports=[RISKY, other])
    assert verdict.report == Report((), (*RISKY.non_blocking, "No docs"), "Go on.\nAlso fine.")


@proves("C42", "C43")
def test_blocking_issue_stops_and_surfaces_and_nothing_is_applied_or_run_again(world: World) -> None:
    """C-X2: the direction is a person's; running the confirm again is the caller's next call."""
    spot, later = ai("T1.1", "after"), human("T1.1", "after")
    world.write(spot, later)
    verdict = world.run("T1.1", "after", reports=[BAD])
    assert (verdict.how, verdict.report, verdict.by) == (How.BLOCKED, BAD, "agent:critic")
    lines = verdict.text.splitlines()
    assert lines.index("   - No way back") < lines.index("   - A long name")
    assert "Issues-first report: No way back / A long name." in world.said[0]
    assert len(world.reviewed) == 1
    assert world.asked == []
    assert world.holds(spot.to("BLOCKED"), later)
    assert world.run("T1.1", "after", reports=[FINE], replies=["y"]).confirmed == 2
    assert world.holds(spot.to("DONE"), later.to("DONE"))


@proves("C45")
@pytest.mark.parametrize(
    "nothing",
    [
        GONE,
        None,
        {},
        "fine",
        {"blocking": [], "non_blocking": []},
        {"blocking": "none", "non_blocking": [], "summary": "x"},
    ],
)
def test_reviewer_that_gives_no_report_blocks_and_a_person_is_asked(
    world: World, nothing: Json | EffectError
) -> None:
    """The status is BLOCKED while they are asked; their yes closes it (C-X6)."""
    spot = ai("T1.1", "before")
    world.write(spot)
    verdict = world.run("T1.1", "before", reports=[nothing], replies=["y"])
    assert verdict == Verdict(How.CONFIRMED, by="human:ana", confirmed=1)
    assert world.asked == [(title("T1.1", "before"), fill([spot.to("BLOCKED")]))]
    assert "The reviewer critic gave no report" in world.bodies[0]
    assert "rerun" in world.bodies[0]
    assert world.holds(spot.to("DONE"))


def test_reason_of_a_reviewer_that_failed_is_shown_on_one_line_and_not_endless(world: World) -> None:
    """It is another program's text."""
    world.write(ai("T1.1", "before"))
    world.run("T1.1", "before", reports=[EffectError("no\nway " + "x" * 2_000_000)], replies=["y"])
    first, last = world.bodies[0].splitlines()
    assert len(first) < 2_000
    assert last == "Y goes on without it, N holds, rerun runs it again."


@proves("C45")
@pytest.mark.parametrize(
    ("reply", "how", "text", "status"),
    [
        ("N", How.DECLINED, "", "BLOCKED"),
        ("stop", How.STOPPED, "", "BLOCKED"),
        ("use another reviewer", How.CHANGES, "use another reviewer", "BLOCKED"),
        ("drop this confirm", How.DROPPED, "", "CANCELLED"),
    ],
)
def test_person_decides_like_at_any_confirm_where_a_reviewer_failed(
    world: World, reply: str, how: How, text: str, status: str
) -> None:
    """C-X6: changes, a no and a stop as C-X1 says."""
    spot = ai("T1.1", "before")
    world.write(spot)
    verdict = world.run("T1.1", "before", reports=[GONE], replies=[reply])
    assert (verdict.how, verdict.text, verdict.confirmed) == (how, text, 0)
    assert world.holds(spot.to(status))


@pytest.mark.parametrize(
    ("last", "how", "status"), [(FINE, How.CONFIRMED, "DONE"), (BAD, How.BLOCKED, "BLOCKED")]
)
def test_rerun_runs_the_reviewer_again_in_progress_as_often_as_it_is_wanted(
    world: World, last: Report, how: How, status: str
) -> None:
    """C-X6: as often as it takes, and what it says then counts."""
    spot, often = ai("T1.1", "before"), 20
    world.write(spot)
    verdict = world.run("T1.1", "before", reports=[*[GONE] * often, last], replies=["rerun"] * often)
    assert verdict.how is how
    assert [file for _, file in world.reviewed] == [fill([spot.to("IN_PROGRESS")])] * (often + 1)
    assert [file for _, file in world.asked] == [fill([spot.to("BLOCKED")])] * often
    assert world.holds(spot.to(status))


@pytest.mark.parametrize("is_first", [True, False])
def test_reviewer_never_stands_for_a_person(world: World, is_first: bool) -> None:
    """A human confirm beside it is asked all the same, and without an answer the work does not go on."""
    review, person = ai("T1.1", "before"), human("T1.1", "before")
    spots = [review, person] if is_first else [person, review]
    world.write(*spots)
    with pytest.raises(StillOpen):
        world.run("T1.1", "before", reports=[FINE] if is_first else [])
    waiting = [review.to("DONE" if is_first else "TODO"), person.to("IN_PROGRESS")]
    assert world.holds(*(waiting if is_first else waiting[::-1]))


def test_agent_cannot_answer_a_confirm(kept: World) -> None:
    """The hub refuses it, and the plan stays IN_PROGRESS."""
    kept.write(human("T1.1", "before"))
    with pytest.raises(StillOpen):
        kept.run("T1.1", "before")
    assert kept.store is not None
    agent = kept.store.agent("critic")
    (ask,) = agent.inbox()
    with pytest.raises(ForbiddenError):
        agent.answer(ask.ask_id, "y")
    assert agent.show(ask.ask_id).is_open
    assert kept.holds(human("T1.1", "before", "IN_PROGRESS"))


# What is refused before anything is written


@proves("C37")
@pytest.mark.parametrize(
    ("spot", "says"),
    [
        (Spot("T1.1", "before", protocol=""), "this confirm has no protocol"),
        (Spot("T1.1", "before", protocol="yield-confirm"), 'no protocol "yield-confirm"'),
        (Spot("T1.1", "before", protocol="Yield-Human-Confirm"), 'no protocol "Yield-Human-Confirm"'),
        (Spot("T1.1", ""), "this confirm has no when"),
        (Spot("T1.1", "Before"), "when or status"),
        (Spot("T1.1", "during", "DONE"), "when or status"),
        (Spot("T1.1", "before", ""), "this confirm has no status"),
        (Spot("T1.1", "before", "todo"), "when or status"),
        (Spot("T1.1", "before", "Done"), "when or status"),
        (ai("T1.1", "before", agent=""), "names no ai-agent"),
    ],
)
def test_confirm_that_is_none_is_refused_with_its_line_and_nothing_is_asked_or_written(
    world: World, spot: Spot, says: str
) -> None:
    """Not even the good one that stands before it."""
    good = human("T1.1", "before")
    world.write(good, spot)
    verdict = world.run("T1.1", "before")
    assert verdict.how is How.FAILED
    assert says in verdict.text
    page = fill([good, spot])
    line = page[: page.rindex(b"<confirm note")].count(b"\n") + 1
    assert verdict.text.startswith(f"Line {line}: ")
    assert world.holds(good, spot)


@pytest.mark.parametrize("track_dir", ["", "tracks/rename", "./", "../track"])
def test_path_that_is_not_absolute_is_the_callers_mistake(world: World, track_dir: str) -> None:
    """C-X13: no reviewer is run, nobody is asked, and the status stays."""
    spot = ai("T1.1", "before")
    world.write(spot)
    verdict = world.run("T1.1", "before", track_dir=track_dir)
    assert verdict.how is How.FAILED
    assert "track_dir" in verdict.text
    assert world.reviewed == []
    assert world.holds(spot)
    world.write(human("T1.1", "before"))
    assert world.run("T1.1", "before", track_dir=track_dir, replies=["y"]).how is How.CONFIRMED


@pytest.mark.parametrize("summary", ["", " ", "x" * 100_000])
def test_summary_that_cannot_be_asked_is_refused_before_anything_is_written(
    world: World, summary: str
) -> None:
    """A question that could not be shown would leave IN_PROGRESS behind for ever."""
    world.write(human("T1.1", "before"))
    assert world.run("T1.1", "before", summary=summary).how is How.FAILED
    assert world.holds(human("T1.1", "before"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "There is no plan plan.xml."),
        (b"", "not well-formed"),
        (b"<plan><phase id='T1.1'></plan>", "not well-formed"),
        (b"<!DOCTYPE plan><plan/>", "no document type"),
        (b"<plan/>", 'no phase or task "T1.1"'),
        (b"<plan><task id='T1.1'/><phase id='T1.1'/></plan>", 'several "T1.1"'),
        (b" " * ((4 << 20) + 1), "larger than"),
    ],
)
def test_plan_that_cannot_be_read_fails_in_a_sentence(world: World, content: bytes | None, says: str) -> None:
    """And stays as it is."""
    if content is not None:
        world.path.write_bytes(content)
    verdict = world.run("T1.1", "before")
    assert verdict.how is How.FAILED
    assert says in verdict.text
    assert content is None or world.path.read_bytes() == content


# Somebody else at the same file


class Meddler(DocumentWriter):
    """Writes documents; a person saves directly before each write, as long as they have something to save."""

    def __init__(self, world: World, saves: list[Callable[[], object]]) -> None:
        super().__init__(Place(world.root))
        self.saves = saves
        self.writes = 0

    def perform(self, intention: Intention) -> Json:
        self.writes += 1
        if self.saves:
            self.saves.pop(0)()
        return super().perform(intention)


def meddle(world: World, *saves: Callable[[], object]) -> Meddler:
    """Have a person save between what was read and what is written, once for each of `saves`."""
    meddler = Meddler(world, list(saves))
    world.performers = {**world.performers, WriteDocument: meddler}
    return meddler


def test_edit_between_read_and_write_survives_and_the_status_is_set(world: World) -> None:
    """Each time the file is read again, and only the one value changes in what the person saved."""
    spot = human("T1.1", "before")
    world.write(spot)
    meddler = meddle(
        world,
        lambda: world.write(spot, remark="moved\nby\nlines"),
        lambda: None,
        lambda: world.write(spot.to("IN_PROGRESS"), remark="once more"),
    )
    assert world.run("T1.1", "before", replies=["y"]).how is How.CONFIRMED
    assert world.holds(spot.to("DONE"), remark="once more")
    assert meddler.writes == 4


def test_edit_while_a_person_is_asked_survives(world: World) -> None:
    """A comment, another status, another confirm's status: all of it stays."""
    spot, other = human("T1.1", "before"), human("P1", "after")
    world.write(spot, other)

    def save() -> str:
        page = fill([spot.to("IN_PROGRESS"), other.to("DONE")], "mine", "IN_PROGRESS")
        world.path.write_bytes(page.replace(b"\r\n", b"\n\n"))
        return "y"

    assert world.run("T1.1", "before", replies=[save]).how is How.CONFIRMED
    page = fill([spot.to("DONE"), other.to("DONE")], "mine", "IN_PROGRESS")
    assert world.path.read_bytes() == page.replace(b"\r\n", b"\n\n")


GONE_FROM: dict[str, list[Spot]] = {
    "removed": [],
    "made an after": [human("T1.1", "after", "IN_PROGRESS")],
    "given to a reviewer": [ai("T1.1", "before", "IN_PROGRESS")],
    "moved to the phase": [human("P1", "before", "IN_PROGRESS")],
}


@pytest.mark.parametrize("edit", GONE_FROM)
@pytest.mark.parametrize("moment", ["while a person is asked", "between read and write"])
def test_confirm_that_is_gone_when_its_answer_comes_is_missing_and_nothing_is_overwritten(
    world: World, edit: str, moment: str
) -> None:
    """A yes that was given to something else does not count."""
    world.write(human("T1.1", "before"))

    def save() -> str:
        world.write(*GONE_FROM[edit])
        return "y"

    if moment == "between read and write":
        meddle(world, lambda: None, save)
    verdict = world.run("T1.1", "before", replies=[save if moment == "while a person is asked" else "y"])
    assert verdict.how is How.MISSING
    assert "by a person is missing" in verdict.text
    assert world.holds(*GONE_FROM[edit])


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("moment", ["while a person is asked", "between read and write"])
@pytest.mark.parametrize(
    ("reply", "how", "then"), [("y", How.CONFIRMED, "DONE"), ("n", How.DECLINED, "BLOCKED")]
)
def test_status_that_somebody_wrote_meanwhile_settles_nothing_and_the_file_follows_the_answer(
    world: World, status: str, moment: str, reply: str, how: How, then: str
) -> None:
    """What the person said counts, whatever stood there when they said it."""
    world.write(human("T1.1", "before"))

    def save() -> str:
        world.write(human("T1.1", "before", status))
        return reply

    if moment == "between read and write":
        meddle(world, lambda: None, save)
    verdict = world.run("T1.1", "before", replies=[save if moment == "while a person is asked" else reply])
    assert verdict.how is how
    assert world.holds(human("T1.1", "before", then))


@pytest.mark.parametrize("is_in_front", [True, False])
def test_twin_that_came_while_a_person_was_asked_is_asked_too(world: World, is_in_front: bool) -> None:
    """One yes is one yes."""
    spot, twin = human("T1.1", "before", "IN_PROGRESS"), human("T1.1", "before")
    world.write(human("T1.1", "before"))

    def save() -> str:
        world.write(*((twin, spot) if is_in_front else (spot, twin)))
        return "y"

    assert world.run("T1.1", "before", replies=[save, "y"]).confirmed == 2
    assert world.holds(spot.to("DONE"), twin.to("DONE"))


def test_reviewer_that_was_exchanged_while_it_ran_is_missing(world: World) -> None:
    """One reviewer's report is not another's."""
    world.write(ai("T1.1", "before"))
    meddle(world, lambda: None, lambda: world.write(ai("T1.1", "before", "IN_PROGRESS", "other")))
    assert world.run("T1.1", "before", reports=[FINE]).how is How.MISSING
    assert world.holds(ai("T1.1", "before", "IN_PROGRESS", "other"))


@pytest.mark.parametrize("status", ["DONE", "CANCELLED"])
def test_confirm_that_somebody_settled_in_the_file_while_another_waited_is_asked(
    world: World, status: str
) -> None:
    """And the card says what the file claims."""
    first, second = human("T1.1", "before"), human("T1.1", "before")
    world.write(first, second)

    def save() -> str:
        world.write(first.to("IN_PROGRESS"), second.to(status))
        return "y"

    assert world.run("T1.1", "before", replies=[save, "y"]).confirmed == 2
    assert world.bodies == ["", claimed(status)]
    assert world.holds(first.to("DONE"), second.to("DONE"))


@pytest.mark.parametrize("content", [b"<plan>", b"<plan/>", None])
def test_plan_that_is_gone_or_broken_when_the_answer_comes_fails_and_stays(
    world: World, content: bytes | None
) -> None:
    """Nothing is put back over it, and the work does not go on."""
    world.write(human("T1.1", "before"))

    def save() -> str:
        world.path.write_bytes(content) if content is not None else world.path.unlink()
        return "y"

    assert world.run("T1.1", "before", replies=[save]).how is How.FAILED
    assert (world.path.read_bytes() if world.path.exists() else None) == content


def test_somebody_who_saves_all_the_time_is_not_fought(world: World) -> None:
    """After some tries it fails, and the last thing saved stands."""
    spot = human("T1.1", "before")
    world.write(spot)
    tries = iter(range(100))
    meddler = meddle(world, *[lambda: world.write(spot, remark=f"{next(tries)}")] * 100)
    verdict = world.run("T1.1", "before")
    assert verdict.how is How.FAILED
    assert "all the time" in verdict.text
    assert world.holds(spot, remark=f"{meddler.writes - 1}")


# The write


def test_status_is_written_in_one_move(world: World) -> None:
    """Whoever has the old file open keeps it whole: it is replaced, not written over; its mode stays."""
    spot = human("T1.1", "before")
    world.write(spot)
    world.path.chmod(0o640)
    os.link(world.path, world.root / "before.xml")
    world.run("T1.1", "before", replies=["y"])
    assert (world.root / "before.xml").read_bytes() == fill([spot])
    assert world.path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in world.root.iterdir()) == ["before.xml", "plan.xml"]


def test_write_that_fails_leaves_the_plan_whole_and_asks_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A status that is not in the file is no ground to ask on."""
    spot = human("T1.1", "before")
    world.write(spot)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assent.effects.document.os.replace", refuse)
    verdict = world.run("T1.1", "before")
    assert verdict.how is How.FAILED
    assert "No space left" in verdict.text
    assert world.asked == []
    assert world.holds(spot)
    assert [each.name for each in world.root.iterdir()] == ["plan.xml"]


def test_plan_without_a_reply_waits_in_progress(world: World) -> None:
    """No reply is no decision."""
    spot = human("T1.1", "before")
    world.write(spot)
    with pytest.raises(StillOpen):
        world.run("T1.1", "before")
    assert world.holds(spot.to("IN_PROGRESS"))
