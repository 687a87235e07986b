"""A durable review as a whole: what its journal holds, gone through once more by the flow itself, for people who look.

The flow alone knows what a chain of answers comes to: which finding a cascade took along, what a preview would do. So it
is driven again on what is kept, and watched; nothing is asked and nothing is done.

Rule 1: what an agent wrote into a journal is not believed of a person: an answer, or another end of an ask, counts only
        if the ask itself has it, and a report only if the answers come to it.
Rule 2: where the journal cannot be followed, so much is said as is known, and why it is no more.
Rule 3: it takes a bounded time. Of a journal that is longer, what comes behind is not gone through; a report is told
        whole all the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from assent.client.drive import Finished, advance
from assent.client.durable import result_of
from assent.client.journal import Opened, Settled, decode_entry, end_of, read_back
from assent.flows.step import Answered, Ask, Result, step_digest
from assent.flows.walk_through.menu import (
    ACKNOWLEDGE,
    APPEND,
    CASCADE,
    DECISION,
    LFG,
    ONE_BY_ONE,
    PROCEED,
    REPORT_ONLY,
    RETRY,
)
from assent.flows.walk_through.preview import make_plan
from assent.flows.walk_through.report import report_json
from assent.flows.walk_through.walk import Walk
from assent.flows.walk_through.walk_through import WALK_THROUGH, Outcome, ReviewInputs, walk_through
from assent.hub.record import Step
from assent.protocol.ask import Ask as StoredAsk
from assent.protocol.decision import CompletionReport, Decision, NextStep
from assent.protocol.error import AssentError, NotFoundError
from assent.protocol.finding import Action, Finding
from assent.protocol.prompt import Prompt
from assent.protocol.wire_review import ReviewedFinding, ReviewQuestion, ReviewReply, ReviewState

__all__ = ["REVIEW_SECONDS", "review_keys", "view_review"]

REVIEW_SECONDS = 2.0
"""So long the journal of a review is gone through for somebody who looks: of work, whatever else the machine does."""

_ABOUT = {
    ONE_BY_ONE: "routing",
    CASCADE: "cascade",
    PROCEED: "preview",
    RETRY: "failure",
    ACKNOWLEDGE: "no_fix",
}
"""By an option that no other question has."""


def review_keys(flow_id: str, steps: int) -> list[str]:
    """Return the keys that the asks of a review with so many entries can have, with that of the question behind it."""
    return [*(f"{flow_id}:{number}" for number in range(1, steps + 1)), _next_key(flow_id)]


def view_review(flow_id: str, steps: Sequence[Step], asks: Mapping[str | None, StoredAsk]) -> ReviewReply:
    """Return a review as its journal and its asks tell it.

    Raises:
        NotFoundError: it is the journal of something else.
    """
    first = decode_entry(steps[0], Opened)
    if (first.kind, first.version) != (WALK_THROUGH.name, WALK_THROUGH.version):
        raise NotFoundError("There is no such review here.")
    inputs = read_back(first.inputs, ReviewInputs, flow_id)
    replay = _Replay(flow_id, steps, asks)
    problem = ""
    try:
        replay.follow(inputs)
    except AssentError as error:
        problem = error.message
    end = end_of(steps)
    outcome = None if end is None else read_back(end.value, Outcome, flow_id)
    if outcome is not None and not problem and not replay.is_cut and outcome != replay.value:
        problem = "Its journal has an end that its answers do not come to."
        replay.state = ReviewState.UNCLEAR
    report = None if problem or outcome is None else outcome.report
    if replay.is_cut and report is None:
        problem = "It is so long that only its beginning is shown here."
        replay.question = _open_question(asks)
    view = ReviewReply(
        flow_id,
        inputs.path,
        inputs.date,
        inputs.primer.rounds + 1,
        replay.state,
        steps[0].by,
        replay.findings(report),
        question=replay.question,
        began_at=min((ask.opened_at for ask in asks.values()), default=None),
        last_at=max((ask.answer.at for ask in asks.values() if ask.answer), default=None),
        problem=problem,
    )
    if outcome is None or problem:
        return view
    return _ended(view, outcome, asks.get(_next_key(flow_id)))


def _ended(view: ReviewReply, outcome: Outcome, following: StoredAsk | None) -> ReviewReply:
    if outcome.report is None:
        state = outcome.ended.state.value if outcome.ended else ""
        return msgspec.structs.replace(view, state=ReviewState.LEFT, ended=state)
    report = report_json(outcome.report)
    del report["primer"]
    view = msgspec.structs.replace(
        view, state=ReviewState.FINISHED, report=report, fixes=len(outcome.report.fixes)
    )
    if following is None:
        return view
    if following.is_open:
        question = ReviewQuestion("next", str(following.key), following.ask_id)
        return msgspec.structs.replace(view, question=question)
    if following.answer is None:
        return view
    chosen = following.answer.values.get(DECISION, ("",))[0]
    return msgspec.structs.replace(view, next_step=NextStep(chosen) if chosen in set(NextStep) else None)


def _open_question(asks: Mapping[str | None, StoredAsk]) -> ReviewQuestion | None:
    waiting = next((ask for ask in asks.values() if ask.is_open), None)
    return None if waiting is None else ReviewQuestion("", str(waiting.key), waiting.ask_id)


def _next_key(flow_id: str) -> str:
    return f"{flow_id}:next:1"


class _Replay:
    """Goes through one journal, once."""

    def __init__(self, flow_id: str, steps: Sequence[Step], asks: Mapping[str | None, StoredAsk]) -> None:
        self._flow_id, self._asks = flow_id, asks
        self._journal = {step.step: step for step in steps}
        self._walk: Walk | None = None
        self._answers: dict[str, tuple[str, datetime | None]] = {}
        """By finding: who decided it, and when."""
        self._answering: tuple[str, datetime | None] = ("", None)
        """Who gave the last answer."""
        self._routed = ""
        """The way that was chosen last."""
        self.state = ReviewState.UNCLEAR
        self.question: ReviewQuestion | None = None
        self.is_cut = False
        """There was no time for the rest."""
        self.value: Outcome | None = None
        """What it comes to, where it was gone through to its end."""

    def follow(self, inputs: ReviewInputs) -> None:
        """Go as far as the journal does.

        Raises:
            NotFoundError: what it holds is not what this flow would have done, or what nobody answered.
        """
        flow = walk_through(inputs, self._watch)
        number, result = 0, None
        until = time.thread_time() + REVIEW_SECONDS
        try:
            while not self.is_cut:
                step = advance(flow, result)
                number += 1
                if isinstance(step, Finished):
                    self.state = ReviewState.WORKING  # for its end may not be written yet
                    self.value = step.value
                    return
                kept = self._journal.get(number)
                if kept is not None and kept.digest != step_digest(step):
                    raise self._unclear(number, "wants something else than it did then")
                if kept is None or kept.state != "done":
                    self._stand(number, step)
                    return
                result = decode_entry(kept, Settled).result
                self._credit(number, step, result)
                self.is_cut = time.thread_time() > until
        finally:
            flow.close()

    def findings(self, report: CompletionReport | None) -> tuple[ReviewedFinding, ...]:
        """Return what a person decides about, as it stands; where there is a report, as that has it."""
        walk = self._walk
        if walk is None:
            return ()
        told = report or walk
        numbers = {finding.finding_id: number for number, finding in enumerate(walk.findings, start=1)}
        decided = {decision.finding.finding_id: decision for decision in told.decisions}
        failed = {
            failure.finding.finding_id: f"{failure.what} failed: {failure.reason}"
            for failure in told.failures
        }
        plan = self._plan(walk)
        roots = {each: root.finding_id for root in walk.findings for each in root.dependents}
        return tuple(
            self._finding(
                finding,
                number,
                numbers.get(finding.depends_on or roots.get(finding.finding_id, "")),
                plan.get(finding.finding_id),
                decided.get(finding.finding_id),
                failed.get(finding.finding_id, ""),
            )
            for number, finding in enumerate(walk.findings, start=1)
        )

    def _finding(
        self,
        finding: Finding,
        number: int,
        root: int | None,
        planned: Action | None,
        decision: Decision | None,
        failure: str,
    ) -> ReviewedFinding:
        view = ReviewedFinding(
            number,
            finding.finding_id,
            finding.title,
            finding.severity,
            finding.section,
            finding.recommended_action,
            finding.reviewers,
            finding.confidence,
            root,
            planned,
            failure=failure,
        )
        if decision is None:
            return view
        by, at = self._answers.get(finding.finding_id, ("", None))
        return msgspec.structs.replace(
            view,
            verb=decision.verb,
            by=by,
            at=at,
            note=decision.note,
            reason=decision.reason,
            append_location=decision.append_location,
            recorded_only=decision.is_recorded_only,
        )

    def _watch(self, walk: Walk) -> None:
        self._walk = walk

    def _credit(self, number: int, step: object, result: Result) -> None:
        """Note who decided what the flow is about to be told."""
        if not isinstance(step, Ask):
            self._settle()
            return
        ask = self._asks.get(f"{self._flow_id}:{number}")
        if ask is None or ask.prompt != step.prompt or ask.is_open or result_of(ask) != result:
            raise self._unclear(number, "has an answer that nobody gave")
        self._settle()
        if not isinstance(result, Answered):
            return
        self._answering = (ask.answer.by, ask.answer.at) if ask.answer else ("", None)
        chosen = result.values.get(DECISION, ("",))[0]
        if chosen in (ONE_BY_ONE, LFG, APPEND, REPORT_ONLY):
            self._routed = chosen

    def _settle(self) -> None:
        """Credit what was decided since the last answer to whoever gave it."""
        for decision in () if self._walk is None else self._walk.decisions:
            self._answers.setdefault(decision.finding.finding_id, self._answering)

    def _stand(self, number: int, step: object) -> None:
        """Say where the review is now."""
        self._settle()
        self.state = ReviewState.WORKING
        if isinstance(step, Ask):
            key = f"{self._flow_id}:{number}"
            ask = self._asks.get(key)
            about, finding = _about(step.prompt), None
            if self._walk is not None and about in ("finding", "no_fix", "failure") and self._walk.undecided:
                finding = self._walk.findings.index(self._walk.undecided[0]) + 1
            if about == "cascade" and self._walk is not None and self._walk.decisions:
                finding = self._walk.findings.index(self._walk.decisions[-1].finding) + 1
            is_open = ask is not None and ask.is_open
            self.question = ReviewQuestion(about, key, ask.ask_id if ask and is_open else None, finding)
            if is_open:
                self.state = ReviewState.WAITING

    def _plan(self, walk: Walk) -> dict[str, Action]:
        if self.question is None or self.question.about != "preview":
            return {}
        plan = make_plan(walk, Action.DEFER if self._routed == APPEND else None)
        return {finding_id: action for finding_id, (_, action) in plan.items()}

    def _unclear(self, number: int, what: str) -> NotFoundError:
        self.state = ReviewState.UNCLEAR
        return NotFoundError(f"At step {number} the journal of this review {what}.")


def _about(prompt: Prompt) -> str:
    keys = [option.key for option in prompt.fields[0].options]
    return next((_ABOUT[key] for key in keys if key in _ABOUT), "finding")
