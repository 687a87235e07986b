"""What falls with a finding that questions a premise: a root and its dependents (W-U6, 3.5c).

Rule 1: links come from what reviewers say of components, never from likeness. When unsure, do not link.
Rule 2: a root is nobody's dependent, so a chain has two levels.
Rule 3: only findings that a person decides about are linked, and linking changes nothing else about them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from assent.flows.synthesis.candidate import Candidate, Path
from assent.protocol.finding import ACTIONABLE_FROM, AutofixClass, Finding, Severity

__all__ = ["MAX_DEPENDENTS", "drop_orphans", "link_dependents"]

MAX_DEPENDENTS = 6
_ROOT_SEVERITIES = frozenset({Severity.P0, Severity.P1})


def link_dependents(findings: Sequence[Finding], behind: Mapping[str, Candidate]) -> tuple[Finding, ...]:
    """Return the findings, given in document order, with roots and dependents linked.

    `behind` has what each was made of, by its id.
    """
    roots = _find_roots(findings, behind)
    below: defaultdict[str, list[Finding]] = defaultdict(list)
    surviving = {root.finding_id for group in roots.values() for root in group}
    for finding in findings:
        if finding.finding_id not in surviving:
            path = _falls_with(finding, behind[finding.finding_id])
            if root := _closest(roots, path):
                below[root.finding_id].append(finding)
    dependents = {root_id: _worst(found) for root_id, found in below.items()}
    root_of = {each: root_id for root_id, found in dependents.items() for each in found}
    return tuple(
        replace(
            finding,
            depends_on=root_of.get(finding.finding_id),
            dependents=dependents.get(finding.finding_id, ()),
        )
        for finding in findings
    )


def _find_roots(findings: Iterable[Finding], behind: Mapping[str, Candidate]) -> dict[Path, list[Finding]]:
    """Return the roots by what they challenge, in document order; of nested ones the outer."""
    found: defaultdict[Path, list[Finding]] = defaultdict(list)
    for finding in findings:
        candidate = behind[finding.finding_id]
        if candidate.challenges and _may_be_root(finding, candidate):
            found[candidate.challenges].append(finding)
    return {
        path: group
        for path, group in found.items()
        if not any(path[:length] in found for length in range(1, len(path)))
    }


def _may_be_root(finding: Finding, candidate: Candidate) -> bool:
    return (
        finding.severity in _ROOT_SEVERITIES
        and finding.autofix_class is AutofixClass.MANUAL
        and candidate.raised_class is None  # what 3.6 raises takes no judgement
        and finding.confidence >= ACTIONABLE_FROM
    )


def _falls_with(finding: Finding, candidate: Candidate) -> Path:
    """Return the component that a finding falls with; nothing where it stands on its own."""
    is_safe = AutofixClass.SAFE_AUTO in (finding.autofix_class, candidate.raised_class)
    if is_safe or finding.confidence < ACTIONABLE_FROM:
        return ()
    # It would be a root but for the outer one: without the whole, nobody asks about the part.
    is_inner = candidate.challenges and _may_be_root(finding, candidate)
    return candidate.challenges if is_inner else candidate.concerns


def _closest(roots: Mapping[Path, Sequence[Finding]], path: Path) -> Finding | None:
    """Return the root that challenges `path` or what is around it: the closest, then the surest, then the first."""
    for length in range(len(path), 0, -1):
        if group := roots.get(path[:length]):
            return max(group, key=lambda root: root.confidence)
    return None


def _worst(found: Sequence[Finding]) -> tuple[str, ...]:
    ordered = sorted(found, key=lambda each: (each.severity, -each.confidence))
    return tuple(each.finding_id for each in ordered[:MAX_DEPENDENTS])


def drop_orphans(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings without links to what is not among them: such a dependent stands alone (W28)."""
    known = {finding.finding_id for finding in findings}
    return tuple(_without_missing(finding, known) for finding in findings)


def _without_missing(finding: Finding, known: set[str]) -> Finding:
    itself = finding.finding_id
    root = finding.depends_on if finding.depends_on in known and finding.depends_on != itself else None
    dependents = tuple(dict.fromkeys(each for each in finding.dependents if each in known and each != itself))
    if (root, dependents) == (finding.depends_on, finding.dependents):
        return finding
    return replace(finding, depends_on=root, dependents=dependents)
