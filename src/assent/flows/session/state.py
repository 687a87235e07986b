"""A session as a file that people can read, and back (G-U12).

Front matter, the chunk plan, the findings with rules between them, the existing comments by file.

Rule 1: text of reviewers never begins a line of the file: it stands behind `> `, or in JSON on one line. So nothing that
        they write can be taken for a part of the file.
Rule 2: what is read back is checked like the input it came from. A file that is not whole is no session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from assent.flows.session.finding import ChunkStatus, Held, Mode, Part, Phase, Session
from assent.protocol.canonical import Json, convert, parse_json
from assent.protocol.display import display, quote
from assent.protocol.error import BadRequestError
from assent.protocol.gate import AREAS
from assent.protocol.review import (
    BADGES,
    MAX_REVIEW_BYTES,
    PREFIXES,
    Chunk,
    Comment,
    Finding,
    PullRequest,
    Review,
    check_review,
)

__all__ = ["MAX_STATE_BYTES", "parse_state", "render_state"]

MAX_STATE_BYTES = 10 * MAX_REVIEW_BYTES
"""A finding stands there twice, as JSON and to be read; the mark for a hidden character is eight times as long."""

T = TypeVar("T")
_Counter = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_FRONT = re.compile(r"---\n(?P<lines>.*?)\n---\n", re.DOTALL).match
_ROW = re.compile(r"^\| (?P<number>[1-9][0-9]{0,8})\. .* \| (?P<status>[a-z-]+) \|$", re.MULTILINE)
_KEPT = r"^<!-- {}: (?P<json>.*) -->$"
_COMMENTS = re.compile(r"^## Comments by file\n\n```json\n(?P<json>.*?)\n```$", re.DOTALL | re.MULTILINE)
_HEADINGS = re.compile(r"^### (.*)$", re.MULTILINE).findall
_ID = re.compile(r"(?P<prefix>[A-Z])(?P<number>[1-9][0-9]{0,8})").fullmatch
_END_OF_COMMENT = re.compile(r"(?<=--)>|(?<=--!)>")
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class _Front(msgspec.Struct, forbid_unknown_fields=True):
    """The front matter; the names are those of the protocol's session file."""

    pr_owner: str
    pr_repo: str
    pr_number: int
    head_sha: str
    started: str
    updated: str
    mode: Mode
    focus: str
    self_review: bool
    phase: Phase
    pr_title: str = ""
    visual_review: bool = False
    visual_changes: str = ""
    commits: _Counter = 0
    asked: _Counter = 0
    counters: dict[str, _Counter] = {}
    compared: _Counter = 0
    moved_to: Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{7,64})?(?!\n)$")] = ""


def render_state(session: Session, updated: str, asked: int) -> str:
    """Return the file that keeps `session`."""
    pull = session.pull_request
    front = _Front(
        pull.owner,
        pull.repo,
        pull.number,
        pull.head_sha,
        session.started,
        updated,
        session.mode,
        session.focus,
        session.self_review,
        session.phase,
        pull.title,
        session.is_visual,
        session.visual,
        session.commits,
        asked,
        session.counters,
        session.compared,
        session.moved_to,
    )
    findings = "\n---\n\n".join(_render_held(held) for held in session.held) or "None yet.\n"
    return "\n".join(
        [
            # JSON is YAML, too, and needs no thought about quoting.
            "---",
            *(f"{name}: {_yaml(value)}" for name, value in asdict(front).items()),
            "---",
            "",
            f"# Review of {pull}",
            "",
            "## Chunk plan",
            "",
            "| Chunk | Files | Lines | Status |",
            "|---|---|---|---|",
            *(_render_row(part) for part in session.parts),
            "",
            *(f"<!-- chunk: {_json(part.chunk)} -->" for part in session.parts),
            "",
            "## Findings",
            "",
            findings,
            "## Comments by file",
            "",
            "```json",
            _json(_by_file(session.comments)),
            "```",
            "",
        ]
    )


def _json(value: object) -> str:
    """Return JSON on one line that cannot end the comment that it stands in."""
    return _END_OF_COMMENT.sub(r"\\u003e", msgspec.json.encode(value).decode())


def _yaml(value: object) -> str:
    """Return JSON that is YAML, too: there are characters that YAML has no place for."""
    text = msgspec.json.encode(value).decode()
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _render_row(part: Part) -> str:
    label = display(part.chunk.label, lines=False).replace("|", "/")
    return f"| {part.number}. {label} | {len(part.chunk.files)} | {part.chunk.lines} | {part.status} |"


def _render_held(held: Held) -> str:
    finding = held.finding
    said = [finding.title, "", finding.description]
    if finding.suggestion:
        said += ["", "Suggestion:", "", finding.suggestion]
    quoted = [f"> {line}".rstrip() for line in display("\n".join(said)).split("\n")]
    place = display(f"{finding.file}:{finding.line}", lines=False).replace("`", "'")
    mark = "marked for posting" if held.is_marked else "not marked"
    return "\n".join(
        [
            f"### {held.finding_id}",
            "",
            f"{BADGES[finding.severity]}, {finding.category}, confidence {finding.confidence}, {mark}",
            "",
            f"`{place}`",
            "",
            *quoted,
            "",
            f"<!-- finding: {_json(held)} -->",
            "",
        ]
    )


