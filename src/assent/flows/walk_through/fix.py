"""A fix told in words (W33-W36): a person says yes or no to what it does, and does not proofread it.

Rule 1: no diff is shown. It is said how many lines go and come.
Rule 2: a block of code is shown as it is where it only adds something and has at most five lines; else it is counted.
Rule 3: at most two pieces of inline code stay code in a sentence, each of them short and with a space on each side, also
        before a full stop. The others lose their marks and keep their words.
Rule 4: an exact edit is what would be written, so it is told whole, below the words; they may say something else.
Rule 5: words without an exact edit are what would be worked in. Where the telling leaves something out, they stand below
        it as they were written: nobody says yes to what cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from assent.flows.walk_through.prose import (
    brief,
    guard,
    next_closing,
    one_line,
    passes_for_ours,
    sentences,
)
from assent.protocol.display import display, is_blank
from assent.protocol.finding import Edit, Finding
from assent.protocol.markdown import fence
from assent.protocol.words import count, join_words

__all__ = ["MAX_FIX", "render_fix", "render_whole_fix"]

MAX_FIX = 20_000
"""So many characters of a fix in words can be read whole in a question."""

_MAX_RAW_LINES, _MAX_RAW_LENGTH = 5, 600
"""W35: so much code is shown as it is."""
_MAX_SPANS = 2
"""W34: so many pieces of inline code in a sentence."""
_SPAN_WORDS, _SPAN_LENGTH = 4, 40
"""What is still an identifier, a flag or a short phrase (W34)."""
_LENGTH = 1_000
_READ = 50_000
"""A fix has no limit of its own. Of one that is longer, the beginning is told."""


class _Code(msgspec.Struct, frozen=True):
    """A block of code in a fix."""

    lines: list[str]
    is_diff: bool


_DIFF_HEAD = ("diff --git ", "@@ ", "@@@ ")
_DIFF_LINE = re.compile(r"[-+]|@@|diff --git |index [0-9a-f]|\\ No newline")
_DIFF_FENCE = re.compile(r"\s*[`~]{3,}\s*(?:diff|patch|udiff)\b", re.IGNORECASE)
# A fix with these words takes something away for what it brings.
_REPLACES = re.compile(
    r"\b(?:replac|renam|rewrit|reword|rephras|substitut|swap|chang|instead\b|before\s*:|after\s*:|old\s*:|was\s*:|current\s*:)",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\s*(?:(?:#{1,6}|[-*+]|[0-9]{1,3}[.)])\s+|>\s?)+")
_BOLD = re.compile(r"(?<![\w/*`])\*\*(?=\S)([^*]*[^*\s])\*\*(?![\w/*`])")
_RULE = frozenset("-*_= ")
_STOPS = tuple(".!?:;,…")
_ENDS = tuple(".!?")
_TICKS = re.compile(r"`+")


def render_whole_fix(finding: Finding) -> str:
    """Return what a finding's fix does, with nothing left out of what would be written or worked in."""
    told, is_whole = _render(finding)
    written = finding.suggested_fix or ""
    if is_whole or finding.edit is not None or len(written) > MAX_FIX:
        return told
    return f"{told}\n\nIn full:\n\n{_exactly(written)}"


def render_fix(finding: Finding) -> str:
    """Return what a finding's fix does, in words; a short block of new text is shown as it is."""
    return _render(finding)[0]


def _render(finding: Finding) -> tuple[str, bool]:
    """Return a fix in words, and whether they leave nothing out."""
    whole = finding.suggested_fix or ""
    blocks = list(_split(display(whole[:_READ]).split("\n")))
    codes = [block for block in blocks if isinstance(block, _Code)]
    replaces = finding.edit is not None or any(
        _REPLACES.search(block) for block in blocks if isinstance(block, str)
    )
    added = [line for block in codes for line in block.lines]
    is_short = len(added) <= _MAX_RAW_LINES and sum(map(len, added)) <= _MAX_RAW_LENGTH
    # A line of code that looks like ours cannot be quoted without changing it, so it is not shown.
    is_plain = not any(block.is_diff for block in codes) and not any(map(passes_for_ours, added))
    is_raw = is_short and is_plain and not replaces
    parts: list[str] = []
    words: list[str] = []
    for block in blocks:
        if isinstance(block, str):
            words.append(block)
        elif is_raw:
            parts += [_prose(words), fence("\n".join(block.lines))]
            words = []
        else:
            words += ["", _summary(block)]
    exact = "" if finding.edit is None else _say_edit(finding.edit)
    told = "\n\n".join(filter(None, [*parts, _prose(words)])) or "The proposed fix has no words."
    told = f"{told}\n\n{exact}" if exact else told
    if len(whole) > _READ:
        told += f"\n\n(This is the beginning of {len(whole):,} characters.)"
    # Words are told in single blanks; where there are others, they may matter.
    is_told = is_raw if codes else display(whole[:_READ]).strip() == one_line(whole[:_READ])
    return told, is_told and len(display(whole[:_READ])) <= _LENGTH


