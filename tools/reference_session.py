"""The page of a review session: its input, the files that it keeps, and how it ends."""

from __future__ import annotations

import re
import types
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from assent.cli.session import CLOSING_STATUSES as STATUSES
from assent.effects.kept import EARLIER, FINDINGS, STATE, TODO
from assent.flows.session.finding import MOVES, ChunkStatus
from assent.flows.session.posting import Posted
from assent.flows.session.talk import Closing, How
from assent.protocol.review import (
    AREA_CATEGORIES,
    BADGES,
    MAX_CHUNKS,
    MAX_FINDINGS,
    PREFIXES,
    SHOWN_FROM,
    Category,
    Chunk,
    Comment,
    Finding,
    PullRequest,
    Review,
    Severity,
    Visual,
)
from tools.source import field_notes, first_sentence, table

__all__ = ["render_session"]

_SHAPES: tuple[type[msgspec.Struct], ...] = (Review, PullRequest, Chunk, Finding, Comment, Visual)
_SIMPLE = {str: "string", bool: "true or false", int: "number", type(None): "null"}
_PATTERNS = {
    r"^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}(?!\n)$": "1 to 100 letters, digits, `.`, `_` and `-`",
    r"^[0-9a-f]{7,64}(?!\n)$": "7 to 64 digits of a commit's hash, in lower case",
    r"^[^\r\n]*(?!\n)$": "on one line",
    r"^[^\x00-\x1f]*(?!\n)$": "without control characters",
}
"""What a pattern means; one that is missing here fails the page, and not the reader."""


def _words(kind: Any) -> str:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_words(part) for part in inner if part is not type(None))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin is tuple:
        return f"list of {_words(inner[0])}"
    if issubclass(kind, StrEnum):
        return f"[{kind.__name__.lower()}](#{kind.__name__.lower()})"
    return f"[{_title(kind)}](#{_anchor(kind)})"


