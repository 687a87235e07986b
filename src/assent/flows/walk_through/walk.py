"""What a walk-through knows at a moment: what was decided, what is to be applied, what failed (W62).

It lives in the flow and nowhere else. A flow that is driven again from its journal comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assent.flows.step import Answered, Ended, Flow, ask
from assent.flows.walk_through.effect import Writable
from assent.flows.walk_through.fix import MAX_FIX
from assent.flows.walk_through.menu import DECISION
from assent.flows.walk_through.prose import sentences
from assent.protocol.ask import Kind, State
from assent.protocol.decision import Decision, Failure, Verb
from assent.protocol.finding import Action, Finding
from assent.protocol.prompt import Prompt

__all__ = ["LeftError", "Walk", "choose", "first_sentence"]


class LeftError(Exception):
    """A question ended without an answer: the walk-through is over, and what was decided is discarded (W64, W-X21)."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.reason)
        self.ended = ended


class Walk:
    """A walk-through under way."""

    def __init__(self, path: str, date: str, findings: Sequence[Finding], append: Writable) -> None:
        self.path = path
        self.date = date
        """The calendar date of the review."""
        self.findings = tuple(findings)
        """What is to be decided about, in order."""
        self.append = append
        """Whether anything can be deferred into the document; decided once (W-U12)."""
        self.known_digest: str | None = None
        """Of the document as it was left here; None: however it is found, it is taken as it is."""
        self.failures: list[Failure] = []
        self.notes: list[str] = []
        self._decisions: dict[str, Decision] = {}
        self._numbers = {finding.finding_id: number for number, finding in enumerate(findings, start=1)}
        self._links = _link(findings)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided, in that order."""
        return tuple(self._decisions.values())

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """What has yet to be decided, in order."""
        return tuple(finding for finding in self.findings if not self.is_decided(finding))

    def is_decided(self, finding: Finding) -> bool:
        """Whether there is a decision about it."""
        return finding.finding_id in self._decisions

    def decide(self, decision: Decision) -> None:
        """Put a decision on the list. There is none yet: what was decided is never touched again."""
        finding = decision.finding
        assert not self.is_decided(finding), finding.finding_id  # noqa: S101 - every way here looks first
        if decision.verb is Verb.SKIPPED and not decision.reason:
            decision = Decision(finding, Verb.SKIPPED, decision.note, reason=_why_skipped(finding))
        self._decisions[finding.finding_id] = decision

    def to_apply(self) -> Iterator[Finding]:
        """Give the Apply set, in the order of the findings."""
        for finding in self.findings:
            decision = self._decisions.get(finding.finding_id)
            if decision is not None and decision.verb is Verb.APPLIED:
                yield finding

    def fail_to_apply(self, finding: Finding, reason: str) -> None:
        """Note that a fix is not in the document: it was decided, and is not counted as applied."""
        self._decisions.pop(finding.finding_id, None)
        self.failures.append(Failure(finding, Action.APPLY, reason))

    def place_of(self, finding: Finding) -> tuple[int, int] | None:
        """Return which of how many it is; nothing where it is the only one (W-X9, W-X10)."""
        total = len(self.findings)
        return None if total == 1 else (self._numbers[finding.finding_id], total)

    def dependents_of(self, root: Finding) -> list[Finding]:
        """Return what falls with a root and is undecided, in order."""
        numbers = sorted(
            self._numbers[each] for each in self._links[root.finding_id] if each in self._numbers
        )
        below = (self.findings[number - 1] for number in numbers)
        return [finding for finding in below if not self.is_decided(finding)]

    @property
    def unavailable(self) -> str:
        """Why nothing can be deferred into the document; empty where it can."""
        return "" if self.append.is_writable else self.append.reason or "document cannot be written"

    def obstacle(self, finding: Finding) -> str:
        """Return why its fix cannot be applied here, in a phrase; empty where nothing is known to be in the way (W49)."""
        if not finding.has_fix:
            return "no suggested_fix"
        if self.unavailable:
            return self.unavailable
        if finding.edit is None and not self.append.takes_words:
            return "no applier for a fix in words"
        if finding.edit is None and len(finding.suggested_fix or "") > MAX_FIX:
            return "suggested_fix too long to be read whole"
        return ""

    def recommended(self, finding: Finding) -> Action:
        """Return what its question recommends, and what is done with it in bulk: never what cannot be done (W45, W55)."""
        action = finding.recommended_action
        if action is Action.APPLY and self.obstacle(finding):
            action = Action.DEFER
        return Action.SKIP if action is Action.DEFER and self.unavailable else action


def choose(prompt: Prompt, kind: Kind = Kind.FINDING, *, declined: str = "") -> Flow[str]:
    """Ask, and return the key of what was chosen; `declined` where a person's no to the question stands for that.

    Raises:
        LeftError: it ended without an answer.
    """
    came = yield from ask(prompt, kind)
    if isinstance(came, Answered):
        return came.values[DECISION][0]
    if declined and came.state is State.DECLINED:
        return declined
    raise LeftError(came)


def _link(findings: Sequence[Finding]) -> dict[str, set[str]]:
    """Return what hangs on each finding. Of a set that was merged elsewhere, either end may say so (W17)."""
    links = {finding.finding_id: set(finding.dependents) for finding in findings}
    for finding in findings:
        if finding.depends_on in links:
            links[finding.depends_on].add(finding.finding_id)
    return links


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, on one line.

    >>> first_sentence("Readers of v1.2 stop here. And then")
    'Readers of v1.2 stop here.'
    """
    return sentences(" ".join(text.split()))[0]


def _why_skipped(finding: Finding) -> str:
    """Return why somebody may skip it, in its own terms (W70)."""
    return f"anchor {finding.confidence}: {first_sentence(finding.why_it_matters)}"