def _say_edit(edit: Edit) -> str:
    """Return what an exact edit does, whatever the words above say of it: this is what would be written."""
    out, new = display(edit.before), display(edit.after)
    if out == one_line(out) and is_blank(new):
        return f'Exactly: "{out}" is taken out.'
    if out == one_line(out) and new == one_line(new):
        return f'Exactly: "{out}" becomes "{new}"{"" if new.endswith(_ENDS) else "."}'
    if is_blank(new):
        return f"Exactly this is taken out:\n\n{_exactly(out)}"
    return f"Exactly this:\n\n{_exactly(out)}\n\nbecomes this:\n\n{_exactly(new)}"


def _exactly(text: str) -> str:
    """Return a text in its own lines; where one of them looks like ours, all have a sign."""
    lines = display(text).split("\n")
    sign = "> " if any(map(passes_for_ours, lines)) else ""
    return fence("\n".join(f"{sign}{line}" for line in lines))


def _split(lines: list[str]) -> Iterator[str | _Code]:
    """Yield the blocks of code of a text, and the lines between them."""
    closing, is_diff = "", False
    run: list[str] = []
    for line in lines:
        was, closing = closing, next_closing(line, closing)
        if bool(was) == bool(closing):
            run.append(line)
            continue
        yield from _code(run, is_diff) if was else _split_plain(run)
        run, is_diff = [], _DIFF_FENCE.match(line) is not None
    yield from _code(run, is_diff) if closing else _split_plain(run)


def _code(lines: list[str], is_diff: bool) -> Iterator[_Code]:
    shown = "\n".join(lines).strip("\n").split("\n")
    if any(line.strip() for line in shown):
        yield _Code(shown, is_diff or _looks_like_diff(shown))


def _looks_like_diff(lines: list[str]) -> bool:
    signs = {line.lstrip()[:1] for line in lines}
    return {"+", "-"} <= signs or any(line.startswith(_DIFF_HEAD) for line in lines)


def _split_plain(lines: list[str]) -> Iterator[str | _Code]:
    """Yield lines outside of fences; a diff may stand there, too."""
    run: list[str] = []
    is_hunk = False
    for line in [*lines, ""]:
        if (is_hunk and line.startswith(" ")) or _DIFF_LINE.match(line.lstrip()):
            run.append(line)
            is_hunk = is_hunk or line.startswith("@@")
            continue
        if run and _looks_like_diff(run):
            yield _Code(run, is_diff=True)
        else:
            yield from run
        run, is_hunk = [], False
        yield line


def _summary(code: _Code) -> str:
    if not code.is_diff:
        return f"The new text is a block of {count(len(code.lines), 'line')}."
    bare = [line.lstrip() for line in code.lines]
    out = sum(1 for line in bare if line.startswith("-") and not line.startswith("---"))
    new = sum(1 for line in bare if line.startswith("+") and not line.startswith("+++"))
    said = [f"takes out {count(out, 'line')}" if out else "", f"puts in {count(new, 'line')}" if new else ""]
    return f"The change {join_words(filter(None, said)) if out or new else 'is a diff without lines'}."


def _prose(lines: list[str]) -> str:
    """Return lines as one paragraph without markup."""
    told: list[str] = []
    gap = ""
    for line in lines:
        mark = _LIST_MARK.match(line)
        words = " ".join(line[mark.end() if mark else 0 :].split())
        if not words or set(words) <= _RULE:
            gap = gap or ". "
            continue
        # What begins a list entry or a paragraph is nothing that the line before goes on with.
        gap = "; " if mark else gap
        joint = " " if not told or told[-1].endswith(_STOPS) else gap or " "
        told.append(f"{joint}{words}")
        gap = ""
    text = _BOLD.sub(r"\1", "".join(told).strip())
    cut = brief(text, _LENGTH)
    more = len(text.split()) - len(cut.split()) if cut != text else 0
    note = f" ({count(more, 'more word')})" if more else ""
    return guard(_limit_spans(cut) + note) if cut else ""


def _limit_spans(text: str) -> str:
    """Return `text` with as much inline code as a sentence may have, set off by spaces (W34)."""
    pieces = _TICKS.split(text)
    shown, used = "", 0
    for place, piece in enumerate(pieces):
        is_span = place % 2 == 1 and place + 1 < len(pieces)  # a last mark without its twin begins nothing
        if is_span and used < _MAX_SPANS and _is_short_phrase(piece):
            shown = f"{shown.rstrip()} `{piece.strip()}` "
            used += 1
            continue
        if not is_span and len(sentences(f"{piece}A")) > 1:  # the sentence ends in here, whatever follows
            used = 0
        shown += piece.lstrip() if shown.endswith("` ") else piece
    return shown.strip()


def _is_short_phrase(span: str) -> bool:
    return 0 < len(span.strip()) <= _SPAN_LENGTH and len(span.split()) <= _SPAN_WORDS
