"""A review's findings as they are handed in: one reviewer's output, a list of them, or a set that was merged elsewhere.

Rule 1: what is no record is left out with a sentence that names its place, and the others stay.
Rule 2: a reviewer whose output cannot be read has failed. That is noted and stops nobody, as long as there is another.
Rule 3: only a text of which nothing can be used is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from assent.protocol.canonical import Json, parse_json
from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadRequestError
from assent.protocol.finding import (
    MAX_FINDINGS_BYTES,
    MAX_RECORDS,
    Dropped,
    Finding,
    Intake,
    RawFinding,
    ReviewerOutput,
)

__all__ = ["parse_findings"]

_REQUIRED = ("reviewer", "findings", "residual_risks", "deferred_questions")
_LISTS = _REQUIRED[1:]
_MERGED = ("id", "recommended_action")
_MAX_NAME = 100
_MAX_TEXT = 20_000

_Record = TypeVar("_Record", RawFinding, Finding)
_Object = Mapping[str, Json]


class _Unreadable(Exception):  # noqa: N818 - never leaves this file
    """Why an output cannot be read, as the end of a sentence about it."""


def parse_findings(text: bytes) -> Intake:
    """Return the review that a JSON text holds, with what is no record left out.

    Raises:
        BadRequestError: it is none; the sentence says why.
    """
    whole = parse_json(text, limit=MAX_FINDINGS_BYTES)
    if isinstance(whole, dict):
        _check_count([whole])
        return _parse_merged(whole) if _is_merged(whole) else _parse_outputs([whole], ["$"])
    if isinstance(whole, list):
        _check_count(whole)
        return _parse_outputs(whole, [f"$[{number}]" for number in range(len(whole))])
    raise BadRequestError(
        "A review is a reviewer's output, a list of them, or a merged set: an object or a list."
    )


def _check_count(outputs: Sequence[Json]) -> None:
    for name, noun in zip(_LISTS, ("findings", "residual risks", "deferred questions"), strict=True):
        entries = [output.get(name) for output in outputs if isinstance(output, dict)]
        total = sum(len(each) for each in entries if isinstance(each, list))
        if total > MAX_RECORDS:
            raise BadRequestError(f"A review has at most {MAX_RECORDS:,} {noun}, not {total:,}.")


def _is_merged(whole: _Object) -> bool:
    """Whether an object is a merged set: its findings say so, or it names no reviewer and has none."""
    records = whole.get("findings")
    if not isinstance(records, list):
        return False
    is_complete = [isinstance(record, dict) and record.keys() >= set(_MERGED) for record in records]
    if "reviewer" in whole:  # a record without an id is one that this reviewer wrote
        return bool(records) and all(is_complete)
    return not records or any(is_complete)


def _parse_merged(whole: _Object) -> Intake:
    records, dropped = _parse_records(_list(whole, "findings"), Finding, "$", "")
    findings: dict[str, Finding] = {}
    for place, finding in records:
        if finding.finding_id in findings:
            reason = f'The id "{quote(finding.finding_id)}" stands there a second time, at {place}.id.'
            dropped.append(Dropped("", reason))
        else:
            findings[finding.finding_id] = finding
    texts = {}
    for name in _LISTS[1:]:
        entries = whole.get(name) or []
        if not isinstance(entries, list):
            dropped.append(Dropped("", f"A list is needed, at $.{name}."))
            entries = []
        texts[name], bad = _parse_texts(entries, f"$.{name}", "")
        dropped += bad
    return Intake(
        merged=tuple(findings.values()),
        residual_risks=texts["residual_risks"],
        deferred_questions=texts["deferred_questions"],
        dropped=tuple(dropped),
    )


def _parse_outputs(outputs: Sequence[Json], places: Sequence[str]) -> Intake:
    read: list[ReviewerOutput] = []
    failed: list[str] = []
    dropped: list[Dropped] = []
    why = "the list is empty"
    for number, (output, place) in enumerate(zip(outputs, places, strict=True), start=1):
        try:
            parsed, bad = _parse_output(output, place)
        except _Unreadable as fault:
            why = why if failed else f"the one at {place} {fault}"
            failed.append(_name_of(output) or f"reviewer {number}")
        else:
            read.append(parsed)
            dropped += bad
    if not read:
        raise BadRequestError(f"No reviewer's output can be read: {why}.")
    return Intake(outputs=tuple(read), failed=tuple(failed), dropped=tuple(dropped))


def _parse_output(output: Json, place: str) -> tuple[ReviewerOutput, list[Dropped]]:
    if not isinstance(output, dict):
        raise _Unreadable("is no object")
    if lacks := [name for name in _REQUIRED if name not in output]:
        hint = "; in a merged set, findings carry id and recommended_action" if "reviewer" in lacks else ""
        raise _Unreadable(f"lacks {', '.join(lacks)}{hint}")
    reviewer = _name_of(output)
    if reviewer is None:
        raise _Unreadable(f"has no name of 1 to {_MAX_NAME} characters as its reviewer")
    records, dropped = _parse_records(_list(output, "findings"), RawFinding, place, reviewer)
    texts = []
    for name in _LISTS[1:]:
        kept, bad = _parse_texts(_list(output, name), f"{place}.{name}", reviewer)
        texts.append(kept)
        dropped += bad
    return ReviewerOutput(reviewer, tuple(finding for _, finding in records), *texts), dropped


def _name_of(output: Json) -> str | None:
    """Return what a reviewer calls itself, if that is a name."""
    name = output.get("reviewer") if isinstance(output, dict) else None
    return name if isinstance(name, str) and len(name) <= _MAX_NAME and not is_blank(name) else None


def _list(output: _Object, name: str) -> Sequence[Json]:
    found = output[name]
    if not isinstance(found, list):
        raise _Unreadable(f"has {name} that are no list")
    return found


def _parse_records(
    records: Iterable[Json], kind: type[_Record], place: str, reviewer: str
) -> tuple[list[tuple[str, _Record]], list[Dropped]]:
    """Return the records that are some, with their places, and what was left out."""
    read, dropped = [], []
    for number, record in enumerate(records):
        where = f"{place}.findings[{number}]"
        try:
            finding = msgspec.convert(record, kind)
        except msgspec.ValidationError as error:
            dropped.append(Dropped(reviewer, _explain(error, where)))
            continue
        if fault := _blank_part(finding):
            dropped.append(Dropped(reviewer, f"Nothing of it can be seen, at {where}.{fault}."))
        else:
            read.append((where, finding))
    return read, dropped


def _explain(error: msgspec.ValidationError, where: str) -> str:
    """Return msgspec's sentence with the place as seen from the whole text."""
    fault, _, inner = str(error).rpartition(" - at ")
    fault, inner = (fault, inner) if fault else (inner, "`$`")
    return f"{quote(fault.replace('`', ''))}, at {where}{inner.strip('`').removeprefix('$')}."


def _blank_part(finding: RawFinding | Finding) -> str:
    """Return which of the texts that people have to see shows nothing."""
    parts: dict[str, Any] = {name: getattr(finding, name) for name in ("title", "section", "why_it_matters")}
    if isinstance(finding, Finding):
        parts["id"] = finding.finding_id
    else:
        parts["evidence"] = "".join(finding.evidence)
    return next((name for name, text in parts.items() if is_blank(text)), "")


def _parse_texts(texts: Sequence[Json], place: str, reviewer: str) -> tuple[tuple[str, ...], list[Dropped]]:
    read, dropped = [], []
    for number, text in enumerate(texts):
        if isinstance(text, str) and len(text) <= _MAX_TEXT and not is_blank(text):
            read.append(text)
        else:
            reason = f"A text of 1 to {_MAX_TEXT:,} characters is needed, at {place}[{number}]."
            dropped.append(Dropped(reviewer, reason))
    return tuple(read), dropped
