"""Reviews that the tests post."""

from typing import Any

from msgspec.structs import replace

from assent.flows.session.finding import Session, begin, enter
from assent.protocol.review import Category, Chunk, Comment, Finding, PullRequest, Review, Severity
from tests.github.double import HEAD

__all__ = ["PULL", "finding", "new_session"]

PULL = PullRequest("acme", "shop", 7, HEAD)


def finding(severity: Severity = Severity.CRITICAL, **changes: Any) -> Finding:
    """Return a finding on a line that the change has."""
    found = Finding(
        severity, "Overdraft is possible", "src/pay.py", 3, Category.BUG, 95, "Nobody checks the sum."
    )
    return replace(found, **changes)


def new_session(*findings: Finding, self_review: bool = False, comments: tuple[Comment, ...] = ()) -> Session:
    """Return a session that has come to its end."""
    chunk = Chunk("payments", ("src/pay.py",), 4, findings)
    review = Review(PULL, (chunk,), self_review=self_review, comments=comments)
    return enter(begin(review, "2030-01-01T12:00:00Z"), 1)
