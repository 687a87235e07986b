"""LangGraph: a node stops before it refunds. Kill it while it waits, start it again, and answer: it goes on.

python examples/langgraph_approval.py         and in another terminal: assent inbox, assent answer ID approve
"""

from pathlib import Path
from typing import Any, TypedDict

from file_saver import FileSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import assent
from assent.hosts.langgraph import run_until_done

__all__: list[str] = []


class Order(TypedDict, total=False):
    """What the graph holds."""

    order: int
    result: str


def refund(state: Order) -> Order:
    """Ask, and do it after the answer: the node starts from its top when it is resumed."""
    call = {
        "name": "refund",
        "args": {"order": state["order"]},
        "description": "It never came, says the customer.",
    }
    review = {"action_name": "refund", "allowed_decisions": ["approve", "reject"]}
    (decision,) = interrupt({"action_requests": [call], "review_configs": [review]})["decisions"]
    if decision["type"] != "approve":
        return {"result": f"not refunded: {decision['message']}"}
    with Path("refunds.txt").open("a") as file:
        file.write(f"{state['order']}\n")
    return {"result": f"refunded order {state['order']}"}


def build() -> Any:
    """Return the graph, with its checkpoints on disk."""
    builder = StateGraph(Order)
    builder.add_node("refund", refund)
    builder.add_edge(START, "refund")
    builder.add_edge("refund", END)
    return builder.compile(checkpointer=FileSaver(Path("langgraph.checkpoints")))


if __name__ == "__main__":
    with assent.connect() as client:
        config = {"configurable": {"thread_id": "order-7"}}
        print(run_until_done(client, build(), {"order": 7}, config)["result"])
