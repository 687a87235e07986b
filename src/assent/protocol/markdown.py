"""Untrusted text made safe to stand in Markdown that a site renders for people, such as a comment on a pull request.

Rule 1: nothing is hidden. Raw HTML, comments, link definitions and footnotes would not be shown; here they are, as
        they were written.
Rule 2: nobody is called, and the text reads as it was written. A mention stands there as code: a site looks for mentions
        in the rendered text, so neither an entity nor a backslash would stop it, and a character without width would
        be a hidden one.
Rule 3: nothing runs on. What stands behind the text is rendered as it would be without it.
Rule 4: a link shows where it leads, and no picture is fetched: both are shown as they were written.
Rule 5: code is shown, never drawn or offered: a block that a site would turn into a diagram, a map or a change that one
        click applies is plain code here.
Rule 6: code stays as it is where it is plainly code: between fences at the left edge, and between single backticks
        that come in pairs on every line. Any other backtick is shown as a backtick.
"""

from __future__ import annotations

import re

from assent.protocol.display import display

__all__ = ["code", "cut", "fence", "neutralise"]

_OPENING = re.compile(r"(?P<fence>`{3,}|~{3,})[A-Za-z0-9_+.#-]*[ ]*").fullmatch
_DRAWN = re.compile(
    r"\A(?P<fence>`{3,}|~{3,})(?:suggestion|mermaid|math|geojson|topojson|stl)[A-Za-z0-9_+.#-]*[ ]*\Z",
    re.IGNORECASE,
)
_RUN = re.compile(r"`+")
_TICKS = re.compile(r"[\\`]")
_ENTITY = re.compile(r"&(?=#|[A-Za-z])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# A letter or digit before it makes it a part of an address. Anything else, also a letter of another script or an
# underscore, may be the edge of a word once it is rendered.
_MENTION = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9](?:[A-Za-z0-9@/._-]*[A-Za-z0-9])?")
_ENDS_WITH_MENTION = re.compile(rf"(?:{_MENTION.pattern})\Z").search
_SPAN = re.compile(r"(`[^`]*`)")


def neutralise(text: str) -> str:
    r"""Return `text` as it can be put between blank lines of a comment.

    >>> neutralise("Ask @ana about `a<b>`. <!-- hidden -->")
    'Ask `@ana` about `a<b>`. &lt;!-- hidden -->'
    """
    lines = display(text).split("\n")
    is_code, openings, closing = _scan(lines)
    has_pairs = all(_is_paired(line) for line, fenced in zip(lines, is_code, strict=True) if not fenced)
    shown = [line if fenced else _show(line, has_pairs) for line, fenced in zip(lines, is_code, strict=True)]
    for number in openings:
        shown[number] = _DRAWN.sub(r"\g<fence>", shown[number])
    return "\n".join([*shown, closing] if closing else shown)


def cut(text: str, limit: int) -> str:
    """Return safe text, or as much of it as `limit` allows and a sentence that says so."""
    if len(text) <= limit:
        return text
    note = f"\n\n**Cut here:** the text has {len(text):,} characters, and only {limit:,} can be shown."
    kept = text[: limit - len(note)]
    *_, closing = _scan(kept.split("\n"))
    if closing:  # the sentence must not stand inside a block of code
        kept = kept[: -len(closing) - 1] + "\n" + closing
    return kept + note


def _scan(lines: list[str]) -> tuple[list[bool], list[int], str]:
    """Return which lines are plainly code, where a block of it begins, and the fence that is still open at the end."""
    is_code, openings, closing = [], [], ""
    for number, line in enumerate(lines):
        opening = None if closing else _OPENING(line)
        is_code.append(bool(closing or opening))
        if opening:
            openings.append(number)
            closing = opening["fence"]
        elif closing and _closes(line, closing):
            closing = ""
    return is_code, openings, closing


def _closes(line: str, fence: str) -> bool:
    bare = line.rstrip(" \t")
    # Up to three spaces may stand before it, says CommonMark.
    mark = bare.lstrip(" ") if len(bare) - len(bare.lstrip(" ")) <= 3 else ""  # noqa: PLR2004
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _is_paired(line: str) -> bool:
    runs = _RUN.findall(line)
    if len(runs) % 2 or any(run != "`" for run in runs) or "\\`" in line:
        return False
    *parts, last = _SPAN.split(line)
    # A mention becomes code: no other code may touch it, and no backslash.
    touches = any(_ENDS_WITH_MENTION(part) for part in parts[::2]) or any(
        _MENTION.match(part) for part in [*parts[2::2], *([last] if parts else [])]
    )
    # In a table a bar ends its cell, and with it whatever code it stands in.
    return not touches and "\\@" not in line and not any("|" in span for span in parts[1::2])


def _show(line: str, has_pairs: bool) -> str:
    if not has_pairs:
        return _show_prose(_TICKS.sub(r"\\\g<0>", line))
    return "".join(part if part.startswith("`") else _show_prose(part) for part in _SPAN.split(line) if part)


def _show_prose(part: str) -> str:
    part = _TAG.sub("&lt;", _ENTITY.sub("&amp;", part))
    part = part.replace("]:", "]\\:").replace("](", "]\\(").replace("~~~", "\\~\\~\\~")
    return _MENTION.sub(r"`\g<0>`", part)


def code(text: str) -> str:
    """Return `text` on one line, as code.

    >>> code("a`b")
    '`` a`b ``'
    """
    shown = display(text, lines=False)
    mark = "`" * (max(map(len, _RUN.findall(shown)), default=0) + 1)
    room = " " if "`" in shown or not shown.strip() else ""
    return f"{mark}{room}{shown}{room}{mark}"


def fence(text: str, language: str = "") -> str:
    """Return `text` as a block of code that nothing in it can end."""
    shown = display(text)
    mark = "`" * max(3, max(map(len, _RUN.findall(shown)), default=0) + 1)
    return f"{mark}{language}\n{shown.rstrip(chr(10))}\n{mark}"
