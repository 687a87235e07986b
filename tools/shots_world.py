"""The store that the pictures of the page are taken of: one ask of each kind, runs in every state, a review half way and
one with its report, and a morning behind them.

Rule 1: its texts are our own, and its clock stands still: the same pictures come out every time.
Rule 2: runs are driven from here, for as long as the block lasts; leaving it is like a kill.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from assent.cli.demo_world import editor
from assent.client.client import Client
from assent.client.confirm import confirm_plan
from assent.client.driven import DrivenRun
from assent.client.gate import pass_gate
from assent.protocol.canonical import Json
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Option, Prompt
from assent.testing import FakeClock, ThrowawayStore, throwaway
from tools.shots_past import MIDNIGHT, NOON, live_the_morning

__all__ = ["DAWN", "ENDED", "GRIND", "NOW", "PAUSED", "World", "a_world"]

DAWN = MIDNIGHT + timedelta(hours=5, minutes=20)
NOW = NOON + timedelta(hours=2, minutes=26)
GRIND, PAUSED, ENDED = "run-checkout-issues", "run-cache-rules", "run-changelog"

_DIFF = """\
--- a/app/models/user.py
+++ b/app/models/user.py
@@ -17,4 +17,3 @@ class User(Model):
     id = Column(BigInteger, primary_key=True)
-    legacy_id = Column(Text)
-    email = Column(Text)
+    email = Column(Text, nullable=False)
     created_at = Column(DateTime)
"""
_PLAN = """\
<plan>
  <metadata>
    <track_id>cents</track_id>
    <track_name>Move the ledger to whole cents</track_name>
    <goal>No amount is a float any more</goal>
    <created_at>2026-11-02T09:00:00Z</created_at>
    <updated_at>2026-11-02T09:00:00Z</updated_at>
    <status>in_progress</status>
    <commit_mode>manual</commit_mode>
  </metadata>
  <phases>
    <phase id="P2" name="Backfill">
      <tasks>
        <task id="T2.1" name="Read the new column everywhere" status="TODO" priority="P0">
          <confirm protocol="yield-human-confirm" when="before" status="TODO"/>
        </task>
      </tasks>
    </phase>
  </phases>
</plan>
"""
_OUTPUT = """\
== 3 of 5: SHOP-325 two taps on Pay send two orders
-- attempt 1, sonnet
reading src/checkout/pay.py
  found 6 places that touch it
editing src/checkout/pay.py
  +13 -3
running 148 tests
  146 passed, 2 failed
    tests/checkout/test_pay.py::test_second_tap_is_ignored
    tests/checkout/test_pay.py::test_button_is_quiet_while_it_sends
-- attempt 2, sonnet
reading tests/checkout/test_pay.py
editing src/checkout/pay.py
  +4 -9
