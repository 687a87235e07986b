"""OpenAI Agents SDK: a tool that needs approval. Kill it while it waits, start it again, and answer: it goes on.

python examples/openai_agents_approval.py     and in another terminal: assent inbox, assent answer ID approve
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import assent
from assent.hosts.openai_agents import run_until_done

__all__: list[str] = []


class ScriptedModel(Model):
    """Stands for a real model, so that the example needs no key: it wants one refund, and then tells the result."""

    async def get_response(self, *_: Any, **parts: Any) -> ModelResponse:
        """Answer by what is in the conversation."""
        heard = [entry["output"] for entry in parts["input"] if entry.get("type") == "function_call_output"]
        said: Any = ResponseFunctionToolCall(
            call_id="call-1", name="refund", arguments='{"order": 7}', type="function_call"
        )
        if heard:
            text = ResponseOutputText(text=f"The tool said: {heard[0]}", type="output_text", annotations=[])
            said = ResponseOutputMessage(
                id="message-1", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not needed here."""
        raise NotImplementedError


@function_tool(needs_approval=True)
def refund(order: int) -> str:
    """Refund an order."""
    with Path("refunds.txt").open("a") as file:
        file.write(f"{order}\n")
    return f"refunded order {order}"


if __name__ == "__main__":
    set_tracing_disabled(disabled=True)
    agent = Agent("shop", model=ScriptedModel(), tools=[refund])
    with assent.connect() as client:
        path = Path("openai-agents.json")
        result = run_until_done(client, agent, "Order 7 never came.", thread="order-7", path=path)
        print(result.final_output)
