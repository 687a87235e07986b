"""What stands in a gate's comment, and what a comment on a pull request says to a gate.

Every open ask can be posted, whatever its kind; on a pull request each of them is called a gate.

Rule 1: a reply is what its author wrote: what is quoted, fenced as code or hidden does not count. Words behind it may
        change it: where words are an answer they are a part of it, and everywhere else but behind a no it is none.
Rule 2: it is for a gate if it names the gate, `/gate SHORTID 1`. Where no other gate is open, a line counts too
        that is exactly a number, a label or a command of it, unless it is an approval. Everything else is people
        talking to each other.
Rule 3: a hidden marker ties a comment to its ask, to one posting of it and to a commit. No comment with a marker of
        ours is ever a reply.
Rule 4: what cannot be undone is asked once more, in a comment of ours that names it. Only the next reply of the same
        person to that gate can confirm it, `/gate SHORTID yes`.
Rule 5: a no may have its reason, `/gate SHORTID decline WORDS`; to an approval also `/gate SHORTID reject WORDS`.
Rule 6: what an approval would let happen is shown whole. Where it does not fit, it can be declined here, by
        `/gate SHORTID decline`, and not approved.
"""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from assent.flows.session.posting import MAX_BODY
from assent.protocol.answer import Answer, FieldValues, find_destructive, labels
from assent.protocol.approval import REJECT, is_approval, render_again
from assent.protocol.ask import Ask, Kind, Outcome, State
from assent.protocol.block import ACTION, render_brief, render_parts
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import fold, quote
from assent.protocol.ending import GITHUB, render_author, render_name
from assent.protocol.error import AssentError, GitHubError, TooLargeError, UnrecognisedError
from assent.protocol.gate import render_gate
from assent.protocol.markdown import code, cut, fence, neutralise
from assent.protocol.menu import is_menu, render_explanation, render_menu
from assent.protocol.prompt import Prompt
from assent.protocol.reply import recognise
from assent.surfaces.card import short_id

__all__ = [
    "MARKER",
    "Addressed",
    "Mark",
    "asked_about",
    "confirms",
    "echoed_ids",
    "is_shown_whole",
    "read_mark",
    "read_reply",
    "render_answered",
    "render_body",
    "render_confirmation",
    "render_echo",
]

MARKER = "<!-- assent:"
_WHOSE = (
    "A reply counts as its author's, whoever wrote it with that login: an agent that uses yours can, too."
)
_LEAST_SUMMARY = 1_000
_ANSWERED, _CLOSED = "**Answered**", "**Closed**"

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_QUOTE = re.compile(r" {0,3}>")
_COMMAND = re.compile(r"/gate(?P<rest>(?:\s.*)?)", re.IGNORECASE | re.DOTALL)
_DECLINE = re.compile(r"decline(?:[\s:]+(?P<reason>.*))?", re.IGNORECASE | re.DOTALL).fullmatch
_REJECT = re.compile(r"reject(?:[\s:]+(?P<reason>.*))?", re.IGNORECASE | re.DOTALL).fullmatch
_CONFIRMING = ("yes", "confirm")
"""What confirms a choice; the second one where the first is another choice."""
_GATE = re.compile(
    r"^<!-- assent:gate (?P<ask>\w{1,64}) (?P<nonce>\w{1,64})(?: (?P<commit>[0-9a-f]{1,64}))? -->$",
    re.MULTILINE | re.ASCII,
)
_ECHO = re.compile(r"<!-- assent:(?:echo|confirm) (?P<comment>[0-9]{1,18}) -->")
_CONFIRM = re.compile(r"^<!-- assent:confirm (?P<comment>[0-9]{1,18}) -->$", re.MULTILINE)


class Addressed(msgspec.Struct, frozen=True):
    """A reply that is meant for a gate."""

    text: str
    is_clear: bool = True
    """It can be taken as an answer; else all that is clear is that somebody expects to be heard."""
    is_decline: bool = False
    """It says no to being asked."""
    reason: str = ""
    """The words that go with a no."""
    is_named: bool = False
    """It names the gate."""

    @property
    def may_confirm(self) -> bool:
        """Whether it could be the word that confirms an earlier choice."""
        return self.is_named and fold(self.text) in _CONFIRMING

    @property
    def is_no(self) -> bool:
        """Whether it says no, to an approval or to being asked."""
        return self.is_decline or self.text == REJECT


class Mark(msgspec.Struct, frozen=True):
    """What the hidden marker of a gate says."""

    ask_id: str
    nonce: str
    """Tells this posting from every other one."""
    commit: str
    """The last commit of the pull request when it was posted."""


