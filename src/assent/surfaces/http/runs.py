"""Runs, topics and durable flows over HTTP: seen, steered and driven."""

from __future__ import annotations

from heapq import merge

import msgspec
from msgspec.structs import replace

from assent.client import steer
from assent.client.awaiting import await_call, await_wait
from assent.client.driving import check_driver, drive_run, start_run, tell_output
from assent.client.http.translate import flow_step, journal_step, posted_reply, run_reply
from assent.protocol.control import ControlMessage
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ForbiddenError,
    InvalidStateError,
    RunEndedError,
    RunTakenError,
    StillOpen,
)
from assent.protocol.run import Run, RunId, check_run_id
from assent.protocol.tail import Tail
from assent.protocol.topic import CONTROL_TOPIC, Message, check_topic
from assent.protocol.wire_run import (
    ControlBody,
    DriveBody,
    FlowStep,
    HoldBody,
    Messages,
    PostedReply,
    RunReply,
    Runs,
    Steps,
)
from assent.surfaces.http.asks import after_of, limit_of, seconds_of
from assent.surfaces.http.flows import check_flow
from assent.surfaces.http.holds import HoldReply, hold, release
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS", "RefusedControl"]


async def _reply(request: Incoming, run: Run) -> RunReply:
    is_driven = await await_call(steer.is_driven(request.calls_in(run.project), run))
    return run_reply(run, is_driven=is_driven, now=request.site.now())


async def _list(request: Incoming) -> Runs:
    limit = limit_of(request.query.limit)
    door, active = request.site.door, request.query.active
    pages: list[list[Run]] = [
        await await_wait(door.runs(name, limit, active=active)) for name in request.reached
    ]
    runs = list(
        merge(*pages, key=lambda run: run.started_at, reverse=True)
    )  # each page is in order, by number
    return Runs(tuple([await _reply(request, run) for run in runs[:limit]]))


async def _show(request: Incoming) -> RunReply:
    calls, run_id = request.calls, request.path["run"]
    run = await await_call(steer.find_run(calls, run_id))
    seconds = seconds_of(request.query.wait)
    if seconds and run.sequence <= request.query.after:
        try:
            wait = steer.wait_for_run(calls, run_id, request.query.after, seconds)
            run = await request.site.linger(await_call(wait)) or run
        except StillOpen:
            pass
    return await _reply(request, run)


class RefusedControl(msgspec.Struct, frozen=True):
    """A command to a run that failed: why, and the RESULT that says so."""

    error: AssentError
    result: ControlMessage


async def _control(request: Incoming) -> ControlMessage | RefusedControl:
    body: ControlBody = request.body
    draft = steer.draft_request(
        request.path["run"],
        body.command,
        model=body.model,
        reason=body.reason,
        issue_id=body.issue_id,
        request_id=body.request_id or request.command_id or None,
    )
    result = await await_call(steer.send_request(request.calls, draft, request.arrival.check()))
    if not result.is_success:
        return RefusedControl(steer.failure_of(result), result)
    return result


async def _start(request: Incoming) -> RunReply:
    run = await await_call(start_run(request.calls, request.body, command_id=request.command_id))
    return await _reply(request, run)


async def _drive(request: Incoming) -> RunReply:
    run_id = check_run_id(request.path["run"])
    body: DriveBody = request.body
    run = await await_call(drive_run(request.calls, run_id, body, command_id=request.command_id))
    if body.command == "begin":
        _check_begun(run, body)
    return await _reply(request, run)


def _check_begun(run: Run, body: DriveBody) -> None:
    """Refuse a driver that would take its word for an iteration that has not begun.

    Raises:
        InvalidStateError: the run is paused.
        RunEndedError: the run has ended, or its loop has.
    """
    if not run.is_active:
        raise RunEndedError(f"The run {run.run_id} has ended ({run.reason or run.status}).")
    loop = run.levels[body.depth] if body.depth < len(run.levels) else None
    if loop is None or body.level not in (None, loop.number):
        raise RunEndedError(f"This loop of the run {run.run_id} is over.")
    if not loop.is_open:
        raise InvalidStateError(
            f"Run {run.run_id} is paused: no iteration begins before somebody resumes it."
        )


async def _tell_output(request: Incoming) -> Tail:
    run_id = check_run_id(request.path["run"])
    call = tell_output(request.calls, run_id, request.body, command_id=request.command_id)
    return await await_call(call)


async def _read_output(request: Incoming) -> Tail:
    after = after_of(request.query.after)
    return await await_call(steer.read_output(request.calls, request.path["run"], after))


async def _hold(request: Incoming) -> HoldReply:
    body: HoldBody = request.body
    if body.run_id is not None:
        await _check_holder(request, check_run_id(body.run_id))
    if body.flow_id is not None:
        await check_flow(request, body.flow_id)
    return await hold(request)


async def _check_holder(request: Incoming, run_id: RunId) -> None:
    """Refuse an agent that wants another's run, or whoever waits for the server to restart would have it."""
    try:
        await await_call(check_driver(request.calls, run_id))
    except ForbiddenError:
        if await await_wait(request.site.door.is_driven(request.path["project"], run_id)):
            raise RunTakenError(f"Another agent drives the run {run_id}.") from None
        raise


# Topics


async def _post(request: Incoming) -> PostedReply:
    topic = request.path["topic"]
    check_topic(topic)
    not_after = request.arrival.check() if topic == CONTROL_TOPIC else None
    call = steer.deliver(
        request.calls, topic, request.text, command_id=request.command_id, not_after=not_after
    )
    posted = await await_call(call)
    if posted.message is None:
        raise BadRequestError(posted.problem)
    return posted_reply(posted.message, posted.reply)


async def _read(request: Incoming) -> Messages:
    topic, query = request.path["topic"], request.query
    limit, seconds, after = limit_of(query.limit), seconds_of(query.wait), after_of(query.after)
    found: list[Message] = await await_call(steer.read_topic(request.calls, topic, after, limit))
    if not found and seconds:
        found = await request.linger(seconds, lambda: steer.read_topic(request.calls, topic, after, limit))
    return Messages(tuple(found[:limit]))


# Flows


async def _steps(request: Incoming) -> Steps:
    found = await await_call(request.calls.steps(request.path["flow"]))
    return Steps(tuple(map(flow_step, found)))


async def _write_step(request: Incoming) -> FlowStep:
    body: FlowStep = request.body
    if body.flow_id != request.path["flow"]:
        raise BadRequestError("The step belongs to another flow than the path says.")
    await await_call(request.calls.write_step(journal_step(body), is_own=True))
    return replace(body, by=str(request.caller.token.principal))


ENDPOINTS: dict[str, Endpoint] = {
    "list_runs": _list,
    "list_all_runs": _list,
    "show_run": _show,
    "control_run": _control,
    "start_run": _start,
    "drive_run": _drive,
    "tell_output": _tell_output,
    "read_output": _read_output,
    "hold": _hold,
    "release": release,
    "post_message": _post,
    "read_topic": _read,
    "list_steps": _steps,
    "write_step": _write_step,
}
