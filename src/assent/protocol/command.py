"""Free-form commands: what a gate takes beside its options, and what each of them may name.

A prompt spells every command that it accepts, with all that it may name, so that nobody has to look anywhere else:

    discard                         that word
    todo: {text}                    any text behind the colon
    deep-dive {ID: H1, M2}          one of those
    deselect {IDs: H1, M2}          some of those, with commas or spaces between them; a name that ends in s takes several
    {IDs: H1, M2}                   the same without a word before it
    {reply}                         any reply at all, even an empty one

Rule 1: nothing is guessed. A name that is not listed makes the whole command unrecognised, and the sentence says
        which one it was (G-X8).
Rule 2: what was typed is kept in one spelling: `DESELECT  h1 m2` is `deselect H1, M2`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from assent.protocol.display import fold, is_blank, is_encodable, quote
from assent.protocol.error import BadPromptError, TooLargeError

__all__ = [
    "ANY_REPLY",
    "MAX_COMMANDS",
    "Command",
    "Typed",
    "check_commands",
    "parse_command",
    "read_command",
    "render_command",
]

MAX_COMMANDS = 50
ANY_REPLY = "{reply}"
"""Accepted by a question to which every reply is an answer, as one that ends in [y/n] is (G26)."""

_TEXT, _REPLY = "text", "reply"
_SPEC = re.compile(
    r"(?P<head>[^{}:]*?)(?P<colon>:)?\s*(?:\{(?P<name>[A-Za-z]+)(?::(?P<values>[^{}]*))?\})?"
).fullmatch
_BETWEEN = re.compile(r"[\s,]+")
_SHOWN_NAMES = 12


class Command(NamedTuple):
    """One command as a prompt spells it."""

    head: str
    """The words that it begins with, folded; none where the names alone are the reply."""
    name: str = ""
    """What stands behind them: nothing, `text`, `reply`, or the name of a list."""
    values: tuple[str, ...] = ()
    has_colon: bool = False

    @property
    def is_plural(self) -> bool:
        """Several of its values may be named at once."""
        return self.name.endswith("s")

    @property
    def is_list(self) -> bool:
        """It names something that the prompt lists."""
        return self.name not in ("", _TEXT, _REPLY)


class Typed(NamedTuple):
    """A command that somebody typed; or why it is none."""

    head: str = ""
    arguments: tuple[str, ...] = ()
    text: str | None = None
    """Its one spelling; None: it is no command."""
    hint: str = ""
    """What would help to say it again."""


def render_command(head: str, name: str, values: Sequence[str]) -> str:
    """Return how a prompt spells a command that names one or some of `values`.

    >>> render_command("deselect", "IDs", ["H1", "M2"])
    'deselect {IDs: H1, M2}'
    """
    return f"{head} {{{name}: {', '.join(values)}}}".strip()


@lru_cache(maxsize=256)
def parse_command(spec: str) -> Command:
    """Return the command that a prompt spells as `spec`.

    Raises:
        BadPromptError: it is not spelled as a command.
    """
    found = _SPEC(spec.strip()) if is_encodable(spec) and "\n" not in spec else None
    if found is None or is_blank(spec):
        raise BadPromptError(f'"{quote(spec)}" is not how a command is spelled.')
    name, listed = found["name"] or "", found["values"]
    command = Command(
        fold(found["head"]),
        name,
        tuple(value.strip() for value in (listed or "").split(",") if value.strip()),
        found["colon"] is not None,
    )
    if (command.has_colon and name != _TEXT) or (name == _TEXT and not command.has_colon):
        raise BadPromptError(f'"{quote(spec)}" needs both a colon and {{text}} behind it, or neither.')
    if not command.head and not (command.is_list or name == _REPLY):
        raise BadPromptError(f'"{quote(spec)}" has no word to begin with.')
    if command.is_list != (listed is not None):
        raise BadPromptError(f'"{quote(spec)}" does not say what may stand for {{{name}}}.')
    _check_values(spec, command.values)
    return command


def _check_values(spec: str, values: tuple[str, ...]) -> None:
    if len({fold(value) for value in values}) != len(values):
        raise BadPromptError(f'"{quote(spec)}" lists a name twice.')
    for value in values:
        if _BETWEEN.search(value):
            raise BadPromptError(f'"{quote(value)}" cannot be named in a command: it has a space in it.')


def check_commands(specs: Sequence[str], labels: Sequence[str]) -> None:
    """Check that every command can be typed, and none of them be taken for another or for an option.

    Raises:
        BadPromptError: one cannot.
        TooLargeError: there are too many.
    """
    if len(specs) > MAX_COMMANDS:
        raise TooLargeError(f"A prompt has at most {MAX_COMMANDS} commands.")
    taken = {fold(label) for label in labels}
    seen: set[tuple[str, bool]] = set()
    for spec in specs:
        command = parse_command(spec)
        if not command.name and (command.head in taken or command.head.isdecimal()):
            raise BadPromptError(f'The command "{quote(spec)}" reads like an option.')
        known = (command.head, bool(command.name))
        if known in seen:
            raise BadPromptError(f'The command "{quote(spec)}" is there twice.')
        seen.add(known)


def read_command(specs: Sequence[str], text: str) -> Typed:
    """Return the command that `text` spells; one without a text if it spells none.

    >>> read_command(["discard", "deselect {IDs: H1, M2}"], "Deselect h1  M2").text
    'deselect H1, M2'
    >>> read_command(["deselect {IDs: H1, M2}"], "deselect H1, H9").hint
    'There is no H9 here.'
    """
    refusal = Typed()
    if not is_encodable(text):
        return refusal
    commands = [parse_command(spec) for spec in specs]
    # The longest first: with `skip` and `skip to chunk`, the second is meant where it fits. Any reply comes last.
    for command in sorted(
        commands, key=lambda command: (command.name != _REPLY, len(command.head)), reverse=True
    ):
        typed = _read(command, text)
        if typed.text is not None:
            return typed
        refusal = refusal if refusal.hint else typed
    return refusal


def _read(command: Command, text: str) -> Typed:
    if command.name == _REPLY and not command.head:
        return Typed("", (text.strip(),), text.strip())
    if command.has_colon:
        return _read_text(command, text)
    words = text.split()
    count = len(command.head.split())
    if fold(" ".join(words[:count])) != command.head:
        return Typed()
    rest = " ".join(words[count:])
    if not command.name:
        return Typed() if rest else Typed(command.head, (), command.head)
    return _read_names(command, rest)


def _read_text(command: Command, text: str) -> Typed:
    head, colon, rest = text.strip().partition(":")
    if not colon or fold(head) != command.head:
        return Typed()
    if is_blank(rest):
        return Typed(hint=f'Write the text behind "{command.head}:".')
    return Typed(command.head, (rest.strip(),), f"{command.head}: {rest.strip()}")


def _read_names(command: Command, rest: str) -> Typed:
    by_fold = {fold(value): value for value in command.values}
    given = [part for part in _BETWEEN.split(rest) if part] if command.is_plural else [rest] if rest else []
    unknown = [part for part in given if fold(part) not in by_fold]
    if not given or (unknown and not command.head):
        return Typed(hint=_what(command))
    if unknown:
        named = ", ".join(quote(part) for part in dict.fromkeys(unknown))
        return Typed(hint=f"There is no {named} here.")
    names = tuple(dict.fromkeys(by_fold[fold(part)] for part in given))
    return Typed(command.head, names, f"{command.head} {', '.join(names)}".strip())


def _what(command: Command) -> str:
    if not command.values:
        return f"There is no {command.name} to name here."
    shown = ", ".join(quote(value) for value in command.values[:_SHOWN_NAMES])
    more = ", …" if len(command.values) > _SHOWN_NAMES else ""
    several = "one or more of" if command.is_plural else "one of"
    return f"Name {several} {shown}{more}."
