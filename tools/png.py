"""Makes a picture of a page small: a PNG of all colours becomes one of 256, which for text and lines the eye takes for the
same.

Only what the browser writes is read: eight bits for each of three or four colours, not interlaced.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

__all__ = ["shrink"]

_HEAD = b"\x89PNG\r\n\x1a\n"
_MOST_COLOURS = 256
_WIDTHS = {2: 3, 6: 4}
"""Bytes for each dot, by the kind of picture: red, green, blue; the same with a veil."""
_FAR = 10 * 255 * 255 + 1

Colour = tuple[int, int, int]


def shrink(picture: bytes) -> bytes:
    """Return the picture with 256 colours at most."""
    width, lines = _lines(picture)
    counted: Counter[Colour] = Counter()
    for line in lines:
        counted.update(line)
    kept, place = _palette(counted)
    dots = b"".join(b"\0" + bytes([place[colour] for colour in line]) for line in lines)
    head = struct.pack(">IIBBBBB", width, len(lines), 8, 3, 0, 0, 0)
    palette = bytes(part for colour in kept for part in colour)
    parts = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(dots, 9)), (b"IEND", b""))
    return _HEAD + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


def _palette(counted: Counter[Colour]) -> tuple[list[Colour], dict[Colour, int]]:
    """Return the colours to keep, and for every colour the place of the nearest of them."""
    kept: list[Colour] = []
    place = dict.fromkeys(counted, 0)
    off = dict.fromkeys(counted, _FAR)
    while len(kept) < _MOST_COLOURS and any(off.values()):
        # The one that most is to be gained by: it is far from all that are kept, or stands in many dots.
        chosen = max(off, key=lambda colour: off[colour] * counted[colour])
        for colour, known in off.items():
            found = _distance(colour, chosen)
            if found < known:
                off[colour], place[colour] = found, len(kept)
        kept.append(chosen)
    return kept, place


def _distance(one: Colour, other: Colour) -> int:
    red, green, blue = (mine - its for mine, its in zip(one, other, strict=True))
    return 3 * red * red + 6 * green * green + blue * blue  # the eye sees green best, and blue worst


def _lines(picture: bytes) -> tuple[int, list[list[Colour]]]:
    chunks = list(_chunks(picture))
    width, height, depth, kind, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth != 8 or kind not in _WIDTHS or rest != [0, 0, 0]:
        raise ValueError("This is no picture as a browser writes it.")
    wide = _WIDTHS[kind]
    size = width * wide
    packed = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    above = bytearray(size)
    lines = []
    for start in range(0, height * (size + 1), size + 1):
        above = _undo(packed[start], bytearray(packed[start + 1 : start + 1 + size]), above, wide)
        lines.append(list(zip(above[0::wide], above[1::wide], above[2::wide], strict=True)))
    return width, lines


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_HEAD)
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += length + 12


def _undo(filtered: int, line: bytearray, above: bytearray, wide: int) -> bytearray:
    """Return a line of bytes as it was before it was filtered (PNG, part 9)."""
    for at in range(len(line)) if filtered else ():
        left = line[at - wide] if at >= wide else 0
        corner = above[at - wide] if at >= wide else 0
        match filtered:
            case 1:
                guess = left
            case 2:
                guess = above[at]
            case 3:
                guess = (left + above[at]) // 2
            case _:
                guess = _paeth(left, above[at], corner)
        line[at] = (line[at] + guess) & 255
    return line


def _paeth(left: int, above: int, corner: int) -> int:
    by_left, by_above = abs(above - corner), abs(left - corner)
    by_corner = abs(left + above - 2 * corner)
    if by_left <= by_above and by_left <= by_corner:
        return left
    return above if by_above <= by_corner else corner
