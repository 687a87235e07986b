"""LangChain's agents: a middleware that asks a person before the named tools run.

    from assent.hosts.langchain import ApprovalMiddleware

    agent = create_agent(model, tools, middleware=[ApprovalMiddleware(client, {"send_email"})], checkpointer=…)

It waits inside the tool call and needs no interrupt. With a checkpointer the key of an ask is the thread and the tool
call's id, so a process that was killed while it waited finds the same ask when the thread is run again (`invoke(None)`).
Agents that have LangChain's own `HumanInTheLoopMiddleware` stay as they are: `hosts.langgraph` answers its interrupts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Unpack

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command
except ImportError as error:
    raise ImportError("LangChain is an extra: pip install 'assent[langchain]'.") from error

from assent.client.awaiting import await_call
from assent.client.client import Holder
from assent.client.door import Call, run_call
from assent.hosts.framework import Terms, ToolReview, Verdict, Way, host_key, spend
from assent.hosts.review import settle_reviews
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import check_json

__all__ = ["ApprovalMiddleware"]

_Result = ToolMessage | Command[Any]


class ApprovalMiddleware(AgentMiddleware[Any, Any, Any]):
    """Lets a named tool run once a person has said yes to exactly this call; otherwise the agent is told why not."""

    def __init__(
        self,
        client: Holder,
        tools: Collection[str],
        *,
        wait: float | None = None,
        **terms: Unpack[Terms],
    ) -> None:
        """Take the tools' names, how many seconds to wait for each call, and the terms of `client.approve`."""
        super().__init__()
        self._client = client
        self._names = frozenset([tools] if isinstance(tools, str) else tools)
        self._wait = wait
        self._terms = terms

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Result]
    ) -> _Result:
        """Ask, and run the tool or say why not.

        Raises:
            StillOpen: the time is over; the ask stays open.
        """
        if request.tool_call["name"] not in self._names:
            return handler(request)
        verdict = run_call(self._decide(request))
        return handler(request) if verdict.way is Way.APPROVE else _refusal(request, verdict)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Result]]
    ) -> _Result:
        """As `wrap_tool_call`, awaited."""
        if request.tool_call["name"] not in self._names:
            return await handler(request)
        verdict = await await_call(self._decide(request))
        return await handler(request) if verdict.way is Way.APPROVE else _refusal(request, verdict)

    def _decide(self, request: ToolCallRequest) -> Call[Verdict]:
        call, thread = request.tool_call, request.runtime.config.get("configurable", {}).get("thread_id")
        if not call["id"]:
            raise BadRequestError("The tool call has no id.")
        if thread is None:
            raise BadRequestError('The config names no thread: {"configurable": {"thread_id": …}}.')
        check_json(call["args"])
        review = ToolReview(host_key("langchain", str(thread), call["id"]), call["name"], call["args"])
        settled = yield from settle_reviews(self._client.calls, [review], wait=self._wait, **self._terms)
        (verdict,) = yield from spend(self._client.calls, settled, **self._terms)
        return verdict


def _refusal(request: ToolCallRequest, verdict: Verdict) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(verdict.text, name=call["name"], tool_call_id=call["id"], status="error")
