"""Pydantic AI: tools that require approval wait for a person, and run once for exactly what was shown.

    from assent.hosts.pydantic_ai import run_until_done

    result = run_until_done(assent.connect(), agent, "Refund order 7.", thread="order-7", path="order-7.json")

The agent's `output_type` includes `DeferredToolRequests`. The messages are kept in a file before anybody is asked, and
each ask has the tool call's id in its key. So a process that was killed while it waited goes on where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any, Unpack

try:
    from pydantic import TypeAdapter
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
    from pydantic_ai.messages import ModelMessage, ToolCallPart
    from pydantic_ai.run import AgentRunResult
except ImportError as error:
    raise ImportError("Pydantic AI is an extra: pip install 'assent[pydantic-ai]'.") from error

from assent.client.awaiting import await_call
from assent.client.client import Client, Holder
from assent.client.door import run_call
from assent.hosts.framework import Terms, ToolReview, Verdict, Way, host_key, spend
from assent.hosts.kept import Kept
from assent.hosts.review import settle_reviews
from assent.protocol.error import BadJsonError
from assent.protocol.json_text import Json, parse_json

__all__ = ["answer_deferred", "answer_deferred_async", "run_until_done", "run_until_done_async"]

_KEPT: TypeAdapter[tuple[list[ModelMessage], DeferredToolRequests]] = TypeAdapter(
    tuple[list[ModelMessage], DeferredToolRequests]
)


def answer_deferred(
    client: Client,
    requests: DeferredToolRequests,
    *,
    thread: str,
    people: Collection[str] = (),
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> DeferredToolResults:
    """Ask people about every deferred call, and return what they said.

    `thread` is the caller's own name of this run, the same after a restart. `people` are the names of external tools
    that a person answers in words; other external calls are left to the caller. `wait` are seconds for all calls. The
    terms are those of `client.approve`: category, risk, life, deadline, …

    Raises:
        StillOpen: the time is over. The asks stay open, and the next call finds them.
    """
    parts = _waiting(requests, people)
    reviews = [_review(thread, part, part in requests.approvals) for part in parts]
    settled = run_call(settle_reviews(client.calls, reviews, wait=wait, **terms))
    return _tell(requests, parts, run_call(spend(client.calls, settled, **terms)))


async def answer_deferred_async(
    client: Holder,
    requests: DeferredToolRequests,
    *,
    thread: str,
    people: Collection[str] = (),
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> DeferredToolResults:
    """As `answer_deferred`, awaited."""
    parts = _waiting(requests, people)
    reviews = [_review(thread, part, part in requests.approvals) for part in parts]
    settled = await await_call(settle_reviews(client.calls, reviews, wait=wait, **terms))
    return _tell(requests, parts, await await_call(spend(client.calls, settled, **terms)))


def run_until_done(
    client: Client,
    agent: Agent[Any, Any],
    prompt: str,
    *,
    thread: str,
    path: str | Path,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> AgentRunResult[Any]:
    """Run an agent to its end, through all of its approvals. A run whose messages are in `path` goes on from there."""
    return asyncio.run(
        run_until_done_async(client, agent, prompt, thread=thread, path=path, wait=wait, **terms)
    )


async def run_until_done_async(
    client: Holder,
    agent: Agent[Any, Any],
    prompt: str,
    *,
    thread: str,
    path: str | Path,
    wait: float | None = None,
    **terms: Unpack[Terms],
) -> AgentRunResult[Any]:
    """As `run_until_done`, awaited. What is raised is said by `answer_deferred`."""
    kept = Kept(path)
    if (before := kept.read()) is not None:
        messages, requests = _KEPT.validate_json(before)
    else:
        result = await agent.run(prompt)
        if not isinstance(result.output, DeferredToolRequests):
            return result
        messages, requests = result.all_messages(), result.output
    while True:
        kept.write(_KEPT.dump_json((messages, requests)))
        external = {part.tool_name for part in requests.calls}
        told = await answer_deferred_async(
            client, requests, thread=thread, people=external, wait=wait, **terms
        )
        result = await agent.run(message_history=messages, deferred_tool_results=told)
        if not isinstance(result.output, DeferredToolRequests):
            kept.drop()
            return result
        messages, requests = result.all_messages(), result.output


def _waiting(requests: DeferredToolRequests, people: Collection[str]) -> list[ToolCallPart]:
    return [*requests.approvals, *(part for part in requests.calls if part.tool_name in people)]


def _review(thread: str, part: ToolCallPart, is_approval: bool) -> ToolReview:
    ways = frozenset({Way.APPROVE, Way.REJECT}) if is_approval else frozenset({Way.RESPOND})
    key = host_key("pydantic-ai", thread, part.tool_call_id)
    return ToolReview(key, part.tool_name, _arguments(part), ways=ways)


def _arguments(part: ToolCallPart) -> Json:
    """Return the arguments as JSON; what is none is shown as the text that it is."""
    text = part.args_as_json_str()
    try:
        return parse_json(text)
    except BadJsonError:
        return text


def _tell(
    requests: DeferredToolRequests, parts: list[ToolCallPart], verdicts: tuple[Verdict, ...]
) -> DeferredToolResults:
    told = DeferredToolResults()
    for part, verdict in zip(parts, verdicts, strict=True):
        if part not in requests.approvals:
            told.calls[part.tool_call_id] = verdict.text
        elif verdict.way is Way.APPROVE:
            told.approvals[part.tool_call_id] = ToolApproved()
        else:
            told.approvals[part.tool_call_id] = ToolDenied(verdict.text)
    return told
