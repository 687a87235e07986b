"""A review as it is handed in: read whole, or refused with the place and the reason."""

import json
from typing import Any

import pytest

from assent.protocol.error import BadRequestError
from assent.protocol.review import (
    AREA_CATEGORIES,
    BADGES,
    MAX_CHUNKS,
    MAX_FINDINGS,
    MAX_REVIEW_BYTES,
    PREFIXES,
    SHOWN_FROM,
    Category,
    Finding,
    Severity,
    confidence_with,
    parse_review,
)

__all__: list[str] = []

FINDING: dict[str, Any] = {
    "severity": "critical",
    "title": "A lock is held across the call",
    "file": "src/run.py",
    "line": 12,
    "category": "concurrency",
    "confidence": 90,
    "description": "Nobody else gets on.",
}
CHUNK: dict[str, Any] = {"label": "The loop", "files": ["src/run.py"], "lines": 40, "findings": [FINDING]}
PULL: dict[str, Any] = {"owner": "acme", "repo": "tool", "number": 7, "head_sha": "0123abc"}
REVIEW: dict[str, Any] = {"pull_request": PULL, "chunks": [CHUNK]}


def encode(review: object) -> bytes:
    return json.dumps(review).encode()


def with_finding(**changes: object) -> bytes:
    return encode({**REVIEW, "chunks": [{**CHUNK, "findings": [{**FINDING, **changes}]}]})


def refusal(text: bytes) -> str:
    with pytest.raises(BadRequestError) as caught:
        parse_review(text)
    return caught.value.message


def finding(category: Category, confidence: int) -> Finding:
    return Finding(Severity.INFO, "t", "f", 1, category, confidence, "d")


def test_smallest_review_is_read() -> None:
    """What may be left out has its default."""
    review = parse_review(encode(REVIEW))
    assert str(review.pull_request) == "acme/tool#7"
    (chunk,) = review.chunks
    (found,) = chunk.findings
    assert (found.severity, found.category, found.side, found.thread_id) == (
        Severity.CRITICAL,
        Category.CONCURRENCY,
        "RIGHT",
        None,
    )
    assert (review.self_review, review.visual, review.comments, review.commits) == (False, None, (), 0)


def test_vocabulary_is_the_one_of_the_protocol() -> None:
    """G-U1, G-U3: severities with their prefixes and badges, 14 categories, 5 focus areas, shown from 80 on."""
    assert [(str(each), PREFIXES[each], BADGES[each]) for each in Severity] == [
        ("critical", "H", "Action Required"),
        ("warning", "M", "Recommended"),
        ("info", "L", "Minor"),
    ]
    assert " ".join(Category) == (
        "bug security performance error-handling type-safety api-design logic concurrency accessibility testing naming "
        "style documentation maintainability"
    )
    assert list(AREA_CATEGORIES) == ["security", "performance", "correctness", "types", "error-handling"]
    assert SHOWN_FROM == 80


