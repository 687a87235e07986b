"""What earlier rounds decided: not asked again (R29), or applied and found again (R30)."""

import pytest

from assent.flows.synthesis.round import apply_primer
from assent.protocol.decision import Verb
from assent.protocol.fingerprint import snippet
from assent.protocol.primer import Primer, PrimerEntry
from tests.flows.synthesis.reviews import finding
from tests.proves import proves

__all__: list[str] = []

QUOTE = 'The tiers are "named" later, in another part of the plan'
FOUND = finding("F1", title="Two tiers", evidence=(QUOTE,))
DOCUMENT = f"# Plan\n\n## Scope\n\n{QUOTE.replace('later, ', 'later,' + chr(10))}.\n"


def entry(action: Verb = Verb.SKIPPED, *, section: str = "Scope", evidence: str = QUOTE) -> PrimerEntry:
    return PrimerEntry(section=section, title="two TIERS.", action=action, evidence=snippet(evidence))


@proves("W28")
@pytest.mark.parametrize("action", [Verb.SKIPPED, Verb.DEFERRED, Verb.ACKNOWLEDGED])
def test_finding_that_was_decided_against_is_suppressed(action: Verb) -> None:
    """R29: same section and title, and more than half of the evidence."""
    found = apply_primer([FOUND, finding("F2")], Primer(1, rejected=(entry(action),)), DOCUMENT)
    assert [each.finding_id for each in found.findings] == ["F2"]
    assert (found.suppressed, found.not_landed) == (("Two tiers",), ())


def test_finding_that_was_applied_and_comes_again_did_not_land() -> None:
    """R30: it is told, and decided about again."""
    found = apply_primer([FOUND], Primer(1, applied=(entry(Verb.APPLIED),)), DOCUMENT)
    assert (found.findings, found.suppressed, found.not_landed) == ((FOUND,), (), ("Two tiers",))


@pytest.mark.parametrize(
    "told",
    [
        entry(section="Scope of tiers"),
        entry(evidence="nothing of that kind"),
        entry(evidence=" ".join(QUOTE.split()[:5]) + " six words that are not there"),
        entry(evidence=""),
    ],
    ids=["renamed section", "other evidence", "half of the evidence", "no evidence on one side"],
)
def test_finding_that_differs_is_told(told: PrimerEntry) -> None:
    """Neither R29 nor R30 holds."""
    found = apply_primer([FOUND], Primer(1, applied=(told,), rejected=(told,)), None)
    assert (found.findings, found.suppressed, found.not_landed) == ((FOUND,), (), ())


def test_finding_comes_again_when_its_quote_is_gone() -> None:
    """The section changed: it is a new finding. Without the document nobody can tell, and the decision stands."""
    primer = Primer(1, rejected=(entry(),))
    assert apply_primer([FOUND], primer, "## Scope\n\nThe tiers are named here.\n").findings == (FOUND,)
    assert apply_primer([FOUND], primer, None).findings == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_quote_in_the_deferrals_is_not_in_the_text(newline: str) -> None:
    """A deferral carries the quote of what was deferred; the passage may be gone all the same."""
    deferred = f'## Deferred / Open Questions\n\n### From 2026-01-01 review\n\n<!-- evidence="{snippet(QUOTE)}" -->\n'
    primer = Primer(1, rejected=(entry(Verb.DEFERRED),))
    changed = f"## Scope\n\nNew text.\n\n{deferred}\n## Annex\n\nMore.\n".replace("\n", newline)
    assert apply_primer([FOUND], primer, changed).findings == (FOUND,)
    unchanged = f"{deferred}\n{DOCUMENT}".replace("\n", newline)
    assert apply_primer([FOUND], primer, unchanged).findings == ()


def test_finding_without_evidence_is_known_by_section_and_title() -> None:
    """A set that was merged elsewhere may have none."""
    bare = finding("F1", title="Two tiers")
    assert apply_primer([bare], Primer(1, rejected=(entry(evidence=""),)), DOCUMENT).findings == ()


def test_any_quote_of_a_finding_may_be_the_one_of_before() -> None:
    """Reviewers may be heard in another order this time."""
    several = finding("F1", title="Two tiers", evidence=("another thing altogether", QUOTE.lower()))
    assert apply_primer([several], Primer(1, rejected=(entry(),)), DOCUMENT).findings == ()


def test_first_round_leaves_everything() -> None:
    """A new review starts without a primer."""
    assert apply_primer([FOUND], Primer(), DOCUMENT).findings == (FOUND,)
