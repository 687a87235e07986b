"""Where the entry for a deferred finding goes in its document (W-U10).

Rule 1: bytes in, bytes out. Every line of the document stays as it is; lines are only added, with the line ends that
        the document has.
Rule 2: the section is the level-two heading with exactly that text, wherever it stands; there is never a second one.
        It ends at the next heading of its level or above. Each day of review has a heading in it.
Rule 3: a new section stands at the end, but above a footer: a last rule with up to five lines of text below it, and
        definitions of links and footnotes and comments at the end. What has nothing above it is no footer.
Rule 4: an entry that stands under that day already is not written again. Other days are not looked at.
Rule 5: code or a comment that the document never ends is ended first; else the section would be a part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date as calendar_date

import msgspec

from assent.protocol.deferral_entry import Deferral, has_key, is_same, key_of, parse_entry, render_entry
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, TooLargeError
from assent.protocol.finding import Finding
from assent.protocol.outline import (
    Block,
    BlockKind,
    Outline,
    is_blank_line,
    is_definition,
    is_footnote,
    parse_outline,
)

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "SECTION",
    "Appended",
    "append_deferral",
    "hide_deferrals",
    "loses_deferrals",
    "parse_deferrals",
]

SECTION = "## Deferred / Open Questions"
MAX_DOCUMENT_BYTES = 4 << 20
"""With the entry in it."""

_SECTION_LEVEL, _DAY_LEVEL = 2, 3
_FOOTER_LINES = 5
_BOM = "\ufeff"
_NO_TEXT = b"\xff"
"""A byte that stands in no UTF-8 text."""
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch


class Appended(msgspec.Struct, frozen=True, gc=False):
    """A document with an entry for a deferred finding in it."""

    content: bytes
    """The whole document."""
    location: str
    """Where the entry stands, as people read it: `"## Deferred / Open Questions" > "### From 2026-11-16 review"`."""
    is_new: bool
    """False: such an entry stood under that day already; the document is unchanged."""


class _Part(msgspec.Struct, frozen=True, gc=False):
    """A heading and the blocks below it, as places in the list of blocks."""

    heading: int
    stop: int


def append_deferral(document: bytes, finding: Finding, date: str) -> Appended:
    """Return the document with an entry for `finding` under `date`, as in `2026-11-16`."""
    day = _day_heading(date)
    location = f'"{SECTION}" > "{day}"'
    text = _decode(document)
    outline = parse_outline(text.removeprefix(_BOM))
    sections = list(_parts(outline.blocks, SECTION, 0, len(outline.blocks)))
    days = [
        part
        for section in sections
        for part in _parts(outline.blocks, day, section.heading + 1, section.stop)
    ]
    wanted = key_of(finding)
    if any(is_same(found, wanted) for part in days for found in _entries(outline, part)):
        return Appended(document, location, is_new=False)
    headings = () if days else (day, "") if sections else (SECTION, "", day, "")
    added = _insert(
        outline, next(iter(days or sections), None), [*headings, *render_entry(finding)], _line_end(text)
    )
    content = ((_BOM if text.startswith(_BOM) else "") + added).encode()
    _check_size(content)
    return Appended(content, location, is_new=True)


def parse_deferrals(document: bytes, date: str) -> tuple[Deferral, ...]:
    """Return what is deferred under `date` in a document, in its order."""
    day = _day_heading(date)
    outline = parse_outline(_decode(document).removeprefix(_BOM))
    return tuple(
        found
        for section in _parts(outline.blocks, SECTION, 0, len(outline.blocks))
        for part in _parts(outline.blocks, day, section.heading + 1, section.stop)
        for found in _entries(outline, part)
    )


def hide_deferrals(document: bytes) -> bytes:
    """Return a document of the same length in which what was deferred cannot be found; what is no text, as it is."""
    if SECTION.lstrip("# ").encode() not in document:
        return document
    try:
        text = _decode(document)
    except BadRequestError:
        return document
    outline = parse_outline(text.removeprefix(_BOM))
    lines = [line.encode() for line in outline.lines]
    for number in _deferred_lines(outline):
        lines[number] = _NO_TEXT * len(lines[number])
    return (_BOM.encode() if text.startswith(_BOM) else b"") + b"".join(lines)


def loses_deferrals(before: bytes, after: bytes) -> bool:
    """Whether a line of what was deferred in a document is gone from it; both are text."""
    if SECTION.lstrip("# ").encode() not in before:
        return False
    kept = [parse_outline(_decode(document).removeprefix(_BOM)) for document in (before, after)]
    was, is_left = (
        Counter(outline.lines[number].strip() for number in _deferred_lines(outline)) for outline in kept
    )
    return any(line and is_left[line] < count for line, count in was.items())


def _deferred_lines(outline: Outline) -> Iterator[int]:
    """Yield the number of each line of the section."""
    for section in _parts(outline.blocks, SECTION, 0, len(outline.blocks)):
        yield from range(outline.blocks[section.heading].start, outline.blocks[section.stop - 1].stop)


def _day_heading(date: str) -> str:
    try:
        calendar_date.fromisoformat(date if _DATE(date) else "")
    except ValueError:
        raise BadRequestError(f'"{quote(date)}" is not a date such as 2026-11-16.') from None
    return f"### From {date} review"


def _decode(document: bytes) -> str:
    _check_size(document)
    try:
        return document.decode()
    except UnicodeDecodeError:
        raise BadRequestError("The document is not UTF-8 text.") from None


def _check_size(content: bytes) -> None:
    if len(content) > MAX_DOCUMENT_BYTES:
        raise TooLargeError(f"With the entry the document would be larger than {MAX_DOCUMENT_BYTES:,} bytes.")


def _line_end(text: str) -> str:
    """Return how most lines of a document end."""
    if "\n" not in text:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def _parts(blocks: tuple[Block, ...], heading: str, start: int, stop: int) -> Iterator[_Part]:
    """Find the parts of a document that stand below a heading."""
    signs, _, text = heading.partition(" ")
    level = len(signs)
    for at in range(start, stop):
        block = blocks[at]
        if block.kind is BlockKind.HEADING and block.level == level and block.text == text:
            yield _Part(at, next((end for end in range(at + 1, stop) if _ends(blocks[end], level)), stop))


def _ends(block: Block, level: int) -> bool:
    return block.kind is BlockKind.HEADING and block.level <= level


def _entries(outline: Outline, part: _Part) -> Iterator[Deferral]:
    """Read the entries below the heading of a day: its bullets, each with the key that stands in it or behind it."""
    lines: list[str] = []
    for block in outline.blocks[part.heading + 1 : part.stop]:
        is_bullet = block.kind is BlockKind.NESTED
        if is_bullet and lines:
            yield parse_entry(lines)
            lines = []
        if is_bullet or (lines and block.kind is BlockKind.HTML):
            lines += outline.lines[block.start : block.stop]
    if lines:
        yield parse_entry(lines)


def _insert(outline: Outline, part: _Part | None, added: list[str], end: str) -> str:
    """Return the text of a document with lines in it, at the end of a part or, where there is none, of the document."""
    lines, blocks = outline.lines, outline.blocks
    stop = part.stop if part else len(blocks)
    if outline.closing and stop == len(blocks):
        added = [outline.closing, "", *added]
        at = len(lines)
    else:
        if stop == len(blocks):
            stop = _footer(outline)
        at = blocks[stop - 1].stop if stop else 0
        if at:
            added = ["", *added]
    if at < len(lines) and not is_blank_line(lines[at]):
        added = [*added, ""]
    before = "".join(lines[:at])
    if before and not before.endswith(("\r", "\n")):
        before += end
    return before + "".join(line + end for line in added) + "".join(lines[at:])


def _footer(outline: Outline) -> int:
    """Return the place of the block that a footer begins with, or of the end."""
    blocks = outline.blocks
    start = _above_marks(outline, len(blocks))
    above, room = start, _FOOTER_LINES
    while above and blocks[above - 1].kind is BlockKind.PARAGRAPH:
        room -= blocks[above - 1].stop - blocks[above - 1].start
        above -= 1
    if above and room >= 0 and blocks[above - 1].kind is BlockKind.RULE:
        start = _above_marks(outline, above)
    has_text_above = any(block.kind is not BlockKind.FRONT_MATTER for block in blocks[:start])
    return start if has_text_above else len(blocks)


def _above_marks(outline: Outline, stop: int) -> int:
    """Return the place behind the last block before `stop` that is no rule, comment or definition."""
    lines, blocks = outline.lines, outline.blocks
    while stop:
        first = stop - 1
        if first and blocks[first].kind is BlockKind.CODE and is_footnote(lines[blocks[first - 1].start]):
            first -= 1  # a further paragraph of the footnote, which is indented
        if not _is_mark(outline, blocks[first]):
            break
        stop = first
    return stop


def _is_mark(outline: Outline, block: Block) -> bool:
    lines = outline.lines[block.start : block.stop]
    match block.kind:
        case BlockKind.RULE:
            return True
        case BlockKind.PARAGRAPH:
            return is_footnote(lines[0]) or all(map(is_definition, lines))
        case BlockKind.HTML:
            is_comment = lines[0].lstrip().startswith("<!--") and lines[-1].rstrip().endswith("-->")
            return is_comment and not any(map(has_key, lines))
        case _:
            return False
