"""What waits, in the order in which it wants to be looked at, and what of it somebody asked to see. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from assent.protocol.ask import Ask
from assent.surfaces.card import render_headline, render_kind

__all__ = ["Groups", "matches", "next_after", "oldest", "order"]

_PART = re.compile(r"(?P<part>kind|project|run|asker):(?P<text>.+)").fullmatch


class Groups(msgspec.Struct, frozen=True):
    """The asks of a list."""

    urgent: tuple[Ask, ...] = ()
    """Those whose time runs, the nearest deadline first."""
    calm: tuple[Ask, ...] = ()
    """The others that wait, newest first."""
    ended: tuple[Ask, ...] = ()
    """Those that ended while somebody looked, the last one first."""

    @property
    def open(self) -> tuple[Ask, ...]:
        """All that wait."""
        return self.urgent + self.calm

    @property
    def all(self) -> tuple[Ask, ...]:
        """All, as they stand."""
        return self.open + self.ended


def order(asks: Iterable[Ask], words: str = "", snoozed: Sequence[str] = (), keep: str = "") -> Groups:
    """Return the groups of a list; `keep` is the id of the ask that is open, which stays whatever is asked for."""
    shown = [ask for ask in asks if ask.ask_id == keep or (ask.ask_id not in snoozed and matches(ask, words))]
    waiting = [ask for ask in shown if ask.is_open]
    return Groups(
        tuple(sorted((ask for ask in waiting if ask.deadline is not None), key=_deadline)),
        tuple(
            sorted(
                (ask for ask in waiting if ask.deadline is None), key=lambda ask: ask.opened_at, reverse=True
            )
        ),
        tuple(sorted((ask for ask in shown if not ask.is_open), key=_end, reverse=True)),
    )


def _deadline(ask: Ask) -> datetime:
    assert ask.deadline is not None  # noqa: S101 - those without were left out
    return ask.deadline


def _end(ask: Ask) -> datetime:
    ended = ask.answer or ask.outcome
    return ask.opened_at if ended is None else ended.at


def matches(ask: Ask, words: str) -> bool:
    """Say whether an ask has all these words: `gate`, `kind:gate`, `project:shop run:42 asker:coder`."""
    if not words.strip():
        return True
    parts = {
        "kind": f"{ask.kind} {render_kind(ask)}".replace("_", "-"),
        "project": ask.project,
        "run": ask.run_id or "",
        "asker": ask.asker,
        "title": render_headline(ask),
    }
    everything = "\n".join(parts.values()).lower()
    for word in words.lower().split():
        found = _PART(word)
        if found["text"] not in parts[found["part"]].lower() if found else word not in everything:
            return False
    return True


def oldest(groups: Groups) -> Ask | None:
    """Return the ask that has waited for longest."""
    return min(groups.open, key=lambda ask: ask.opened_at, default=None)


def next_after(groups: Groups, ask_id: str, place: int = 0) -> Ask | None:
    """Return the ask to go on with: the one below, or from the top again; `place` is where one that ended stood."""
    ids: list[str] = [ask.ask_id for ask in groups.open]
    at = ids.index(ask_id) if ask_id in ids else place
    others = [ask for ask in groups.open if ask.ask_id != ask_id]
    return (others[at] if at < len(others) else others[0]) if others else None
