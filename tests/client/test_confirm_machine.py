"""Confirms, a person's edits of the plan and crashes, in any order: the file and the verdict are as if nothing had happened.

The file is compared whole with the page that it must be. What a flow comes to is compared with the same talk played once
from its start to its end, on a copy of the plan that nobody else touches.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from assent.client.client import Client
from assent.effects.direct import Direct
from assent.effects.document import DocumentWriter, document_performers
from assent.effects.performer import Intention, Performer, Performers, World
from assent.effects.place import Place
from assent.flows.confirm import CONFIRM, ConfirmInputs, How, RunReviewer, Verdict
from assent.flows.document import WriteDocument
from assent.flows.step import Effect
from assent.protocol.ask import Ask, State
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError, StillOpen, UnrecognisedError
from assent.protocol.plan import Moment, Status, name_confirms, parse_plan
from assent.protocol.report import Report
from assent.testing import throwaway
from tests.chance import examples, run_until
from tests.client.talk import Crash
from tests.flows.confirm_world import SUMMARY
from tests.flows.confirm_world import World as Rehearsal
from tests.flows.plan_page import Spot, ai, fill, human
from tests.proves import proves

__all__: list[str] = []

SPOTS = (
    human("P1", "both"),
    ai("P1", "after"),
    human("T1.1", "before"),
    ai("T1.1", "both"),
    human("T1.1", "both"),
    human("T1.1", "after"),
)
REPORTS: tuple[Report | None, ...] = (
    Report((), (), "Fine."),
    Report((), ("A long name",), "Go on."),
    Report(("No way back",), (), "Not yet."),
    None,
)
"""None: the reviewer fails."""
REPLIES = (
    "y",
    "y",
    "Yes",
    "n",
    "rename it",
    "stop",
    "drop this confirm",
    "rerun",
    State.DECLINED,
    State.WITHDRAWN,
)
HALVES = tuple(f"{moment}:{name}" for moment in Moment for name in ("1.human", "2.human", "1.ai.critic"))
"""What the store may hold a yes for."""
TAGS = (
    (b"\r\n", b"\n"),
    (b"<tasks>", b"<tasks\n  >"),
    (b"  <phases>", b"\t<phases >"),
    (b"words", b"<!-- -->"),
)
"""How a person writes other parts of the page in another way."""

_find_statuses = re.compile(rb"status = (['\"])(\w*)\1 ></confirm>").findall


class Page(msgspec.Struct, frozen=True):
    """All of the plan but the statuses of its confirms: what only a person changes."""

    remark: str = "as it was"
    task_status: str = "TODO"
    tags: frozenset[int] = frozenset()

    def written(self, statuses: list[str]) -> bytes:
        """Return the file, with these statuses."""
        spots = [spot.to(status) for spot, status in zip(SPOTS, statuses, strict=True)]
        page = fill(spots, self.remark, self.task_status)
        for number in sorted(self.tags):
            page = page.replace(*TAGS[number])
        return page


PAGES = st.builds(
    Page,
    st.sampled_from(["as it was", "longer\nby lines", "status='TODO'", ""]),
    st.sampled_from([str(status) for status in Status]),
    st.frozensets(st.integers(0, len(TAGS) - 1)),
)


class Started(msgspec.Struct):
    """The flow under way."""

    flow_id: str
    inputs: ConfirmInputs
    statuses: list[str]
    """As they were in the file when it began."""
    reports: tuple[Report | None, ...]
    """What the reviewer says, and what after each rerun."""
    given: list[str]
    """What the person said, in order."""
    is_stopped: bool = False
    """Some agent left it, alive or dead."""

    def report(self, given: list[str]) -> Json:
        """Return what the reviewer says after these replies."""
        report = self.reports[min(given.count("rerun"), len(self.reports) - 1)]
        if report is None:
            raise EffectError("The reviewer failed.")
        json: Json = msgspec.to_builtins(report)
        return json


class Watched:
    """Performs effects, and lets something happen before and after each move of theirs."""

    def __init__(self, inner: Performer[Any], point: Callable[[], None]) -> None:
        self._inner, self._point = inner, point

    def intend(self, effect: Effect) -> Intention:
        self._point()
        return self._inner.intend(effect)

    def look(self, intention: Intention) -> World:
        self._point()
        return self._inner.look(intention)

    def perform(self, intention: Intention) -> Json:
        self._point()
        result = self._inner.perform(intention)
        self._point()
        return result


class Confirming(RuleBasedStateMachine):
    """A plan, agents that come and go, and a person who answers and edits."""

    reached: ClassVar[set[str]] = set()
    """What happened in some example."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="as-plan-")
        self.path = Path(self.folder.name) / "plan.xml"
        self.store = throwaway()
        self.agents: list[Client] = [self.store.agent(), self.store.agent("other")]
        self.ana = self.store.person()
        self.page = Page()
        self.path.write_bytes(self.page.written([spot.status for spot in SPOTS]))
        self.flow: Started | None = None
        self.flows = 0
        self.points = 0
        self.crash_at: int | None = None
        self.saves: dict[int, Page] = {}
        self.reply: str | None = None

    def teardown(self) -> None:
        """Bring what is under way to its end: it must come out as if nothing had happened."""
        try:
            while self.flow is not None:
                self.drive(0, None, {}, "y")
            assert self.ana.verify().problems == ()
        finally:
            self.store.close()
            self.folder.cleanup()

    # What is in the file

    def statuses(self) -> list[str]:
        """Return the statuses that the file holds, found without reading it as a plan."""
        return [status.decode() for _, status in _find_statuses(self.path.read_bytes())]

    def is_due(self, number: int) -> bool:
        """Whether the flow under way may change a confirm."""
        spot, flow = SPOTS[number], self.flow
        return (
            flow is not None and spot.owner == flow.inputs.owner and spot.when in (flow.inputs.moment, "both")
        )

    @invariant()
    def only_the_status_of_confirms_that_are_due_ever_changes(self) -> None:
        """Every other byte is as the person left it."""
        statuses = self.statuses()
        assert set(statuses) <= set(Status)
        assert self.path.read_bytes() == self.page.written(statuses)
        if self.flow is not None:
            for number, status in enumerate(statuses):
                assert self.is_due(number) or status == self.flow.statuses[number]
        assert [each.name for each in self.path.parent.iterdir() if each.suffix != ""] == ["plan.xml"]

    @invariant()
    def whoever_is_asked_finds_that_it_is_under_way(self) -> None:
        """An open question never stands beside a confirm that does not say so."""
        for _ in self.ana.inbox():
            held = [status for number, status in enumerate(self.statuses()) if self.is_due(number)]
            assert "IN_PROGRESS" in held or "BLOCKED" in held  # BLOCKED: a reviewer failed (C45)

    # What a person does

    def save(self, page: Page) -> None:
        """Write the page anew around the statuses that stand there."""
        self.page = page
        self.path.write_bytes(page.written(self.statuses()))

    @rule(page=PAGES)
    def edit(self, page: Page) -> None:
        """Edit the plan while nobody drives."""
        self.save(page)

    @rule(number=st.integers(0, len(SPOTS) - 1), status=st.sampled_from(list(Status)))
    def set_by_hand(self, number: int, status: Status) -> None:
        """Set the status of a confirm that no flow is at."""
        if not self.is_due(number):
            statuses = self.statuses()
            statuses[number] = status
            self.path.write_bytes(self.page.written(statuses))
            if self.flow is not None:
                self.flow.statuses[number] = status

    @precondition(lambda self: self.ana.inbox())
    @rule(reply=st.sampled_from(REPLIES))
    def answer_later(self, reply: str) -> None:
        """Answer while no agent is there."""
        (ask,) = self.ana.inbox()
        self.end(ask, reply)

    @precondition(lambda self: self.ana.inbox())
    @rule(nothing=st.sampled_from(["", "  ", "\u200b"]))
    def say_nothing(self, nothing: str) -> None:
        """Silence ends nothing."""
        (ask,) = self.ana.inbox()
        with pytest.raises(UnrecognisedError):
            self.ana.answer(ask.ask_id, nothing)
        assert self.ana.inbox() == [ask]

    def end(self, ask: Ask, reply: str) -> None:
        """End an ask, and note how."""
        assert self.flow is not None
        if reply == State.DECLINED:
            self.ana.decline(ask.ask_id, "because")
        elif reply == State.WITHDRAWN:
            self.ana.withdraw(ask.ask_id, "because")
        else:
            self.ana.answer(ask.ask_id, reply)
        self.flow.given.append(reply)

    # What agents do

    @precondition(lambda self: self.flow is None)
    @rule(
        owner=st.sampled_from(["P1", "T1.1"]),
        moment=st.sampled_from(list(Moment)),
        reports=st.lists(st.sampled_from(REPORTS), min_size=1, max_size=3).map(tuple),
        settled=st.frozensets(st.sampled_from(HALVES)).map(sorted).map(tuple),
    )
    def start(
        self, owner: str, moment: Moment, reports: tuple[Report | None, ...], settled: tuple[str, ...]
    ) -> None:
        """Begin one more flow; nothing happens before it is driven."""
        self.flows += 1
        inputs = ConfirmInputs("plan.xml", owner, moment, SUMMARY, "/w", "/t", settled)
        self.flow = Started(f"confirm:{self.flows}", inputs, self.statuses(), reports, [])

    @precondition(lambda self: self.flow is not None)
    @rule(
        who=st.integers(0, 1),
        crash_at=st.none() | st.integers(1, 40),
        saves=st.dictionaries(st.integers(1, 30), PAGES, max_size=3),
        reply=st.none() | st.sampled_from(REPLIES),
    )
    def drive(self, who: int, crash_at: int | None, saves: dict[int, Page], reply: str | None) -> None:
        """Drive it on until it ends, waits or its agent dies; the person saves at some points on the way."""
        assert self.flow is not None
        flow = self.flow
        self.points, self.crash_at, self.saves, self.reply = 0, crash_at, dict(saves), reply
        try:
            verdict = self.agents[who].drive(
                flow.flow_id,
                CONFIRM,
                flow.inputs,
                self.performers(flow),
                say=lambda _: self.point(),
                present=self.meet,
                wait=0,
            )
        except (Crash, StillOpen) as left:
            self.reached.add(type(left).__name__)
            flow.is_stopped = True
            return
        self.finish(verdict)

    def performers(self, flow: Started) -> Performers:
        """Return who acts for a flow, watched."""
        named: Performers = {
            **document_performers(self.path.parent),
            RunReviewer: Direct(RunReviewer, lambda _: flow.report(flow.given)),
        }
        return {effect: Watched(performer, self.point) for effect, performer in named.items()}

    def point(self) -> None:
        """Let happen what was planned for this moment."""
        self.points += 1
        if self.points in self.saves:
            self.reached.add("save")
            self.save(self.saves[self.points])
        if self.points == self.crash_at:
            raise Crash

    def meet(self, ask: Ask) -> None:
        """Answer at once, if that was planned; the agent may die before and after."""
        self.point()
        if self.reply is not None:
            reply, self.reply = self.reply, None
            self.end(ask, reply)
        self.point()

    # How it must come out

    def finish(self, verdict: Verdict) -> None:
        """Compare with the same talk without any interruption."""
        flow = self.flow
        assert flow is not None
        rehearsed, statuses, asked = rehearse(flow)
        assert replace(verdict, passed={}, name="", summary="") == rehearsed
        assert self.statuses() == statuses
        moment = flow.inputs.moment
        named = name_confirms(parse_plan(self.path.read_bytes()).owner(flow.inputs.owner), moment)
        due = {each.status for name, each in named.items() if f"{moment}:{name}" not in flow.inputs.settled}
        if verdict.how in (How.CONFIRMED, How.DROPPED):
            assert due <= {"DONE", "CANCELLED"}
        else:
            assert "BLOCKED" in due
        self.reached.add(How.CONFIRMED if verdict.how is How.CONFIRMED else "held")
        if flow.is_stopped:
            self.reached.add("resumed")
        keys = [ask.key for ask in self.ana.inbox(all_states=True) if _is_of(ask, flow)]
        assert len(keys) == len(set(keys)) == asked
        assert self.agents[0].drive(flow.flow_id, CONFIRM, flow.inputs) == verdict
        self.flow = None


