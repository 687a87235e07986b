"""What one reviewer wants changed and another wants kept becomes one finding, framed as a trade-off (W-U4, 3.5)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from assent.flows.synthesis.candidate import Candidate, gather
from assent.protocol.display import quote
from assent.protocol.words import join_words

__all__ = ["combine_opposed", "frame_tradeoff", "say_names"]

_NAMES = 3
_MAX_SIDE = 9_000
"""Characters of each side's reasons: together they are one text of a finding."""


def combine_opposed(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates, with the two sides of each contradiction as one, where the first of them was."""
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        key = candidate.strongest.fingerprint
        other = found.get(key)
        found[key] = candidate if other is None else _combine(other, candidate)
    return tuple(found.values())


def _combine(one: Candidate, other: Candidate) -> Candidate:
    both = gather([*one.contributions, *other.contributions], max(one.confidence, other.confidence))
    return replace(both, is_contradiction=len({each.keeps for each in both.contributions}) > 1)


def frame_tradeoff(candidate: Candidate) -> str:
    """Return what a contradiction is about: who wants what, and why."""
    sides = [[each for each in candidate.contributions if each.keeps is keeps] for keeps in (False, True)]
    for_change, for_keeping = (side[0].finding.why_it_matters[:_MAX_SIDE] for side in sides)
    who = [say_names(list(dict.fromkeys(each.reviewer for each in side))) for side in sides]
    return (
        f"It is a trade-off: {who[0]} would change this, {who[1]} would keep it.\n\n"
        f"For the change: {for_change}\n\nFor keeping it: {for_keeping}"
    )


def say_names(reviewers: list[str]) -> str:
    """Return reviewers' names as a sentence lists them.

    >>> say_names(["coherence", "feasibility"])
    'coherence and feasibility'
    """
    names = [quote(name) for name in reviewers]
    if len(names) > _NAMES + 1:
        names = [*names[:_NAMES], f"{len(names) - _NAMES:,} others"]
    return join_words(names)
