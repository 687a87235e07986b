"""One entry of the deferred questions in a document: written, and read back (W-U10).

Rule 1: an entry is one bullet. All of it is indented, so nothing in it can be a part of the document around it.
Rule 2: its words are an agent's. Whatever would hide something, begin a heading, run on or define a link for the rest
        of the document is shown as it was written; plain prose, code and lists stay as they are. A document is read
        as a file, too, so no more is escaped than must be.
Rule 3: a comment in an entry is its key. No `<!--` of an agent's gets into a document, not even in code.
Rule 4: what is compared is what was written: keys in any case (W-X23), titles where there is no key.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import msgspec

from assent.protocol.display import display
from assent.protocol.finding import Finding
from assent.protocol.fingerprint import normalise, snippet

__all__ = ["Deferral", "has_key", "is_same", "key_of", "parse_entry", "render_entry"]

_INDENT = "  "

_VALUE = r'"((?:[^"\\]|\\.)*+)"'
_KEY = re.compile(
    rf"""\s*<!--[^"]*?section={_VALUE}\s+title={_VALUE}\s+evidence={_VALUE}\s*-->\s*"""
).fullmatch
_UNSAFE = re.compile(r'["\\<>]').search
_HIDDEN = re.compile(r"<U\+[0-9A-F]{4,6}>")
_BULLET = re.compile(r"\s*(?:[-+*]|[0-9]{1,9}[.)])\s+").match
_TITLE = re.compile(r"\*\*((?:`[^`]*+`|\\.|[^*\\])*+)\*\*").match

_OPENING = re.compile(r"(`{3,}|~{3,})[A-Za-z0-9_+.#-]*[ ]*").fullmatch
_MARKS = re.compile(r"(?:[ \t]*+(?:[-+*](?=[ \t])|[0-9]{1,9}[.)](?=[ \t])|>))*+[ \t]*+").match
_BLOCK = re.compile(r"#{1,6}(?=[ \t]|\Z)|`{3}|~{3}|:{3}|[-=*]+\Z|([-_*])(?:[ \t]*+\1){2,}+\Z").match
_BRACKET = re.compile(r"\*?\[").match
_SPAN = re.compile(r"(`[^`]*+`)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#|[A-Za-z][A-Za-z0-9]*+;)")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)")


class Deferral(msgspec.Struct, frozen=True):
    """By what an entry is known again."""

    section: str
    """Normalised, as is the title."""
    title: str
    evidence: str = ""
    """The beginning of the first quote."""
    has_key: bool = True
    """False: its comment is gone or cannot be read, so only the title counts."""


def key_of(finding: Finding) -> Deferral:
    """Return by what a finding's entry will be known again."""
    evidence = display(snippet(finding.evidence[0]), lines=False) if finding.evidence else ""
    return Deferral(_bare(finding.section), _bare(finding.title), evidence)


def is_same(found: Deferral, wanted: Deferral) -> bool:
    """Whether an entry of a document is that of a finding."""
    if normalise(found.title) != normalise(wanted.title):
        return False
    if not found.has_key:
        return bool(found.title)
    if normalise(found.section) != normalise(wanted.section):
        return False
    if not found.evidence or not wanted.evidence:
        return True
    return found.evidence.casefold() == wanted.evidence.casefold()


def render_entry(finding: Finding) -> list[str]:
    """Return the lines of a finding's entry, without their ends."""
    key = key_of(finding)
    title, section = _inline(finding.title, "(no title)"), _inline(finding.section, "(no section)")
    reviewers = (_inline(reviewer, "(no name)") for reviewer in finding.reviewers)
    said = ", ".join([finding.severity.value, *reviewers, f"anchor {finding.confidence}"])
    comment = f'<!-- section="{key.section}" title="{key.title}" evidence="{key.evidence}" -->'
    body = ["", *_paragraphs(finding.why_it_matters), "", comment]
    return [f"- **{title}** — {section} ({said})", *(_INDENT + line if line else "" for line in body)]


def parse_entry(lines: Iterable[str]) -> Deferral:
    """Return by what the entry in `lines` is known; the last comment that is a key counts."""
    first, *others = lines
    for line in reversed(others):
        if key := _KEY(line):
            return Deferral(key[1], key[2], key[3])
    bullet = _BULLET(first)
    text = first[bullet.end() :] if bullet else first
    title = _TITLE(text)
    shown = html.unescape(title[1] if title else text)
    return Deferral("", normalise(_HIDDEN.sub("", shown)), has_key=False)


