"""What the tests of the MCP server start from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.mcp.world import World, make_world

__all__ = ["world"]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Give an agent and a person on a store of their own."""
    with make_world(tmp_path) as made:
        yield made
