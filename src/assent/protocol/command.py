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
Rule 3: one text has one reading. A prompt in which it could have two, be it as an option, is not opened.
Rule 4: all of it takes time in proportion to the text, and no large spelling is kept: agents write them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from assent.protocol.display import display, fold, is_blank, is_encodable, quote, skeleton
from assent.protocol.error import BadPromptError, TooLargeError

__all__ = [
    "ANY_REPLY",
    "MAX_COMMANDS",
    "Command",
    "Typed",
    "addresses",
    "check_commands",
    "parse_command",
    "read_command",
    "render_command",
]

MAX_COMMANDS = 50
ANY_REPLY = "{reply}"
"""Accepted by a question to which every reply is an answer, as one that ends in [y/n] is (G26)."""

_TEXT, _REPLY = "text", "reply"
_ARGUMENT = re.compile(r"\{(?P<name>[A-Za-z]+)(?::(?P<values>[^{}]*))?\}").fullmatch
_BETWEEN = re.compile(r"[\s,]+")
_NO_NAME = re.compile(r"[\s,{}]").search
_SHOWN_NAMES = 12
_MAX_KEPT = 1_024


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

    Raises:
        BadPromptError: one of them cannot be named.
    """
    for value in values:
        if is_blank(value) or _NO_NAME(value):
            raise BadPromptError(
                f'"{quote(value)}" cannot be named in a command: a name has no spaces, commas or braces.'
            )
    return f"{head} {{{name}: {', '.join(values)}}}".strip()


def parse_command(spec: str) -> Command:
    """Return the command that a prompt spells as `spec`.

    Raises:
        BadPromptError: it is not spelled as a command.
    """
    return _parse_short(spec) if len(spec) <= _MAX_KEPT else _parse(spec)


def _parse(spec: str) -> Command:
    head, brace, argument = spec.strip().partition("{")
    found = _ARGUMENT(brace + argument) if brace else None
    words = head.rstrip().removesuffix(":")
    # What is hidden, or does not fit on a line, nobody could type.
    is_seen = not is_blank(spec) and display(spec, lines=False) == spec
    if not is_seen or (brace and not found) or ":" in words or "}" in words:
        raise BadPromptError(f'"{quote(spec)}" is not how a command is spelled.')
    name, listed = (found["name"], found["values"]) if found else ("", None)
    command = Command(
        fold(words),
        name,
        tuple(value.strip() for value in (listed or "").split(",") if value.strip()),
        words != head.rstrip(),
    )
    if command.has_colon != (name == _TEXT):
        raise BadPromptError(f'"{quote(spec)}" needs both a colon and {{text}} behind it, or neither.')
    if not command.head and not (command.is_list or name == _REPLY):
        raise BadPromptError(f'"{quote(spec)}" has no word to begin with.')
    if command.head and name == _REPLY:
        raise BadPromptError(f'"{quote(spec)}" has words before {{{_REPLY}}}, which is any reply at all.')
    if command.is_list != (listed is not None):
        raise BadPromptError(f'"{quote(spec)}" does not say what may stand for {{{name}}}.')
    _check_values(spec, command.values)
    return command


_parse_short = lru_cache(maxsize=256)(_parse)


def _check_values(spec: str, values: tuple[str, ...]) -> None:
    if len({fold(value) for value in values}) != len(values):
        raise BadPromptError(f'"{quote(spec)}" lists a name twice.')
    for value in values:
        if _BETWEEN.search(value):
            raise BadPromptError(f'"{quote(value)}" cannot be named in a command: it has a space in it.')


def addresses(number: int, names: Iterable[str]) -> set[str]:
    """Return all that chooses the option in position `number` of a gate, folded.

    That is its number, with or without a full stop or bracket, each of its names, and its line as it is shown (G36,
    G37, G-X7).
    """
    folded = {fold(name) for name in names}
    marks = (f"{number}.", f"{number})")
    return {str(number), *marks, *folded, *(f"{mark} {name}" for mark in marks for name in folded)}


def check_commands(specs: Sequence[str], options: Sequence[Collection[str]]) -> None:
    """Check that every command can be typed, and none of them be taken for another or for an option.

    Each of `options` is what one option goes by.

    Raises:
        BadPromptError: one cannot.
        TooLargeError: there are too many.
    """
    if len(specs) > MAX_COMMANDS:
        raise TooLargeError(f"A prompt has at most {MAX_COMMANDS} commands.")
    # What has one meaning already, and which.
    taken: dict[str, str] = {}
    for number, names in enumerate(options, start=1):
        for address in addresses(number, names):
            if taken.setdefault(address, f"option {number}") != f"option {number}":
                raise BadPromptError(f'"{quote(address)}" could mean {taken[address]} or option {number}.')
    drawn = {skeleton(name) for names in options for name in names}
    commands = [parse_command(spec) for spec in specs]
    seen: set[tuple[str, bool]] = set()
    for spec, command in zip(specs, commands, strict=True):
        is_plain = not command.name
        reads_like_number = command.head.rstrip(".)").isdecimal()
        # A list has names behind its words, so "deep-dive H1" goes well with the option "Deep-dive".
        if (is_plain or command.has_colon) and (command.head in taken or skeleton(command.head) in drawn):
            raise BadPromptError(f'The command "{quote(spec)}" reads like an option.')
        if is_plain and reads_like_number:
            raise BadPromptError(f'The command "{quote(spec)}" reads like an option.')
        if (command.head, is_plain) in seen:
            raise BadPromptError(f'The command "{quote(spec)}" is there twice.')
        seen.add((command.head, is_plain))
    taken |= {command.head: f'"{quote(command.head)}"' for command in commands if not command.name}
    _check_readings(commands, taken)


def _check_readings(commands: list[Command], taken: dict[str, str]) -> None:
    """Check that what has a meaning already is not also a command with something behind its words."""
    texts = [(text, text.split()) for text in taken]
    heads = [(f"{command.head} …", command.head.split()) for command in commands if command.is_list]
    colons = {fold(text.partition(":")[0]): text for text in taken if ":" in text}
    for command in commands:
        if command.has_colon and command.head in colons:
            raise _two_readings(command, colons[command.head], taken)
        if not command.is_list:
            continue
        head, known = command.head.split(), {fold(value) for value in command.values}
        for text, words in [*texts, *heads] if command.is_plural else texts:
            rest = words[len(head) :]
            is_one = len(rest) == 1 or (rest and command.is_plural)
            if is_one and words[: len(head)] == head and known.issuperset(rest):
                raise _two_readings(command, text, taken)


def _two_readings(command: Command, text: str, taken: dict[str, str]) -> BadPromptError:
    other = taken.get(text, "another command")
    return BadPromptError(f'"{quote(text)}" could mean {other} or something behind "{quote(command.head)}".')


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
    words = text.split()
    # The longest first: with `skip` and `skip to chunk`, the second is meant where it fits. Any reply comes last.
    for command in sorted(
        commands, key=lambda command: (command.name != _REPLY, len(command.head)), reverse=True
    ):
        typed = _read(command, text, words)
        if typed.text is not None:
            return typed
        refusal = refusal if refusal.hint else typed
    return refusal


def _read(command: Command, text: str, words: list[str]) -> Typed:
    if command.name == _REPLY:
        return Typed("", (text.strip(),), text.strip())
    if command.has_colon:
        return _read_text(command, text)
    count = len(command.head.split())
    if fold(" ".join(words[:count])) != command.head:
        return Typed()
    if not command.name:
        return Typed() if len(words) > count else Typed(command.head, (), command.head)
    return _read_names(command, " ".join(words[count:]))


def _read_text(command: Command, text: str) -> Typed:
    head, colon, rest = text.strip().partition(":")
    if not colon or fold(head) != command.head:
        return Typed()
    if is_blank(rest):
        return Typed(hint=f'Write the text behind "{command.head}:".')
    return Typed(command.head, (rest.strip(),), f"{command.head}: {rest.strip()}")


def _read_names(command: Command, rest: str) -> Typed:
    by_fold = {fold(value): value for value in command.values}
    parts = [part for part in _BETWEEN.split(rest) if part]
    given = parts if command.is_plural else [rest] if rest else []
    unknown = dict.fromkeys(part for part in given if fold(part) not in by_fold)
    # Without a word before it, a list cannot tell a name that is not there from something else altogether.
    strangers = dict.fromkeys(part for part in parts if fold(part) not in by_fold)
    if not given or (unknown and (not strangers or (not command.head and len(strangers) == len(set(parts))))):
        return Typed(hint=_what(command))
    if unknown:
        return Typed(hint=f"There is no {_shown(strangers)} here.")
    names = tuple(dict.fromkeys(by_fold[fold(part)] for part in given))
    return Typed(command.head, names, f"{command.head} {', '.join(names)}".strip())


def _what(command: Command) -> str:
    if not command.values:
        return "There is nothing here that it could name."
    several = "one or more of" if command.is_plural else "one of"
    return f"Name {several} {_shown(command.values)}."


def _shown(names: Collection[str]) -> str:
    more = ", …" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(quote(name, 40) for name in islice(names, _SHOWN_NAMES)) + more
