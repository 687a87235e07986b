"""Who contributed what: each finding in one column, and once for each of its reviewers."""

from assent.flows.synthesis.coverage import count_personas
from assent.protocol.decision import PersonaCount
from assent.protocol.finding import Action, AutofixClass
from tests.flows.synthesis.reviews import finding

__all__: list[str] = []


def test_findings_are_counted_by_where_they_go() -> None:
    """Findings = auto + proposed + decisions + FYI, for everybody who contributed."""
    fixed = {"suggested_fix": "Do it.", "recommended_action": Action.APPLY}
    found = [
        finding("F1", reviewers=("a",), autofix_class=AutofixClass.SAFE_AUTO, confidence=100, **fixed),
        finding("F2", reviewers=("a", "b", "a"), autofix_class=AutofixClass.GATED_AUTO, **fixed),
        finding("F3", reviewers=("b",)),
        finding("F4", reviewers=("b",), confidence=50),
        finding("F5", reviewers=("unheard",)),
        finding("F6"),
    ]
    assert count_personas(found, ["b", "a", "quiet"], ["broken"], {"a": 2}) == (
        PersonaCount("b", "done", findings=3, proposed=1, decisions=1, fyi=1),
        PersonaCount("a", "done", findings=2, auto=1, proposed=1, residual=2),
        PersonaCount("quiet", "done"),
        PersonaCount("unheard", "done", findings=1, decisions=1),
        PersonaCount("broken", "failed"),
    )
