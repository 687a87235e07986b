"""The page of an ask's states, printed from the machine's own table; the run's and the control's use the same shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from assent.engine.ask import ENDINGS, TRANSITIONS
from assent.protocol.ask import Consequence, State
from tools.source import field_notes, first_sentence, table

__all__ = ["Transitions", "diagram", "render_states", "ways"]

Transitions = Mapping[Any, Mapping[Any, str]]
"""From a state and a type of event to the state after it; None is before the first."""


def _type_of(event: type[msgspec.Struct]) -> str:
    return str(event.__struct_config__.tag)


def diagram(transitions: Transitions) -> str:
    """Return a machine's table as a diagram."""
    lines = ["stateDiagram-v2"]
    for state, events in transitions.items():
        for event, following in events.items():
            lines.append(f"    {state or '[*]'} --> {following}: {_type_of(event)}")
        if not events:
            lines.append(f"    {state} --> [*]")
    return "\n".join(lines)


def ways(transitions: Transitions) -> str:
    """Return a machine's table as a table with what each event means."""
    rows = [
        (
            f"`{state}`" if state else "(nothing)",
            f"`{_type_of(event)}`",
            f"`{following}`",
            first_sentence(event),
        )
        for state, events in transitions.items()
        for event, following in events.items()
    ]
    return table(("state", "event", "state after it", "what happened"), rows)


def render_states() -> str:
    """Return the page."""
    final = [f"`{state}`" for state, events in TRANSITIONS.items() if state and not events]
    notes = field_notes(Consequence)
    endings = [
        (
            f"`{consequence}`",
            f"`{_type_of(event)}`",
            f"`{TRANSITIONS[State.OPEN][event]}`",
            notes[consequence.name],
        )
        for consequence, event in ENDINGS.items()
    ]
    return f"""\
# The states of an ask

An ask is open until it ends, and it ends once. {", ".join(final[:-1])} and {final[-1]} are final: nothing leads out of them.

```mermaid
{diagram(TRANSITIONS)}
```

{ways(TRANSITIONS)}
## What a deadline does

The asker declares the consequence with the deadline, and it is shown beside the question. No row leads to `answered`.

{table(("consequence", "event", "state after it", "meaning"), endings)}"""
