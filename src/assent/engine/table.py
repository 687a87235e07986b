"""MACHINES: every noun of the core, and what is derived from all of them."""

from __future__ import annotations

from typing import Any

from assent.engine import ask, control, notification, policy, receipt, run, target, task, token
from assent.engine.machine import Machine
from assent.protocol.principal import Role

__all__ = ["MACHINES", "MACHINE_FOR", "MACHINE_OF", "RIGHTS"]

MACHINES: tuple[Machine, ...] = (
    ask.MACHINE,
    run.MACHINE,
    control.MACHINE,
    notification.MACHINE,
    task.MACHINE,
    policy.MACHINE,
    token.MACHINE,
    receipt.MACHINE,
    target.MACHINE,
)
MACHINE_OF: dict[type[Any], Machine] = {event: machine for machine in MACHINES for event in machine.events}
"""By event."""
MACHINE_FOR: dict[type[Any], Machine] = {
    command: machine for machine in MACHINES for command in machine.rights
}
"""By command."""
RIGHTS: dict[type[Any], frozenset[Role]] = {
    command: roles for machine in MACHINES for command, roles in machine.rights.items()
}
"""By command."""