def render_body(ask: Ask, nonce: str, commit: str) -> str:
    """Return the comment that a gate is posted as.

    Raises:
        GitHubError: it does not fit, and what will be done may only be shown whole.
    """
    block, tail = _earlier(ask) + _block(ask.prompt), _tail(ask, nonce, commit)
    if len(block) + len(tail) <= MAX_BODY:
        return block + tail
    if ask.kind is Kind.APPROVAL and ask.prompt.action is not None:
        return _render_unshown(ask) + tail
    return _shorten(ask.prompt, MAX_BODY - len(tail)) + tail


def is_shown_whole(ask: Ask, nonce: str, commit: str) -> bool:
    """Whether the comment shows all that an answer would be to."""
    block = _earlier(ask) + _block(ask.prompt)
    return ask.prompt.action is None or len(block) + len(_tail(ask, nonce, commit)) <= MAX_BODY


def _tail(ask: Ask, nonce: str, commit: str) -> str:
    name = short_id(ask.ask_id)
    help_line = f"To answer, write a comment that begins with `/gate {name}`, as in `/gate {name} 1`"
    if ask.kind is Kind.APPROVAL:
        help_line += f" or `/gate {name} decline`, with your reason behind it"
    elif not _takes_anything(ask.prompt):
        help_line += "; just `1` will do while no other gate is open here"
    return f"\n\n---\n{help_line}. {_WHOSE}\n\n{MARKER}gate {ask.ask_id} {nonce} {commit} -->"


def _earlier(ask: Ask) -> str:
    """Return the no that a person said to the same action before, and why it is asked again."""
    told = render_again(ask)
    return f"{neutralise(told)}\n\n" if told else ""


def _render_unshown(ask: Ask) -> str:
    """Return what stands in the place of an action that is too long."""
    name = short_id(ask.ask_id)
    title = cut(neutralise(code(quote(ask.prompt.title))), _LEAST_SUMMARY)
    return (
        f"{title}\n\n**What would be done is too long for a comment, so it cannot be approved here**, only declined. "
        f"`assent show {name}` shows it whole, and it is answered there or in the inbox."
    )


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
    if prompt.commands:
        return neutralise(render_gate(prompt))
    above, action, below = render_parts(prompt)
    shown = [f"{ACTION}\n\n{fence(action)}"] if action else []
    return "\n\n".join(filter(None, [neutralise(above), *shown, neutralise(below)]))


def render_answered(body: str, ask: Ask) -> str:
    """Return the comment of a gate that has ended, on top of what was asked."""
    told, reason = f"{_CLOSED}: {ask.state}", ""
    if ask.answer is not None:
        chosen, reason = ", ".join(labels(ask.prompt, ask.answer.values)), ask.answer.reason
        told = f"{_ANSWERED} by {_author(ask.answer)}: {code(quote(chosen))}"
    elif ask.outcome is not None and ask.state is State.DECLINED:
        told, reason = f"{told} by {_author(ask.outcome)}", ask.outcome.reason
    because = f", because {code(quote(reason))}" if reason else ""
    return f"{told}{because}\n\n---\n{body}"


def _author(end: Answer | Outcome) -> str:
    """Return who ended an ask, by the login on GitHub, and what makes that less than sure."""
    marks = render_author(end.by, end.assurance, is_unattended=end.is_unattended).removeprefix(
        render_name(end.by)
    )
    return code(quote(end.by.partition(":")[2].removesuffix(GITHUB))) + marks


def render_confirmation(ask: Ask, text: str, login: str, comment_id: int) -> str:
    """Return the comment that asks somebody once more; empty where their reply chooses nothing that needs it."""
    values = _read_values(ask.prompt, text)
    risky = find_destructive(ask.prompt, values) if values is not None else None
    if values is None or risky is None:
        return ""
    who, chosen = code(quote(login)), ", ".join(labels(ask.prompt, values))
    reply = f"/gate {short_id(ask.ask_id)} {_confirming_word(ask.prompt, values)}"
    return (
        f"{who} chose {code(quote(chosen))}. {code(quote(risky.label))} cannot be undone, so nothing was changed yet."
        f"\n\nIf that is meant, {who} writes a new comment: `{reply}`. Anything else changes nothing."
        f"\n\n{MARKER}confirm {comment_id} -->"
    )


def confirms(ask: Ask, text: str, reply: Addressed) -> bool:
    """Whether a reply is the word that confirms the choice of an earlier one."""
    values = _read_values(ask.prompt, text)
    is_word = values is not None and fold(reply.text) == _confirming_word(ask.prompt, values)
    return reply.is_named and is_word


def asked_about(body: str) -> int | None:
    """Return the comment whose choice `body` asks about once more."""
    found = [*_CONFIRM.finditer(body.replace("\r\n", "\n"))]
    return int(found[-1]["comment"]) if found else None


def _confirming_word(prompt: Prompt, values: FieldValues) -> str:
    """Return the word that confirms a choice; not one that is another choice."""
    is_free = (word for word in _CONFIRMING if _plain_values(prompt, word) in (None, values))
    return next(is_free, _CONFIRMING[-1])


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


