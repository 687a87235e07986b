"""What stands in a gate's comment, and what a comment on a pull request says to a gate.

Rule 1: a reply is the first line that its author wrote: what is quoted, fenced as code or hidden does not count.
Rule 2: it is for a gate if it names the gate, `/gate SHORTID 1`. Where no other gate is open, a line counts too
        that is exactly a number, a label or a command of it. Everything else is people talking to each other.
Rule 3: a hidden marker ties a comment to its ask. No comment with a marker of ours is ever a reply.
"""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from assent.flows.session.posting import MAX_BODY
from assent.protocol.answer import labels
from assent.protocol.ask import Ask
from assent.protocol.block import render_brief, render_question
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import fold, quote
from assent.protocol.error import AssentError, GitHubError, TooLargeError, UnrecognisedError
from assent.protocol.gate import render_gate
from assent.protocol.markdown import code, cut, neutralise
from assent.protocol.menu import is_menu, render_explanation, render_menu
from assent.protocol.prompt import Prompt
from assent.protocol.reply import recognise
from assent.surfaces.card import short_id

__all__ = [
    "MARKER",
    "Addressed",
    "echoed_ids",
    "read_reply",
    "render_answered",
    "render_body",
    "render_echo",
    "waiting_gate",
]

MARKER = "<!-- assent:"
_LEAST_SUMMARY = 1_000
_ANSWERED, _CLOSED = "**Answered**", "**Closed**"

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_QUOTE = re.compile(r" {0,3}>")
_COMMAND = re.compile(r"/gate(?P<rest>(?:\s.*)?)", re.IGNORECASE | re.DOTALL)
_GATE = re.compile(r"^<!-- assent:gate (?P<ask>\w+) ", re.MULTILINE).search
_ECHO = re.compile(r"<!-- assent:echo (?P<comment>[0-9]+) -->")


class Addressed(msgspec.Struct, frozen=True):
    """A reply that is meant for a gate."""

    text: str
    is_clear: bool = True
    """It can be taken as an answer; else all that is clear is that somebody expects to be heard."""


def render_body(ask: Ask, nonce: str) -> str:
    """Return the comment that a gate is posted as.

    Raises:
        GitHubError: it does not fit, and what will be done may only be shown whole.
    """
    name = short_id(ask.ask_id)
    help_line = f"To answer, write a comment that begins with `/gate {name}`, as in `/gate {name} 1`"
    if not _takes_anything(ask.prompt):
        help_line += "; just `1` will do while no other gate is open here"
    tail = f"\n\n---\n{help_line}.\n\n{MARKER}gate {ask.ask_id} {nonce} -->"
    block = _block(ask.prompt)
    if len(block) + len(tail) > MAX_BODY:
        block = _shorten(ask.prompt, MAX_BODY - len(tail))
    return block + tail


def _shorten(prompt: Prompt, limit: int) -> str:
    """Return the block with as much of its summary as there is room for."""
    if prompt.action is not None:
        raise GitHubError("This is too long for a comment, and what will be done may only be shown whole.")
    if is_menu(prompt):
        above, below = [], [neutralise(render_menu(prompt))]
    else:
        heading, _, options = _block(replace(prompt, body="")).partition("\n\n")
        above, below = [heading], [options.lstrip("\n")]
    room = limit - sum(len(part) + len("\n\n") for part in (*above, *below))
    if room < _LEAST_SUMMARY:
        raise GitHubError("This is too long for a comment.")
    return "\n\n".join([*above, cut(neutralise(prompt.body), room), *below])


def _block(prompt: Prompt) -> str:
    if is_menu(prompt):  # each part by itself, so that nothing in the first reaches into the second (W29)
        return "\n\n".join(filter(None, map(neutralise, [render_explanation(prompt), render_menu(prompt)])))
    return neutralise(render_gate(prompt) if prompt.commands else render_question(prompt))


