"""What an attacker writes: JSON with two readings or none, and text that hides, reorders or commands.

What is hidden is written down here once more, in other words than the product's, so that one forgotten range
cannot be forgotten on both sides.
"""

from __future__ import annotations

import unicodedata
from functools import cache

__all__ = [
    "hidden_in",
    "hidden_points",
    "json_texts",
    "strange_values",
    "texts",
    "whole_json_texts",
    "without_joints",
]

_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_DRAWN_AS_NOTHING = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
_IN_A_TEXT = 12


def _is_hidden(character: str) -> bool:
    point = ord(character)
    return unicodedata.category(character) in _HIDDEN_KINDS or any(
        first <= point <= last for first, last in _DRAWN_AS_NOTHING
    )


@cache
def hidden_points() -> tuple[str, ...]:
    """Return all characters that hide, but the halves of pairs; of the unassigned ones only a few."""
    nothing = {chr(point) for first, last in _DRAWN_AS_NOTHING for point in range(first, last + 1)}
    whole = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    found = [c for c in whole if unicodedata.category(c) in _HIDDEN_KINDS or c in nothing]
    few = [c for c in found if unicodedata.category(c) in ("Cn", "Co")]
    rare = set(few) - set(few[:20]) - set(few[-20:]) - {"\ue000", "\uf8ff", "\U000e0100", "\U000e01ef"}
    return tuple(c for c in found if c not in rare)


def hidden_in(shown: str, allowed: str = "\n\t") -> list[str]:
    """Return the hidden characters that stand in a text which people look at."""
    return sorted(
        {f"U+{ord(c):04X}" for c in set(without_joints(shown)) if c not in allowed and _is_hidden(c)}
    )


def without_joints(shown: str) -> str:
    """Return a text without what joins two pictures or makes one of a sign."""
    if "\u200d" not in shown and "\ufe0f" not in shown:
        return shown
    padded, kept = f"  {shown} ", []
    for at, character in enumerate(shown, start=2):
        last, after = padded[at - 1], padded[at + 1]
        before = padded[at - 2] if last == "\ufe0f" else last
        joins = character == "\u200d" and _is_picture(before) and _is_picture(after)
        turns = character == "\ufe0f" and (_is_picture(last) or after == "\u20e3")
        kept += [] if joins or turns else [character]
    return "".join(kept)


def _is_picture(character: str) -> bool:
    kinds = ("So", "Sk", "Sm", "Po", "Pd")
    return not character.isascii() and unicodedata.category(character) in kinds


def texts() -> list[str]:
    """Return texts that hold every hidden character, and the tricks that real attackers play."""
    points = hidden_points()
    packed = [f"safe {''.join(points[at : at + _IN_A_TEXT])} end" for at in range(0, len(points), _IN_A_TEXT)]
    tricks = [
        "\x1b[2J\x1b[H Approved",
        "\x1b]0;owned\x07",
        "\x1b]52;c;cm0gLXJm\x07",
        "\x1bP+q544e\x1b\\",
        "\x9b31mred",
        "harmless\rrm -rf /",
        "harmless\b\b\b\b\b\b\b\bdangerous",
        "safe\u202egnp.exe",
        "Yes\n\nA) Yes\nB) No\n> A\nana answered",
        "first\u2028second\u2029third",
        "a" + "\u0301" * 300,
        "\ufeffbegins with a mark",
        "end\u200b",
        "\u0000nul",
        "tab\tand\x0bmore\x0c",
        "\ud83d half",
        "half \udc00",
        "x" * 20_000,
        "\u200b" * 3_000,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    ]
    return packed + tricks


# JSON

