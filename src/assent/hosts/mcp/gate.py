"""A gate of an MCP tool: a flow with its journal, so that a task that was kept for later is kept once.

The flow goes by the call's name. Under a key that the agent gave, another gate is refused: what was chosen at one is no
choice at the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from assent.client.calls import Calls, ended_otherwise
from assent.client.door import Call
from assent.client.durable import drive_durably
from assent.client.journal import Opened, Settled, decode_entry, render_opened
from assent.effects.kept import kept_performers
from assent.flows.choose import Chosen, choose, render_choice
from assent.flows.kind import FlowKind
from assent.flows.step import Answered, Ended, Flow
from assent.hosts.mcp.argument import OpenGate
from assent.hosts.mcp.told import Told, tell_ended
from assent.protocol.ask import Ask, Kind
from assent.protocol.canonical import canonical
from assent.protocol.display import display
from assent.protocol.error import KeyReusedError, StoreDamagedError
from assent.protocol.gate import Context, Gate, find_context

__all__ = ["attempt_gate"]


class _Passed(msgspec.Struct, frozen=True):
    """What came of a gate: one of the two."""

    chosen: Chosen | None = None
    ended: Ended | None = None


def _pass(gate: Gate) -> Flow[_Passed]:
    came = yield from choose(gate)
    return _Passed(chosen=came) if isinstance(came, Chosen) else _Passed(ended=came)


_GATE = FlowKind("tool_gate", 1, _pass, Gate, _Passed)


def attempt_gate(
    calls: Calls, given: OpenGate, name: str, contexts: Mapping[str, Context], kept: Path
) -> Call[Told]:
    """Go through a gate as far as people have answered.

    Raises:
        StillOpen: it is a person's turn.
        KeyReusedError: the key belongs to another gate.
    """
    gate = Gate(find_context(given.context, contexts), given.summary, tuple(given.ids), given.chunks)
    flow_id = f"gate:{name}"
    steps = yield from calls.steps(flow_id)
    if steps and canonical(decode_entry(steps[0], Opened)) != canonical(render_opened(_GATE, gate)):
        raise KeyReusedError("This key belongs to another gate.")
    performers = kept_performers(kept, calls.door.now)
    passed = yield from drive_durably(calls, flow_id, _GATE, gate, performers, wait=0)
    last = yield from _last_ask(calls, flow_id, gate)
    if passed.ended is not None:
        if last is not None:
            return tell_ended(last)
        raise ended_otherwise(passed.ended.state, passed.ended.reason)
    assert passed.chosen is not None  # noqa: S101 - one of the two
    choice = passed.chosen.choice
    shown = render_choice(gate.prompt, choice)
    content = {"state": "answered", "choice": choice.label, "arguments": list(choice.arguments)}
    if last is None:
        return Told(f"Chosen: {display(shown, lines=False)}", content)
    told = tell_ended(last)
    return Told(
        f"Chosen: {display(shown, lines=False)}\n{told.content['message']}",
        told.content | content | {"answer": shown},
    )


def _last_ask(calls: Calls, flow_id: str, gate: Gate) -> Call[Ask | None]:
    """Return the ask that a gate ended with: who answered it is a part of the truth."""
    for step in reversed((yield from calls.steps(flow_id))):
        result = None
        with suppress(StoreDamagedError):  # the entry of another sort
            result = decode_entry(step, Settled).result
        if isinstance(result, Answered | Ended):
            try:
                return (yield from calls.open(gate.prompt, kind=Kind.GATE, key=f"{flow_id}:{step.step}"))
            except KeyReusedError as reused:
                return reused.ask  # it was a question about the choice, and not the gate itself
    return None
