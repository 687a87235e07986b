"""The page of a run's and a control's states, printed from the machines' own tables and from what they do."""

from __future__ import annotations

from datetime import UTC, datetime

from assent.engine import control, run
from assent.engine.reactions import carry_out
from assent.engine.run import RunDone, RunPaused, RunStarted
from assent.engine.stamp import Stamp
from assent.protocol.control import Control, ControlCommand, ControlRequest, ControlState
from assent.protocol.principal import Principal, Role
from assent.protocol.run import STALE_SECONDS, Frame, Mode, Run, RunId, Status
from tools.reference_state import diagram, ways
from tools.source import field_notes, table

__all__ = ["render_run_states"]

_RUN_ID = RunId("night")
_STAMP = Stamp(datetime(2030, 1, 1, 9, 0, tzinfo=UTC), Principal(Role.HUMAN, "ana"), "")
_MODEL, _OTHER_MODEL = "haiku", "opus"


def _runs() -> dict[str, Run | None]:
    """Return a run in each state that a command may find it in."""
    at, by = _STAMP.at, str(_STAMP.by)
    frame = Frame(_RUN_ID, Mode.LOOP, 0, 10, model=_MODEL)
    started = RunStarted(run_id=_RUN_ID, at=at, by=by, frame=frame, driver="here:1")
    running = run.evolve(None, started)
    return {
        "running": running,
        "paused": run.evolve(running, RunPaused(run_id=_RUN_ID, at=at, by=by)),
        "ended": run.evolve(running, RunDone(run_id=_RUN_ID, at=at, by=by, reason="COMPLETE")),
        "unknown": None,
    }


def _outcome(command: ControlCommand, found: Run | None, model: str) -> str:
    """Return what the machines make of a command, in a word."""
    payload = {"model": model} if command is ControlCommand.ESCALATE else {}
    request = ControlRequest("req-1", command, _RUN_ID, {"run_id": _RUN_ID}, payload)
    accepted = Control(request, request.digest, ControlState.ACCEPTED, str(_STAMP.by), _STAMP.at)
    told, events = carry_out(accepted, found, _STAMP)
    if told["status"] == "failure":
        return f"`{told['code']}`"
    after = found
    for event in events:
        after = run.evolve(after, event)
    assert after is not None
    return f"success, `{after.status}`"


def _matrix() -> str:
    runs = _runs()
    commands = [(f"`{command}`", command, _OTHER_MODEL) for command in ControlCommand]
    commands.append(("`escalate` to the model that it has", ControlCommand.ESCALATE, _MODEL))
    rows = [
        (called, *(_outcome(command, found, model) for found in runs.values()))
        for called, command, model in commands
    ]
    return table(("command", *runs), rows)


def render_run_states() -> str:
    """Return the page."""
    notes = field_notes(ControlState)
    states = [(f"`{state}`", notes.get(state.name, "Its RESULT is out.")) for state in ControlState]
    final = [f"`{state}`" for state, events in run.TRANSITIONS.items() if state and not events]
    words = [
        (f"`{Status.RUNNING}`", "Iterations begin."),
        (
            "`pausing`",
            "It is paused, and whoever drives it is not through with the iteration that was under way.",
        ),
        (f"`{Status.PAUSED}`", "No iteration begins until somebody resumes it, whoever dies meanwhile."),
        (
            "`stale`",
            f"It is `running`, nobody alive drives it, and it has been silent for {STALE_SECONDS:,} seconds.",
        ),
        (f"`{Status.DONE}`", "It ended by itself; DONE says why."),
        (f"`{Status.ABORTED}`", "It was ended; ABORT says why. The board calls it cancelled or failed."),
    ]
    return f"""\
# The states of a run

A run is `running` or `paused` until it ends, and it ends once. {" and ".join(final)} are final: nothing leads out of
them, and nothing of a run follows its last message.

```mermaid
{diagram(run.TRANSITIONS)}
```

{ways(run.TRANSITIONS)}
No way leads from `paused` to a new iteration: `run.turn_begun` is possible only while the run is `running`, and only for
the driver that has its present fence.

## What people see

`pausing` and `stale` are how a run is shown by `assent runs`. They are never stored, and STATE never says them: on
`loop:current` a run that was paused says `"status": "paused"` from that moment on.

{table(("word", "meaning"), words)}
A run that is paused never becomes stale. Commands work on a stale one as on any other.

## What a command does

{_matrix()}
Resuming a run that is still pausing succeeds, and it just goes on. If its work is over with the iteration that was under
way when it was paused, it is held (`run.held`): `resume` ends it with DONE, without another iteration, and `cancel` with
ABORT. (`run.done` while `paused` is in logs of earlier versions alone.) `escalate` to a model outside of those that the run
declared gets `bad_request`.

## The states of a control

A control is one REQUEST and what became of it. It is executed at most once, whatever happens.

```mermaid
{diagram(control.TRANSITIONS)}
```

{ways(control.TRANSITIONS)}
{table(("state", "meaning"), states)}
A request for a run that is not active goes from `posted` to `resolved` at once: it gets no ACK. How requests expire and
what a repeated one gets: [topics and messages](topics.md#again-and-too-late).
"""
