"""One recommended action for each finding, and a line on who recommended what (W-U5, 3.5b)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assent.flows.synthesis.candidate import Candidate, Contribution
from assent.flows.synthesis.contradict import frame_tradeoff, say_names
from assent.protocol.finding import Action, AutofixClass, Finding
from assent.protocol.fingerprint import finding_id

__all__ = ["choose_action", "implied_action", "recommend", "say_conflict"]

_WINNERS = (Action.SKIP, Action.DEFER, Action.APPLY)
"""The tie-break: the first that anybody implied."""


def implied_action(contribution: Contribution, *, is_contradiction: bool = False) -> Action | None:
    """Return what a reviewer's finding comes to; None where it says nothing about that."""
    finding = contribution.finding
    if finding.is_low_confidence or (is_contradiction and contribution.keeps):
        return Action.SKIP
    if finding.autofix_class is not AutofixClass.MANUAL:
        return Action.APPLY
    if finding.is_tradeoff:
        return Action.DEFER
    return Action.APPLY if contribution.has_fix else None


def choose_action(implied: Collection[Action], *, has_fix: bool) -> Action:
    """Return the action that is recommended: the most careful one, and never to apply what is not there (W55)."""
    chosen = next((action for action in _WINNERS if action in implied), Action.APPLY)
    return Action.DEFER if chosen is Action.APPLY and not has_fix else chosen


def say_conflict(implied: Mapping[str, Action], chosen: Action) -> str:
    """Return who recommends what and which of it is recommended in the end; nothing where all agree (W38).

    >>> say_conflict({"coherence": Action.APPLY, "scope-guardian": Action.SKIP}, Action.SKIP)
    "Coherence recommends Apply; scope-guardian recommends Skip. Agent's recommendation: Skip."
    """
    parts = []
    for action in Action:
        names = [name for name, wanted in implied.items() if wanted is action]
        if names:
            parts.append(f"{say_names(names)} recommend{'s' if len(names) == 1 else ''} {action}")
    if len(parts) < 2:  # noqa: PLR2004 - one alone is no conflict
        return ""
    told = "; ".join(parts)
    return f"{told[0].upper()}{told[1:]}. Agent's recommendation: {chosen}."


def recommend(candidate: Candidate) -> Finding:
    """Return the finding that a candidate becomes."""
    fixer, words = candidate.fixer, candidate.strongest.finding
    implied = _implied(candidate)
    chosen = choose_action(implied.values(), has_fix=fixer.has_fix)
    return Finding(
        finding_id=finding_id(words.section, words.title),
        title=words.title,
        severity=words.severity,
        section=words.section,
        why_it_matters=frame_tradeoff(candidate) if candidate.is_contradiction else words.why_it_matters,
        finding_type=candidate.finding_type,
        autofix_class=candidate.autofix_class,
        confidence=candidate.confidence,
        recommended_action=chosen,
        evidence=candidate.evidence,
        reviewers=candidate.reviewers,
        suggested_fix=fixer.finding.suggested_fix if fixer.has_fix else None,
        edit=fixer.finding.edit,
        plain_title=fixer.finding.plain_title,
        why_it_works=fixer.finding.why_it_works,
        conflict_context=say_conflict(implied, chosen),
    )


def _implied(candidate: Candidate) -> dict[str, Action]:
    """Return what each reviewer wants; of one that says several things, the most careful."""
    found: dict[str, Action] = {}
    for each in sorted(candidate.contributions, key=lambda each: each.number):
        wanted = implied_action(each, is_contradiction=candidate.is_contradiction)
        if wanted is not None:
            said = found.get(each.reviewer, wanted)
            found[each.reviewer] = min(said, wanted, key=_WINNERS.index)
    return found
