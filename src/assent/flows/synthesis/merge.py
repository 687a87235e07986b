"""The same finding of several reviewers becomes one; what one reviewer says over and over becomes FYI (W-U4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from assent.flows.synthesis.candidate import Candidate, Contribution, gather
from assent.protocol.finding import ACTIONABLE_FROM, FYI_ANCHOR, ReviewerOutput, Stance
from assent.protocol.fingerprint import normalise

__all__ = ["collapse_repeats", "gate_anchors", "list_contributions", "merge_same", "promote_agreed"]

_REPEATS_FROM = 3
_STEPS = {FYI_ANCHOR: ACTIONABLE_FROM, ACTIONABLE_FROM: 100}
"""Which anchor follows on which."""


def list_contributions(outputs: Iterable[ReviewerOutput]) -> tuple[Contribution, ...]:
    """Return every finding with its reviewer, numbered as handed in."""
    pairs = ((output.reviewer, finding) for output in outputs for finding in output.findings)
    return tuple(Contribution(reviewer, finding, number) for number, (reviewer, finding) in enumerate(pairs))


def gate_anchors(contributions: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """Return those that somebody checked; the others are only counted (W-U2)."""
    return tuple(each for each in contributions if each.finding.confidence >= FYI_ANCHOR)


def merge_same(contributions: Iterable[Contribution]) -> tuple[Candidate, ...]:
    """Return one candidate for each section and title, in the order of the review (3.3).

    Opposing advice is not merged: who wants to keep a passage is not who wants to change it.
    """
    groups: defaultdict[tuple[str, Stance], list[Contribution]] = defaultdict(list)
    for each in contributions:
        groups[each.fingerprint, each.finding.stance].append(each)
    return tuple(gather(group) for group in groups.values())


def collapse_repeats(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates with one reviewer's repeats made FYI, where three or more rest on the same premise.

    The strongest of them stays; so does what another reviewer found, too.
    """
    resting: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, candidate in enumerate(candidates):
        named = {
            (each.reviewer, normalise(each.finding.premise))
            for each in candidate.contributions
            if each.finding.premise.strip()
        }
        for key in sorted(named):
            resting[key].append(number)
    repeats: set[int] = set()
    for numbers in resting.values():
        if len(numbers) >= _REPEATS_FROM:
            strongest = min(numbers, key=lambda number: candidates[number].strongest.strength)
            repeats |= {number for number in numbers if number != strongest}
    return tuple(
        replace(candidate, confidence=FYI_ANCHOR)
        if number in repeats and len(candidate.reviewers) == 1
        else candidate
        for number, candidate in enumerate(candidates)
    )


def promote_agreed(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates, with the anchor one step higher where two or more reviewers agree (3.4)."""
    return tuple(
        replace(candidate, confidence=_STEPS.get(candidate.confidence, candidate.confidence))
        if len(candidate.reviewers) > 1
        else candidate
        for candidate in candidates
    )
