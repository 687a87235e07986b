"""Where machines touch: the one place to look when asking "why did that happen"."""

from __future__ import annotations

from assent.engine.ask import AskOpened, Command, Event, SupersedeAsk

__all__ = ["react"]


def react(event: Event) -> tuple[Command, ...]:
    """Return the commands that follow from `event`, in the same transaction."""
    match event:
        case AskOpened(ask_id=ask_id, replaces=replaced) if replaced is not None:
            return (SupersedeAsk(replaced, ask_id),)
        case _:
            return ()