def render_answered(body: str, ask: Ask) -> str:
    """Return the comment of a gate that has ended, on top of what was asked."""
    if ask.answer is not None:
        login = ask.answer.by.partition(":")[2].removesuffix("@github")
        chosen = ", ".join(labels(ask.prompt, ask.answer.values))
        told = f"{_ANSWERED} by {code(login)}: {code(quote(chosen))}"
    else:
        told = f"{_CLOSED}: {ask.state}"
    return f"{told}\n\n---\n{body}"


def render_echo(ask: Ask, refusal: AssentError, comment_id: int) -> str:
    """Return the comment that says that a reply was not recognised, and what would be (G17, G18)."""
    told = neutralise(refusal.message)
    brief = neutralise(render_brief(ask.prompt))
    return (
        f"{told}\n\n{brief}\n\nAnswer with `/gate {short_id(ask.ask_id)} …`.\n\n{MARKER}echo {comment_id} -->"
    )


def echoed_ids(body: str) -> list[int]:
    """Return the comment that `body` is an echo of."""
    return [int(found["comment"]) for found in _ECHO.finditer(body)]


def waiting_gate(body: str) -> str | None:
    """Return the ask whose gate a comment is, if it was not yet said to have ended. A quoted gate is none."""
    found = None if body.startswith((_ANSWERED, _CLOSED)) else _GATE(body)
    return found["ask"] if found else None


def read_reply(ask: Ask, body: str, *, is_only: bool) -> Addressed | None:
    """Return what `body` says to the gate of `ask`; nothing if it does not speak to it."""
    # Quoted it is somebody else's: who answers by quoting the gate may have copied it along.
    if any(MARKER in line for line in body.split("\n") if not _QUOTE.match(line)):
        return None
    lines = _own_lines(body)
    if not lines:
        return None
    first = "\n".join(lines) if len(ask.prompt.fields) > 1 else lines[0]
    if command := _COMMAND.fullmatch(first.strip()):
        return _read_command(ask, command["rest"], is_only=is_only)
    # Who says more than that talks to other people: "Cancel" may be how a sentence begins.
    is_all = first.count("\n") + 1 == len(lines)
    return Addressed(first) if is_only and is_all and _is_plain_answer(ask.prompt, first) else None


def _read_command(ask: Ask, rest: str, *, is_only: bool) -> Addressed | None:
    name, text = (*rest.split(maxsplit=1), "", "")[:2]
    if fold(name) in (fold(short_id(ask.ask_id)), fold(ask.ask_id)):
        return Addressed(text.strip())
    # Without its name it can only mean this gate if no other is open; and then it may be the name of an earlier one
    # that stands before the reply, so it is taken only if all of it is plainly an answer.
    return Addressed(rest.strip(), _is_plain_answer(ask.prompt, rest)) if is_only else None


def _is_plain_answer(prompt: Prompt, line: str) -> bool:
    """Whether a line that names no gate is an answer all the same. Where any text is one, only named replies are."""
    closed = replace(
        prompt,
        commands=tuple(spec for spec in prompt.commands if spec != ANY_REPLY),
        fields=tuple(replace(field, free=False) for field in prompt.fields),
    )
    try:
        recognise(closed, line)
    except (UnrecognisedError, TooLargeError):
        return False
    return True


def _takes_anything(prompt: Prompt) -> bool:
    return ANY_REPLY in prompt.commands or any(field.free for field in prompt.fields)


def _own_lines(body: str) -> list[str]:
    """Return the lines that are neither blank nor quoted nor code nor hidden."""
    own, closing = [], ""
    for line in _HIDDEN.sub("", body.replace("\r\n", "\n")).split("\n"):
        fence = _FENCE.match(line)
        if closing:
            if fence and fence["fence"].startswith(closing) and not line.strip(" `~"):
                closing = ""
        elif fence:
            closing = fence["fence"]
        elif line.strip() and not _QUOTE.match(line) and not line.startswith(("    ", "\t")):
            own.append(line.strip())
    return own
