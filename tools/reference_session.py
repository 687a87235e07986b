"""The page of a review session: its input, the files that it keeps, and how it ends."""

from __future__ import annotations

from enum import StrEnum

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
from tools.reference_shape import note_of, render_shape
from tools.source import table

__all__ = ["render_session"]

_SHAPES: tuple[type[msgspec.Struct], ...] = (Review, PullRequest, Chunk, Finding, Comment, Visual)
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


def _link(kind: type[StrEnum]) -> str:
    """Return a link: the enums of this page have a part of their own."""
    return f"[{kind.__name__.lower()}](#{kind.__name__.lower()})"


def _result(struct: type[msgspec.Struct]) -> str:
    return table(
        ("field", "meaning"),
        [
            (f"`{field.name}`", note_of(struct, field.name, _NOTES))
            for field in msgspec.structs.fields(struct)
        ],
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
            *(render_shape(struct, _NOTES, enum_words=_link) for struct in _SHAPES),
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
