"""Markdown that an agent wrote, as a tree that a page draws node by node.

    node       a text, or [tag, attributes, node, …]
    tags       those of `TAGS`; a heading is never above `h3`, which stands below the headings of the page
    attribute  `href` of an `a`, and no other

Rule 1: there is no HTML anywhere: what looks like it is text. A page makes each node by its tag, and each text as text.
Rule 2: nothing is fetched. A picture is its description and its address, as text.
Rule 3: nothing is hidden. A link shows where it leads, behind its text where that is not the address itself; one that leads
        nowhere safe is its text and its address, and no link. A definition that Markdown would swallow, and what is
        written behind the fence of a block of code, are shown.
Rule 4: it takes a bounded work, which is counted and not timed. What would take more, or is too deep or too much, is
        shown as it was written. What was read is kept: the same text is not read anew for every view.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.tree import SyntaxTreeNode

__all__ = [
    "MAX_KEPT_PROSE_BYTES",
    "MAX_PROSE",
    "MAX_PROSE_DEPTH",
    "MAX_PROSE_MARKS",
    "MAX_PROSE_NODES",
    "MAX_PROSE_STEPS",
    "TAGS",
    "KeptProse",
    "Node",
    "parse_prose",
]

MAX_PROSE = 100_000
"""So many characters are read as Markdown; a longer text is shown as it was written."""
MAX_PROSE_DEPTH = 24
MAX_PROSE_NODES = 10_000
MAX_PROSE_STEPS = 10_000
"""So many places of a text are looked at by the parser before it is shown as it was written."""
MAX_PROSE_MARKS = 5_000
"""So many of its characters may be marks of emphasis: each of them is compared with others."""
MAX_KEPT_PROSE_BYTES = 16 << 20
"""So much of what was read is kept."""

TAGS = frozenset(
    [
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
        "s",
        "a",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)
_MAX_ADDRESS = 2_000
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
_SAME = {
    "paragraph": "p",
    "bullet_list": "ul",
    "list_item": "li",
    "blockquote": "blockquote",
    "em": "em",
    "strong": "strong",
    "s": "s",
    "hr": "hr",
    "hardbreak": "br",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
"""What a kind of node of the parser's is drawn as, where nothing else is to be said about it."""
_blank_lines = re.compile(r"\n[ \t]*(?:\n[ \t]*)+").split
_is_plain = re.compile(r"[!-~]+").fullmatch

Node: TypeAlias = "str | list[str | dict[str, str] | Node]"


class _TooMuchError(Exception):
    """A text is not worth reading as Markdown."""


def parse_prose(text: str) -> list[Node]:
    """Return the tree of a text."""
    if len(text) > MAX_PROSE or sum(map(text.count, "*_~")) > MAX_PROSE_MARKS:
        return _as_written(text)
    try:
        lines = text.replace("\r\n", "\n")
        return _Reader().read(SyntaxTreeNode(_markdown.parse(lines, {"steps": 0})))
    except Exception:  # noqa: BLE001 - a parser's fault on somebody's text is no reason not to show it
        return _as_written(text)