def read_mark(body: str) -> Mark | None:
    """Return whose gate a comment is, if it was not yet said to have ended. A quoted gate is none.

    The last marker counts, as ours is the last line: what stands before it is an agent's text.
    """
    if body.startswith((_ANSWERED, _CLOSED)):
        return None
    found = [*_GATE.finditer(body.replace("\r\n", "\n"))]
    return Mark(found[-1]["ask"], found[-1]["nonce"], found[-1]["commit"] or "") if found else None


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
        return _read_command(ask, command["rest"], lines[first.count("\n") + 1 :], is_only=is_only)
    # Who says more than that talks to other people: "Cancel" may be how a sentence begins.
    is_all = first.count("\n") + 1 == len(lines)
    # A yes to an action names what it is to.
    is_only = is_only and ask.kind is not Kind.APPROVAL
    is_answer = is_only and is_all and _plain_values(ask.prompt, first) is not None
    return Addressed(first) if is_answer else None


def _read_command(ask: Ask, rest: str, more: list[str], *, is_only: bool) -> Addressed | None:
    name, text = (*rest.split(maxsplit=1), "", "")[:2]
    if fold(name) in (fold(short_id(ask.ask_id)), fold(ask.ask_id)):
        return _read_no(ask, text.strip(), more) or _read_words(ask, text.strip(), more)
    if ask.kind is Kind.APPROVAL:
        return Addressed(rest.strip(), is_clear=False) if is_only else None
    # Without its name it can only mean this gate if no other is open; and then it may be the name of an earlier one
    # that stands before the reply, so it is taken only if all of it is plainly an answer.
    is_answer = not more and _plain_values(ask.prompt, rest) is not None
    return Addressed(rest.strip(), is_answer) if is_only else None


def _read_words(ask: Ask, text: str, more: list[str]) -> Addressed:
    """Return an answer, with the words in the lines below where words are one."""
    if not more:
        return Addressed(text, is_named=True)
    whole = "\n".join([text, *more])
    return Addressed(whole, is_clear=_takes_anything(ask.prompt), is_named=True)


def _read_no(ask: Ask, text: str, more: list[str]) -> Addressed | None:
    """Return a no with its words; they may go on in the lines below."""
    if is_approval(ask.prompt) and (no := _REJECT(text)):
        reason = _words(no, more)
        # A colon says that words follow: without any it is read as everywhere.
        return Addressed(REJECT if reason or ":" not in text else text, reason=reason, is_named=True)
    no = _DECLINE(text)
    if no is None or not _can_decline(ask, text):
        return None
    return Addressed("", is_decline=True, reason=_words(no, more), is_named=True)


def _can_decline(ask: Ask, text: str) -> bool:
    """Whether `decline` is no answer itself: a gate has its own commands, and any text may answer an open field."""
    if ask.kind in (Kind.APPROVAL, Kind.CONFIRM):
        return True
    is_closed = ask.kind is Kind.QUESTION and not _takes_anything(ask.prompt)
    return is_closed and _plain_values(ask.prompt, text) is None


def _words(no: re.Match[str], more: list[str]) -> str:
    return " ".join([no["reason"] or "", *more]).strip()


def _plain_values(prompt: Prompt, line: str) -> FieldValues | None:
    """Return what a line that names no gate chooses all the same. Where any text is an answer, only named replies are."""
    closed = replace(
        prompt,
        commands=tuple(spec for spec in prompt.commands if spec != ANY_REPLY),
        fields=tuple(replace(field, free=False) for field in prompt.fields),
    )
    return _read_values(closed, line)


def _read_values(prompt: Prompt, text: str) -> FieldValues | None:
    try:
        return recognise(prompt, text)
    except (UnrecognisedError, TooLargeError):
        return None


def _takes_anything(prompt: Prompt) -> bool:
    return ANY_REPLY in prompt.commands or any(field.free for field in prompt.fields)


def _own_lines(body: str) -> list[str]:
    """Return the lines that are neither blank nor quoted nor code nor hidden."""
    own, closing, is_quoted = [], "", False
    for line in _HIDDEN.sub("", body.replace("\r\n", "\n")).split("\n"):
        fence = _FENCE.match(line)
        if closing:
            if _closes(line, closing):
                closing = ""
        elif fence:
            closing, is_quoted = fence["fence"], False
        elif not line.strip(" \t"):
            is_quoted = False
        elif _QUOTE.match(line):
            # Until a blank line what follows is shown as a part of the quote; a mail that was wrapped has such lines.
            is_quoted = True
        elif line.strip() and not is_quoted and not line.startswith(("    ", "\t")):
            own.append(line.strip())
    return own


def _closes(line: str, fence: str) -> bool:
    """Whether a line ends the code that `fence` began: with as many of the same, and nothing behind them."""
    found = _FENCE.match(line)
    return found is not None and found["fence"].startswith(fence) and not line[found.end() :].strip(" \t")
