"""Where a finding goes: applied without a word, to a person, or into the report alone (W-U7, 3.7)."""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from assent.protocol.display import is_blank
from assent.protocol.finding import ACTIONABLE_FROM, FYI_ANCHOR, Action, AutofixClass, Finding

__all__ = ["Route", "route_of", "settle_class"]

_CONFIRMED = 100


class Route(StrEnum):
    """What happens with a finding."""

    SILENT = "silent"
    """Its fix is applied before anybody is asked."""
    WALK = "walk"
    """A person decides."""
    FYI = "fyi"
    """It stands in the report."""
    OUT = "out"
    """It is only counted."""


def route_of(finding: Finding) -> Route:
    """Return where a finding goes.

    A safe fix is applied unseen only where it was confirmed and nobody spoke against it; else a person signs it off.
    """
    if finding.confidence < FYI_ANCHOR:
        return Route.OUT
    if finding.confidence < ACTIONABLE_FROM:
        return Route.FYI
    is_safe = finding.autofix_class is AutofixClass.SAFE_AUTO and finding.confidence == _CONFIRMED
    is_opposed = finding.recommended_action is not Action.APPLY or not is_blank(finding.conflict_context)
    if is_safe and finding.has_fix and not is_opposed:
        return Route.SILENT
    return Route.WALK


def settle_class(finding: Finding) -> Finding:
    """Return a finding whose class says what happens with it, where that is less than was handed in (3.7).

    What a person has to see is not safe, and what has no fix needs more than a sign-off.
    """
    settled = finding.autofix_class
    if route_of(finding) is not Route.WALK:
        return finding
    if settled is AutofixClass.SAFE_AUTO:
        settled = AutofixClass.GATED_AUTO
    if settled is AutofixClass.GATED_AUTO and not finding.has_fix:
        settled = AutofixClass.MANUAL
    return finding if settled is finding.autofix_class else replace(finding, autofix_class=settled)
