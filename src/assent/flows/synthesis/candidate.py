"""What becomes a finding: one or several reviewers' words about the same thing.

Everything that a finding takes over from them is decided here, each by its own rule, and nothing of it by the order
in which reviewers were heard unless all else is equal.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assent.protocol.display import is_blank
from assent.protocol.finding import AutofixClass, FindingType, Promotion, RawFinding, Severity, Stance
from assent.protocol.fingerprint import fingerprint, normalise

__all__ = ["Candidate", "Contribution", "Path", "gather"]

Path = tuple[str, ...]
"""A component as findings name it, outermost part first."""

_MAX_EVIDENCE = 50
_MAX_PARTS = 32
_CLASSES = list(AutofixClass)
_SAFE_REASONS = frozenset({Promotion.FACTUAL_ERROR, Promotion.MECHANICAL})
"""What is plainly wrong, or follows from what is there, has one right fix; the others touch meaning."""


class Contribution(msgspec.Struct, frozen=True):
    """One reviewer's finding."""

    reviewer: str
    finding: RawFinding
    number: int
    """Which one it is of the whole review, as handed in."""

    @property
    def fingerprint(self) -> str:
        """By what it is known."""
        return fingerprint(self.finding.section, self.finding.title)

    @property
    def strength(self) -> tuple[Severity, int, int]:
        """What sorts the strongest first."""
        return self.finding.severity, -self.finding.confidence, self.number

    @property
    def has_fix(self) -> bool:
        """Whether it says what to do."""
        return not is_blank(self.finding.suggested_fix or "")

    @property
    def keeps(self) -> bool:
        """Whether it wants the passage kept as it is."""
        return self.finding.stance is Stance.KEEP


class Candidate(msgspec.Struct, frozen=True):
    """A finding on its way."""

    contributions: tuple[Contribution, ...]
    """At least one, the strongest first."""
    confidence: int
    is_contradiction: bool = False
    """Some want it changed and others kept."""

    @property
    def strongest(self) -> Contribution:
        """Whose words are taken."""
        return self.contributions[0]

    @property
    def fixer(self) -> Contribution:
        """Whose fix is taken, with all that belongs to it: where people disagree, that of one who wants a change."""
        fixes = [each for each in self.contributions if each.has_fix]
        return next((each for each in fixes if not each.keeps), fixes[0] if fixes else self.strongest)

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Everybody who contributed, once, in the order of the review."""
        in_order = sorted(self.contributions, key=lambda each: each.number)
        return tuple(dict.fromkeys(each.reviewer for each in in_order))

    @property
    def evidence(self) -> tuple[str, ...]:
        """All quotes, each once, the strongest contribution's first."""
        quotes = (quote for each in self.contributions for quote in each.finding.evidence)
        return tuple(dict.fromkeys(quotes))[:_MAX_EVIDENCE]

    @property
    def finding_type(self) -> FindingType:
        """An error as soon as somebody calls it one, and where people disagree."""
        kinds = {each.finding.finding_type for each in self.contributions}
        is_error = self.is_contradiction or FindingType.ERROR in kinds
        return FindingType.ERROR if is_error else FindingType.OMISSION

    @property
    def autofix_class(self) -> AutofixClass:
        """The one that needs most of a person."""
        if self.is_contradiction:
            return AutofixClass.MANUAL
        chosen = _most_careful(each.finding.autofix_class for each in self.contributions)
        edits = {each.finding.edit for each in self.contributions if each.finding.edit is not None}
        # Two exact changes that differ are not one clear right fix, whatever both reviewers say.
        return _most_careful([chosen, AutofixClass.GATED_AUTO]) if len(edits) > 1 else chosen

    @property
    def raised_class(self) -> AutofixClass | None:
        """What 3.6 makes of it; None: nothing. All who called it manual have to name a reason."""
        reasons = [
            None if each.finding.is_tradeoff else each.finding.promotion
            for each in self.contributions
            if each.finding.autofix_class is AutofixClass.MANUAL
        ]
        if self.is_contradiction or not reasons or None in reasons or not self.fixer.has_fix:
            return None
        is_safe = all(reason in _SAFE_REASONS for reason in reasons)
        others = (each.finding.autofix_class for each in self.contributions)
        return _most_careful(
            [
                AutofixClass.SAFE_AUTO if is_safe else AutofixClass.GATED_AUTO,
                *(kind for kind in others if kind is not AutofixClass.MANUAL),
            ]
        )

    @property
    def challenges(self) -> Path:
        """The component whose being is questioned; none where reviewers name different ones."""
        return _agreed(each.finding.challenges for each in self.contributions if not each.keeps)

    @property
    def concerns(self) -> Path:
        """The component that it falls with; none where reviewers name different ones."""
        return _agreed(each.finding.concerns for each in self.contributions if not each.keeps)


def gather(contributions: Iterable[Contribution], confidence: int | None = None) -> Candidate:
    """Return one candidate of contributions that say the same: the highest anchor counts, unless another is given."""
    found = tuple(sorted(contributions, key=lambda each: each.strength))
    highest = max(each.finding.confidence for each in found)
    return Candidate(found, highest if confidence is None else confidence)


def _most_careful(classes: Iterable[AutofixClass]) -> AutofixClass:
    return max(classes, key=_CLASSES.index)


def _agreed(spelled: Iterable[str]) -> Path:
    """Return the one component that is meant. When unsure, do not link (W-U6)."""
    paths = {path for text in spelled if (path := _path(text))}
    return paths.pop() if len(paths) == 1 else ()


def _path(text: str) -> Path:
    parts = tuple(normalise(part) for part in text.split("/", _MAX_PARTS) if part.strip())
    return parts if len(parts) <= _MAX_PARTS else ()
