"""The blocks that a Markdown document is made of at its top level, by their lines.

Rule 1: blocks are told apart as CommonMark does it, lists and quotes with their lazy lines included. So a heading in
        a block of code, a comment, a list or a quote is not taken for one of the document's.
Rule 2: front matter is a block of its own: what stands between two `---` or two `+++` from the first line on, if the
        line behind the first is not blank.
Rule 3: lines are looked at, never changed. Put together they are the document again.
Rule 4: the time is linear in the document, whatever stands in it.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

__all__ = ["Block", "BlockKind", "Outline", "is_blank_line", "is_definition", "is_footnote", "parse_outline"]

MAX_NESTING = 20
"""Lists and quotes in each other; deeper ones are text. Without it, blank lines below a thousand lists take for ever."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")
_HEADING = re.compile(r"(#{1,6})(?:[ ](.*))?").fullmatch
_CLOSING_SIGNS = re.compile(r"(?:\A|[ ])#+[ ]*\Z")
_UNDERLINE = re.compile(r"(=+|-+)[ ]*").fullmatch
_RULE = re.compile(r"([-_*])[ ]*(?:\1[ ]*){2,}").fullmatch
_FENCE = re.compile(r"(`{3,})[^`]*|(~{3,}).*").fullmatch
_LIST_MARK = re.compile(r"[-+*]|([0-9]{1,9})[.)]").match
_LINK = re.compile(
    r"""[ ]{0,3}\[[^\]]++\]:[ \t]*+[^\s]++(?:[ \t]++(?:"[^"]*+"|'[^']*+'|\([^)]*+\)))?+\s*+"""
).fullmatch
_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^[^\]\s]++\]:").match
_SIGNS = frozenset(" \t#>-+*_=`~<0123456789")
"""A line that begins with anything else is text."""
_FRONT_MATTER = {"---": ("---", "..."), "+++": ("+++",)}

