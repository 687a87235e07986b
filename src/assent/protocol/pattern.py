r"""Patterns of a form's texts: a safe part of regular expressions, matched in a time that has a bound.

Rule 1: there are characters, classes, groups, alternatives, repetitions, `^` and `$`. What a machine with states cannot
        do (look around, refer back) is refused, and so is what regular expressions read in more than one way.
Rule 2: nothing is tried twice: all ways through a pattern are followed at once, one character after the other. The cost
        is at most the steps of the pattern times the characters of the text, whoever wrote either.
Rule 3: as in JSON Schema a pattern may match anywhere in the text, `\d` and `\w` mean ASCII, and `$` is the very end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from assent.protocol.display import quote
from assent.protocol.error import BadPromptError, TooLargeError

__all__ = ["MAX_MATCHED", "MAX_PATTERN", "MAX_STEPS", "check_pattern", "matches"]

MAX_PATTERN = 200
"""Characters of a pattern."""
MAX_STEPS = 300
"""Characters and branches of a pattern, each repetition spelled out."""
MAX_MATCHED = 1_000
"""Characters of a text that has to match a pattern."""
_MAX_DEPTH = 16
_KEPT = 256

_CLASS = re.compile(r"\[\^?(?:\\[dDwWsSnrt\-\]\[\\^.$|?*+(){}/]|[^\\\[\]])+\]")
_ESCAPE = re.compile(r"\\[dDwWsSnrt\-\]\[\\^.$|?*+(){}/]")
_PLAIN = re.compile(r"[^\\^$.|?*+()\[\]{}]")
_REPEAT = re.compile(r"[?*+]|\{(?P<least>[0-9]{1,3})(?P<comma>,(?P<most>[0-9]{1,3})?)?\}")
_AMBIGUOUS = re.compile(r"--|&&|~~|\|\|")  # may come to mean something inside a class


class _Step(NamedTuple):
    """One step: a character that it takes, a place it must stand at, or the steps that follow at no cost."""

    takes: Callable[[str], object] | None = None
    at_start: bool = False
    at_end: bool = False
    jumps: tuple[int, ...] = ()


_Piece = list[_Step]
"""Steps whose jumps are counted from their own place."""


def matches(pattern: str, text: str) -> bool:
    r"""Whether `pattern` matches somewhere in `text`, which has at most `MAX_MATCHED` characters.

    >>> matches(r"^v[0-9]+(\.[0-9]+)*$", "v1.22"), matches(r"^v[0-9]+(\.[0-9]+)*$", "v1.")
    (True, False)

    Raises:
        BadPromptError: the pattern is none that is allowed.
        TooLargeError: the pattern or the text is over a limit.
    """
    if len(text) > MAX_MATCHED:
        raise TooLargeError(f"A text that has to match a pattern has at most {MAX_MATCHED:,} characters.")
    steps = _compile(pattern)
    waiting: set[int] = set()
    for place in range(len(text) + 1):
        # At each place the pattern may begin anew.
        reached = _follow(steps, {*waiting, 0}, is_start=place == 0, is_end=place == len(text))
        if len(steps) in reached:
            return True
        if place < len(text):
            waiting = {
                number + 1 for number in reached if (takes := steps[number].takes) and takes(text[place])
            }
    return False


def check_pattern(pattern: str) -> None:
    """Check that `pattern` can be used.

    Raises:
        BadPromptError: it is none that is allowed; the sentence names the place.
        TooLargeError: it is over a limit.
    """
    _compile(pattern)


def _follow(steps: tuple[_Step, ...], begun: set[int], *, is_start: bool, is_end: bool) -> set[int]:
    """Return all steps that are reached from `begun` without taking a character."""
    reached, ahead = set(begun), list(begun)
    while ahead:
        number = ahead.pop()
        if number == len(steps):
            continue
        step = steps[number]
        if step.takes or (step.at_start and not is_start) or (step.at_end and not is_end):
            continue
        for jump in step.jumps:
            if number + jump not in reached:
                reached.add(number + jump)
                ahead.append(number + jump)
    return reached


@lru_cache(_KEPT)
def _compile(pattern: str) -> tuple[_Step, ...]:
    if len(pattern) > MAX_PATTERN:
        raise TooLargeError(f"A pattern has at most {MAX_PATTERN} characters; this one has {len(pattern)}.")
    steps, end = _alternatives(pattern, 0, _MAX_DEPTH)
    if end < len(pattern):
        raise _refusal(pattern, end)
    return tuple(steps)


def _alternatives(pattern: str, at: int, depth: int) -> tuple[_Piece, int]:
    if depth == 0:
        raise BadPromptError(f'The pattern "{quote(pattern)}" has groups within groups beyond {_MAX_DEPTH}.')
    steps, at = _sequence(pattern, at, depth)
    while pattern[at : at + 1] == "|":
        other, at = _sequence(pattern, at + 1, depth)
        first = [_Step(jumps=(1, len(steps) + 2)), *steps, _Step(jumps=(len(other) + 1,))]
        steps = _within_limit([*first, *other])
    return steps, at


def _sequence(pattern: str, at: int, depth: int) -> tuple[_Piece, int]:
    steps: _Piece = []
    while at < len(pattern) and pattern[at] not in "|)":
        piece, at = _piece(pattern, at, depth)
        found = _REPEAT.match(pattern, at)
        if found:
            at = found.end()
            piece = _repeat(pattern, found, piece)
        steps = _within_limit([*steps, *piece])
    return steps, at


def _piece(pattern: str, at: int, depth: int) -> tuple[_Piece, int]:
    letter = pattern[at]
    if letter in "^$":
        if _REPEAT.match(pattern, at + 1):
            raise _refusal(pattern, at + 1)
        return [_Step(at_start=letter == "^", at_end=letter == "$", jumps=(1,))], at + 1
    if letter == "(":
        begin = at + 3 if pattern.startswith("(?:", at) else at + 1
        piece, end = _alternatives(pattern, begin, depth - 1)
        if pattern[end : end + 1] != ")":
            raise _refusal(pattern, at)
        return piece, end + 1
    if letter == ".":
        return [_Step(_taker("."))], at + 1
    found = (_CLASS if letter == "[" else _ESCAPE if letter == "\\" else _PLAIN).match(pattern, at)
    if not found or (letter == "[" and _AMBIGUOUS.search(found[0])):
        raise _refusal(pattern, at)
    try:
        return [_Step(_taker(re.escape(letter) if found.re is _PLAIN else found[0]))], found.end()
    except re.error:
        raise _refusal(pattern, at) from None  # a range that runs backwards


def _taker(atom: str) -> Callable[[str], object]:
    return re.compile(atom, re.ASCII).fullmatch


def _repeat(pattern: str, found: re.Match[str], piece: _Piece) -> _Piece:
    least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(found[0], (0, 0))
    if found["least"]:
        least = int(found["least"])
        most = least if not found["comma"] else int(found["most"]) if found["most"] else None
    if most is not None and most < least:
        raise _refusal(pattern, found.start())
    if len(piece) * max(least, most or 0) > MAX_STEPS:
        raise _too_many()
    size = len(piece)
    if most is None:
        return [*piece * least, _Step(jumps=(1, size + 2)), *piece, _Step(jumps=(-size - 1,))]
    optional = [_Step(jumps=(1, size + 1)), *piece]
    return [*piece * least, *optional * (most - least)]


def _within_limit(steps: _Piece) -> _Piece:
    if len(steps) > MAX_STEPS:
        raise _too_many()
    return steps


def _too_many() -> TooLargeError:
    return TooLargeError(f"A pattern has at most {MAX_STEPS} steps, each repetition spelled out.")


def _refusal(pattern: str, at: int) -> BadPromptError:
    return BadPromptError(
        f'The pattern "{quote(pattern)}" has something at character {at + 1} that is not allowed here: use'
        " characters, classes, groups, alternatives and repetitions."
    )
