"""LangChain: an agent whose tool waits for a yes. Kill it while it waits, start it again, and answer: it goes on.

python examples/langchain_approval.py         and in another terminal: assent inbox, assent answer ID approve
"""

from pathlib import Path
from typing import Any

from file_saver import FileSaver
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

import assent
from assent.hosts.langchain import ApprovalMiddleware

__all__: list[str] = []


class ScriptedModel(BaseChatModel):
    """Stands for a real model, so that the example needs no key: it wants one refund, and then tells the result."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Take any tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            said = AIMessage(f"The tool said: {last.text}")
        else:
            said = AIMessage("", tool_calls=[{"name": "refund", "args": {"order": 7}, "id": "call-1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def refund(order: int) -> str:
    """Refund an order."""
    with Path("refunds.txt").open("a") as file:
        file.write(f"{order}\n")
    return f"refunded order {order}"


if __name__ == "__main__":
    with assent.connect() as client:
        agent = create_agent(
            ScriptedModel(),
            [refund],
            middleware=[ApprovalMiddleware(client, {"refund"})],
            checkpointer=FileSaver(Path("langchain.checkpoints")),
        )
        config: Any = {"configurable": {"thread_id": "order-7"}}
        start: Any = {"messages": [{"role": "user", "content": "Order 7 never came."}]}
        # A thread that was stopped in the middle goes on there. "sync": each step is on disk before the next begins.
        again = bool(agent.get_state(config).next)
        result = agent.invoke(None if again else start, config, durability="sync")
        print(result["messages"][-1].text)
