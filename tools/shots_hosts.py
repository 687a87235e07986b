"""The store that the pictures on the pages of frameworks are taken of: a tool call, a draft and a line, as people see them.

Each is asked by the adapter itself, so that a picture shows what those three lines of code lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

from assent.client.client import Client
from assent.client.door import run_call
from assent.hosts.crewai import PersonProvider
from assent.hosts.framework import ToolReview
from assent.hosts.review import settle_reviews
from assent.hosts.stdin import human_input
from assent.protocol.error import StillOpen
from assent.testing import FakeClock, throwaway
from tools.shots_world import NOW, World

__all__ = ["a_shop"]

_LETTER = """\
Dear customer,

your order 7 never came, and we are sorry. The amount is on its way back to you.
"""


@contextmanager
def a_shop(folder: Path) -> Iterator[World]:
    """Give a store in which three programs wait for somebody."""
    clock = FakeClock(NOW)
    with throwaway(project="shop", clock=clock) as store, ExitStack() as stack:
        world = World(store, clock, folder, stack)
        for minutes, name, ask in ((3, "line", _line), (2, "draft", _draft), (1, "tool-call", _tool_call)):
            clock.set(NOW - timedelta(minutes=minutes))
            agent = store.agent("shop.py")
            with suppress(StillOpen):
                ask(agent)
            newest = max(agent.inbox(), key=lambda found: found.opened_at)
            world.addresses[name] = f"inbox/shop/{newest.ask_id}"
        clock.set(NOW)
        yield world


def _tool_call(agent: Client) -> None:
    review = ToolReview("langgraph:order-7:1", "refund", {"order": 7}, "It never came, says the customer.")
    run_call(settle_reviews(agent.calls, [review], wait=0))


def _draft(agent: Client) -> None:
    context = SimpleNamespace(
        flow_id="1",
        method_name="draft",
        method_output=_LETTER,
        message="May this go out?",
        emit=["approved", "rejected"],
    )
    PersonProvider(agent, thread="letter-7", wait=0).request_feedback(context, None)


def _line(agent: Client) -> None:
    human_input("Refund order 7? [y/N] ", client=agent, key="input:order-7:1", wait=0)
