"""A session as a file that people can read, and back (G-U12).

Front matter, the chunk plan, the findings with rules between them, the existing comments by file.

Rule 1: text of reviewers never begins a line of the file: it stands behind `> `, or in JSON on one line. So nothing that
        they write can be taken for a part of the file.
Rule 2: what is read back is checked like the input it came from. A file that is not whole is no session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import asdict

from assent.flows.session.finding import ChunkStatus, Held, Mode, Part, Phase, Session
from assent.protocol.canonical import Json, convert, parse_json
from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.protocol.gate import AREAS
from assent.protocol.review import BADGES, MAX_REVIEW_BYTES, Chunk, Comment, PullRequest

__all__ = ["MAX_STATE_BYTES", "parse_state", "render_state"]

MAX_STATE_BYTES = 2 * MAX_REVIEW_BYTES
"""The input once more, and the findings with their ids."""

T = TypeVar("T")
_FRONT = re.compile(r"---\n(?P<lines>.*?)\n---\n", re.DOTALL).match
_ROW = re.compile(r"^\| (?P<number>\d+)\. .* \| (?P<status>[a-z-]+) \|$", re.MULTILINE)
_KEPT = r"^<!-- {}: (?P<json>.*) -->$"
_COMMENTS = re.compile(r"^## Comments by file\n\n```json\n(?P<json>.*?)\n```$", re.DOTALL | re.MULTILINE)


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
    commits: int = 0
    asked: int = 0
    counters: dict[str, int] = {}


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
        session.commits,
        asked,
        session.counters,
    )
    findings = "\n---\n\n".join(_render_held(held) for held in session.held) or "None yet.\n"
    return "\n".join(
        [
            # JSON is YAML, too, and needs no thought about quoting.
            "---",
            *(f"{name}: {_json(value)}" for name, value in asdict(front).items()),
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
    """Return JSON on one line that cannot end a comment or a fence."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("`", "\\u0060")


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
        tuple(_kept(whole, "finding", Held)),
        front.counters,
        _parse_comments(whole),
        front.commits,
        front.asked,
    )
    _check(session)
    return session


def _parse_front(whole: str) -> _Front:
    found = _FRONT(whole)
    if found is None:
        raise BadRequestError("The file has no front matter.")
    fields: dict[str, Json] = {}
    for line in found["lines"].split("\n"):
        name, _, value = line.partition(":")
        fields[name.strip()] = parse_json(value.strip())
    return convert(fields, _Front)


def _parse_parts(whole: str) -> Iterator[Part]:
    statuses = {int(row["number"]): row["status"] for row in _ROW.finditer(whole)}
    for number, chunk in enumerate(_kept(whole, "chunk", Chunk), start=1):
        if number not in statuses:
            raise BadRequestError(f"The plan has no row for chunk {number}.")
        yield Part(number, chunk, convert(statuses[number], ChunkStatus))


def _kept(whole: str, name: str, kind: type[T]) -> Iterator[T]:
    for found in re.finditer(_KEPT.format(name), whole, re.MULTILINE):
        yield convert(parse_json(found["json"]), kind)


def _parse_comments(whole: str) -> tuple[Comment, ...]:
    found = _COMMENTS.search(whole)
    if found is None:
        raise BadRequestError("The comments by file are missing.")
    files = convert(parse_json(found["json"], limit=MAX_REVIEW_BYTES), dict[str, tuple[Comment, ...]])
    return tuple(comment for comments in files.values() for comment in comments)


def _check(session: Session) -> None:
    if not session.parts:
        raise BadRequestError("The file has no chunks.")
    ids = [held.finding_id for held in session.held]
    if len(set(ids)) != len(ids):
        raise BadRequestError("An id is there twice.")
    for held in session.held:
        prefix, number = held.finding_id[:1], held.finding_id[1:]
        if not number.isdecimal() or int(number) > session.counters.get(prefix, 0):
            raise BadRequestError(f"{display(held.finding_id, lines=False)} is no id that was given.")
        if not 1 <= held.chunk <= len(session.parts):
            raise BadRequestError(f"{held.finding_id} belongs to no chunk.")
    busy = [part for part in session.parts if part.status is ChunkStatus.IN_PROGRESS]
    if len(busy) > 1:
        raise BadRequestError("More than one chunk is in progress.")
