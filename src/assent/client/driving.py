"""What a server does for the driver of a run that is elsewhere: the driver's commands, checked as its own client would.

Rule 1: a run is driven by who began it, or by a person or an operator: an agent drives no other agent's run.
Rule 2: who begins a run holds it. The hold lasts as long as the driver's connection, so that a run whose driver is gone
        is known to be driven by nobody.
"""

from __future__ import annotations

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.client.http.translate import driver_command, start_command
from assent.client.wheel import Plan, check_plan
from assent.hub.command import DriverCommand, TellOutput
from assent.hub.ids import new_command_id
from assent.protocol.error import ForbiddenError, RunTakenError
from assent.protocol.principal import Role
from assent.protocol.run import Run, RunId, check_run_id
from assent.protocol.tail import Tail, encode_output
from assent.protocol.wire_run import DriveBody, OutputBody, StartBody

__all__ = ["check_driver", "drive_run", "start_run", "tell_output"]


def start_run(calls: Calls, body: StartBody, *, command_id: str = "") -> Call[Run]:
    """Begin a run, or take over one whose driver is dead.

    Raises:
        ForbiddenError: it is another agent's.
        RunTakenError: nobody holds it.
        BadRequestError: a part of it makes no sense.
    """
    run_id = check_run_id(body.run_id)
    check_plan(Plan(run_id, body.frame, body.title, body.models))
    yield from check_driver(calls, run_id)
    if not (yield from until(calls.door.is_driven(calls.project, run_id))):
        raise RunTakenError("Hold the run first, and keep the hold open while you drive it.")
    return (yield from _send(calls, start_command(body), command_id))


def drive_run(calls: Calls, run_id: RunId, body: DriveBody, *, command_id: str = "") -> Call[Run]:
    """Do what the driver says; return the run.

    Raises:
        ForbiddenError: it is another agent's.
        RunTakenError: it has another fence now.
        NotFoundError: there is no such run.
    """
    yield from check_driver(calls, run_id)
    return (yield from _send(calls, driver_command(run_id, body), command_id))


def tell_output(calls: Calls, run_id: RunId, body: OutputBody, *, command_id: str = "") -> Call[Tail]:
    """Keep what the driver's command printed; return how much there is now.

    Raises:
        ForbiddenError: it is another agent's.
        RunTakenError: it has another fence now.
        NotFoundError: there is no such run.
        BadRequestError: it is more than is taken at once.
    """
    yield from check_driver(calls, run_id)
    command = TellOutput(run_id, body.fence, encode_output(body.text), body.skipped)
    told = yield from until(
        calls.door.send(command, calls.project, calls.principal, command_id or new_command_id())
    )
    assert isinstance(told, Tail)  # noqa: S101 - the desk's reply to it
    return told


def check_driver(calls: Calls, run_id: RunId) -> Call[None]:
    """Refuse an agent that would drive, hold or end another's run.

    Raises:
        ForbiddenError: it is another agent's.
    """
    # Who began a run never changes, so this may be read before the transaction that decides.
    run = yield from until(calls.door.find_run(calls.project, run_id))
    is_own = run is None or run.started_by == str(calls.principal)
    if not is_own and calls.principal.role is Role.AGENT:
        raise ForbiddenError("Another agent began this run, and drives it.")


def _send(calls: Calls, command: DriverCommand, command_id: str) -> Call[Run]:
    told = yield from until(
        calls.door.send(command, calls.project, calls.principal, command_id or new_command_id())
    )
    assert isinstance(told, Run)  # noqa: S101 - the desk's reply to a driver
    return told
