"""Driving a flow whose asks are stored, without a journal: each can be answered from anywhere, and the first wins.

The flow itself is gone with the process. With a name, its asks go by `<name>:1`, `<name>:2`, …: whoever drives it again
under that name finds the answers that were given already. A number that another prompt has is never answered with
that one's reply: an open ask gives its place up; one that has ended keeps it, and the next number is tried. Where an ask
says what it is about, that is a part of its key: a reply is never found again for anything else. An ask that stands aside
takes no number from the others: it goes by what it is about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, assert_never

from assent.client.calls import Calls
from assent.client.door import Call
from assent.client.drive import NOBODY_PERFORMS, Finished, advance
from assent.client.durable import result_of
from assent.effects.performer import Performers, find_performer, intend, settle
from assent.flows.step import Ask, Effect, Failed, Flow, Result, Said, Say
from assent.protocol.ask import Ask as StoredAsk
from assent.protocol.error import KeyReusedError

__all__ = ["Count", "drive_stored", "open_numbered"]

R = TypeVar("R")


def open_numbered(
    calls: Calls, ask: Ask, name: str | None, asked: int, run_id: str | None = None
) -> Call[tuple[StoredAsk, int]]:
    """Store what a flow asks; return it, and how many numbered asks have ended before it."""
    may_replace = False
    passed = 0
    while True:
        place = f"{ask.about}:{passed + 1}" if ask.is_aside else _numbered(asked + passed + 1, ask.about)
        key = None if name is None else f"{name}:{place}"
        try:
            stored = yield from calls.open(
                ask.prompt, kind=ask.kind, key=key, replace=may_replace, run_id=run_id
            )
        except KeyReusedError as reused:
            if reused.ask is None:
                raise
            may_replace = reused.ask.is_open
            passed += not may_replace
        else:
            return stored, asked if ask.is_aside else asked + passed


def _numbered(number: int, about: str) -> str:
    return f"{number}:{about}" if about else str(number)


class Count:
    """How many numbered asks of a flow have ended."""

    def __init__(self, asked: int = 0) -> None:
        self.asked = asked


def drive_stored(
    calls: Calls,
    flow: Flow[R],
    performers: Performers = NOBODY_PERFORMS,
    *,
    name: str | None = None,
    count: Count | None = None,
    say: Callable[[str], None] | None = None,
    wait: float | None = None,
) -> Call[R]:
    """Drive `flow` to its end; return what it returns.

    Raises:
        StillOpen: `wait` lapsed; the ask stays open.
    """
    count = count or Count()
    result: Result | None = None
    try:
        while True:
            step = advance(flow, result)
            match step:
                case Finished():
                    return step.value
                case Ask():
                    stored, count.asked = yield from open_numbered(calls, step, name, count.asked)
                    if stored.is_open:
                        stored = yield from calls.wait(stored.ask_id, wait)
                    count.asked += not step.is_aside
                    result = result_of(stored)
                case Say():
                    if say is not None:
                        say(step.markdown)
                    result = Said()
                case Effect():
                    performer = find_performer(performers, step)
                    intention = intend(performer, step)
                    result = intention if isinstance(intention, Failed) else settle(performer, intention)
                case _:
                    assert_never(step)
    finally:
        flow.close()