def _is_of(ask: Ask, flow: Started) -> bool:
    return ask.key is not None and ask.key.startswith(f"{flow.flow_id}:")


def rehearse(flow: Started) -> tuple[Verdict, list[str], int]:
    """Play a flow in one go; return its verdict, the statuses that it leaves, and how many questions it asked."""
    with tempfile.TemporaryDirectory(prefix="as-plan-") as folder:
        world = Rehearsal(Path(folder))
        spots: list[Spot] = [spot.to(status) for spot, status in zip(SPOTS, flow.statuses, strict=True)]
        world.write(*spots)

        def review(_: RunReviewer) -> Json:
            return flow.report(flow.given[: len(flow.given) - len(world.replies)])

        world.performers = {**world.performers, RunReviewer: Direct(RunReviewer, review)}
        verdict = world.run(
            flow.inputs.owner,
            flow.inputs.moment,
            replies=flow.given,
            settled=flow.inputs.settled,
        )
        statuses = [status.decode() for _, status in _find_statuses(world.path.read_bytes())]
        return verdict, statuses, len(world.asked)


@proves("C28", "C29", "C30", "C31", "C42", "C45")
def test_confirms_edits_and_crashes_in_any_order_come_out_as_if_nothing_had_happened() -> None:
    """Only the intended bytes change, no question is asked twice, and whoever resumes ends as one who never stopped."""
    needed = {"Crash", "StillOpen", "save", "resumed", How.CONFIRMED, "held"}
    bounds = examples(100, stateful_step_count=25)
    run_until(Confirming, bounds, lambda: Confirming.reached >= needed)
    assert Confirming.reached >= needed


class Blunt(DocumentWriter):
    """A writer as it must not be: it does not look at what it overwrites."""

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - that is the fault
        return World.BEFORE

    def perform(self, intention: Intention) -> Json:
        (self._place.root / intention.path).write_bytes(intention.content)
        return None


class Overwriting(Confirming):
    """The same with that writer."""

    def performers(self, flow: Started) -> Performers:
        blunt = Blunt(Place(self.path.parent))
        return {**super().performers(flow), WriteDocument: Watched(blunt, self.point)}


def test_machine_notices_a_writer_that_overwrites() -> None:
    """Twin: a person's edit that is lost is found out."""
    bounds = settings(
        max_examples=80,
        stateful_step_count=25,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        print_blob=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Overwriting, settings=bounds)
