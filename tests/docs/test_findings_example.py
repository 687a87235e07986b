"""The example of a document review is one, its schema says what the parser says, and it comes to something."""

import copy
import json
from typing import Any

import jsonschema
import pytest

from assent.flows.synthesis.parse import parse_findings
from assent.flows.synthesis.route import Route, route_of
from assent.flows.synthesis.synthesis import Synthesis, render_synthesis, synthesise
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Finding, RawFinding
from tools.page import ROOT

__all__: list[str] = []

EXAMPLE = (ROOT / "docs/reference/findings-example.json").read_bytes()
SCHEMA = json.loads((ROOT / "docs/reference/findings.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def example() -> Any:
    return json.loads(EXAMPLE)


def synthesis() -> Synthesis:
    return synthesise(parse_findings(EXAMPLE))


def is_taken_whole(review: object) -> bool:
    """Whether the parser takes all of a review."""
    try:
        found = parse_findings(json.dumps(review).encode())
    except BadRequestError:
        return False
    return not found.dropped and not found.failed


def test_example_fits_the_schema_and_is_taken_whole() -> None:
    """So does what synthesis makes of it, and one output alone."""
    merged = json.loads(render_synthesis(synthesis()))
    for review in (example(), merged, example()[0]):
        VALIDATOR.validate(review)
        assert is_taken_whole(review)


def test_schema_knows_every_field() -> None:
    """As the types have them."""
    for kind in (RawFinding, Finding):
        known = SCHEMA["$defs"][kind.__name__]["properties"]
        assert list(known) == list(kind.__struct_encode_fields__)


def test_example_comes_to_something() -> None:
    """A chain with its root first, a contradiction, an agreement, a safe fix, an exact change, and FYI."""
    found = synthesis()
    assert [(each.plain_title or each.title, route_of(each)) for each in found.findings] == [
        ("A third of the work serves nobody", Route.WALK),
        ("Customers wait for the cache", Route.WALK),
        ("Files outlive what customers were told", Route.WALK),
        ("One fault reaches every customer", Route.WALK),
        ("Nothing says what happens when the job fails", Route.WALK),
        ("Three days are promised for nothing", Route.WALK),
        ("A changed column breaks every script", Route.WALK),
        ("The first sentence looks unfinished", Route.SILENT),
        ("The goal does not say why not by mail", Route.FYI),
    ]
    root, dependent, contradiction, agreed, *_ = found.findings
    assert (len(root.dependents), dependent.depends_on) == (2, root.finding_id)
    assert contradiction.conflict_context
    assert (agreed.confidence, agreed.reviewers) == (100, ("coherence", "feasibility"))
    assert agreed.edit is not None
    coverage = found.coverage
    assert (coverage.dropped, coverage.restated, coverage.roots, coverage.dependents) == (1, 1, 1, 2)


def put(place: str, value: object) -> Any:
    """Return the example with something else at a place."""
    review = copy.deepcopy(example())
    *way, last = (int(part) if part.isdecimal() else part for part in place.split("."))
    inner = review
    for part in way:
        inner = inner[part]
    inner[last] = value
    return review


FIRST = "0.findings.0"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (f"{FIRST}.severity", "P4"),
        (f"{FIRST}.confidence", 60),
        (f"{FIRST}.confidence", "75"),
        (f"{FIRST}.autofix_class", "auto"),
        (f"{FIRST}.finding_type", "fault"),
        (f"{FIRST}.evidence", []),
        (f"{FIRST}.evidence", ["x"] * 51),
        (f"{FIRST}.evidence.0", ""),
        (f"{FIRST}.title", ""),
        (f"{FIRST}.why_it_matters", "x" * 20_001),
        (f"{FIRST}.suggested_fix", 5),
        (f"{FIRST}.edit", {"before": "a"}),
        (f"{FIRST}.stance", "both"),
        (f"{FIRST}.promotion", "luck"),
        (FIRST, {}),
        ("0.findings", None),
        ("0.reviewer", ""),
        ("0.residual_risks", [5]),
        ("1.deferred_questions", "none"),
        ("2", []),
    ],
)
def test_fault_is_found_by_the_schema_and_by_the_parser(place: str, value: object) -> None:
    """For each kind that a schema can name."""
    review = put(place, value)
    assert (VALIDATOR.is_valid(review), is_taken_whole(review)) == (False, False)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (f"{FIRST}.suggested_fix", None),
        (f"{FIRST}.edit", None),
        (f"{FIRST}.unknown", {"of": "a later version"}),
        (f"{FIRST}.confidence", 0),
        (f"{FIRST}.title", "one two three four five six seven eight nine ten"),
        ("0.findings", []),
    ],
)
def test_review_that_fits_the_schema_is_taken_whole(place: str, value: object) -> None:
    """Whoever checks with the schema first meets no surprise."""
    review = put(place, value)
    assert (VALIDATOR.is_valid(review), is_taken_whole(review)) == (True, True)


@pytest.mark.parametrize("title", ["x" * 101, "one two three four five six seven eight nine ten eleven"])
def test_long_title_is_against_the_schema_and_is_taken_all_the_same(title: str) -> None:
    """W-U1 asks reviewers for short ones; a long one is no reason to lose a finding."""
    review = put(f"{FIRST}.title", title)
    assert (VALIDATOR.is_valid(review), is_taken_whole(review)) == (False, True)
