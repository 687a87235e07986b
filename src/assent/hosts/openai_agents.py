"""OpenAI Agents SDK: tools with `needs_approval` wait for a person, and run once for exactly what was shown.

    from assent.hosts.openai_agents import run_until_done

    result = run_until_done(assent.connect(), agent, "Refund order 7.", thread="order-7", path="order-7.json")

The run's state is kept in a file before anybody is asked, and each ask has the tool call's id in its key. So a process
that was killed while it waited goes on where it was.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Unpack

try:
    from agents import Agent, Runner, RunResult, RunState, ToolApprovalItem
except ImportError as error:
    raise ImportError("The OpenAI Agents SDK is an extra: pip install 'assent[openai-agents]'.") from error

from assent.client.awaiting import await_call
from assent.client.client import Client, Holder
from assent.client.door import run_call
from assent.hosts.framework import Terms, ToolReview, Verdict, Way, host_key, spend
from assent.hosts.kept import Kept
from assent.hosts.review import settle_reviews
from assent.protocol.error import BadJsonError, BadRequestError
from assent.protocol.json_text import Json, parse_json

__all__ = ["answer_approvals", "answer_approvals_async", "run_until_done", "run_until_done_async"]

State = RunState[Any, Any]


def answer_approvals(
    client: Client, state: State, *, thread: str, wait: float | None = None, **terms: Unpack[Terms]
) -> State:
    """Ask people about every call that waits for approval, and write what they said into the state.

    `thread` is the caller's own name of this run, the same after a restart. `wait` are seconds for all calls. The terms
    are those of `client.approve`: category, risk, life, deadline, …

    Raises:
        StillOpen: the time is over. The state is as it was, the asks stay open, and the next call finds them.
    """
    waiting = state.get_interruptions()
    reviews = [_review(thread, approval) for approval in waiting]
    settled = run_call(settle_reviews(client.calls, reviews, wait=wait, **terms))
    return _tell(state, waiting, run_call(spend(client.calls, settled, **terms)))


async def answer_approvals_async(
    client: Holder, state: State, *, thread: str, wait: float | None = None, **terms: Unpack[Terms]
) -> State:
    """As `answer_approvals`, awaited."""
    waiting = state.get_interruptions()
    reviews = [_review(thread, approval) for approval in waiting]
    settled = await await_call(settle_reviews(client.calls, reviews, wait=wait, **terms))
    return _tell(state, waiting, await await_call(spend(client.calls, settled, **terms)))


def run_until_done(
    client: Client,
    agent: Agent[Any],
    value: Any,
    *,
    thread: str,
    path: str | Path,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> RunResult:
    """Run an agent to its end, through all of its approvals. A run whose state is in `path` goes on from there."""
    return asyncio.run(
        run_until_done_async(client, agent, value, thread=thread, path=path, wait=wait, **terms)
    )


async def run_until_done_async(
    client: Holder,
    agent: Agent[Any],
    value: Any,
    *,
    thread: str,
    path: str | Path,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> RunResult:
    """As `run_until_done`, awaited. What is raised is said by `answer_approvals`."""
    kept = Kept(path)
    if (before := kept.read()) is not None:
        state: State = await RunState.from_string(agent, before.decode())
    else:
        result = await Runner.run(agent, value)
        if not result.interruptions:
            return result
        state = result.to_state()
    while True:
        kept.write(state.to_string().encode())
        await answer_approvals_async(client, state, thread=thread, wait=wait, **terms)
        result = await Runner.run(agent, state)
        if not result.interruptions:
            kept.drop()
            return result
        state = result.to_state()


def _review(thread: str, approval: ToolApprovalItem) -> ToolReview:
    if not approval.call_id or not approval.name:
        raise BadRequestError("A tool call that waits for approval has no id or no name.")
    key = host_key("openai-agents", thread, approval.call_id)
    return ToolReview(key, approval.qualified_name or approval.name, _arguments(approval.arguments))


def _arguments(text: str | None) -> Json:
    """Return the arguments as JSON; what is none is shown as the text that it is."""
    try:
        return parse_json(text) if text is not None else None
    except BadJsonError:
        return text


def _tell(state: State, waiting: list[ToolApprovalItem], verdicts: tuple[Verdict, ...]) -> State:
    for approval, verdict in zip(waiting, verdicts, strict=True):
        if verdict.way is Way.APPROVE:
            state.approve(approval)
        else:
            state.reject(approval, rejection_message=verdict.text)
    return state