running 148 tests
"""


class World:
    """The store, and where in it the pictures are taken."""

    def __init__(self, store: ThrowawayStore, clock: FakeClock, folder: Path, stack: ExitStack) -> None:
        self.store, self.clock = store, clock
        self.addresses: dict[str, str] = {}
        """Where each ask and review is, behind the `#`."""
        self._folder, self._stack = folder, stack

    def fill(self) -> None:
        """Let everything happen."""
        self.clock.set(DAWN)
        self._review("on-call.md", "A", "A", "B", "A", "A", walk="report")
        live_the_morning(self.store, self.clock)
        self._end_runs()
        for minutes, happen in (
            (58, self._paused_run), (41, self._pausing_run), (24, self._open_question), (19, self._round),
            (16, self._half_review), (12, self._gate), (8, self._confirm), (6, self._question), (4, self._approval),
            (2.4, self._pause), (2.3, self._grind),
        ):  # fmt: skip
            self.clock.set(NOW - timedelta(minutes=minutes))
            happen()
        self.clock.set(NOW)

    def _agent(self, name: str, project: str) -> Client:
        return self.store.agent(name, project=project)

    def person(self, project: str, name: str = "ana") -> Client:
        """Return somebody who answers and steers from a terminal."""
        return self.store.person(name, project=project, assurance=Assurance.TERMINAL)

    def _at(self, name: str, agent: Client, ask_id: str) -> None:
        self.addresses[name] = f"inbox/{agent.project}/{ask_id}"

    # What waits.

    def _approval(self) -> None:
        agent = self._agent("migrator", "edge-infra")
        action: Json = {
            "command": 'psql "$PRIMARY_URL" --single-transaction --file migrations/0042_drop_legacy_id.sql',
            "files": [{"path": "app/models/user.py", "diff": _DIFF}],
        }
        body = (
            "No reader of `legacy_id` is left: the last one was deployed **nine days ago**, and the column has not been"
            " read since. It cannot be brought back without last night's backup."
        )
        try:
            agent.approve(
                "Drop the column users.legacy_id in production", action=action, risk="irreversible", body=body,
                deadline=timedelta(minutes=15), consequence="deny", wait=0,
            )  # fmt: skip
        except StillOpen as still:
            if still.ask is not None:
                self._at("approval", agent, still.ask.ask_id)

    def _question(self) -> None:
        agent = self._agent("planner", "ledger-sync")
        options = [
            Option("utc", "UTC", description="As the code does it now"),
            Option("own", "The customer's own zone", description="Needs a backfill of 212 accounts"),
            Option("berlin", "Head office, Europe/Berlin"),
        ]
        body = (
            "Month-end totals differ by up to **14 hours** of sales between the report and the export.\n\n"
            "- `reports/close.py` uses UTC\n- the export says local time\n- the auditors have seen both"
        )
        opened = agent.open(
            "Which time zone closes the month?", options, body=body,
            deadline=timedelta(minutes=50), consequence="escalate", escalate_to="human:sam-k",
        )  # fmt: skip
        self._at("question", agent, opened.ask_id)

    def _round(self) -> None:
        agent = self._agent("deployer", "edge-infra")
        regions = tuple(Option(name, name) for name in ("Frankfurt", "Virginia", "Singapore", "São Paulo"))
        fields = (
            Field("q1", "Which regions go first?", regions, multiple=True),
            Field(
                "q2",
                "How old may a cached page be?",
                (Option("30s", "30 seconds"), Option("5m", "5 minutes")),
                free=True,
            ),
            Field("q3", "What must the rollout not touch?", free=True),
        )
        prompt = Prompt(
            "Roll out the new edge cache", "I can start as soon as these three are known.", fields
        )
        self._at("round", agent, agent.open(prompt).ask_id)

    def _gate(self) -> None:
        agent = self._agent("reviewer", "checkout-api")
        summary = (
            "Chunk 2 of 5, payment retries: 3 files, 214 lines.\n\nFour findings are marked for posting."
        )
        with suppress(StillOpen):
            pass_gate(agent, "Chunk Loop", summary, ids=["C1", "M4", "M5", "L2"], chunks=5, wait=0)
        self._newest("gate", agent)

    def _confirm(self) -> None:
        agent = self._agent("migrator", "ledger-sync")
        plan = self._folder / "plan.xml"
        plan.write_text(_PLAN, encoding="utf-8")
        with suppress(StillOpen):
            confirm_plan(
                agent, plan, "T2.1", "before", "Switch 14 queries over; the old column stays as it is", wait=0
            )
        self._newest("confirm", agent)

    def _open_question(self) -> None:
        agent = self._agent("coder", "ledger-sync")
        agent.create_task("Import the bank's statement", task_id="LED-41", assignee="coder")
        agent.create_task("Tell the auditors about LED-41", dependencies=["LED-41"])
        options: list[Json] = [
            {
                "label": "The first",
                "pros": ["a closed day stays closed"],
                "cons": ["a correction by the bank is lost"],
            },
            {"label": "The last", "pros": ["always what the bank says now"]},
            {"label": "Neither: stop and tell somebody", "cons": ["about one stop a week"]},
        ]
        questions: list[Json] = [
            {
                "id": "q1",
                "text": "The same transfer stands in two statements. Which one counts?",
                "options": options,
            },
            {"id": "q2", "text": "Whom do I tell when a statement does not add up?"},
        ]
        agent.hand_in(
            {
                "agent": "coder", "sourceId": "LED-41", "status": "failed",
                "summary": "The rest is written; this is all that is missing.", "open_questions": questions,
            }
        )  # fmt: skip
        self._newest("open-question", agent)

    def _newest(self, name: str, agent: Client) -> None:
        newest = max(
            (ask for ask in agent.inbox() if ask.project == agent.project), key=lambda ask: ask.opened_at
        )
        self._at(name, agent, newest.ask_id)

    def _half_review(self) -> None:
        self._review("on-call-2.md", "A", "A", walk="walk")

    def _review(self, file: str, *replies: str, walk: str) -> None:
        """Walk a person through the findings that the demo has, as far as there are replies."""
        agent, person = self._agent("editor", "handbook"), self.person("handbook")
        document = self._folder / file
        document.write_text(editor._PAGE, encoding="utf-8")
        left = list(replies)
        while True:
            with suppress(StillOpen):
                agent.review(
                    editor._FINDINGS, document=document, durable=True, apply=editor._apply,
                    document_type="other", wait=0,
                )  # fmt: skip
            asks = [ask for ask in agent.inbox() if (ask.key or "").startswith("review:")]
            if not asks:
                return
            self.addresses[walk] = f"walk/handbook/{str(asks[0].key).rpartition(':')[0]}"
            if not left:
                self._at("finding", agent, asks[0].ask_id)
                return
            self.clock.advance(11)
            person.answer(asks[0].ask_id, left.pop(0))

    # What runs.

    def _end_runs(self) -> None:
        agent = self._agent("librarian", "handbook")
        self.clock.set(NOON + timedelta(minutes=8))
        with (
            suppress(KeyboardInterrupt),
            agent.run(run_id="run-old-links", title="Mend old links", max=30) as run,
        ):
            next(run)
            raise KeyboardInterrupt  # it is stale by now
        self.clock.set(NOON + timedelta(minutes=12))
        agent = self._agent("storefront", "checkout-api")
        with agent.run("loop", run_id=ENDED, title="Write the changelog", max=3, model="haiku") as run:
            for turn in run:
                self.clock.advance(95)
                if turn.number == 2:
                    ask = agent.open("Name people who helped?", ["Yes", "No"], run_id=ENDED)
                    self.clock.advance(31)
                    self.person("checkout-api").answer(ask.ask_id, "1")
                    self.person("checkout-api", "sam-k").pause(ENDED)
                    self.clock.advance(140)
                    self.person("checkout-api", "sam-k").resume(ENDED)
        with agent.run(
            "issue", run_id="run-shop-290", title="Sort the product list", max=6, issue_id="SHOP-290"
        ) as run:
            next(run)
            self.clock.advance(60)
            self.person("checkout-api").cancel("run-shop-290")
        with (
            suppress(RuntimeError),
            agent.run("loop", run_id="run-thumbs", title="Shrink the thumbnails", max=8) as run,
        ):
            next(run)
            self.clock.advance(44)
            raise RuntimeError("the disk is full")

    def _paused_run(self) -> None:
        agent = self._agent("canary", "edge-infra")
        paused = self._enter(
            agent.run("loop", run_id=PAUSED, title="Tighten the cache rules", max=12, model="haiku")
        )
        for _ in range(4):
            next(paused)
            self.clock.advance(77)
        self.person("edge-infra", "sam-k").pause(PAUSED)
        waiting = threading.Thread(target=_next, args=(paused,), daemon=True)  # until somebody resumes it
        waiting.start()

    def _pausing_run(self) -> None:
        agent = self._agent("linter", "checkout-api")
        pausing = self._enter(
            agent.run(
                "loop", run_id="run-types", title="Give every function its types", max=20, model="haiku"
            )
        )
        for _ in range(7):
            next(pausing)
            self.clock.advance(150)

    def _pause(self) -> None:
        self.person("checkout-api").pause("run-types")

    def _grind(self) -> None:
        agent = self._agent("builder", "checkout-api")
        models = ("haiku", "sonnet", "opus")
        run = self._enter(
            agent.run(
                "grind", run_id=GRIND, title="Work off the checkout issues", max=5, model="haiku", models=models,
                filter="label:checkout",
            )
        )  # fmt: skip
        for _ in range(3):
            next(run)
        self.person("checkout-api").escalate(GRIND, "sonnet", reason="the same two tests fail again")
        inner = self._enter(
            run.nested("issue", issue_id="SHOP-325", max=3, model="sonnet", branch="shop-325")
        )
        next(inner)
        next(inner)
        run.tell(_OUTPUT)

    def _enter(self, run: DrivenRun) -> DrivenRun:
        return self._stack.enter_context(run)


@contextmanager
def a_world(folder: Path) -> Iterator[World]:
    """Give the store as it is at dawn, and `fill` does the rest; what runs in it runs until the end of the block."""
    clock = FakeClock(DAWN)
    with (
        throwaway(project="checkout-api", clock=clock) as store,
        suppress(KeyboardInterrupt),
        ExitStack() as stack,
    ):
        world = World(store, clock, folder, stack)
        yield world
        raise KeyboardInterrupt  # whoever is interrupted leaves a run as it is


def _next(run: DrivenRun) -> None:
    with suppress(AssentError, StopIteration, OSError):
        next(run)
