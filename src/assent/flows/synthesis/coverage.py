"""Who contributed what, and what of it nobody is asked about (W-U16)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from assent.flows.synthesis.route import Route, route_of
from assent.protocol.decision import PersonaCount
from assent.protocol.finding import AutofixClass, Finding

__all__ = ["count_personas"]


def count_personas(
    findings: Iterable[Finding],
    done: Iterable[str],
    failed: Iterable[str] = (),
    residual: Mapping[str, int] | None = None,
) -> tuple[PersonaCount, ...]:
    """Return what each reviewer contributed: a finding of several counts for each of them."""
    counts: dict[str, Counter[str]] = {reviewer: Counter() for reviewer in done}
    for finding in findings:
        for reviewer in dict.fromkeys(finding.reviewers):
            counts.setdefault(reviewer, Counter())[_column(finding)] += 1
    left = residual or {}
    return (
        *(
            PersonaCount(
                reviewer, "done", findings=count.total(), residual=left.get(reviewer, 0), **dict(count)
            )
            for reviewer, count in counts.items()
        ),
        *(PersonaCount(reviewer, "failed") for reviewer in failed),
    )


def _column(finding: Finding) -> str:
    route = route_of(finding)
    if route is Route.WALK:
        return "decisions" if finding.autofix_class is AutofixClass.MANUAL else "proposed"
    return "auto" if route is Route.SILENT else "fyi"
