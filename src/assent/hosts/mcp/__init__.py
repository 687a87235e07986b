"""The MCP server: asks of agents whose hosts speak the Model Context Protocol. `cli.mcp` puts it together."""
