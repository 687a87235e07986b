"""The list of tasks of a review, as a Markdown file that people may edit, too (G-U11).

A flow section with the five phases and a line for each chunk, and an ad-hoc section with what people asked to keep. A
task is a box and an id in a comment behind it. Every function takes the file as it is and returns it as it is to be;
lines that are not ours stay as they are.
"""

from __future__ import annotations

import re

from assent.flows.session.finding import ChunkStatus, Session
from assent.protocol.display import display

__all__ = [
    "PHASES",
    "add_task",
    "begin_list",
    "chunk_line",
    "count_open",
    "next_line",
    "tick",
]

PHASES = ("Overview", "Visual discovery", "Chunk plan", "Chunk review", "Synthesis")
_FLOW, _AD_HOC = "## Flow", "## Ad hoc"
_OPEN = re.compile(r"^\s*- \[ \] (?P<text>.+)$").match
_BOX = re.compile(r"^\s*- \[[ xX]\] ").match
_HEAD = re.compile(r"\A# Review of .*")
_COMMENT = re.compile(r"\s*<!--.*?-->\s*$")


def chunk_line(number: int, label: str) -> str:
    """Return how a chunk stands in the list."""
    return f"Chunk {number}: {_plain(label)}"


def begin_list(session: Session, before: str = "") -> str:
    """Return the list of a session that has its plan; of the list before, what people wrote stays."""
    done = {"Overview", "Visual discovery", "Chunk plan"}
    flow = [""]
    for phase in PHASES:
        flow.append(_box(phase, is_done=phase in done))
        if phase == "Chunk review":
            for part in session.parts:
                is_done = part.status in (ChunkStatus.REVIEWED, ChunkStatus.SKIPPED)
                flow.append(f"  {_box(chunk_line(part.number, part.chunk.label), is_done=is_done)}")
    lines = _HEAD.sub("", before).strip("\n").split("\n")
    if _AD_HOC not in lines:
        lines += ["", _AD_HOC]
    if _FLOW not in lines:
        at = lines.index(_AD_HOC)
        lines[at:at] = [_FLOW, ""]
    start, end = _section(lines, _FLOW)
    theirs = [line for line in lines[start:end] if line.strip() and not _BOX(line)]
    lines[start:end] = [*flow, *theirs, ""]
    return f"# Review of {session.pull_request}\n\n{_end_well(lines)}"


def tick(before: str, line: str) -> str:
    """Return the list with a line of the flow section ticked; nothing changes where it is not there or not open."""
    lines = before.split("\n")
    if _FLOW in lines:
        start, end = _section(lines, _FLOW)
        for index in range(start, end):
            if _text(lines[index]) == _plain(line):
                lines[index] = lines[index].replace("[ ]", "[x]", 1)
                break
    return "\n".join(lines)


def add_task(before: str, text: str, task_id: str) -> str:
    """Return the list with a task more; one that is open already is not put there twice."""
    lines = before.split("\n")
    if _AD_HOC not in lines:
        lines = [*_end_well(lines).split("\n"), _AD_HOC, ""] if before.strip() else [_AD_HOC, ""]
    start, end = _section(lines, _AD_HOC)
    if _plain(text) in map(_text, lines[start:end]):
        return before
    while end > start and not lines[end - 1].strip():
        end -= 1
    gap = [] if end > start else [""]
    lines[end:end] = [*gap, f"{_box(_plain(text), is_done=False)} <!-- id: {task_id} -->"]
    return _end_well(lines)


def next_line(text: str) -> str | None:
    """Return the first line that is not ticked: what is next."""
    return next((found for line in text.split("\n") if (found := _text(line))), None)


def count_open(text: str) -> int:
    """Return how many ad-hoc tasks are not done."""
    lines = text.split("\n")
    if _AD_HOC not in lines:
        return 0
    start, end = _section(lines, _AD_HOC)
    return sum(1 for line in lines[start:end] if _OPEN(line))


def _section(lines: list[str], heading: str) -> tuple[int, int]:
    """Return where the lines under a heading begin, and where the next heading stands."""
    start = lines.index(heading) + 1
    ends = (index for index in range(start, len(lines)) if lines[index].startswith("#"))
    return start, next(ends, len(lines))


def _end_well(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"


def _box(text: str, *, is_done: bool) -> str:
    return f"- [{'x' if is_done else ' '}] {text}"


def _text(line: str) -> str | None:
    found = _OPEN(line)
    return _COMMENT.sub("", found["text"]).strip() if found else None


def _plain(text: str) -> str:
    """Return a text on one line that cannot pass for the comment behind it."""
    return display(" ".join(text.split()), lines=False).replace("<!--", "<! --").replace("-->", "-- >")
