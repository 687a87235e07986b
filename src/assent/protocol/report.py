"""A reviewer's report: blocking issues, then the others, then a brief summary (C40, C-U8, C-X5).

As JSON, `{"blocking": [...], "non_blocking": [...], "summary": "..."}`, alone or in one fence; or as text with three
numbered parts in that order, whose headings may be Markdown:

    ## 1. Blocking issues
    - The migration drops a column that is still read.
    ## 2. Non-blocking issues
    None
    ## 3. Summary
    Not before the column is unused.

Rule 1: a report that cannot be read shows nothing, above all not that there is no blocking issue: it is no report.
Rule 2: a list is empty only where the report says so, as an empty list in JSON or with "None" and nothing else in text.
Rule 3: nothing stands before, between or behind the three parts.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from assent.protocol.canonical import convert, parse_json
from assent.protocol.display import fold, is_blank
from assent.protocol.error import BadRequestError

__all__ = ["MAX_REPORT_BYTES", "REPORT_FORMAT", "Report", "parse_report", "render_report"]

MAX_REPORT_BYTES = 64 << 10
_MAX_ISSUES = 1_000
_Issues = Annotated[tuple[str, ...], Meta(max_length=_MAX_ISSUES)]

REPORT_FORMAT = """\
Print your report and nothing else, issues first. Either as JSON,
{"blocking": ["..."], "non_blocking": ["..."], "summary": "..."}
or as text with these three numbered parts in this order, one issue a list entry:
1. Blocking issues
- what must be fixed before the work goes on
2. Non-blocking issues
- what should be fixed
3. Summary
One to three sentences.
Where there is no issue of a kind, leave its list empty in JSON, and write None as its whole part in text."""
"""How a reviewer is asked to answer."""


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a reviewer found."""

    blocking: _Issues
    non_blocking: _Issues
    summary: str


_FENCED = re.compile(r"\s*```json[ \t]*\r?\n(?P<inner>.*)\n[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(
    r"\s*(?:#{1,6}\s+)?(?P<outer>\*\*|__)?(?P<number>[0-9]{1,3})[.)]\s+(?P<inner>\*\*|__)?(?P<rest>.*)"
)
_MARKDOWN_HEADING = re.compile(r"\s*#{1,6}\s")
_ENTRY = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+(?P<text>\S.*)")

# What each part may be called, after folding. A heading says this and no more, so that no issue is taken for one.
_TITLES = (
    re.compile(r"(?:blocking|must[ -]fix)(?: issues)?(?: \((?:blocking|must[ -]fix)\))?"),
    re.compile(r"(?:non[ -]?blocking|should[ -]fix)(?: issues)?(?: \((?:non[ -]?blocking|should[ -]fix)\))?"),
    re.compile(r"(?:brief |short )?summary"),
)
# How a list says that it is empty. "No non-blocking issues" says nothing about the blocking ones.
_NONE = (
    re.compile(r"none|none found|nothing|no(?: blocking| must[ -]fix)? issues(?: found)?"),
    re.compile(r"none|none found|nothing|no(?: non[ -]?blocking| should[ -]fix)? issues(?: found)?"),
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
    fenced = _FENCED.fullmatch(whole)
    inner = fenced["inner"] if fenced else whole
    is_json = fenced is not None or whole.lstrip().startswith("{")
    return _check(convert(parse_json(inner.encode()), Report) if is_json else _read_text(whole))


def _check(report: Report) -> Report:
    lists = (report.blocking, report.non_blocking)
    if is_blank(report.summary) or any(is_blank(issue) for issues in lists for issue in issues):
        raise BadRequestError("The report has an empty part.")
    if any(len(issues) > _MAX_ISSUES for issues in lists):
        raise BadRequestError(f"A list of the report has more than {_MAX_ISSUES:,} issues.")
    # An entry that says that there is none, in JSON or beside others: nobody knows what it means.
    if any(_says_none(part, issue) for part, issues in enumerate(lists) for issue in issues):
        raise BadRequestError("A list of the report says that it has no issue, and yet has an entry.")
    return report


# Text


def _read_text(whole: str) -> Report:
    parts: list[list[str]] = []
    for line in whole.splitlines():
        heading = _read_heading(line)
        if heading is not None:
            number, part, rest = heading
            if not number == part + 1 == len(parts) + 1:
                raise BadRequestError("The report is not in the order blocking, non-blocking, summary.")
            parts.append([rest])
        elif is_blank(line):
            continue
        elif not parts:
            raise BadRequestError("The report does not begin with the blocking issues.")
        elif _MARKDOWN_HEADING.match(line):
            raise BadRequestError("The report has a heading that is none of its three parts.")
        else:
            parts[-1].append(line)
    if len(parts) != len(_TITLES):
        raise BadRequestError("The report has not all of its three parts.")
    blocking, others, summary = parts
    return Report(_read_issues(0, blocking), _read_issues(1, others), "\n".join(summary).strip())


def _read_heading(line: str) -> tuple[int, int, str] | None:
    """Return a heading's number, the part that it names, and what follows it on the line; nothing if it is none."""
    found = _NUMBERED.fullmatch(line)
    if found is None:
        return None
    title, _, rest = found["rest"].partition(":")
    bold = found["outer"] or found["inner"]
    if bold and title.rstrip().endswith(bold):
        title = title.rstrip().removesuffix(bold)
    elif bold:
        rest = rest.removeprefix(bold)
    folded = fold(title)
    for part, named in enumerate(_TITLES):
        if named.fullmatch(folded):
            return int(found["number"]), part, rest
    return None


def _read_issues(part: int, lines: list[str]) -> tuple[str, ...]:
    """Return the issues of a part, one a list entry; a line that begins none goes on with the one before.

    Not with one that says None: what else stands there is another entry, and contradicts it.
    """
    lines = [line for line in lines if not is_blank(line)]
    if not lines:
        raise BadRequestError("A part of the report is empty: it should say None.")
    issues: list[list[str]] = []
    goes_on = False
    for line in lines:
        found = _ENTRY.fullmatch(line)
        text = found["text"] if found else line
        if goes_on and not found:
            issues[-1].append(text.strip())
        else:
            issues.append([text.strip()])
            goes_on = not _says_none(part, text)
    joined = tuple(" ".join(issue) for issue in issues)
    return () if len(joined) == 1 and _says_none(part, joined[0]) else joined


def _says_none(part: int, issue: str) -> bool:
    return _NONE[part].fullmatch(fold(issue).strip("*_.()! ")) is not None


def render_report(report: Report) -> str:
    """Return a report in the required order (C40), a line an issue: no text of it can pass for a part."""
    lines = ["1. Blocking issues:", *_listed(report.blocking), "2. Non-blocking issues:"]
    return "\n".join([*lines, *_listed(report.non_blocking), f"3. Summary: {_one_line(report.summary)}"])


def _listed(issues: tuple[str, ...]) -> list[str]:
    return [f"   - {_one_line(issue)}" for issue in issues] or ["   None"]


def _one_line(text: str) -> str:
    return " ".join(text.split())
