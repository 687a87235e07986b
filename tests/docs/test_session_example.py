"""The example of a review is a review, and the schema beside it says what the parser says."""

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from assent.protocol.error import BadRequestError
from assent.protocol.review import Category, Chunk, Comment, Finding, PullRequest, Review, parse_review
from tools.page import ROOT

__all__: list[str] = []

EXAMPLE = (ROOT / "docs/reference/session-example.json").read_bytes()
SCHEMA = json.loads((ROOT / "docs/reference/session.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> dict[str, Any]:
    """Return the example after a change."""
    review: dict[str, Any] = copy.deepcopy(json.loads(EXAMPLE))
    change(review)
    return review


def is_parsed(review: dict[str, Any]) -> bool:
    """Say whether the parser takes it."""
    try:
        parse_review(json.dumps(review).encode())
    except BadRequestError:
        return False
    return True


def put(place: str, value: Any) -> Change:
    """Return the change that sets one value; a place is as `chunks.0.label`."""
    *way, last = (int(part) if part.isdecimal() else part for part in place.split("."))

    def change(review: Any) -> None:
        for part in way:
            review = review[part]
        review[last] = value

    return change


def drop(place: str) -> Change:
    """Return the change that takes one value away."""
    *way, last = (int(part) if part.isdecimal() else part for part in place.split("."))

    def change(review: Any) -> None:
        for part in way:
            review = review[part]
        del review[last]

    return change


def test_schema_is_one() -> None:
    """By the rules of its own dialect."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_example_is_a_review_and_fits_the_schema() -> None:
    """As it stands on the page."""
    VALIDATOR.validate(json.loads(EXAMPLE))
    review = parse_review(EXAMPLE)
    assert (str(review.pull_request), len(review.chunks)) == ("acme/shop#311", 3)


def test_example_shows_every_field() -> None:
    """Whoever writes one by hand can copy from it."""
    named = set(map(str.strip, EXAMPLE.decode().replace('"', " ").split()))
    for kind in (Review, PullRequest, Chunk, Finding, Comment):
        assert set(kind.__struct_fields__) <= named, kind


FINDING = "chunks.0.findings.0"
FITTING = [
    put("commits", 0),
    drop("commits"),
    drop("visual"),
    put("visual", None),
    drop("comments"),
    put("self_review", True),
    drop("pull_request.title"),
    put("pull_request.number", 1),
    put("pull_request.head_sha", "0123abc"),
    put("pull_request.owner", "a.b-c_d"),
    put("chunks.0.findings", []),
    put("chunks.0.lines", 0),
    put("chunks.0.label", "x" * 500),
    put(f"{FINDING}.confidence", 0),
    put(f"{FINDING}.confidence", 100),
    put(f"{FINDING}.description", "x" * 20_000),
    put(f"{FINDING}.description", "two\nlines"),
    put(f"{FINDING}.suggestion", ""),
    put(f"{FINDING}.thread_id", None),
    put(f"{FINDING}.side", "LEFT"),
    put(f"{FINDING}.title", "\u200bseen"),
    *(put(f"{FINDING}.category", category.value) for category in Category),
    *(put("comments.0.status", status) for status in ("open", "to-verify", "resolved")),
]
MISFITS = [
    drop("pull_request"),
    drop("chunks"),
    put("chunks", []),
    put("chunks", {}),
    put("label", "x"),
    put("pull_request.label", "x"),
    put("chunks.0.label", ""),
    put("chunks.0.label", "x" * 501),
    put("chunks.0.label", "two\nlines"),
    put("chunks.0.label", "last\n"),
    put("chunks.0.files", []),
    put("chunks.0.files", ["a\x00b"]),
    put("chunks.0.files", "a.py"),
    put("chunks.0.lines", -1),
    put("chunks.0.lines", 100_000_001),
    put("chunks.0.lines", "286"),
    put("chunks.0.lines", 2.5),
    drop("chunks.0.label"),
    drop("chunks.0.files"),
    drop("chunks.0.lines"),
    put("commits", None),
    put("self_review", "no"),
    put("self_review", 0),
    put("visual", "much"),
    put("visual", {}),
    put("visual.summary", ""),
    put("pull_request.owner", ""),
    put("pull_request.owner", ".."),
    put("pull_request.repo", "."),
    put("pull_request.owner", "a/b"),
    put("pull_request.owner", "acme\n"),
    put("pull_request.number", 0),
    put("pull_request.number", "311"),
    put("pull_request.number", True),
    put("pull_request.head_sha", "012345"),
    put("pull_request.head_sha", "0123abcG"),
    put("pull_request.head_sha", "0123ABC"),
    put("pull_request.head_sha", "0123abc\n"),
    put("pull_request.title", "x" * 1_001),
    put(f"{FINDING}.severity", "fatal"),
    put(f"{FINDING}.severity", "Critical"),
    put(f"{FINDING}.category", "colours"),
    put(f"{FINDING}.title", ""),
    put(f"{FINDING}.title", "a\rb"),
    put(f"{FINDING}.line", 0),
    put(f"{FINDING}.line", None),
    put(f"{FINDING}.confidence", 101),
    put(f"{FINDING}.confidence", -1),
    put(f"{FINDING}.description", ""),
    put(f"{FINDING}.description", "x" * 20_001),
    put(f"{FINDING}.suggestion", None),
    put(f"{FINDING}.thread_id", 0),
    put(f"{FINDING}.thread_id", "5"),
    put(f"{FINDING}.side", "MIDDLE"),
    put(f"{FINDING}.id", "H1"),
    put("comments.0.status", "lost"),
    put("comments.0.thread_id", 1 << 53),
    drop("comments.0.author"),
    *(drop(f"{FINDING}.{name}") for name in ("severity", "title", "file", "line", "category", "confidence")),
]


@pytest.mark.parametrize("change", FITTING)
def test_review_that_fits_the_schema_is_parsed(change: Change) -> None:
    """Whoever checks with the schema first meets no surprise."""
    review = changed(change)
    assert (VALIDATOR.is_valid(review), is_parsed(review)) == (True, True)


@pytest.mark.parametrize("change", MISFITS)
def test_review_that_does_not_fit_the_schema_is_refused(change: Change) -> None:
    """By both, for each kind of fault that a schema can name."""
    review = changed(change)
    assert (VALIDATOR.is_valid(review), is_parsed(review)) == (False, False)


@pytest.mark.parametrize(
    "change",
    [
        put(f"{FINDING}.file", "../x"),
        put(f"{FINDING}.file", "/etc/passwd"),
        put(f"{FINDING}.file", "a//b"),
        put(f"{FINDING}.title", "\u200b"),
        put("chunks.0.label", " "),
        put("chunks.0.findings", [json.loads(EXAMPLE)["chunks"][0]["findings"][0]] * 1_001),
    ],
)
def test_fault_that_no_schema_can_name_is_found_by_the_parser(change: Change) -> None:
    """What the page says in words."""
    assert not is_parsed(changed(change))
