"""The JSON Schema of a document review's findings, as the types of the code say it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from assent.protocol.finding import MAX_RECORDS, Finding, RawFinding, ReviewerOutput

__all__ = ["render_findings_schema"]

_Text = Annotated[str, Meta(min_length=1, max_length=20_000)]


class MergedSet(msgspec.Struct, frozen=True):
    """Findings that were merged elsewhere; they are used as they are."""

    findings: tuple[Finding, ...]
    residual_risks: tuple[_Text, ...] = ()
    deferred_questions: tuple[_Text, ...] = ()


_ANCHOR = {
    "enum": [0, 25, 50, 75, 100],
    "description": "How sure: 0 false, 25 unverified, 50 real but minor, 75 checked twice, 100 confirmed.",
}
_TITLE = {
    "maxLength": 100,
    "pattern": r"^\s*(\S+\s+){0,9}\S+\s*$",
    "description": "At most ten words.",
}
"""What reviewers are asked for; a longer title is no reason to lose a finding, and is taken all the same."""


def render_findings_schema() -> str:
    """Return the schema of one reviewer's output, a list of them, or a merged set."""
    kinds = (ReviewerOutput, MergedSet, RawFinding, Finding)
    (one, merged, *_), parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for name in ("RawFinding", "Finding"):
        parts[name]["properties"]["confidence"] = _ANCHOR
    parts["RawFinding"]["properties"]["title"] |= _TITLE
    for name in ("ReviewerOutput", "MergedSet"):
        for listed in ("findings", "residual_risks", "deferred_questions"):
            parts[name]["properties"][listed]["maxItems"] = MAX_RECORDS
    whole: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Findings of a document review",
        "anyOf": [one, {"type": "array", "items": one, "minItems": 1}, merged],
        "$defs": parts,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
