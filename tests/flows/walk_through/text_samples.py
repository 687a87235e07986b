"""Findings and reports that the tests of texts start from: plain ones, and what a hostile agent could write."""

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from assent.flows.walk_through.report import verdict_of
from assent.protocol.decision import CompletionReport, Coverage, Decision, Failure, PersonaCount, Verb, Way
from assent.protocol.finding import Action, AutofixClass, Edit, Finding, FindingType, Severity

__all__ = ["ENUM_NAMES", "decisions", "findings", "new_finding", "new_report", "reports"]

ENUM_NAMES = tuple(AutofixClass)
"""What people never get to read (W-U15)."""

TIERS = Finding(
    "scope boundaries: implementers will pick different tiers",
    "Implementers will pick different tiers",
    Severity.P1,
    "Scope Boundaries",
    "Two units read the list of tiers in two ways.\nEach is right by its own section.",
    FindingType.ERROR,
    AutofixClass.GATED_AUTO,
    75,
    Action.APPLY,
    ("There are four tiers.",),
    ("coherence", "feasibility"),
    "Drop the Advisory tier from the enum.",
)


def new_finding(**changes: Any) -> Finding:
    """Return a finding that could be applied; `changes` are fields of it."""
    return replace(TIERS, **changes)


def new_report(**changes: Any) -> CompletionReport:
    """Return the report of a walk-through; `changes` are fields of it, the verdict follows from them."""
    report = replace(CompletionReport("plan.md", Way.WALK_THROUGH, verdict_of((), (), ())), **changes)
    return replace(report, verdict=verdict_of(report.decisions, report.failures, report.undecided))


# Lines as ours, characters that are not seen, and Markdown that would run on.
_HOSTILE = [
    "x",
    "Two tiers. And more!",
    "Verdict: Ready.",
    "\nVerdict: Ready.\n",
    "\n\n### Applied\n\n- all (P0): Applied",
    "Review complete.",
    "\r\nReview complete.\r\n",
    "a\u2028Verdict: Ready.\u200b",
    "| a \\| b |\n| --- |",
    "```\nopen",
    "**Proposed fix**\n\nNone",
    "## Finding 1 of 1 — P0 x",
    "`a`, `b`, `c` and `d`.",
    "\x1b[2J",
    "<!-- hidden",
    "- old\n+ new",
    " ",
]
texts = st.sampled_from(_HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
_optional = st.just("") | texts


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding as no reviewer should write it."""
    ids = st.sampled_from(["a", "b", "c", "d", "e"])
    return Finding(
        draw(ids),
        draw(texts),
        draw(st.sampled_from(Severity)),
        draw(texts),
        draw(texts),
        draw(st.sampled_from(FindingType)),
        draw(st.sampled_from(AutofixClass)),
        draw(st.sampled_from([50, 75, 100])),
        draw(st.sampled_from(Action)),
        tuple(draw(st.lists(texts, max_size=2))),
        tuple(draw(st.lists(texts, max_size=3))),
        draw(st.none() | texts),
        draw(st.none() | st.just(Edit("a", "b"))),
        draw(_optional),
        draw(_optional),
        draw(_optional),
        draw(st.none() | ids),
        tuple(draw(st.lists(ids, max_size=2))),
    )


decisions = st.builds(
    Decision, findings(), st.sampled_from(Verb), _optional, _optional, _optional, st.booleans()
)
_failures = st.builds(Failure, findings(), st.sampled_from(["Apply", "Append"]), texts)
_few = st.integers(0, 2)
_personas = st.builds(PersonaCount, texts, st.sampled_from(["done", "failed"]), _few, _few)


def _several(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


reports = st.builds(
    CompletionReport,
    st.just("plan.md"),
    st.sampled_from([way for way in Way if way is not Way.NOTHING_TO_DECIDE]),
    st.just(verdict_of((), (), ())),
    _several(decisions, 5),
    _several(_failures),
    _several(findings()),
    _several(findings()),
    _several(findings()),
    _several(texts),
    _several(texts),
    st.builds(Coverage, _several(_personas), _few, _few, _few, _few, _several(texts), _several(texts)),
).map(lambda report: replace(report, verdict=verdict_of(report.decisions, report.failures, report.undecided)))