def _title(struct: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", struct.__name__).lower()


def _anchor(struct: type) -> str:
    return _title(struct).replace(" ", "-")


def _limits(kind: Any) -> str:
    """Say what an annotation allows."""
    if get_origin(kind) in (Union, types.UnionType, tuple):
        return "; ".join(filter(None, (_limits(part) for part in get_args(kind))))
    told = []
    for meta in get_args(kind)[1:] if get_origin(kind) is Annotated else ():
        if meta.pattern is not None:
            told.append(_PATTERNS[meta.pattern])
        if meta.max_length is not None:
            told.append(f"{meta.min_length or 0} to {meta.max_length:,} characters")
        if meta.ge is not None:
            told.append(f"{meta.ge:,} to {meta.le:,}")
    return ", ".join(told)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "needed"
    value = field.default
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    return f"`{value}`" if value not in (None, "", (), msgspec.NODEFAULT) else ""


_NOTES = {
    ("PullRequest", "owner"): "Who owns the repository",
    ("PullRequest", "repo"): "Its name",
    ("PullRequest", "number"): "The pull request's number",
    ("PullRequest", "title"): "Its title",
    ("Finding", "severity"): "How bad it is; decides the letter of its id",
    ("Finding", "title"): "What it is, in a line",
    ("Finding", "line"): "The line that it is about",
    ("Finding", "category"): "What it is about",
    ("Finding", "confidence"): f"How sure it is. Below {SHOWN_FROM} it is not shown",
    ("Comment", "thread_id"): "The id of its first comment",
    ("Comment", "author"): "Who wrote it",
    ("Comment", "file"): "Where it is",
    ("Comment", "line"): "Where it is",
    ("Comment", "body"): "What it says",
    ("Comment", "status"): "`open` and `to-verify` weigh on the verdict",
    ("Chunk", "label"): "What it is called",
    ("Chunk", "files"): "The changed files in it, at least one",
    ("Chunk", "findings"): "What was found in it",
    ("Visual", "summary"): "What the gate Visual Discovery shows",
    ("Review", "pull_request"): "What is reviewed",
    (
        "Review",
        "chunks",
    ): f"1 to {MAX_CHUNKS}, in the order in which they are gone through; they are numbered here",
    ("Review", "commits"): "How many commits the pull request has",
    ("Review", "comments"): "The threads that are there already",
    ("Closing", "how"): "See above",
    ("Closing", "posted"): "What was posted; null where nothing was",
    ("Closing", "reason"): "Why, in words; empty where there is nothing to say",
    ("Posted", "replied"): "Replies in threads that were there",
    ("Posted", "url"): "Where the review is",
}


def _note(struct: type[msgspec.Struct], name: str) -> str:
    told = _NOTES.get((struct.__name__, name)) or field_notes(struct).get(name)
    if told is None:
        raise KeyError(f"{struct.__name__}.{name} says nowhere what it is.")
    return told.removesuffix(".")


def _shape(struct: type[msgspec.Struct]) -> str:
    hints = get_type_hints(struct, include_extras=True)
    rows = []
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        rows.append(
            (f"`{field.name}`", _words(hint), _default(field), _note(struct, field.name), _limits(hint))
        )
    title = _title(struct).capitalize()
    return f"### {title}\n\n{first_sentence(struct)}\n\n" + table(
        ("field", "type", "default", "meaning", "limits"), rows
    )


def _result(struct: type[msgspec.Struct]) -> str:
    return table(
        ("field", "meaning"),
        [(f"`{field.name}`", _note(struct, field.name)) for field in msgspec.structs.fields(struct)],
    )


_HOW = {
    How.POSTED: "The review is on the pull request",
    How.SAVED: "`Save locally`: the findings were exported",
    How.FAILED: "Posting did not work, or nothing could be kept; what was found is exported where that was possible",
    How.DISCARDED: "Everything was discarded, and that was confirmed",
    How.CANCELLED: "`Cancel`: nothing was posted",
    How.CLEARED: "The saved session of another pull request was removed; start again",
    How.PAUSED: "`--resume` goes on",
    How.KEPT: "Another session is saved, and it was not to be discarded",
    How.DECLINED: "A person declined a gate; `--resume` asks again",
    How.ENDED: "A gate was withdrawn, or ended in another way without an answer",
}


def render_session() -> str:
    """Return the page."""
    severities = [(f"`{kind}`", f"`{PREFIXES[kind]}`", BADGES[kind]) for kind in Severity]
    areas = {category: area for area, categories in AREA_CATEGORIES.items() for category in categories}
    categories = [(f"`{kind}`", f"`{areas[kind]}`" if kind in areas else "") for kind in Category]
    moves = [
        (f"`{status}`", ", ".join(f"`{after}`" for after in ChunkStatus if after in MOVES[status]))
        for status in ChunkStatus
    ]
    endings = [(f"`{how}`", str(STATUSES[how]), _HOW[how]) for how in How]
    return "\n".join(
        [
            _HEAD.format(findings=f"{MAX_FINDINGS:,}"),
            *(_shape(struct) for struct in _SHAPES),
            _SEVERITY,
            table(("severity", "ids begin with", "shown as"), severities),
            _CATEGORY.format(shown=SHOWN_FROM),
            table(("category", "focus area"), categories),
            _FILES.format(state=STATE, findings=FINDINGS, earlier=EARLIER, todo=TODO),
            _CHUNKS,
            table(("status", "may become"), moves),
            _ENDINGS,
            table(("`how`", "exit status", "meaning"), endings),
            _JSON,
            _result(Closing),
            "`posted` holds:\n",
            _result(Posted),
        ]
    )


_HEAD = """\
# Review session

What `assent session` reads, keeps and returns. How to use it:
[review a pull request](../how-to/review-a-pull-request.md). Its gates: [gates](gates.md).

## Input

FINDINGS.json is one [review](#review) as JSON. There is [a full example](session-example.json) and
[a JSON Schema](session.schema.json). A field that is not known is an error; so is a path that leads out of the
repository, and more than {findings} findings. What is wrong is told with the file, the place in it and the reason. Findings
come without ids: the session gives them theirs, in the order in which they are first shown, and never uses one again.
"""

_SEVERITY = "### Severity\n"

_CATEGORY = """\
### Category

A finding is shown from a confidence of {shown} on. A focus area adds 10 to the confidence of its categories.
"""

_FILES = """\
## Files

They are in the folder `.assent` of the project, which only you can enter, and are not for git.

| file | holds | is there |
|---|---|---|
| `{state}` | the session as it stands: front matter, chunk plan, findings with their ids, threads by file | from the first gate until it is posted, saved, discarded or cancelled. In the quick mode it stays as it was at the first gate, unless there is no terminal, or after a pause |
| `{findings}` | the same, exported for `--post-only` | after `Save locally`, and when posting failed |
| `{todo}` | a list of tasks in Markdown: the phases, the chunks, and what was typed as `todo: …` | from the chunk plan on; tasks are ticked by editing it |
| `{earlier}` | findings of another review, which an export took the place of | until the next time that happens |
| `gate-comments.json` | which comment on the pull request belongs to which gate | while gates wait as comments |

People may read all of them and edit the list of tasks. A state file that is not whole is told about and removed, never
gone on with.
"""

_CHUNKS = """\
## The status of a chunk

At most one chunk is in progress. Another move than these is made all the same, and told.
"""

_ENDINGS = """\
## How it ends
"""

_JSON = """\
Ctrl-C, the end of input and a gate that went out as a comment are status 3 as well: nothing was decided, and `--resume`
goes on at the same gate. `--json` prints `{"how": "open", "ask_id": "…"}` then.

## JSON

`assent session --json` prints one object:
"""
