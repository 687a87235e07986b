"""What a message says, before a service gives it its own form: a few plain lines, and a link.

Rule 1: a message says that something waits and where to answer. It is no door: no link in it signs anybody in.
Rule 2: of what an agent wrote it has the title and a short cut of the body; the action at stake is not in it.
Rule 3: every line of agent text begins with a mark, and its hidden characters are shown: no line of it passes for ours. Each
        service escapes it as it must.
"""

from __future__ import annotations

from urllib.parse import quote as quote_url

import msgspec

from assent.protocol.ask import Ask, Kind
from assent.protocol.display import display, quote
from assent.protocol.ending import render_ending, render_name
from assent.protocol.target import Notice, What

__all__ = ["CUT", "Letter", "link_to", "mark_lines", "short_end", "write_letter"]

CUT = 300
"""So many characters of a prompt's body."""
_TITLE = 200
_END = 6
_MARK = "> "

_HEADS = {
    What.OPENED: "waits for you",
    What.OVERDUE: "is overdue, and still waits",
    What.UNDELIVERED: "could be shown nowhere, and still waits",
    What.ENDED: "is decided",
}
_NOUNS = {
    Kind.QUESTION: "A question",
    Kind.GATE: "A gate",
    Kind.CONFIRM: "A confirmation",
    Kind.APPROVAL: "An approval",
    Kind.FINDING: "A finding",
    Kind.OPEN_QUESTION: "An open question",
}


class Letter(msgspec.Struct, frozen=True):
    """A message in plain text."""

    head: str
    """What it is about, in our words: kind, project."""
    title: str
    """The agent's, on one line."""
    body: str
    """A cut of the agent's, perhaps of several lines; empty where there is none, and of what is over."""
    foot: str
    """How it ended, or how to answer, in our words; of an end, a person's words may be in it."""
    link: str
    """To the inbox page; empty where it is not known."""
    is_over: bool = False

    @property
    def said(self) -> str:
        """What stands under the head, but for the link."""
        parts = [mark_lines(self.title), mark_lines(self.body), self.foot]
        return "\n".join(part for part in parts if part)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(part for part in (f"{self.head}:", self.said, self.link) if part)


def mark_lines(text: str) -> str:
    r"""Return agent text so that none of its lines passes for one of ours.

    >>> mark_lines("Go on?\nana has answered.")
    '> Go on?\n> ana has answered.'
    """
    return "\n".join(f"{_MARK}{line}" for line in text.split("\n")) if text else ""


def short_end(ask: Ask) -> str:
    """Return the end of an ask's id, by which it can be answered."""
    return ask.ask_id[-_END:]


def link_to(url: str, ask: Ask) -> str:
    """Return where an ask is on the inbox page of the server at `url`; empty where there is none."""
    if not url:
        return ""
    return f"{url.rstrip('/')}/#/inbox/{quote_url(ask.project, safe='')}/{quote_url(ask.ask_id, safe='')}"


def write_letter(notice: Notice, url: str) -> Letter:
    """Return what is said of a notice; `url` is the server's address."""
    ask = notice.ask
    if notice.is_test:
        head = f"A test from {quote(ask.project, 80)}"
        return Letter(head, quote(ask.prompt.title, _TITLE), "", "Nobody waits for an answer.", url)
    is_over = notice.what is What.ENDED or not ask.is_open
    head = f"{_NOUNS[ask.kind]} in {quote(ask.project, 80)} {_happened(ask, What.ENDED if is_over else notice.what)}"
    if is_over:
        foot = quote(render_ending(ask), CUT)
    else:
        foot = f"Asked by {quote(render_name(ask.asker), 80)}. Answer: assent answer {short_end(ask)}"
    body = "" if is_over else _cut(ask.prompt.body or "")
    return Letter(head, quote(ask.prompt.title, _TITLE), body, foot, link_to(url, ask), is_over)


def _happened(ask: Ask, what: What) -> str:
    if what is What.ESCALATED:
        return f"is overdue, and {quote(render_name(ask.escalate_to or ''), 80)} is asked now, too"
    return _HEADS[what]


def _cut(text: str) -> str:
    shown = display(text[: CUT + 1]).strip()
    return shown if len(shown) <= CUT else shown[: CUT - 1] + "…"
