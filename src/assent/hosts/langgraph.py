"""LangGraph: every interrupt of a graph becomes an ask, and the answers resume it. For LangChain's agents, too.

    from assent.hosts.langgraph import run_until_done

    result = run_until_done(assent.connect(), graph, {"messages": […]}, {"configurable": {"thread_id": "1"}})

The key of an ask is the graph's thread and the interrupt's id, both kept by the graph's checkpointer. So a process that
was killed while it waited finds the same asks again: nobody is asked twice, and nothing runs twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

try:
    from langgraph.types import Command, Interrupt
except ImportError as error:
    raise ImportError("LangGraph is an extra: pip install 'assent[langgraph]'.") from error

from assent.client.async_client import AsyncClient
from assent.client.awaiting import await_call
from assent.client.calls import Calls, no_answer
from assent.client.client import Client
from assent.client.door import Call, run_call
from assent.hosts.framework import Patience, Terms, Verdict, host_key, spend
from assent.hosts.interrupt import Wish, read_interrupt, resume_value
from assent.hosts.review import open_reviews, settle_review
from assent.protocol.ask import Ask
from assent.protocol.error import BadRequestError, ConflictError

__all__ = ["answer_interrupts", "answer_interrupts_async", "run_until_done", "run_until_done_async"]

Graph = Any
"""A compiled graph. Its own type has four parameters, none of which matters here."""
_Settled = tuple[Wish, tuple[Verdict, ...], Ask | None]


def answer_interrupts(
    client: Client,
    graph: Graph,
    config: Mapping[str, Any],
    *,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> Command[Any] | None:
    """Ask people what the graph's thread waits for, and return the command that resumes it; None if nothing waits.

    `wait` are seconds for all of it. The terms are those of `client.approve`: category, risk, life, deadline, …

    Raises:
        StillOpen: the time is over. The graph stays interrupted, the asks stay open, and the next call finds them.
        NoAnswer: a question was declined or expired, and a graph has no word for that.
        ConflictError: somebody else resumed the graph in the meantime.
        BadRequestError: there is no thread, or a schema that no form can check.
    """
    waiting = graph.get_state(config).interrupts
    if not waiting:
        return None
    wishes = _read(config, waiting)
    settled = run_call(_settle(client.calls, list(wishes.values()), wait, terms))
    _check_ids(wishes, graph.get_state(config).interrupts)
    return run_call(_resume(client.calls, wishes, settled, terms))


async def answer_interrupts_async(
    client: AsyncClient,
    graph: Graph,
    config: Mapping[str, Any],
    *,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> Command[Any] | None:
    """As `answer_interrupts`, awaited."""
    waiting = (await graph.aget_state(config)).interrupts
    if not waiting:
        return None
    wishes = _read(config, waiting)
    settled = await await_call(_settle(client.calls, list(wishes.values()), wait, terms))
    _check_ids(wishes, (await graph.aget_state(config)).interrupts)
    return await await_call(_resume(client.calls, wishes, settled, terms))


def run_until_done(
    client: Client,
    graph: Graph,
    value: Any,
    config: Mapping[str, Any],
    *,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> Any:
    """Run a graph to its end, through all of its interrupts; return its result.

    A thread that was stopped in the middle goes on there, and `value` is not put in a second time. `wait` is for each
    time that the graph stops. What is raised is said by `answer_interrupts`.
    """
    state = graph.get_state(config)
    result = None if state.interrupts else graph.invoke(None if state.next else value, config)
    while (command := answer_interrupts(client, graph, config, wait=wait, **terms)) is not None:
        result = graph.invoke(command, config)
    return result


async def run_until_done_async(
    client: AsyncClient,
    graph: Graph,
    value: Any,
    config: Mapping[str, Any],
    *,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> Any:
    """As `run_until_done`, awaited."""
    state = await graph.aget_state(config)
    result = None if state.interrupts else await graph.ainvoke(None if state.next else value, config)
    while (command := await answer_interrupts_async(client, graph, config, wait=wait, **terms)) is not None:
        result = await graph.ainvoke(command, config)
    return result


def _read(config: Mapping[str, Any], interrupts: Sequence[Interrupt]) -> dict[str, Wish]:
    """Return what each interrupt waits for, by its id."""
    thread = config.get("configurable", {}).get("thread_id")
    if thread is None:
        raise BadRequestError('The config names no thread: {"configurable": {"thread_id": …}}.')
    return {
        interrupt.id: read_interrupt(
            host_key("langgraph", str(thread), interrupt.id), interrupt.value, interrupt.response_schema
        )
        for interrupt in interrupts
    }


def _check_ids(wishes: Mapping[str, Wish], interrupts: Sequence[Interrupt]) -> None:
    """Make sure that the graph still waits for what was asked: LangGraph takes an answer for any interrupt."""
    if not wishes.keys() <= {interrupt.id for interrupt in interrupts}:
        raise ConflictError("The graph no longer waits for this: somebody else resumed it.")


def _settle(calls: Calls, wishes: list[Wish], wait: float | None, terms: Terms) -> Call[tuple[_Settled, ...]]:
    patience = Patience(wait)
    asks: dict[str, Ask] = {}
    for wish in wishes:
        yield from open_reviews(calls, wish.reviews, terms)
        if wish.prompt is not None:
            asks[wish.key] = yield from calls.open(wish.prompt, key=wish.key)
    settled: tuple[_Settled, ...] = ()
    for wish in wishes:
        verdicts: tuple[Verdict, ...] = ()
        for review in wish.reviews:
            verdicts = (*verdicts, (yield from settle_review(calls, review, patience, terms)))
        ask = asks.get(wish.key)
        if ask is not None:
            ask = (yield from calls.wait(ask.ask_id, patience.left)) if ask.is_open else ask
            if ask.answer is None:
                raise no_answer(ask)
        settled = (*settled, (wish, verdicts, ask))
    for wish, verdicts, ask in settled:
        resume_value(
            wish, verdicts, ask
        )  # whatever cannot be told to the graph is raised before anything is spent
    return settled


def _resume(
    calls: Calls, wishes: Mapping[str, Wish], settled: tuple[_Settled, ...], terms: Terms
) -> Call[Command[Any]]:
    values: dict[str, Any] = {}
    for interrupt_id, (wish, verdicts, ask) in zip(wishes, settled, strict=True):
        spent = yield from spend(calls, verdicts, **terms)
        values[interrupt_id] = resume_value(wish, spent, ask)
    return Command(resume=values)
