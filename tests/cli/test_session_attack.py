"""What somebody who wants more than they were given tries on `assent session`."""

import pytest

from tests.cli.sessions import Desk
from tests.cli.shell import Shell
from tests.proves import proves

__all__: list[str] = []

FILE = "findings.json"


@pytest.fixture
def desk(shell: Shell) -> Desk:
    """Give a shell with a review."""
    return Desk(shell)


@proves("G12", "G13")
def test_a_reply_typed_before_its_gate_was_shown_passes_nothing(desk: Desk) -> None:
    """Enter that is pressed twice answers one gate; the next one waits to be read first."""
    with desk.terminal(FILE) as terminal:
        terminal.until("proceed.*")
        terminal.type("1\n1\n1\n1\n")
        terminal.until("Chunk Plan")
        terminal.until("proceed.*", 2)
        terminal.type("\x03")
        result = terminal.end()
    assert result.status == 3
    assert "Chunk Loop" not in result.err
    assert desk.shell.only_open().prompt.title == "Chunk Plan"