@pytest.mark.parametrize(
    ("category", "focus", "confidence", "counted"),
    [
        (Category.SECURITY, "security", 70, 80),
        (Category.SECURITY, "security", 95, 100),
        (Category.SECURITY, "performance", 70, 70),
        (Category.SECURITY, "", 70, 70),
        (Category.SECURITY, "unheard of", 70, 70),
        (Category.LOGIC, "correctness", 71, 81),
        (Category.TYPE_SAFETY, "types", 71, 81),
    ],
)
def test_focus_adds_ten_up_to_a_hundred(
    category: Category, focus: str, confidence: int, counted: int
) -> None:
    """G-U1: to findings of that area, and to no others."""
    assert confidence_with(finding(category, confidence), focus) == counted


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"severity": "bad"}, "$.chunks[0].findings[0].severity"),
        ({"category": "bad"}, "$.chunks[0].findings[0].category"),
        ({"confidence": 101}, "$.chunks[0].findings[0].confidence"),
        ({"confidence": "90"}, "$.chunks[0].findings[0].confidence"),
        ({"line": 0}, "$.chunks[0].findings[0].line"),
        ({"title": ""}, "$.chunks[0].findings[0].title"),
        ({"title": "\u200b"}, "$.chunks[0].findings[0].title"),
        ({"title": "two\nlines"}, "$.chunks[0].findings[0].title"),
        ({"title": "one line\n"}, "$.chunks[0].findings[0].title"),
        ({"file": "/etc/passwd"}, "$.chunks[0].findings[0].file"),
        ({"file": "a/../b"}, "$.chunks[0].findings[0].file"),
        ({"file": "a//b"}, "$.chunks[0].findings[0].file"),
        ({"file": "a\x00b"}, "$.chunks[0].findings[0].file"),
        ({"file": "a.py\n"}, "$.chunks[0].findings[0].file"),
        ({"description": ""}, "$.chunks[0].findings[0].description"),
        ({"side": "MIDDLE"}, "$.chunks[0].findings[0].side"),
        ({"thread_id": 0}, "$.chunks[0].findings[0].thread_id"),
        ({"id": "H1"}, "$.chunks[0].findings[0]"),
    ],
)
def test_finding_that_cannot_be_used_is_refused_with_its_place(
    changes: dict[str, object], place: str
) -> None:
    """A name that is not known is an error, too: ids are given by the session, and not handed in."""
    assert f" at {place}." in refusal(with_finding(**changes))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"owner": ".."}, "owner"),
        ({"owner": "a/b"}, "owner"),
        ({"owner": "acme\n"}, "owner"),
        ({"repo": ""}, "repo"),
        ({"repo": "."}, "repo"),
        ({"repo": "tool?x=1"}, "repo"),
        ({"number": 0}, "number"),
        ({"number": 1.5}, "number"),
        ({"head_sha": "HEAD"}, "head_sha"),
        ({"head_sha": "0123abc\n"}, "head_sha"),
    ],
)
def test_pull_request_that_could_do_harm_in_an_address_is_refused(
    changes: dict[str, object], place: str
) -> None:
    """All of it ends up in one: also a new line at the very end."""
    message = refusal(encode({**REVIEW, "pull_request": {**PULL, **changes}}))
    assert message.endswith(f" at $.pull_request.{place}.")


@pytest.mark.parametrize(
    ("review", "sentence"),
    [
        ({**REVIEW, "chunks": []}, f"A review has 1 to {MAX_CHUNKS} chunks, not 0, at $.chunks."),
        ({**REVIEW, "chunks": [CHUNK] * (MAX_CHUNKS + 1)}, f"A review has 1 to {MAX_CHUNKS} chunks, not 201, at $.chunks."),
        ({**REVIEW, "chunks": [CHUNK, {**CHUNK, "files": []}]}, "A chunk has at least one file, at $.chunks[1].files."),
        ({**REVIEW, "chunks": [{**CHUNK, "label": " "}]}, "A chunk needs a label that can be seen, at $.chunks[0].label."),
        ({"chunks": [CHUNK]}, "Object missing required field pull_request."),
    ],
)  # fmt: skip
def test_review_without_its_parts_is_refused(review: object, sentence: str) -> None:
    """Each with the place."""
    assert refusal(encode(review)) == sentence


def test_review_with_too_much_is_refused() -> None:
    """Neither too many findings nor too many bytes."""
    many = {**CHUNK, "findings": [FINDING] * (MAX_FINDINGS + 1)}
    assert "at most" in refusal(encode({**REVIEW, "chunks": [many]}))
    most = parse_review(encode({**REVIEW, "chunks": [{**CHUNK, "findings": [FINDING] * MAX_FINDINGS}]}))
    assert len(most.chunks[0].findings) == MAX_FINDINGS
    with pytest.raises(BadRequestError):
        parse_review(b" " * (MAX_REVIEW_BYTES + 1))


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff", b'{"a": 1, "a": 2}'])
def test_text_that_is_no_review_is_refused(text: bytes) -> None:
    """With one sentence."""
    assert refusal(text).endswith(".")
