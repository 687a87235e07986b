"""Pictures of the page become small, and stay what they were."""

import struct
import zlib

import pytest

from tools.png import shrink

__all__: list[str] = []

HEAD = b"\x89PNG\r\n\x1a\n"


def chunk(name: bytes, body: bytes) -> bytes:
    """Return one part of a picture."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def a_picture(width: int, lines: list[bytes], *, depth: int = 8) -> bytes:
    """Return a picture of three colours a dot; the first byte of each line says how it is filtered."""
    head = struct.pack(">IIBBBBB", width, len(lines), depth, 2, 0, 0, 0)
    packed = zlib.compress(b"".join(lines))
    return HEAD + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def dots(picture: bytes) -> list[tuple[int, int, int]]:
    """Return the colours of a small picture, as a viewer reads them: head, palette, dots."""
    parts, at = {}, len(HEAD)
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        parts[picture[at + 4 : at + 8]] = picture[at + 8 : at + 8 + length]
        at += length + 12
    width, height = struct.unpack_from(">II", parts[b"IHDR"])
    raw = zlib.decompress(parts[b"IDAT"])
    palette = parts[b"PLTE"]
    places = [raw[y * (width + 1) + 1 + x] for y in range(height) for x in range(width)]
    return [(palette[3 * p], palette[3 * p + 1], palette[3 * p + 2]) for p in places]


def test_few_colours_stay_exactly_as_they_were() -> None:
    """Whatever filter the browser chose for a line."""
    plain = bytes((0, 10, 20, 30, 200, 100, 50))
    by_left = bytes((1, 10, 20, 30, 190, 80, 20))
    by_above = bytes((2, 0, 0, 0, 0, 0, 0))
    by_both = bytes((3, 5, 10, 15, 95, 40, 10))
    by_paeth = bytes((4, 0, 0, 0, 0, 0, 0))
    small = shrink(a_picture(2, [plain, by_left, by_above, by_both, by_paeth]))
    assert dots(small) == [(10, 20, 30), (200, 100, 50)] * 5


def test_many_colours_become_the_nearest_of_256() -> None:
    """No dot is far from what it was."""
    many = [(red, green, 128) for red in range(0, 256, 8) for green in range(0, 256, 8)]
    line = b"\0" + bytes(part for colour in many for part in colour)
    found = dots(shrink(a_picture(len(many), [line])))
    assert len(set(found)) <= 256 < len(many)
    assert (
        max(abs(a - b) for old, new in zip(many, found, strict=True) for a, b in zip(old, new, strict=True))
        <= 24
    )


def test_picture_of_another_sort_is_refused() -> None:
    """What is not understood is not guessed at."""
    with pytest.raises(ValueError, match="no picture as a browser writes it"):
        shrink(a_picture(1, [bytes(7)], depth=16))
