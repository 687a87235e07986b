"""The decorator that asks for feedback, as CrewAI's documentation describes it."""

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

__all__ = ["human_feedback"]


def human_feedback(message: str, provider: Any, emit: list[str] | None = None) -> Callable[[Any], Any]:
    """Show what a method returns, and hand on what was said about it."""

    def wrap(method: Any) -> Any:
        @functools.wraps(method)
        def run(flow: Any) -> Any:
            output = method(flow)
            context = SimpleNamespace(
                flow_id=flow.flow_id,
                flow_class=type(flow).__qualname__,
                method_name=method.__name__,
                method_output=output,
                message=message,
                emit=emit,
                default_outcome=None,
                metadata={},
                llm=None,
            )
            feedback = provider.request_feedback(context, flow)
            if not isinstance(feedback, str):
                raise TypeError("A provider returns a text.")
            return SimpleNamespace(output=output, feedback=feedback, outcome=None)

        return run

    return wrap