def _by_file(comments: Iterable[Comment]) -> dict[str, list[Comment]]:
    files: dict[str, list[Comment]] = {}
    for comment in comments:
        files.setdefault(comment.file, []).append(comment)
    return files


def parse_state(text: bytes) -> Session:
    """Return the session that a file keeps.

    Raises:
        BadRequestError: it is not whole.
    """
    try:
        whole = text.decode()
    except UnicodeDecodeError:
        raise BadRequestError("The file is not UTF-8 text.") from None
    front = _parse_front(whole)
    if front.focus and front.focus not in AREAS:
        raise BadRequestError("The focus is none that there is.")
    session = Session(
        convert(
            {
                "owner": front.pr_owner,
                "repo": front.pr_repo,
                "number": front.pr_number,
                "head_sha": front.head_sha,
                "title": front.pr_title,
            },
            PullRequest,
        ),
        front.started,
        tuple(_parse_parts(whole)),
        front.phase,
        front.mode,
        front.focus,
        front.self_review,
        front.visual_review,
        _parse_held(whole),
        front.counters,
        _parse_comments(whole),
        front.commits,
        front.visual_changes,
        front.asked,
        front.compared,
        front.moved_to,
    )
    _check_moment(front.started)
    _check(session)
    return session


def _parse_front(whole: str) -> _Front:
    found = _FRONT(whole)
    if found is None:
        raise BadRequestError("The file has no front matter.")
    fields: dict[str, Json] = {}
    for line in found["lines"].split("\n"):
        name, _, value = line.partition(":")
        if name in fields:
            raise BadRequestError(f"The front matter has {quote(name)} twice.")
        fields[name] = parse_json(value.strip(), limit=MAX_STATE_BYTES)
    return convert(fields, _Front)


def _parse_parts(whole: str) -> Iterator[Part]:
    statuses = {int(row["number"]): row["status"] for row in _ROW.finditer(whole)}
    chunks = tuple(_kept(whole, "chunk", Chunk))
    if set(statuses) != set(range(1, len(chunks) + 1)):
        raise BadRequestError("The plan and its chunks do not agree.")
    for number, chunk in enumerate(chunks, start=1):
        yield Part(number, chunk, convert(statuses[number], ChunkStatus))


def _kept(whole: str, name: str, kind: type[T]) -> Iterator[T]:
    for found in re.finditer(_KEPT.format(name), whole, re.MULTILINE):
        yield convert(parse_json(found["json"], limit=MAX_STATE_BYTES), kind)


def _parse_held(whole: str) -> tuple[Held, ...]:
    held = tuple(_kept(whole, "finding", Held))
    if _HEADINGS(whole) != [each.finding_id for each in held]:
        raise BadRequestError("The findings and their headings do not agree.")
    return held


def _parse_comments(whole: str) -> tuple[Comment, ...]:
    found = _COMMENTS.search(whole)
    if found is None:
        raise BadRequestError("The comments by file are missing.")
    files = convert(parse_json(found["json"], limit=MAX_STATE_BYTES), dict[str, tuple[Comment, ...]])
    return tuple(comment for comments in files.values() for comment in comments)


def _check_moment(started: str) -> None:
    try:
        datetime.fromisoformat(started)
    except ValueError:
        raise BadRequestError(f'"{quote(started)}" is no moment at which a review began.') from None


def _check(session: Session) -> None:
    ids = [held.finding_id for held in session.held]
    if len(set(ids)) != len(ids):
        raise BadRequestError("An id is there twice.")
    for held in session.held:
        _check_held(session, held)
    busy = [part for part in session.parts if part.status is ChunkStatus.IN_PROGRESS]
    if len(busy) > 1:
        raise BadRequestError("More than one chunk is in progress.")
    check_review(
        Review(
            session.pull_request,
            tuple(
                replace(part.chunk, findings=(*part.chunk.findings, *_findings_of(session, part)))
                for part in session.parts
            ),
        )
    )


def _findings_of(session: Session, part: Part) -> Iterator[Finding]:
    return (held.finding for held in session.of_chunk(part.number))


def _check_held(session: Session, held: Held) -> None:
    name = quote(held.finding_id)
    found = _ID(held.finding_id)
    if found is None or found["prefix"] != PREFIXES[held.finding.severity]:
        raise BadRequestError(f'"{name}" is no id of such a finding.')
    if int(found["number"]) > session.counters.get(found["prefix"], 0):
        raise BadRequestError(f"{name} is no id that was given.")
    if not 1 <= held.chunk <= len(session.parts):
        raise BadRequestError(f"{name} belongs to no chunk.")
