"""A kind of flow that can be found again: its name, its version, and the types that its journal keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from assent.flows.step import Flow

__all__ = ["FlowKind"]

I = TypeVar("I")  # noqa: E741 - inputs
R = TypeVar("R")


@dataclass(frozen=True)
class FlowKind(Generic[I, R]):
    """What is needed to start a flow, and to start it again from its journal."""

    name: str
    """As the journal spells it."""
    version: int
    """Raised whenever the same inputs and results would lead to other steps."""
    start: Callable[[I], Flow[R]]
    inputs: type[I]
    """Anything that has a JSON form, best a struct."""
    result: type[R]
