"""What is on the screen, as one value: everything that the screen is drawn from, and nothing that draws."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from assent.protocol.ask import Ask
from assent.protocol.tail import Tail
from assent.protocol.topic import Message
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.order import Groups
from assent.surfaces.tui.reply import Reply

__all__ = ["Fate", "Mode", "RunDetail", "Snapshot", "View", "keeps_own"]


class Mode(StrEnum):
    """Which pane has the keys; on a small screen it is the one that is shown."""

    LIST = "list"
    ASK = "ask"
    RUNS = "runs"
    RUN = "run"
    WHOLE = "whole"
    """The ask with nothing beside it."""
    HELP = "help"


class Fate(StrEnum):
    """What became of an answer that was sent from here."""

    MINE = "mine"
    LOST = "lost"


class Snapshot(msgspec.Struct, frozen=True):
    """What all stores say at one moment."""

    asks: tuple[Ask, ...] = ()
    """All that wait."""
    runs: tuple[BoardRun, ...] = ()
    stores: int = 1
    troubles: tuple[str, ...] = ()
    """What could not be looked at."""
    who: str = ""
    """Whoever looks, as the stores know them."""
    ahead: timedelta = timedelta(0)
    """By how much the clock of the current store is ahead of this machine's: what is left is left by that one."""


class RunDetail(msgspec.Struct, frozen=True):
    """One run, with what was commanded and what it printed."""

    messages: tuple[Message, ...] = ()
    tail: Tail | None = None


class View(msgspec.Struct, frozen=True):
    """All that is shown."""

    groups: Groups = Groups()
    current: str = ""
    """The id of the ask that is open."""
    reply: Reply = Reply()
    field_at: int = 0
    option_at: int = 0
    drafts: frozenset[str] = frozenset()
    fates: dict[str, Fate] = {}
    mode: Mode = Mode.LIST
    words: str = ""
    """Of the filter."""
    is_armed: bool = False
    is_held: bool = False
    """No key counts before Esc."""
    is_raw: bool = False
    """The action is shown as JSON."""
    top: int = 0
    """The first line of the card that is shown."""
    list_row: int = 0
    """The line of the screen on which the open ask stands in the list: it does not move by itself."""
    runs: tuple[BoardRun, ...] = ()
    run_at: int = 0
    detail: RunDetail = RunDetail()
    stores: int = 1
    who: str = ""
    problem: str = ""
    """Why the last thing was refused, in a sentence."""
    check: str = ""
    """What is asked once more before it is sent, because it cannot be undone."""
    sending: bool = False
    offline_since: datetime | None = None
    troubles: tuple[str, ...] = ()
    now: datetime = datetime.min.replace(tzinfo=UTC)

    @property
    def ask(self) -> Ask | None:
        """The ask that is open."""
        return next((ask for ask in self.groups.all if ask.ask_id == self.current), None)

    @property
    def run(self) -> BoardRun | None:
        """The run that the cursor is on."""
        return self.runs[min(self.run_at, len(self.runs) - 1)] if self.runs else None


def keeps_own(view: View) -> bool:
    """Say whether the open ask has ended without what somebody marked or wrote for it here, so that this is kept."""
    ask = view.ask
    is_mine = ask is not None and view.fates.get(ask.ask_id) is Fate.MINE
    return ask is not None and not ask.is_open and not is_mine and not view.reply.is_blank