class KeptProse:
    """Trees of texts that were read, as JSON, by digest; what was not looked at for the longest time is forgotten first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self._turn = asyncio.Lock()

    async def read(self, text: str) -> bytes:
        """Return the tree of a text as JSON. One text is read at a time, in a thread: others are not to wait for it."""
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        async with self._turn:
            found = self._kept.pop(key, None)
            if found is None:
                found = msgspec.json.encode(await asyncio.to_thread(parse_prose, text))
                self._size += len(found)
            self._kept[key] = found
            while self._size > MAX_KEPT_PROSE_BYTES:
                self._size -= len(self._kept.popitem(last=False)[1])
            return found


def check_address(address: str) -> bool:
    """Say whether a link may lead there.

    >>> check_address("https://example.org/a?b#c"), check_address("javascript:alert(1)")
    (True, False)
    """
    if len(address) > _MAX_ADDRESS or _is_plain(address) is None:
        return False
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return not parts.netloc and "@" in parts.path
    # A name before the host is how an address looks as if it led elsewhere; a browser takes a backslash for a slash.
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    return is_web and "@" not in parts.netloc and "\\" not in address


def _as_written(text: str) -> list[Node]:
    paragraphs = [part for part in _blank_lines(text.replace("\r\n", "\n")) if part.strip()]
    if len(paragraphs) > MAX_PROSE_NODES:
        return [["pre", {}, text]]
    return [["p", {}, part] for part in paragraphs]


class _Reader:
    """Reads one tree of the parser's, once."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, root: SyntaxTreeNode) -> list[Node]:
        return self._children(root, 1)

    def _children(self, parent: SyntaxTreeNode, depth: int) -> list[Node]:
        if depth > MAX_PROSE_DEPTH:
            raise _TooMuchError
        found: list[Node] = []
        for child in parent.children:
            found += self._node(child, depth)
        return _joined(found)

    def _node(self, node: SyntaxTreeNode, depth: int) -> Sequence[Node]:
        self._count += 1
        if self._count > MAX_PROSE_NODES:
            raise _TooMuchError
        match node.type:
            case "inline":
                return self._children(node, depth)
            case "text":
                return [node.content]
            case "softbreak":
                return ["\n"]
            case "code_inline":
                return [["code", {}, node.content]]
            case "code_block":
                return [["pre", {}, ["code", {}, node.content]]]
            case "fence":
                info: list[Node] = [["p", {}, ["em", {}, node.info.strip()]]] if node.info.strip() else []
                return [*info, ["pre", {}, ["code", {}, node.content]]]
            case "image":
                return [f"image: {node.content} ({node.attrs.get('src', '')}){_title(node)}"]
            case "link":
                return self._link(node, depth)
            case "heading":
                return [[_HEADINGS[node.tag], {}, *self._children(node, depth + 1)]]
            case "ordered_list":
                return [self._ordered(node, depth)]
            case _:
                return [[_SAME[node.type], {}, *self._children(node, depth + 1)]]

    def _link(self, node: SyntaxTreeNode, depth: int) -> Sequence[Node]:
        address, shown = str(node.attrs.get("href", "")), self._children(node, depth + 1)
        if check_address(address):
            told = "" if shown in ([], [address]) else f" ({address})"
            return [["a", {"href": address}, *(shown or [address])], *filter(None, [f"{told}{_title(node)}"])]
        return [*shown, f" ({address}){_title(node)}"]

    def _ordered(self, node: SyntaxTreeNode, depth: int) -> Node:
        first = int(node.attrs.get("start", 1))
        entries = self._children(node, depth + 1)
        if first == 1:
            return ["ol", {}, *entries]
        # There is no attribute for where a list begins, and "4." must not be read as "1.".
        numbered: list[str | dict[str, str] | Node] = ["ul", {}]
        for number, entry in enumerate(entries, first):
            numbered.append([*entry[:2], f"{number}. ", *entry[2:]])
        return numbered


def _title(node: SyntaxTreeNode) -> str:
    title = node.attrs.get("title", "")
    return f" ({title})" if title else ""


def _joined(nodes: list[Node]) -> list[Node]:
    """Return nodes with texts that stand side by side as one."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and found and isinstance(found[-1], str):
            found[-1] += node
        elif node != "":
            found.append(node)
    return found


def _count_step(state: StateBlock | StateInline) -> bool:
    state.env["steps"] += 1
    # A node has two tokens at most, and a table makes them without looking at another place.
    if state.env["steps"] > MAX_PROSE_STEPS or len(state.tokens) > 2 * MAX_PROSE_NODES:
        raise _TooMuchError
    return False


def _count_block(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:
    return _count_step(state)


def _count_inline(state: StateInline, _silent: bool) -> bool:
    return _count_step(state)


def _allow(url: str) -> bool:  # noqa: ARG001 - the parser's signature; `check_address` says where a link may lead
    return True


def _make_markdown() -> MarkdownIt:
    # Beyond its nesting the parser leaves out what comes: that limit lies behind ours, which is noticed.
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MAX_PROSE_DEPTH + 10})
    made.enable(["table", "strikethrough"]).disable(["reference"])
    made.core.ruler.disable(
        ["normalize"]
    )  # it makes line ends of what is none, and other signs of what is hidden
    made.validateLink = _allow  # type: ignore[method-assign]
    made.block.ruler.before("table", "count", _count_block, {"alt": ["paragraph", "blockquote", "list"]})
    made.inline.ruler.before("text", "count", _count_inline)
    return made


_markdown = _make_markdown()
