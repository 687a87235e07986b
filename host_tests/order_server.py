"""An MCP server that puts a form to whoever sits at the host, as somebody else's server would.

`python order_server.py`: its one tool says what came of the form.
"""

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Elicit, ElicitationResult, Resolve
from pydantic import BaseModel, ConfigDict, Field

__all__: list[str] = []

server = MCPServer("shop")


def _plain(schema: dict[str, Any]) -> None:
    del schema["title"]  # Codex takes no form that has one


class Order(BaseModel):
    model_config = ConfigDict(json_schema_extra=_plain)

    count: int = Field(ge=1)


async def _ask() -> Elicit[Order]:
    return Elicit("How many shall be ordered?", Order)


@server.tool(structured_output=False)
async def order(form: Annotated[ElicitationResult[Order], Resolve(_ask)]) -> str:
    """Order something."""
    return repr(form)


if __name__ == "__main__":
    server.run("stdio")
