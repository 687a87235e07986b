"""Which calls of a tool must be approved: patterns such as `Bash(rm *)`, `Write(.env)` or `mcp__shop__*`.

    Bash            every command
    Bash(rm *)      a command in which some word begins `rm`, wherever it stands: after `cd x &&`, in `bash -c "…"`
    Bash(git push)  also with options between the words, as in `git -C x push`
    Bash(rm -rf *)  an option wherever it stands behind, and as `-fr`, `-r -f` or `--recursive --force`
    Edit(*.sql)     a file by its path, whichever tool changes it; `src/**/*.sql` has `src/a.sql`, too; so has Write(*.sql)
    mcp__shop       all tools of a server, as is `mcp__shop__*`; in brackets, any text of their input

Rule 1: in doubt it matches. Asking a person once too often costs a moment; once too seldom is what the pattern is for.
        So a pattern is read in every way in which it could be meant: `[id]` as itself and as one of two letters, and as
        the host's own rules are written (`./x`, `~/x`, `//x`, `domain:x`).
Rule 2: it is no wall. A shell can spell a command in ways that no pattern sees; whoever must be sure writes `Bash`.
Rule 3: only the standard library: this file runs before every call of a tool.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from typing import Any

__all__ = ["MAX_MATCHED", "check_pattern", "is_match", "matcher_of", "must_ask"]

MAX_MATCHED = 10_000
"""A call with more text matches every pattern for its tool, so that no text can take for ever to be looked at."""

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
_PATHS = {"file_path", "notebook_path"}
_SERVER = "mcp__"
_EDITING = ("Edit", "MultiEdit", "Write", "NotebookEdit")
_BEFORE_PATH = re.compile(r"^(?:~?/+|(?:\.{1,2}/+)+)")
_BEFORE_DOMAIN = re.compile(r"^domain:\s*")
_WORD_BEGINS = r"(?:^|(?<=[\s;&|(){}$`/=<>!:@,\[]))"
_WORD_ENDS = r"(?=$|[\s;&|(){}$`<>/,*?\[])"
_FOLDER_BEGINS = "(?<![^/])"
_GAP = r"""\s+(?:(?:-|\w+=)[^\s;&|]*\s+(?:(?:"[^"]*"|'[^']*'|[^-\s;&|][^\s;&|]*)\s+)?){0,50}"""
"""Between two words of a command: options, of which each may have a value, and variables; so many that it takes no time."""
_OPTION = re.compile(
    r"\s+(?:--(?P<long>\w[\w-]*)(?:=(?P<value>\S*))?|-(?P<short>[a-z]+))(?=\s|$)", re.IGNORECASE
)
_COMMANDS = re.compile(r"[^;&|\n]+")
_SPELLING = re.compile(r"(?:\\\r?\n|[\"'\\]|\$IFS\b|\$\{IFS\})+")
"""Marks that a shell takes away, or reads as a blank: `r''m` is `rm`, and so is what goes on in the next line."""
_WILD = re.compile(r"(?P<words>\s\*+\s)|(?P<folders>(?:\*{2,}/)+)|(?P<star>\*+)|\?|\[[!^]?\]?[^\]]*\]")

Find = Callable[[str], bool]


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
    if not any(re.fullmatch(translate(name), tool) for name in _names(parts["tool"])):
        return False
    if parts["text"] is None or parts["text"].strip() in {"", "*"}:
        return True
    texts = [text for _, text in zip(range(MAX_MATCHED + 1), _texts(tool, given), strict=False)]
    if len(texts) > MAX_MATCHED or sum(map(len, texts)) > MAX_MATCHED:
        return True
    find = _finder(parts["text"], _TEXTS.get(tool, ""))
    return any(map(find, texts))


def matcher_of(patterns: list[str]) -> str:
    """Return the regular expression by which the host tells for which tools its hook is started at all."""
    tools = (name for pattern in patterns for name in _names(pattern.partition("(")[0]))
    return "|".join(dict.fromkeys(re.escape(tool).replace(r"\*", ".*").replace(r"\?", ".") for tool in tools))


def _names(tool: str) -> tuple[str, ...]:
    """Return what a pattern's tool stands for: a server for all of its tools, and one that changes files for all that do."""
    if tool in _EDITING:
        return _EDITING
    is_server = tool.startswith(_SERVER) and "__" not in tool.removeprefix(_SERVER).rstrip("*")
    return (tool, f"{tool}__*") if is_server and not tool.endswith("*") else (tool,)


def _texts(tool: str, given: Any) -> Iterator[str]:
    key = _TEXTS.get(tool)
    if key is None:
        yield from _leaves(given)
        return
    text = given.get(key) if isinstance(given, dict) else None
    if not isinstance(text, str):
        # An input that is not as the tool's own is, is one that nobody here can judge.
        text = " " * (MAX_MATCHED + 1)
    yield text


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
def _finder(text: str, key: str) -> Find:
    """Return what finds a pattern's text in the part of an input that is called `key`."""
    text = re.sub(r":\*$", "*", text.strip())
    if key in _PATHS:
        search = _searcher(_BEFORE_PATH.sub("", text))
        return lambda path: any(map(search, _ways_to(path)))
    if key == "url":
        text = _BEFORE_DOMAIN.sub("", text)
    searches = [_command_searcher(way) for way in _spellings(text)]
    return lambda given: any(search(way) for search in searches for way in _spellings(given))


def _spellings(text: str) -> Iterable[str]:
    """Return a text as it is, and as a shell would read it."""
    plain = " ".join(_SPELLING.sub("", text).split())
    spaced = " ".join(_SPELLING.sub(" ", text).split())  # "bash -c 'rm x'": a word begins at the quote
    return dict.fromkeys((text, plain, spaced))


def _ways_to(path: str) -> tuple[str, ...]:
    """Return a path as it is spelled, and where it leads."""
    try:
        return (path, os.path.normpath(path), os.path.realpath(path))
    except (OSError, ValueError):
        return (path,)  # no file has such a name


def _command_searcher(text: str) -> Find:
    """Return what finds words of a command with other options between them, and its own options at any place in it."""
    options = [
        re.compile(f"(?:^|\\s){option}", re.IGNORECASE).search
        for found in _OPTION.finditer(text)
        for option in _options(found)
    ]
    search = _searcher(_OPTION.sub("", text), _GAP)
    if not options:
        return search
    return lambda given: any(
        search(command) and all(find(command) for find in options) for command in _commands(given)
    )


def _options(found: re.Match[str]) -> Iterator[str]:
    """Give the regular expressions of an option: by its name, or by the letter that it begins with."""
    if found["short"]:
        yield from (f"-(?:[a-z]*{letter}|-{letter})" for letter in found["short"])
    else:
        value = rf"(?:=|\s+){re.escape(found['value'])}" if found["value"] else ""
        yield f"(?:--{found['long']}{value}|-[a-z]*{found['long'][0]})"


def _commands(text: str) -> list[str]:
    """Return the commands of a line; all as one where a quoted word may hold what would part them."""
    return [text] if re.search("[\"'\\\\]", text) else _COMMANDS.findall(text)


def _searcher(text: str, gap: str = r"\s+") -> Find:
    """Return what finds a text with wildcards, beginning at any word; `gap` is what stands for its blanks."""
    # `rm *` is `rm` with anything or nothing behind it.
    is_open = text.endswith("*")
    stem = text.rstrip("*").rstrip() if text.endswith(" *") else text.rstrip("*")
    end = _WORD_ENDS if not is_open or text.endswith(" *") else ""
    search = re.compile(f"{_WORD_BEGINS}{_regex(stem, gap)}{end}", re.DOTALL | re.IGNORECASE).search
    return lambda given: search(given) is not None


def _regex(text: str, gap: str) -> str:
    """Return the regular expression of a text with wildcards. No text makes it slow: what a star skipped stays so."""

    def escape(piece: str) -> str:
        return gap.join(map(re.escape, re.split(r"\s+", piece)))

    pieces, fixed, at = [], "", 0
    for wild in _WILD.finditer(text):
        fixed += escape(text[at : wild.start()])
        at = wild.end()
        if wild["words"]:  # in `git * push` there may be no word between
            pieces.append(rf"{fixed}\s")
            fixed = r"(?<=\s)"
        elif wild["star"] or wild["folders"]:
            pieces.append(fixed)
            fixed = _FOLDER_BEGINS if wild["folders"] else ""  # in `src/**/x` there may be no folder between
        elif wild[0] == "?":
            fixed += "."
        else:
            one_of = translate(wild[0])[: -len(r"\Z")]
            fixed += f"(?:{re.escape(wild[0])}|{one_of})"
    first, *others = [*pieces, fixed + escape(text[at:])]
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>.*?{piece})" for piece in middle) + f".*?{last}"