_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_VERBATIM_TAG = re.compile(r"<(script|pre|style|textarea)(?=[ >]|\Z)", re.IGNORECASE).match
_VERBATIM_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE).search
_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(_BLOCK_TAGS.split())})(?=[ >]|/>|\Z)", re.IGNORECASE).match
_ANY_TAG = re.compile(
    r"""
    (?: <[a-z][a-z0-9-]*+
        (?: [ ]++[a-z_:][\w.:-]*+ (?: [ ]*+=[ ]*+ (?: [^\s"'=<>`]++ | '[^']*+' | "[^"]*+" ) )?+ )*+
        [ ]*+/?>
      | </[a-z][a-z0-9-]*+[ ]*+>
    ) [ ]*
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
).fullmatch
# How an HTML block begins that only its own end ends, and that end.
_HTML_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))


class BlockKind(StrEnum):
    """What a block of a document is."""

    FRONT_MATTER = "front_matter"
    HEADING = "heading"
    RULE = "rule"
    PARAGRAPH = "paragraph"
    """Definitions of links and footnotes are paragraphs here, too."""
    CODE = "code"
    HTML = "html"
    NESTED = "nested"
    """An outermost list entry or quote with all that is in it."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """One block at the top level."""

    kind: BlockKind
    start: int
    """Its first line, counted from 0."""
    stop: int
    """The line behind its last one that is not blank."""
    level: int = 0
    """Of a heading."""
    text: str = ""
    """Of a heading, without its signs."""


class Outline(msgspec.Struct, frozen=True, gc=False):
    """A document by its lines."""

    lines: tuple[str, ...]
    """With their ends."""
    blocks: tuple[Block, ...]
    closing: str
    """The line that would end the code or the comment that is still open at the end of the document; mostly empty."""


class _Box(msgspec.Struct):
    """A list entry or a quote that is open."""

    width: int
    """How far its content is indented; 0: a quote."""
    is_empty: bool = False


class _Leaf(StrEnum):
    """What the next line could go on with, in the innermost box."""

    NONE = "none"
    PARAGRAPH = "paragraph"
    INDENTED = "indented"
    FENCE = "fence"
    HTML = "html"
    """Until its end is seen."""
    TAGS = "tags"
    """HTML until a blank line."""


_KINDS = {
    _Leaf.PARAGRAPH: BlockKind.PARAGRAPH,
    _Leaf.INDENTED: BlockKind.CODE,
    _Leaf.FENCE: BlockKind.CODE,
    _Leaf.HTML: BlockKind.HTML,
    _Leaf.TAGS: BlockKind.HTML,
}
_BETWEEN = (_Leaf.NONE, _Leaf.PARAGRAPH)


def is_blank_line(line: str) -> bool:
    """Whether nothing but spaces and tabs stands in a line."""
    return not line.strip(" \t\r\n")


def is_definition(line: str) -> bool:
    """Whether a line says what a link or a footnote is.

    >>> is_definition("[docs]: https://example.org"), is_definition("[note]: see below")
    (True, False)
    """
    return bool(_LINK(line) or _FOOTNOTE(line))


def is_footnote(line: str) -> bool:
    """Whether a footnote begins in a line."""
    return bool(_FOOTNOTE(line))


def parse_outline(text: str) -> Outline:
    """Return the blocks of a document; any text is one."""
    lines = _LINE.findall(text)
    scanner = _Scanner(lines)
    body = _front_matter(lines)
    if body:
        scanner.begin(BlockKind.FRONT_MATTER, 0, body)
    for number in range(body, len(lines)):
        scanner.read(number)
    return Outline(tuple(lines), scanner.found(), scanner.closing())


def _front_matter(lines: list[str]) -> int:
    """Return how many lines the front matter has."""
    endings = _FRONT_MATTER.get(lines[0].rstrip(" \t\r\n")) if lines else None
    if not endings or len(lines) < 2 or is_blank_line(lines[1]):  # noqa: PLR2004
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip(" \t\r\n") in endings), 0)


class _Scanner:
    """Reads line after line; at any moment it knows which boxes are open and what is in the innermost one."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._boxes: list[_Box] = []
        self._leaf = _Leaf.NONE
        self._end = ""
        """What ends a fence or HTML that is open."""
        self._blocks: list[Block] = []
        self._stops: list[int] = []

    def found(self) -> tuple[Block, ...]:
        pairs = zip(self._blocks, self._stops, strict=True)
        return tuple(msgspec.structs.replace(block, stop=stop) for block, stop in pairs)

    def closing(self) -> str:
        return self._end if not self._boxes and self._leaf in (_Leaf.FENCE, _Leaf.HTML) else ""

    def begin(self, kind: BlockKind, start: int, stop: int, level: int = 0, text: str = "") -> None:
        self._blocks.append(Block(kind, start, stop, level, text))
        self._stops.append(stop)

    def read(self, number: int) -> None:
        """Take the next line in."""
        if self._leaf in _BETWEEN and self._read_plainly(number):
            return
        line = self._lines[number].rstrip("\r\n").expandtabs(4)
        depth, rest = self._match(line)
        is_inside = depth == len(self._boxes)
        if is_inside and self._goes_on(rest):
            if line.strip(" "):
                self._stops[-1] = number + 1
        elif not rest.strip(" "):
            self._close(depth)
            if self._leaf is not _Leaf.INDENTED:
                self._leaf = _Leaf.NONE
            if depth and line.strip(" "):
                self._stops[-1] = number + 1
        else:
            self._read_text(number, depth, rest, is_inside)

    def _read_plainly(self, number: int) -> bool:
        """Take in a line of which the first character tells all; most lines of most documents are such."""
        line = self._lines[number]
        if is_blank_line(line):
            if any(box.is_empty or not box.width for box in self._boxes):
                return False
            self._leaf = _Leaf.NONE
        elif self._boxes or line[0] in _SIGNS:
            return False
        elif self._leaf is _Leaf.PARAGRAPH:
            self._stops[-1] = number + 1
        else:
            self.begin(BlockKind.PARAGRAPH, number, number + 1)
            self._leaf = _Leaf.PARAGRAPH
        return True

    def _match(self, rest: str) -> tuple[int, str]:
        """Return how many of the open boxes the line is in, and what of it is left."""
        for depth, box in enumerate(self._boxes):
            bare = rest.lstrip(" ")
            indent = len(rest) - len(bare)
            if not box.width:
                if indent >= 4 or not bare.startswith(">"):  # noqa: PLR2004
                    return depth, rest
                rest = bare[1:].removeprefix(" ")
            elif bare:
                if indent < box.width:
                    return depth, rest
                rest = rest[box.width :]
                box.is_empty = False
            elif box.is_empty:
                return depth, rest
        return len(self._boxes), rest

    def _close(self, depth: int) -> None:
        """End the boxes that are deeper than `depth`, and what is in them."""
        if depth < len(self._boxes):
            del self._boxes[depth:]
            self._leaf = _Leaf.NONE

    def _goes_on(self, rest: str) -> bool:
        """Whether what is open takes the line in unread."""
        match self._leaf:
            case _Leaf.FENCE:
                bare = rest.rstrip(" ")
                mark = bare.lstrip(" ")
                is_end = len(bare) - len(mark) < 4 and len(mark) >= len(self._end)  # noqa: PLR2004
                if is_end and not mark.strip(self._end[0]):
                    self._leaf = _Leaf.NONE
            case _Leaf.HTML:
                if _ends_html(self._end, rest):
                    self._leaf = _Leaf.NONE
            case _Leaf.TAGS:
                return bool(rest.strip(" "))
            case _:
                return False
        return True

    def _read_text(self, number: int, depth: int, rest: str, is_inside: bool) -> None:
        was_paragraph = self._leaf is _Leaf.PARAGRAPH
        opened, bare = False, rest.lstrip(" ")
        if bare[0] in _SIGNS:
            opened, rest = self._open_boxes(number, depth, rest, was_paragraph and is_inside)
            bare = rest.lstrip(" ")
        is_indented = len(rest) - len(bare) >= 4  # noqa: PLR2004
        is_paragraph = was_paragraph and not opened
        if is_paragraph and is_inside and not is_indented and self._underline(number, bare):
            return
        leaf = self._leaf_of(bare, is_indented, is_paragraph)
        if (
            leaf is _Leaf.PARAGRAPH and is_paragraph
        ):  # it goes on, also where the signs of its boxes are left out
            self._stops[-1] = number + 1
            return
        if not opened:
            self._close(depth)
        is_same = leaf is _Leaf.INDENTED and self._leaf is leaf and not opened
        if self._boxes or is_same:
            self._stops[-1] = number + 1
        elif leaf is not _Leaf.NONE:
            self.begin(_KINDS[leaf], number, number + 1)
        elif heading := _HEADING(bare):
            text = _CLOSING_SIGNS.sub("", heading[2] or "").strip(" ")
            self.begin(BlockKind.HEADING, number, number + 1, len(heading[1]), text)
        else:
            self.begin(BlockKind.RULE, number, number + 1)
        self._leaf = leaf
        if leaf is _Leaf.HTML and _ends_html(self._end, bare):
            self._leaf = _Leaf.NONE

    def _open_boxes(self, number: int, depth: int, rest: str, in_paragraph: bool) -> tuple[bool, str]:
        """Open the lists and quotes that begin in a line; return whether any did, and what of the line is left."""
        opened = False
        while depth < MAX_NESTING:
            bare = rest.lstrip(" ")
            indent = len(rest) - len(bare)
            if indent >= 4:  # noqa: PLR2004
                break
            if bare.startswith(">"):
                box, rest = _Box(0), bare[1:].removeprefix(" ")
            elif _RULE(bare) or (in_paragraph and _UNDERLINE(bare)):
                break
            elif entry := _list_entry(bare, indent, in_paragraph):
                box, rest = entry
            else:
                break
            self._close(depth)
            if not depth:
                self.begin(BlockKind.NESTED, number, number + 1)
            self._boxes.append(box)
            self._stops[-1] = number + 1
            self._leaf = _Leaf.NONE
            depth, opened, in_paragraph = depth + 1, True, False
        return opened, rest

    def _underline(self, number: int, bare: str) -> bool:
        """Make the paragraph that is open a heading, if the line underlines it."""
        if not _UNDERLINE(bare):
            return False
        if self._boxes:
            self._stops[-1] = number + 1
        else:
            start = self._blocks[-1].start
            lines = self._lines[start:number]
            if all(map(is_definition, lines)):
                return False
            text = " ".join(line.strip(" \t\r\n") for line in lines)
            self._blocks[-1] = Block(BlockKind.HEADING, start, number + 1, 1 if bare[0] == "=" else 2, text)
            self._stops[-1] = number + 1
        self._leaf = _Leaf.NONE
        return True

    def _leaf_of(self, bare: str, is_indented: bool, is_paragraph: bool) -> _Leaf:
        """Return what begins in a line, or goes on; NONE: a heading, a rule, or nothing in a box that is empty."""
        if is_indented:
            return _Leaf.PARAGRAPH if is_paragraph else _Leaf.INDENTED
        if bare and bare[0] not in _SIGNS:
            return _Leaf.PARAGRAPH
        if not bare or _HEADING(bare) or _RULE(bare):
            return _Leaf.NONE
        if fence := _FENCE(bare):
            self._end = fence[1] or fence[2]
            return _Leaf.FENCE
        if end := _html_end(bare):
            self._end = end
            return _Leaf.HTML
        if _BLOCK_TAG(bare) or (not is_paragraph and _ANY_TAG(bare)):
            return _Leaf.TAGS
        return _Leaf.PARAGRAPH


def _list_entry(bare: str, indent: int, in_paragraph: bool) -> tuple[_Box, str] | None:
    mark = _LIST_MARK(bare)
    if not mark or (in_paragraph and mark[1] and int(mark[1]) != 1):
        return None
    rest = bare[mark.end() :]
    content = rest.lstrip(" ")
    if not content:
        return None if in_paragraph else (_Box(indent + mark.end() + 1, is_empty=True), "")
    spaces = len(rest) - len(content)
    if not spaces:
        return None
    if spaces > 4:  # noqa: PLR2004
        spaces = 1  # the others are of the code that it begins with
    return _Box(indent + mark.end() + spaces), rest[spaces:]


def _html_end(bare: str) -> str:
    """Return what ends the HTML that begins in a line, if only its own end does."""
    if not bare.startswith("<"):
        return ""
    if tag := _VERBATIM_TAG(bare):
        return f"</{tag[1].lower()}>"
    for begin, end in _HTML_ENDS:
        if bare.startswith(begin):
            return end
    return ">" if re.match("<![A-Za-z]", bare) else ""


def _ends_html(end: str, text: str) -> bool:
    if end.startswith("</"):  # any of these tags ends any other
        return bool(_VERBATIM_END(text))
    return end in text