def has_key(line: str) -> bool:
    """Whether a line holds the key of an entry."""
    return bool(_KEY(line))


def _bare(text: str) -> str:
    """Return a text as it stands in a key; only of one that is nothing but signs there may be signs left."""
    bare = normalise(text)
    return display(snippet(bare) if _UNSAFE(bare) else bare, lines=False)


def _inline(text: str, instead: str) -> str:
    """Return `text` as it can stand in a line of ours, also between stars; `instead` where nothing is left of it."""
    shown = display(" ".join(text.split()), lines=False)
    parts = _SPAN.split(shown) if _has_pairs(shown) else [shown]
    return "".join(_in_code(part) if at % 2 else _literal(part) for at, part in enumerate(parts)) or instead


def _paragraphs(text: str) -> list[str]:
    """Return the lines of `text` as they can stand in a bullet, one below the other."""
    lines = [_without_tabs(line) for line in display(text).split("\n")]
    while lines and not lines[-1].strip(" "):
        del lines[-1]
    while lines and not lines[0].strip(" "):
        del lines[0]
    is_code, closing = _find_code(lines)
    prose = [line for line, fenced in zip(lines, is_code, strict=True) if not fenced]
    has_pairs = all(map(_has_pairs, prose))
    # A definition begins with a bracket at the beginning of a line, in whichever list or quote.
    may_define = any(_BRACKET(line, _text_start(line)) for line in prose)
    shown = [
        _in_code(line) if fenced else _shield(line, has_pairs, may_define)
        for line, fenced in zip(lines, is_code, strict=True)
    ]
    return [*shown, closing] if closing else shown


def _without_tabs(line: str) -> str:
    """Return a line indented by spaces: a tab is narrower where something stands before it."""
    bare = line.lstrip(" \t")
    return line[: len(line) - len(bare)].expandtabs(4) + bare


def _find_code(lines: list[str]) -> tuple[list[bool], str]:
    """Return which lines are plainly code, and the fence that is still open at the end."""
    is_code, closing = [], ""
    for line in lines:
        opening = None if closing else _OPENING(line)
        is_code.append(bool(closing or opening))
        if opening:
            closing = opening[1]
        elif closing and _closes(line, closing):
            closing = ""
    return is_code, closing


def _closes(line: str, fence: str) -> bool:
    bare = line.rstrip(" \t")
    mark = bare.lstrip(" ")
    # Up to three spaces may stand before it, says CommonMark.
    return len(bare) - len(mark) <= 3 and len(mark) >= len(fence) and set(mark) == {fence[0]}  # noqa: PLR2004


def _has_pairs(line: str) -> bool:
    """Whether every backtick in a line is plainly the beginning or the end of code."""
    if "`" not in line:
        return True
    if "``" in line or "\\`" in line:
        return False
    parts = _SPAN.split(line)
    # In a table a bar ends its cell, and with it whatever code it stands in.
    return not any("`" in part for part in parts[::2]) and not any("|" in part for part in parts[1::2])


def _text_start(line: str) -> int:
    """Return where a line's text begins, behind the signs of lists and quotes."""
    marks = _MARKS(line)
    return marks.end() if marks else 0


def _shield(line: str, has_pairs: bool, may_define: bool) -> str:
    """Return a line of prose that begins nothing and hides nothing."""
    bare = line.rstrip(" \t")
    if not bare:
        return ""
    start = _text_start(bare)
    if _BLOCK(bare, start):
        line = f"{line[:start]}\\{line[start:]}"
    parts = _SPAN.split(line) if has_pairs else [line]
    shown = "".join(_in_code(part) if at % 2 else _in_prose(part) for at, part in enumerate(parts))
    return shown.replace("]:", "]\\:") if may_define else shown


def _literal(part: str) -> str:
    """Return a part of a line in which no sign is more than itself."""
    return _in_prose(_BACKSLASH.sub(r"\\\\", part).replace("`", "\\`").replace("*", "\\*"))


def _in_prose(part: str) -> str:
    return _TAG.sub("&lt;", _ENTITY.sub("&amp;", part)).replace("](", "]\\(")


def _in_code(part: str) -> str:
    return part.replace("<!--", "< !--")
