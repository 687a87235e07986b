"""An exact change of a document: one passage becomes another, and every other byte stays.

Rule 1: the passage must stand in the document exactly once. Which of two was meant is not guessed; but what was
        deferred quotes the passages that it is about, and those quotes are not meant.
Rule 2: bytes in, bytes out. Around the passage the document need not even be text.
Rule 3: reviewers write new lines as LF. In a document whose lines all end in CRLF they mean CRLF.
"""

from __future__ import annotations

from collections.abc import Iterable

from assent.protocol.deferral import SECTION, hide_deferrals
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Edit

__all__ = ["apply_edit", "is_made", "with_line_ends_of"]

_LF, _CRLF = b"\n", b"\r\n"
_TELLING_WORDS = 3
"""So many words in a row stand in a document by intent."""


def apply_edit(document: bytes, edit: Edit) -> bytes:
    """Return the document with the change in it.

    Raises:
        BadRequestError: the passage is not there, stands there more than once, or would stay as it is.
    """
    before, after = (with_line_ends_of(document, _encode(text)) for text in (edit.before, edit.after))
    own = document if _is_above_deferrals(document, before) else hide_deferrals(document)
    start = own.find(before)
    if start < 0:
        raise BadRequestError(f'What the edit replaces, "{quote(edit.before)}", is not in the document.')
    # From the next byte on: two places may overlap, as those of "aba" in "ababa".
    if own.find(before, start + 1) >= 0:
        raise BadRequestError(
            f'What the edit replaces, "{quote(edit.before)}", is in the document more than once.'
        )
    if before == after:
        raise BadRequestError("The edit changes nothing.")
    return document[:start] + after + document[start + len(before) :]


def _is_above_deferrals(document: bytes, passage: bytes) -> bool:
    """Whether a passage cannot be in the section: a document of many entries takes long to be read for each fix."""
    title = document.find(SECTION.lstrip("# ").encode())
    if title < 0:
        return True
    heading = max(document.rfind(end, 0, title) for end in (b"\n", b"\r")) + 1
    return document.find(passage, max(0, heading - len(passage) + 1)) < 0


def is_made(document: bytes, edit: Edit, quotes: Iterable[str]) -> bool:
    """Whether the change is in the document already: a quote that had the passage stands there once, with the change in it.

    What the passage becomes tells nothing by itself: a word or two may stand anywhere, and a reviewer who misquoted the
    passage would be told that the fix is there.
    """
    before, after = (with_line_ends_of(document, _encode(text)) for text in (edit.before, edit.after))
    found = (with_line_ends_of(document, _encode(text)) for text in quotes)
    made = [quote.replace(before, after) for quote in found if quote.count(before) == 1]
    made = [quote for quote in made if len(quote.split()) >= _TELLING_WORDS and quote in document]
    if not made:
        return False
    own = hide_deferrals(document)
    return before not in own and any(own.count(quote) == 1 for quote in made)


def with_line_ends_of(document: bytes, text: bytes) -> bytes:
    """Return `text` with CRLF for every new line, where the document has nothing else; else as it is."""
    if _LF not in text or _LF not in document or document.count(_LF) != document.count(_CRLF):
        return text
    return text.replace(_CRLF, _LF).replace(_LF, _CRLF)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadRequestError("The edit has half of a surrogate pair in it, so it is no text.") from None
