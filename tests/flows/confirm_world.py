"""A plan on disk, a person and reviewers by script, and two ways to drive its confirms: in memory and with a journal."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assent.client.drive import drive
from assent.effects.direct import Direct
from assent.effects.document import document_performers
from assent.effects.performer import Performers
from assent.flows.confirm import CONFIRM, ConfirmInputs, RunReviewer, Verdict, confirm
from assent.flows.step import Answered, Ask, Ended
from assent.protocol.ask import Ask as StoredAsk
from assent.protocol.ask import State
from assent.protocol.canonical import Json
from assent.protocol.error import AssentError, EffectError
from assent.protocol.plan import Moment
from assent.protocol.report import Report
from assent.testing import ThrowawayStore
from tests.flows.plan_page import Spot, fill

__all__ = ["SUMMARY", "World"]

SUMMARY = "Rename users to people"
Reply = str | State | Callable[[], str]


class World:
    """One plan, and everybody around it."""

    def __init__(self, root: Path, store: ThrowawayStore | None = None) -> None:
        self.root = root
        self.path = root / "plan.xml"
        self.store = store
        self.replies: list[Reply] = []
        """What the person says, in order; a state ends the ask that way."""
        self.reports: list[Json | Report | EffectError] = []
        """What the reviewers say, in order."""
        self.asked: list[tuple[str, bytes]] = []
        """Every question, with the file as it was when it was asked."""
        self.bodies: list[str] = []
        self.reviewed: list[tuple[RunReviewer, bytes]] = []
        self.said: list[str] = []
        self.performers: Performers = {
            **document_performers(root),
            RunReviewer: Direct(RunReviewer, self._review),
        }
        self._flows = 0
        self._ana = None if store is None else store.person()

    def write(self, *spots: Spot, remark: str = "as it was") -> None:
        """Put a plan there."""
        self.path.write_bytes(fill(spots, remark))

    def holds(self, *spots: Spot, remark: str = "as it was") -> bool:
        """Whether the file is exactly that plan."""
        return self.path.read_bytes() == fill(spots, remark)

    def run(
        self,
        owner: str,
        moment: str,
        *,
        replies: Sequence[Reply] = (),
        reports: Sequence[Json | Report | EffectError] = (),
        settled: tuple[str, ...] = (),
        summary: str = SUMMARY,
        track_dir: str = "/track",
    ) -> Verdict:
        """Drive the confirms of an owner and moment; everything that was scripted must have been used."""
        self.replies[:], self.reports[:] = replies, reports
        inputs = ConfirmInputs("plan.xml", owner, Moment(moment), summary, "/workspace", track_dir, settled)
        if self.store is None:
            verdict = drive(confirm(inputs), self, self.performers, by="human:ana")
        else:
            self._flows += 1
            verdict = self.store.agent().drive(
                f"confirm:{self._flows}",
                CONFIRM,
                inputs,
                self.performers,
                say=self.say,
                present=self._meet,
                wait=0,
            )
        assert not self.replies
        assert not self.reports
        return replace(verdict, passed={}, name="", summary="")

    # The person, where it plays in memory

    def present(self, ask: Ask) -> None:
        """Note what is asked, and what the file says at that moment."""
        self.asked.append((ask.prompt.title, self.path.read_bytes()))
        self.bodies.append(ask.prompt.body)
        assert ask.kind == "confirm"

    def read(self) -> str | Answered | Ended | None:
        """Give the next reply."""
        reply = self._next()
        return Ended(reply, "because", "human:ana") if isinstance(reply, State) else reply

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Refuse to be misunderstood: no reply of the script may need a second try."""
        raise AssertionError(f"{ask.prompt.title}: {refusal}")

    def say(self, markdown: str) -> None:
        """Note what is said."""
        self.said.append(markdown)

    # The person, where it is kept

    def _meet(self, ask: StoredAsk) -> None:
        self.asked.append((ask.prompt.title, self.path.read_bytes()))
        self.bodies.append(ask.prompt.body)
        assert ask.kind == "confirm"
        assert self._ana is not None
        assert self.store is not None
        reply = self._next()
        match reply:
            case None:
                pass
            case State.DECLINED:
                self._ana.decline(ask.ask_id, "because")
            case State():
                self.store.agent().withdraw(ask.ask_id, "because")
            case str():
                self._ana.answer(ask.ask_id, reply)

    def _next(self) -> str | State | None:
        if not self.replies:
            return None
        reply = self.replies.pop(0)
        return reply() if callable(reply) else reply

    # The reviewers

    def _review(self, effect: RunReviewer) -> Json:
        self.reviewed.append((effect, self.path.read_bytes()))
        report = self.reports.pop(0)
        if isinstance(report, EffectError):
            raise report
        json: Json = msgspec.to_builtins(report)
        return json
