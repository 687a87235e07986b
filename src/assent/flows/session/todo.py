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
_COMMENT = re.compile(r"\s*<!--.*?-->\s*$")


def chunk_line(number: int, label: str) -> str:
    """Return how a chunk stands in the list."""
    return f"Chunk {number}: {_plain(label)}"


def begin_list(session: Session, before: str = "") -> str:
    """Return the list of a session that has its plan; ad-hoc tasks of the list before stay."""
    done = {"Overview", "Visual discovery", "Chunk plan"}
    lines = [f"# Review of {session.pull_request}", "", _FLOW, ""]
    for phase in PHASES:
        lines.append(_box(phase, is_done=phase in done))
        if phase == "Chunk review":
            for part in session.parts:
                is_done = part.status in (ChunkStatus.REVIEWED, ChunkStatus.SKIPPED)
                lines.append(f"  {_box(chunk_line(part.number, part.chunk.label), is_done=is_done)}")
    return _join(lines, _split(before)[1])


def tick(before: str, line: str) -> str:
    """Return the list with a line of the flow section ticked; nothing changes where it is not there or not open."""
    above, tasks = _split(before)
    for index, text in enumerate(above):
        if _text(text) == _plain(line):
            above[index] = text.replace("[ ]", "[x]", 1)
            break
    return _join(above, tasks)


def add_task(before: str, text: str, task_id: str) -> str:
    """Return the list with a task more; one that is open already is not put there twice."""
    above, tasks = _split(before)
    if _plain(text) in map(_text, tasks):
        return before
    return _join(above, [*tasks, f"{_box(_plain(text), is_done=False)} <!-- id: {task_id} -->"])


def next_line(text: str) -> str | None:
    """Return the first line that is not ticked: what is next."""
    return next((found for line in text.split("\n") if (found := _text(line))), None)


def count_open(text: str) -> int:
    """Return how many ad-hoc tasks are not done."""
    return sum(1 for line in _split(text)[1] if _OPEN(line))


def _split(text: str) -> tuple[list[str], list[str]]:
    """Return the lines above the ad-hoc section, and its own."""
    lines = text.split("\n")
    at = lines.index(_AD_HOC) if _AD_HOC in lines else len(lines)
    return lines[:at], [line for line in lines[at + 1 :] if line.strip()]


def _join(above: list[str], tasks: list[str]) -> str:
    return "\n\n".join(["\n".join(above).strip(), _AD_HOC, "\n".join(tasks)]).strip() + "\n"


def _box(text: str, *, is_done: bool) -> str:
    return f"- [{'x' if is_done else ' '}] {text}"


def _text(line: str) -> str | None:
    found = _OPEN(line)
    return _COMMENT.sub("", found["text"]).strip() if found else None


def _plain(text: str) -> str:
    """Return a text on one line that cannot pass for the comment behind it."""
    return display(" ".join(text.split()), lines=False).replace("<!--", "<! --").replace("-->", "-- >")
