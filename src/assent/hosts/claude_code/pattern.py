"""Which calls of a tool must be approved: patterns such as `Bash(rm *)`, `Write(.env)` or `mcp__shop__*`.

    Bash            every command
    Bash(rm *)      a command in which some word begins `rm`, wherever it stands: after `cd x &&`, in `bash -c "…"`
    Edit(*.sql)     a file by its path
    mcp__shop__*    all tools of a server; in brackets, any text of their input

Rule 1: in doubt it matches. Asking a person once too often costs a moment; once too seldom is what the pattern is for.
Rule 2: it is no wall. A shell can spell a command in ways that no pattern sees; whoever must be sure writes `Bash`.
Rule 3: only the standard library: this file runs before every call of a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache
from typing import Any

__all__ = ["MAX_MATCHED", "check_pattern", "is_match", "matcher_of", "must_ask"]

MAX_MATCHED = 10_000
"""A longer text matches every pattern for its tool, so that no text can take for ever to be looked at."""

_PATTERN = re.compile(r"(?P<tool>[\w*?.-]+)(?:\((?P<text>.*)\))?", re.DOTALL)
_TEXTS = {
    "Bash": "command",
    "PowerShell": "command",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "Read": "file_path",
    "NotebookEdit": "notebook_path",
    "WebFetch": "url",
    "WebSearch": "query",
}
"""The part of a tool's input that its pattern is about; of any other tool it is every text."""
_WORD_BEGINS = r"(?:^|(?<=[\s;&|(){}$`/=<>!:@]))"
_WORD_ENDS = r"(?=$|[\s;&|(){}`<>/])"
_SPELLING = re.compile(r"[\"'\\]+")
"""Marks that a shell takes away: `r''m` is `rm`."""


def check_pattern(pattern: str) -> None:
    """Refuse what is no pattern.

    Raises:
        ValueError: it is none; the sentence says what one looks like.
    """
    if _PATTERN.fullmatch(pattern) is None:
        raise ValueError(
            f"{pattern!r} is no pattern for tools: write the tool's name, as in Bash, or as in 'Bash(rm *)'."
        )


def must_ask(patterns: list[str], tool: str, given: Any) -> bool:
    """Say whether some pattern matches this call."""
    return any(is_match(pattern, tool, given) for pattern in patterns)


def is_match(pattern: str, tool: str, given: Any) -> bool:
    """Say whether `pattern` matches a call of `tool` with this input."""
    parts = _PATTERN.fullmatch(pattern)
    if parts is None:
        return True  # rule 1; a pattern that cannot be read was meant to stop something
    if re.fullmatch(translate(parts["tool"]), tool) is None:
        return False
    if parts["text"] is None or parts["text"].strip() in {"", "*"}:
        return True
    find = _finder(parts["text"])
    return any(len(text) > MAX_MATCHED or find(text) for text in _texts(tool, given))


def matcher_of(patterns: list[str]) -> str:
    """Return the regular expression by which the host tells for which tools its hook is started at all."""
    tools = (pattern.partition("(")[0] for pattern in patterns)
    return "|".join(dict.fromkeys(re.escape(tool).replace(r"\*", ".*").replace(r"\?", ".") for tool in tools))


def _texts(tool: str, given: Any) -> Iterator[str]:
    key = _TEXTS.get(tool)
    if key is None:
        yield from _leaves(given)
        return
    text = given.get(key) if isinstance(given, dict) else None
    # An input that is not as the tool's own is, is one that nobody here can judge.
    yield text if isinstance(text, str) else " " * (MAX_MATCHED + 1)


def _leaves(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += [*value.values(), *value]
        elif isinstance(value, list):
            left += value
        else:
            yield str(value)


@lru_cache
def _finder(text: str) -> Any:
    """Return what finds a pattern's text: beginning at any word, in the text as it is and as a shell would read it."""
    text = re.sub(r":\*$", "*", text.strip())
    # `rm *` is `rm` with anything or nothing behind it.
    is_open = text.endswith("*")
    stem = text.rstrip("*").rstrip() if text.endswith(" *") else text.rstrip("*")
    needs_word = not is_open or text.endswith(" *")
    inner = translate(stem)[len("(?s:") : -len(r")\Z")]
    search = re.compile(f"(?s:{_WORD_BEGINS}(?:{inner}){_WORD_ENDS if needs_word else ''})").search

    def find(given: str) -> bool:
        plain = " ".join(_SPELLING.sub("", given).split())
        spaced = " ".join(_SPELLING.sub(" ", given).split())  # "bash -c 'rm x'": a word begins at the quote
        return any(search(way) is not None for way in (given, plain, spaced))

    return find
