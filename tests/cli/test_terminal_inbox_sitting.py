"""A whole sitting at the terminal inbox: asks of every kind, cleared by keyboard, with a program that dies on the way."""

from tests.cli.clearing import KINDS, Agents, clear, expected
from tests.cli.shell import Shell

__all__: list[str] = []


def test_sitting_that_is_killed_twice_is_resumed_where_it_was_and_cleared(shell: Shell) -> None:
    """Every agent is told what was marked for its ask, once; the trial of the same name does it with thirty."""
    count = len(KINDS)
    agents = Agents(shell, agents=3, asks=count)
    lost = list(clear(shell, count, kill_at=(1, 4)))
    agents.join()
    assert lost == []
    told = {title: dict(ask.answer.values) for title, ask in agents.told.items() if ask.answer is not None}
    titles = [f"Q{number:02} {kind}" for number, kind in enumerate(KINDS)]
    assert told == {title: expected(title) for title in titles}
