"""Gates from Python. A call returns when a person has answered, and not before.

A function that takes a client, and not its method: who only asks a question does not pay for loading it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assent.client.async_client import awaiting
from assent.client.calls import Calls, ended_otherwise
from assent.client.client import blocking
from assent.client.door import Call
from assent.client.named import named
from assent.client.place import find_root
from assent.client.stored import drive_stored
from assent.effects.direct import Direct
from assent.effects.kept import kept_performers
from assent.effects.performer import Performers
from assent.flows import gate as gate_flow
from assent.flows.gate import AddTodo
from assent.flows.step import Ended
from assent.protocol.gate import CONTEXTS, Choice, Context, Gate, find_context

__all__ = ["pass_gate", "pass_gate_async"]


def _gate(  # noqa: PLR0913 - the public call: every part of a gate has a name
    calls: Calls,
    context: str | Context,
    summary: str,
    *,
    ids: Sequence[str] = (),
    chunks: int = 0,
    contexts: Mapping[str, Context] = CONTEXTS,
    key: str | None = None,
    keep: Callable[[str], None] | None = None,
    wait: float | None = None,
) -> Call[Choice]:
    """Stop at a gate until a person chose; return the choice, confirmed where that is needed.

    `ids` are the findings that commands may name, `chunks` the last number of a chunk. `keep` gets each task that
    is typed as `todo: …`; without it the project's own list does. With a `key`, whoever comes again finds what was chosen.

    Raises:
        NoAnswer: the gate ended without an answer.
        StillOpen: `wait` lapsed; the gate stays open.
    """
    found = context if isinstance(context, Context) else find_context(context, contexts)
    flow = gate_flow.pass_gate(Gate(found, summary, tuple(ids), chunks))
    performers: Performers = kept_performers(find_root(Path.cwd()) / ".assent", calls.door.now)
    if keep is not None:
        performers = {AddTodo: Direct(AddTodo, lambda effect: keep(effect.text))}
    chosen = yield from drive_stored(calls, flow, performers, name=key, wait=wait)
    if isinstance(chosen, Ended):
        raise ended_otherwise(chosen.state, chosen.reason)
    return chosen


pass_gate = named(blocking(_gate), "pass_gate")
pass_gate_async = named(awaiting(_gate), "pass_gate_async")
