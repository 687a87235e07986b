"""How a fault is planted: something else in the place of a function or value, in this process only."""

from __future__ import annotations

from typing import Any

__all__ = ["swap"]


def swap(owner: Any, name: str, instead: Any) -> None:
    """Put something else in the place of a function or value, for this process."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner} has no {name} any more: the planted fault has lost its place.")
    setattr(owner, name, instead)
