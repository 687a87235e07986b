"""The tail of a run's output: the last of what its command printed, and how much there was in all.

Rule 1: it is counted in bytes of UTF-8 and cut only between characters, so that whoever has read up to a byte can go on
        from there.
Rule 2: an output may be any bytes; what is no text is replaced, and nothing is refused for it.
Rule 3: it is volatile: nobody decides by it, and it is not in the log.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

__all__ = [
    "MAX_ENDED_TAILS",
    "MAX_TAIL_BYTES",
    "MAX_WRITTEN_BYTES",
    "Kept",
    "Tail",
    "cut_front",
    "encode_output",
    "grow",
    "tail_of",
]

MAX_TAIL_BYTES = 64 << 10
"""So much is kept of a run's output, and so much at most is handed on at once."""
MAX_ENDED_TAILS = 200
"""So many ended runs of a project keep their tail, the newest."""
MAX_WRITTEN_BYTES = (1 << 53) - 1
"""So far an output is counted: a larger number no page could read exactly."""
_NOT_FIRST, _MORE = 0xC0, 0x80
"""The bits that tell the second and later bytes of a character, and how they are set."""


class Tail(msgspec.Struct, frozen=True):
    """A part of a run's output, as somebody is told it."""

    text: str
    start: int = msgspec.field(name="from")
    """Where the text begins in the whole output, in bytes: what stood before it is gone, or was not asked for."""
    written: int
    """How many bytes there were in all."""
    at: datetime | None
    """When the last of it came; None where there was none yet, or none is kept any more."""


class Kept(msgspec.Struct, frozen=True):
    """What is kept of a run's output."""

    text: bytes
    """Whole characters in UTF-8, at the end of all that was written."""
    written: int
    at: datetime | None
    command_id: str = ""
    """The command that wrote last: sent again, it writes nothing more."""


_NOTHING = Kept(b"", 0, None)


def encode_output(text: str | bytes) -> bytes:
    """Return output as it is kept: UTF-8, with a mark for each thing in it that is no text."""
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace").encode()
    # Halves of pairs come from names of files and from JSON; two that belong together are one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def cut_front(text: bytes, most: int) -> bytes:
    r"""Return the last `most` bytes of a text, or up to three less: no character is cut in two.

    >>> cut_front("aöb".encode(), 2), cut_front("aöb".encode(), 3)
    (b'b', b'\xc3\xb6b')
    """
    return _from_border(text, max(0, len(text) - most))


def grow(kept: Kept | None, text: bytes, skipped: int, at: datetime, command_id: str) -> Kept:
    """Return what is kept once `text` has come, before which `skipped` bytes were lost."""
    before = kept or _NOTHING
    joined = text if skipped else before.text + text
    written = before.written + skipped + len(text)
    return Kept(cut_front(joined, MAX_TAIL_BYTES), written, at, command_id)


def tail_of(kept: Kept | None, after: int) -> Tail:
    """Return what there is of an output after its first `after` bytes."""
    known = kept or _NOTHING
    first = known.written - len(known.text)
    text = _from_border(known.text, min(max(0, after - first), len(known.text)))
    return Tail(text.decode("utf-8", "replace"), known.written - len(text), known.written, known.at)


def _from_border(text: bytes, start: int) -> bytes:
    while start < len(text) and text[start] & _NOT_FIRST == _MORE:
        start += 1
    return text[start:]
