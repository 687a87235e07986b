"""What differs between the action that was approved and the one that is presented, in words.

Rule 1: equal is what has equal canonical bytes. The order of keys and 1.0 for 1 are no difference; `true` for 1 is.
Rule 2: what is shown is harmless: on one line, nothing hidden, and of a few characters.
Rule 3: two values that differ are never shown the same. Where they look alike, every letter that is not ASCII is spelled
        out; where they are long, the part in which they differ is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assent.protocol.canonical import canonical
from assent.protocol.display import display, skeleton
from assent.protocol.json_text import Json
from assent.protocol.words import count

__all__ = ["MAX_DIFFERENCES", "Difference", "find_differences", "render_differences"]

MAX_DIFFERENCES = 3
"""So many are named; more would not help whoever looks for the first."""
_SHOWN = 80
_BEFORE = 20
"""So much of a long value is shown before the place where it differs."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}").fullmatch
_LONGEST_PATH = 200


class Difference(msgspec.Struct, frozen=True, gc=False):
    """One place at which two actions differ; a value that is not there is None."""

    path: str
    """Such as `$.steps[2].command`."""
    approved: str | None
    presented: str | None


def find_differences(approved: Json, presented: Json) -> tuple[Difference, ...]:
    """Return every place at which `presented` is not what was approved; none where they are equal.

    >>> find_differences({"table": "users", "rows": 1}, {"rows": 1.0, "table": "logins"})
    (Difference(path='$.table', approved='"users"', presented='"logins"'),)
    """
    first, second = (msgspec.json.decode(canonical(action)) for action in (approved, presented))
    return tuple(_compare("$", first, second))


def render_differences(differences: Sequence[Difference]) -> str:
    """Return the first few differences in sentences.

    >>> render_differences(find_differences({"force": False}, {"force": True, "all": 1}))
    '$.force was approved as false, and is true now. $.all is 1 now, and was not approved.'
    """
    told = [_render(difference) for difference in differences[:MAX_DIFFERENCES]]
    left = len(differences) - len(told)
    if left:
        told.append(f"There {'is' if left == 1 else 'are'} {count(left, 'more difference')}.")
    return " ".join(told)


def _render(difference: Difference) -> str:
    path, approved, presented = difference.path, difference.approved, difference.presented
    if approved is None:
        return f"{path} is {presented} now, and was not approved."
    if presented is None:
        return f"{path} was approved as {approved}, and is missing now."
    return f"{path} was approved as {approved}, and is {presented} now."


_MISSING = msgspec.UNSET


def _compare(path: str, first: object, second: object) -> Iterator[Difference]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in [*first, *(key for key in second if key not in first)]:
            inner = path + _render_key(key)
            yield from _compare(inner, first.get(key, _MISSING), second.get(key, _MISSING))
    elif isinstance(first, list) and isinstance(second, list):
        for place in range(max(len(first), len(second))):
            entries = [entry[place] if place < len(entry) else _MISSING for entry in (first, second)]
            yield from _compare(f"{path}[{place}]", *entries)
    elif type(first) is not type(second) or first != second:
        yield Difference(_cut(path, _LONGEST_PATH), *_show(first, second))


def _render_key(key: str) -> str:
    return f".{key}" if _PLAIN_KEY(key) else f"[{_cut(_spell(key, is_ascii=False), _SHOWN)}]"


def _show(first: object, second: object) -> tuple[str | None, str | None]:
    shown = _windows(first, second, is_ascii=False)
    if skeleton(shown[0]) == skeleton(shown[1]):
        shown = _windows(first, second, is_ascii=True)
    return (None if first is _MISSING else shown[0], None if second is _MISSING else shown[1])


def _windows(first: object, second: object, *, is_ascii: bool) -> list[str]:
    """Return both values, each at most so long, from a little before the place where they differ."""
    texts = [_spell(value, is_ascii=is_ascii) for value in (first, second)]
    start = max(0, _common(*texts) - _BEFORE)
    return [text if len(text) <= _SHOWN else _cut("…" * bool(start) + text[start:], _SHOWN) for text in texts]


def _spell(value: object, *, is_ascii: bool) -> str:
    """Return a value as JSON on one line in which nothing is hidden."""
    if value is _MISSING:
        return ""
    return display(json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":")), lines=False)


def _common(first: str, second: str) -> int:
    """Return how many characters both begin with."""
    limit = min(len(first), len(second))
    return next((place for place in range(limit) if first[place] != second[place]), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