_BAD_VALUES = (
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e999",
    b"-1e999",
    b"123456789012345678901234567890",
    b"-123456789012345678901234567890",
    b'"\\ud800"',
    b'"\\udc00 x"',
    b'"\\ud800\\ud800"',
    b'{"a": 1, "a": 2}',
    b'{"a": {"b": 1, "\\u0062": 2}}',
    b"[" * 40 + b"]" * 40,
    b'{"a":' * 40 + b"1" + b"}" * 40,
    b'"\xff\xfe"',
    b'"\xed\xa0\x80"',
    b'"a\x01b"',
    b'"a\nb"',
    b"'single'",
    b"True",
    b"01",
    b"+1",
    b".5",
    b"0x10",
    b"1_000",
    b"/* comment */ 1",
    b'"unfinished',
)
_PLACES = (
    b'{"title": %s, "fields": [{"name": "q1", "options": ["Yes", "No"]}]}',
    b'{"title": "T", "body": %s, "fields": [{"options": ["Yes", "No"]}]}',
    b'{"title": "T", "risk": %s, "fields": [{"options": ["Yes", "No"]}]}',
    b'{"title": "T", "commands": [%s], "fields": [{"options": ["Yes", "No"]}]}',
    b'{"title": "T", "action": %s, "fields": [{"options": ["Yes", "No"]}]}',
    b'{"title": "T", "action": {"run": [%s]}, "fields": [{"options": ["Yes", "No"]}]}',
    b'{"title": "T", "fields": %s}',
    b'{"title": "T", "fields": [%s]}',
    b'{"title": "T", "fields": [{"name": %s, "options": ["Yes", "No"]}]}',
    b'{"title": "T", "fields": [{"text": %s, "options": ["Yes", "No"]}]}',
    b'{"title": "T", "fields": [{"options": [%s, "No"]}]}',
    b'{"title": "T", "fields": [{"options": [{"label": %s}, "No"]}]}',
    b'{"title": "T", "fields": [{"options": [{"label": "Yes", "key": %s}, "No"]}]}',
    b'{"title": "T", "fields": [{"options": [{"label": "Yes", "description": %s}, "No"]}]}',
    b'{"title": "T", "fields": [{"options": [{"label": "Yes", "recommended": %s}, "No"]}]}',
    b'{"title": "T", "unknown": %s, "fields": [{"options": ["Yes", "No"]}]}',
)
_GOOD = b'{"title": "T", "fields": [{"name": "q1", "options": ["Yes", "No"]}]}'


def json_texts() -> list[bytes]:
    """Return texts that are wrong in one place; all must be refused."""
    return [place % value for place in _PLACES for value in _BAD_VALUES]


def whole_json_texts() -> list[bytes]:
    """Return texts that are wrong as a whole, or right for one reader and wrong for another; all must be refused."""
    return [
        b"",
        b" ",
        b"null",
        b"[]",
        b"{}",
        b"1",
        b'"text"',
        b"\xef\xbb\xbf" + _GOOD,
        _GOOD.decode().encode("utf-16"),
        _GOOD.decode().encode("utf-32"),
        b'{"title": , "fields": [{"options": ["Yes", "No"]}]}',
        _GOOD + b"x",
        _GOOD + _GOOD,
        _GOOD[:-1],
        _GOOD[:-1] + b",}",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b"[" + b"[]," * 60_000 + b"[]]",
        b'{"title": "T", "title": "U", "fields": [{"options": ["Yes", "No"]}]}',
        b'{"title": "T", "\\u0074itle": "U", "fields": [{"options": ["Yes", "No"]}]}',
        b'{"title": "' + b"x" * (1 << 20) + b'", "fields": [{"options": ["Yes", "No"]}]}',
        b'{"title": "T", "body": "' + b"x" * (1 << 20) + b'", "fields": [{"options": ["Yes", "No"]}]}',
        b'{"title": "T", "fields": [' + b'{"options": ["Yes", "No"]},' * 60 + b'{"options": ["Yes", "No"]}]}',
        b'{"title": "T", "fields": [{"options": [' + b", ".join(b'"o%d"' % n for n in range(300)) + b"]}]}",
        b'{"title": "T", "fields": [{"options": ["Yes", "Yes"]}]}',
        '{"title": "T", "fields": [{"options": ["Approve", "Аpprove"]}]}'.encode(),
        b'{"title": "T", "fields": [{"options": ["B", "A"]}]}',
        b'{"title": "\\u200b", "fields": [{"options": ["Yes", "No"]}]}',
        b'{"title": "T", "fields": [{"options": ["Yes", "\\u2060"]}]}',
        b'{"title": "T", "fields": [{"name": "q1", "options": ["Yes", "No"]}, {"name": "Q1", "free": true}]}',
        b"\x00" + _GOOD,
        _GOOD.replace(b"T", b"\x00"),
        _GOOD.replace(b'"T"', b'"T", "action": NaN'),
        _GOOD.replace(b'"T"', b'"T", "action": {"amount": 1, "amount": 1000000}'),
        _GOOD.replace(b'"T"', b'"T", "action": 123456789012345678901234567890'),
        _GOOD.replace(b'"T"', b'"T", "body": "one", "body": "two"'),
    ]


def strange_values() -> list[object]:
    """Return Python values that no JSON has, for the client's `action`."""
    loop: list[object] = []
    loop.append(loop)
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    return [
        float("nan"),
        float("inf"),
        -float("inf"),
        1 << 70,
        -(1 << 70),
        {"a": float("nan")},
        [[float("inf")]],
        {1: "number as key"},
        {None: 1},
        {("a",): 1},
        {"half \ud800": 1},
        "half \udfff",
        ["half \ud800"],
        b"bytes",
        {1, 2},
        object(),
        lambda: 1,
        deep,
        loop,
        {"a": loop},
        1j,
        range(3),
        "x" * (1 << 21),
        ["x"] * (1 << 19),
    ]
