"""Functions made of calls, under the names that people call them by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["named"]

F = TypeVar("F", bound=Callable[..., object])


def named(function: F, name: str) -> F:
    """Return a function under the name that people call it by."""
    for attribute in ("__name__", "__qualname__"):
        setattr(function, attribute, name)
    return function
