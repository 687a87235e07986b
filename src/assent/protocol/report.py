"""A reviewer's report: blocking issues, then the others, then a brief summary (C40, C-U8, C-X5).

As JSON, `{"blocking": [...], "non_blocking": [...], "summary": "..."}`, or as text with three numbered parts in that order.
A report that cannot be read shows nothing, above all not that there is no blocking issue: it is no report.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from assent.protocol.canonical import convert, parse_json
from assent.protocol.display import fold, is_blank
from assent.protocol.error import BadRequestError

__all__ = ["MAX_REPORT_BYTES", "Report", "parse_report", "render_report"]

MAX_REPORT_BYTES = 256 << 10
_Issues = Annotated[tuple[str, ...], Meta(max_length=1_000)]


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a reviewer found."""

    blocking: _Issues
    non_blocking: _Issues
    summary: str


_PART = re.compile(r"^\s*(?:#+\s*)?(?:\*\*)?(?P<number>[123])[.)]\s*(?P<rest>.*)$")
_ISSUE = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(?P<text>\S.*)$")
_NONE = frozenset(
    {
        "none",
        "no",
        "nothing",
        "n/a",
        "-",
        "none found",
        "no issues",
        "no blocking issues",
        "no non-blocking issues",
    }
)


def parse_report(text: bytes) -> Report:
    """Return the report that a reviewer printed.

    Raises:
        BadRequestError: it is none.
    """
    if len(text) > MAX_REPORT_BYTES:
        raise BadRequestError(f"A report has at most {MAX_REPORT_BYTES:,} bytes; this one has {len(text):,}.")
    try:
        whole = text.decode()
    except UnicodeDecodeError:
        raise BadRequestError("The report is not UTF-8 text.") from None
    if is_blank(whole):
        raise BadRequestError("The report is empty.")
    if whole.lstrip().startswith("{"):
        return _check(convert(parse_json(text), Report))
    return _check(_read_text(whole))


def _check(report: Report) -> Report:
    if is_blank(report.summary) or any(map(is_blank, (*report.blocking, *report.non_blocking))):
        raise BadRequestError("The report has an empty part.")
    return report


def _read_text(whole: str) -> Report:
    """Read three numbered parts: each begins at the left edge with its number, in this order, and says what it is."""
    parts: list[list[str]] = []
    for line in whole.splitlines():
        found = _PART.match(line)
        if found and int(found["number"]) == len(parts) + 1 and not line.startswith((" ", "\t")):
            if not _names(len(parts), found["rest"]):
                raise BadRequestError("The report is not in the order blocking, non-blocking, summary.")
            parts.append([found["rest"].partition(":")[2]])
        elif parts:
            parts[-1].append(line)
        elif not is_blank(line):
            raise BadRequestError("The report does not begin with the blocking issues.")
    if len(parts) != 3:  # noqa: PLR2004 - blocking, non-blocking, summary
        raise BadRequestError("The report has not all of its three parts.")
    blocking, others, summary = parts
    return Report(_issues(blocking), _issues(others), "\n".join(summary).strip())


def _names(part: int, heading: str) -> bool:
    said = fold(heading)
    if part == 0:
        return ("blocking" in said and "non" not in said) or "must" in said
    if part == 1:
        return "non-blocking" in said or "non blocking" in said or "should" in said
    return "summary" in said


def _issues(lines: list[str]) -> tuple[str, ...]:
    """Return the issues of a part, one a list entry. A part says "none" in so many words; an empty one says nothing."""
    issues: list[str] = []
    for line in lines:
        if is_blank(line):
            continue
        found = _ISSUE.match(line)
        if found:
            issues.append(found["text"].strip())
        elif issues:
            issues[-1] += f" {line.strip()}"
        else:
            issues.append(line.strip())
    if not issues:
        raise BadRequestError("A part of the report is empty: it should say none.")
    if len(issues) == 1 and fold(issues[0]).strip("*_.() ") in _NONE:
        return ()
    return tuple(issues)


def render_report(report: Report) -> str:
    """Return a report in the required order (C40)."""
    lines = ["1. Blocking issues:", *_listed(report.blocking), "2. Non-blocking issues:"]
    return "\n".join([*lines, *_listed(report.non_blocking), f"3. Summary: {report.summary}"])


def _listed(issues: tuple[str, ...]) -> list[str]:
    return [f"   - {' '.join(issue.split())}" for issue in issues] or ["   none"]
