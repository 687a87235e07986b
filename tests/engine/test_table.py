"""The table of machines: what is derived from it holds for every noun."""

from typing import get_args

from assent.engine.table import MACHINE_OF, MACHINES, RIGHTS
from assent.hub.record import FlowStepped, Recorded, StoreRestored, TopicPosted

__all__: list[str] = []


def test_log_takes_the_events_of_every_machine_and_three_of_its_own() -> None:
    """An event that could not be read back from the log would be lost with the next start."""
    assert {*MACHINE_OF, FlowStepped, TopicPosted, StoreRestored} == set(get_args(Recorded))


def test_no_name_event_or_command_is_of_two_machines() -> None:
    """What is found by one of them is found once."""
    assert len({machine.name for machine in MACHINES}) == len(MACHINES)
    assert len(MACHINE_OF) == sum(len(machine.events) for machine in MACHINES)
    assert len(RIGHTS) == sum(len(machine.rights) for machine in MACHINES)
