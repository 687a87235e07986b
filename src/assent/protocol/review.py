"""A code review as it is handed in: a pull request, its chunks, and what was found in each (G-U1, G-U5).

Rule 1: findings come without ids. A session gives them theirs, in the order in which they are first shown.
Rule 2: everything that will stand in an address or a path is of a shape that can do no harm there.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from assent.protocol.canonical import convert, parse_json
from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadRequestError

__all__ = [
    "AREA_CATEGORIES",
    "BADGES",
    "MAX_CHUNKS",
    "MAX_FINDINGS",
    "MAX_REVIEW_BYTES",
    "PREFIXES",
    "SHOWN_FROM",
    "Category",
    "Chunk",
    "Comment",
    "Finding",
    "PullRequest",
    "Review",
    "Severity",
    "Visual",
    "check_review",
    "confidence_with",
    "parse_review",
]

MAX_REVIEW_BYTES = 4 << 20
MAX_CHUNKS = 200
MAX_FINDINGS = 1_000
"""So many fit into one prompt, whatever their titles and paths are made of."""
SHOWN_FROM = 80
"""The confidence from which a finding is shown."""
_FOCUS_BONUS, _SUREST = 10, 100

# A bare `$` would also stand before a last new line.
_Name = Annotated[str, Meta(pattern=r"^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}(?!\n)$")]
_Sha = Annotated[str, Meta(pattern=r"^[0-9a-f]{7,64}(?!\n)$")]
_Line = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"^[^\r\n]*(?!\n)$")]
_Text = Annotated[str, Meta(max_length=20_000)]
_Path = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=r"^[^\x00-\x1f]*(?!\n)$")]
_Count = Annotated[int, Meta(ge=0, le=100_000_000)]
_Number = Annotated[int, Meta(ge=1, le=2_000_000_000)]
_Id = Annotated[int, Meta(ge=1, le=9_007_199_254_740_991)]


class Severity(StrEnum):
    """How bad a finding is."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


PREFIXES = {Severity.CRITICAL: "H", Severity.WARNING: "M", Severity.INFO: "L"}
BADGES = {Severity.CRITICAL: "Action Required", Severity.WARNING: "Recommended", Severity.INFO: "Minor"}


class Category(StrEnum):
    """What a finding is about."""

    BUG = "bug"
    SECURITY = "security"
    PERFORMANCE = "performance"
    ERROR_HANDLING = "error-handling"
    TYPE_SAFETY = "type-safety"
    API_DESIGN = "api-design"
    LOGIC = "logic"
    CONCURRENCY = "concurrency"
    ACCESSIBILITY = "accessibility"
    TESTING = "testing"
    NAMING = "naming"
    STYLE = "style"
    DOCUMENTATION = "documentation"
    MAINTAINABILITY = "maintainability"


