"""Pydantic AI: a tool that requires approval. Kill it while it waits, start it again, and answer: it goes on.

python examples/pydantic_ai_approval.py       and in another terminal: assent inbox, assent answer ID approve
"""

from pathlib import Path

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import assent
from assent.hosts.pydantic_ai import run_until_done

__all__: list[str] = []


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stand for a real model, so that the example needs no key: want one refund, and then tell the result."""
    heard = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    if heard:
        return ModelResponse([TextPart(f"The tool said: {heard[0].content}")])
    return ModelResponse([ToolCallPart("refund", {"order": 7}, "call-1")])


agent = Agent(FunctionModel(scripted), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def refund(order: int) -> str:
    """Refund an order."""
    with Path("refunds.txt").open("a") as file:
        file.write(f"{order}\n")
    return f"refunded order {order}"


if __name__ == "__main__":
    with assent.connect() as client:
        path = Path("pydantic-ai.json")
        result = run_until_done(client, agent, "Order 7 never came.", thread="order-7", path=path)
        print(result.output)
