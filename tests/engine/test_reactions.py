"""Where machines touch: which event leads to which command, and nothing else does."""

import pytest
from msgspec.structs import replace

from assent.engine.ask import AskOpened, Event, SupersedeAsk, decide, evolve
from assent.engine.reactions import react
from assent.engine.stamp import Stamp
from assent.protocol.ask import AskId, State
from tests.engine.test_ask import EVENTS, opened
from tests.samples import AGENT, NOON

__all__: list[str] = []


@pytest.mark.parametrize("event", EVENTS.values(), ids=[event.__name__ for event in EVENTS])
def test_ordinary_event_leads_to_nothing(event: Event) -> None:
    """What is not in the table of reactions does not happen."""
    assert react(event) == ()


def test_opening_that_replaces_supersedes_the_older_ask() -> None:
    """In the same transaction, so that a key never has two asks."""
    event = EVENTS[AskOpened]
    assert isinstance(event, AskOpened)
    newer = replace(event, ask_id=AskId("ask_2"), replaces=event.ask_id)
    [command] = react(newer)
    assert command == SupersedeAsk(event.ask_id, AskId("ask_2"))
    older = opened()
    [ending] = decide(older, replace(command, stamp=Stamp(NOON, AGENT, "cmd_2")))
    after = evolve(older, ending, project="p", sequence=2)
    assert after.outcome is not None
    assert (after.state, after.outcome.successor) == (State.SUPERSEDED, "ask_2")
