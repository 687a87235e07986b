"""Manual findings that need less than judgement, because their reviewers say why (W-U7, 3.6)."""

from __future__ import annotations

from msgspec.structs import replace

from assent.flows.synthesis.candidate import Candidate
from assent.protocol.finding import AutofixClass, Finding

__all__ = ["raise_class"]


def raise_class(finding: Finding, candidate: Candidate) -> Finding:
    """Return the finding with the class that its reviewers' reasons give it; what is recommended stays."""
    raised = candidate.raised_class
    if raised is None or finding.autofix_class is not AutofixClass.MANUAL:
        return finding
    return replace(finding, autofix_class=raised)
