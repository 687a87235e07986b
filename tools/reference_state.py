"""The page of an ask's states, printed from the machine's own table."""

from __future__ import annotations

from assent.engine.ask import ENDINGS, TRANSITIONS, Event
from assent.protocol.ask import Consequence, State
from tools.source import field_notes, first_sentence, table

__all__ = ["render_states"]


def _type_of(event: type[Event]) -> str:
    return str(event.__struct_config__.tag)


def _diagram() -> str:
    lines = ["stateDiagram-v2"]
    for state, ways in TRANSITIONS.items():
        for event, following in ways.items():
            lines.append(f"    {state or '[*]'} --> {following}: {_type_of(event)}")
        if not ways:
            lines.append(f"    {state} --> [*]")
    return "\n".join(lines)


def render_states() -> str:
    """Return the page."""
    ways = [
        (
            f"`{state}`" if state else "(nothing)",
            f"`{_type_of(event)}`",
            f"`{following}`",
            first_sentence(event),
        )
        for state, events in TRANSITIONS.items()
        for event, following in events.items()
    ]
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
{_diagram()}
```

{table(("state", "event", "state after it", "what happened"), ways)}
## What a deadline does

The asker declares the consequence with the deadline, and it is shown beside the question. No row leads to `answered`.

{table(("consequence", "event", "state after it", "meaning"), endings)}"""
