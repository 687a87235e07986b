"""A flow with one start and one listener, as CrewAI's documentation describes it."""

import uuid
from collections.abc import Callable
from typing import Any

__all__ = ["Flow", "listen", "start"]


def start() -> Callable[[Any], Any]:
    """Mark the method that begins."""

    def mark(method: Any) -> Any:
        method.is_start = True
        return method

    return mark


def listen(source: Any) -> Callable[[Any], Any]:
    """Mark the method that gets what `source` returned."""

    def mark(method: Any) -> Any:
        method.source = source.__name__
        return method

    return mark


class Flow:
    """Has a new id in every process."""

    def __init__(self) -> None:
        self.flow_id = str(uuid.uuid4())

    def kickoff(self) -> Any:
        """Run the start, and then who listens to it."""
        methods = [method for name, method in vars(type(self)).items() if not name.startswith("_")]
        (first,) = [method for method in methods if getattr(method, "is_start", False)]
        (second,) = [method for method in methods if getattr(method, "source", "") == first.__name__]
        return second(self, first(self))
