"""One run as lines: its frames, what was commanded and came of it, and the end of its output. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from assent.protocol.dialog import clip
from assent.protocol.display import display
from assent.protocol.ending import render_name
from assent.protocol.run import Run
from assent.protocol.topic import Message
from assent.surfaces.board import render_board
from assent.surfaces.tui.line import FAINT, INK, STRONG, Line, join, line, lines_of, mark
from assent.surfaces.tui.stakes import local
from assent.surfaces.tui.view import View
from assent.surfaces.width import cut, pad, wrap

__all__ = ["run_lines"]

_TAIL_LINES = 200
_HEAD = 23
"""So wide is what stands before the words of a message: when, and what it is."""
_SHOWN_FACT = 4_000
"""Longer than a model and a reason together."""


def run_lines(view: View, width: int) -> tuple[list[Line], list[Line]]:
    """Return the run that the cursor is on, and the end of what it printed, in lines that fit."""
    seen = view.run
    if seen is None:
        return [line("No such run.")], []
    run = seen.run
    first, *more = wrap(display(run.title or run.run_id, lines=False), width - 2)
    board = lines_of(render_board([seen], INK, width, view.now, "Ended"))
    is_told = not more and any(first in each.text for each in board)
    lines = board if is_told else [line(first, STRONG), *mark(more, STRONG), *board]
    lines += _left_out(run, board, width)
    lines += [Line(), *_messages(view.detail.messages, width)] if view.detail.messages else []
    tail = view.detail.tail
    if tail is None or not tail.text:
        return [*lines, Line(), line("No output was handed on.", FAINT)], []
    printed = tail.text.removesuffix("\n").split("\n")[-_TAIL_LINES:]
    return [*lines, Line()], mark(
        part for text in printed for part in wrap(display(text.rstrip("\r")), width - 2)
    )


def _left_out(run: Run, board: Sequence[Line], width: int) -> list[Line]:
    """Return what the board has no room for, whole: it cuts, and says so."""
    told = "".join("".join(each.text.split()) for each in board)
    facts = [("ended", run.note)]
    for frame in (level.frame for level in run.levels):
        facts += [
            ("model", frame.model or ""),
            ("issue", frame.issue_id or ""),
            ("filter", frame.filter or ""),
            ("branch", frame.branch or ""),
            ("escalated", frame.escalation_reason or ""),
        ]
    lines = []
    for name, text in facts:
        shown = display(text, lines=False)
        if "".join(shown.split()) not in told:
            lines += [line(f"{name}:", FAINT), *mark(wrap(shown, width - 2))]
    return lines


def _messages(messages: Sequence[Message], width: int) -> list[Line]:
    """Return what was asked of a run, received by it, and came of it; ACK and RESULT with how long they took."""
    asked: dict[str, datetime] = {}
    lines: list[Line] = []
    for message in messages:
        told = message.value if isinstance(message.value, dict) else {}
        event, name = str(told.get("type", "?")), str(told.get("request_id", ""))
        since = asked.get(name)
        if event == "REQUEST":
            asked[name] = message.posted_at
        lines += _message(message, event, told, None if event == "REQUEST" else since, width)
    return lines


def _message(
    message: Message, event: str, told: dict[str, object], since: datetime | None, width: int
) -> list[Line]:
    at = f"{local(message.posted_at):%H:%M:%S.%f}"[:-3]
    if since is not None:
        at = f"+{max(0, round((message.posted_at - since).total_seconds() * 1000)):,} ms"
    head = f"{cut(at, 12):>12}  {pad(cut(display(event, lines=False), 7), 7)}  "
    words = wrap(display(_said(message, event, told), lines=False), width - _HEAD)
    first, *more = words
    return [join(line(head, FAINT), first), *mark(more, margin=" " * (_HEAD - 2))]


def _said(message: Message, event: str, told: dict[str, object]) -> str:
    payload = told.get("payload")
    facts = payload if isinstance(payload, dict) else {}
    if event == "ACK":
        return "received"
    if event == "RESULT":
        code = f" ({facts['code']})" if facts.get("code") else ""
        said = f": {facts['message']}" if facts.get("message") else ""
        return clip(f"{facts.get('status', '?')}{code}{said}", _SHOWN_FACT)
    more = "".join(f", {name} {value}" for name, value in facts.items() if value)
    by = f", by {render_name(message.by)}" if message.by else ""
    return clip(f"{told.get('command', '')}{more}{by}", _SHOWN_FACT)