AREA_CATEGORIES: dict[str, frozenset[Category]] = {
    "security": frozenset({Category.SECURITY}),
    "performance": frozenset({Category.PERFORMANCE}),
    "correctness": frozenset({Category.BUG, Category.LOGIC, Category.CONCURRENCY}),
    "types": frozenset({Category.TYPE_SAFETY}),
    "error-handling": frozenset({Category.ERROR_HANDLING}),
}
"""The categories that a focus area stands for."""


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of the input; a name that is not known is an error, and not a silent loss."""


class PullRequest(_Part, frozen=True):
    """What is reviewed."""

    owner: _Name
    repo: _Name
    number: _Number
    head_sha: _Sha
    """The commit that was looked at."""
    title: Annotated[str, Meta(max_length=1_000)] = ""

    def __str__(self) -> str:
        return f"{self.owner}/{self.repo}#{self.number}"

    def is_same(self, other: PullRequest) -> bool:
        """Whether both are the same pull request, at whichever commit."""
        return str(self) == str(other)


class Finding(_Part, frozen=True):
    """One thing that a reviewer found."""

    severity: Severity
    title: _Line
    file: _Path
    """Relative to the repository, with slashes."""
    line: _Number
    category: Category
    confidence: Annotated[int, Meta(ge=0, le=100)]
    description: Annotated[str, Meta(min_length=1, max_length=20_000)]
    """One to three sentences."""
    suggestion: _Text = ""
    """Lines that could stand there instead."""
    thread_id: _Id | None = None
    """The first comment of an existing thread that it belongs to."""
    side: Literal["RIGHT", "LEFT"] = "RIGHT"
    """The new text, or the old one."""


class Comment(_Part, frozen=True):
    """A thread that is there already."""

    thread_id: _Id
    author: _Line
    file: _Path
    line: _Number
    body: _Text = ""
    status: Literal["open", "to-verify", "resolved"] = "open"


class Chunk(_Part, frozen=True):
    """A group of changed files that is looked at together."""

    label: _Line
    files: tuple[_Path, ...]
    lines: _Count
    """How many lines were changed."""
    findings: tuple[Finding, ...] = ()


class Visual(_Part, frozen=True):
    """What there is to see of the change."""

    summary: Annotated[str, Meta(min_length=1, max_length=20_000)]


class Review(_Part, frozen=True):
    """All that a session works on."""

    pull_request: PullRequest
    chunks: tuple[Chunk, ...]
    commits: _Count = 0
    self_review: bool = False
    """The reviewer is the author: minor findings are left out, and no verdict is given."""
    visual: Visual | None = None
    """Visual changes were detected, or asked for."""
    comments: tuple[Comment, ...] = ()


def confidence_with(finding: Finding, focus: str) -> int:
    """Return how sure a finding counts as, under a focus area (G-U1)."""
    is_in_focus = finding.category in AREA_CATEGORIES.get(focus, ())
    return min(finding.confidence + _FOCUS_BONUS, _SUREST) if is_in_focus else finding.confidence


def parse_review(text: bytes) -> Review:
    """Return the review that a JSON text holds.

    Raises:
        BadRequestError: it is none; the sentence says where and why.
    """
    try:
        review = convert(parse_json(text, limit=MAX_REVIEW_BYTES), Review)
    except BadRequestError as error:
        raise BadRequestError(error.message + _choices(error.message)) from None
    check_review(review)
    return review


def _choices(message: str) -> str:
    """Return which words there are, where an unknown one was found."""
    kinds: dict[str, Iterable[str]] = {".severity.": Severity, ".category.": Category}
    return next(
        (f" There are {', '.join(kind)}." for end, kind in kinds.items() if message.endswith(end)), ""
    )


def check_review(review: Review) -> None:
    """Check what the types cannot say.

    Raises:
        BadRequestError: it is no review; the sentence says where and why.
    """
    if not 1 <= len(review.chunks) <= MAX_CHUNKS:
        raise BadRequestError(
            f"A review has 1 to {MAX_CHUNKS} chunks, not {len(review.chunks)}, at $.chunks."
        )
    total = sum(len(chunk.findings) for chunk in review.chunks)
    if total > MAX_FINDINGS:
        raise BadRequestError(f"A review has at most {MAX_FINDINGS:,} findings, not {total:,}.")
    for number, chunk in enumerate(review.chunks):
        _check_chunk(chunk, f"$.chunks[{number}]")


def _check_chunk(chunk: Chunk, place: str) -> None:
    if not chunk.files:
        raise BadRequestError(f"A chunk has at least one file, at {place}.files.")
    if is_blank(chunk.label):
        raise BadRequestError(f"A chunk needs a label that can be seen, at {place}.label.")
    for number, finding in enumerate(chunk.findings):
        where = f"{place}.findings[{number}]"
        if is_blank(finding.description):
            raise BadRequestError(f"A finding needs a description that can be seen, at {where}.description.")
        if is_blank(finding.title):
            raise BadRequestError(f"A finding needs a title that can be seen, at {where}.title.")
        parts = finding.file.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            raise BadRequestError(
                f'"{quote(finding.file)}" is no path inside the repository, at {where}.file.'
            )
