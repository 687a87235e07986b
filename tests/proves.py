"""The requirement ids, and the mark by which a test claims to prove some of them.

`PARTS` is the one list of ids in the project; `make ledger` counts against it. A claim is checked when
the test is loaded, so a mistyped id stops the test run and is not found out later.
"""

from collections.abc import Callable
from typing import TypeVar

import pytest

__all__ = ["PARTS", "is_requirement", "proves"]

PARTS = {"G": 44, "C": 46, "I": 45, "W": 76, "Q": 31}

_Test = TypeVar("_Test", bound=Callable[..., object])


def is_requirement(name: str) -> bool:
    """Tell whether `name` is an id of the requirements, such as `G36`."""
    part, number = name[:1], name[1:]
    # isdecimal alone would let in `G036` and other scripts' digits.
    return (
        part in PARTS
        and number.isdecimal()
        and number == str(int(number))
        and 1 <= int(number) <= PARTS[part]
    )


def proves(*ids: str) -> Callable[[_Test], _Test]:
    """Mark a test as the proof of these requirements."""
    if not ids:
        raise ValueError("proves() names no requirement.")
    for name in ids:
        if not is_requirement(name):
            raise ValueError(f"There is no requirement {name}.")
    mark = pytest.mark.proves(*ids)

    def claim(test: _Test) -> _Test:
        marked: _Test = mark(test)
        return marked

    return claim
