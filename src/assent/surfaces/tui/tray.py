"""What lies before a person at the inbox: the asks, which of them is open, what is marked, and the beat.

The parts of a sitting share one tray: each reads the view here and changes it through here.

Rule 1: nothing is marked when an ask opens, but what this person marked before and can be undone; on an approval nothing.
Rule 2: whether a key may mark or send is decided by `key_guard` alone.
Rule 3: the row under the cursor moves with the cursor alone.
Rule 4: while the stores do not answer nothing is sent, and what was marked is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assent.protocol.ask import Ask
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.key_guard import BEAT_SECONDS, KeyGuard
from assent.surfaces.tui.list_pane import find_line
from assent.surfaces.tui.order import next_after, oldest, order
from assent.surfaces.tui.reply import Reply, first_lacking, fit_reply
from assent.surfaces.tui.view import Mode, View
from assent.surfaces.tui.wish import Send, Wish

__all__ = ["BEAT_SECONDS", "MAX_ENDED", "Tray"]

MAX_ENDED = 100
"""So many asks that ended while somebody looked are shown; older ones are in the history."""
_HIGHEST_ROW, _LOWEST_ROW = 1, 15
"""Between these rows of the list the cursor walks; then the list scrolls. Above the first there is a title."""
_OFFLINE = "Offline: nothing was sent."
_EARLY = "The keys did not count yet: nothing was sent."


class Tray:
    """The state that all parts of one sitting share."""

    def __init__(self, drafts: Drafts, who: str, clock: Callable[[], float]) -> None:
        self.guard = KeyGuard(clock)
        self._snoozed: set[str] = set()
        self._place = 0
        """Where the open ask stood among those that wait, while it did."""
        self.drafts = drafts
        self.asks: dict[str, Ask] = {}
        """All that is known, by the id of the ask."""
        self.sent: dict[str, Send] = {}
        """What is on its way, by the id of the ask."""
        self.reasons: dict[str, str] = {}
        """Why an ask was to be declined, where that was not taken."""
        self.mode_before = Mode.LIST
        """Where the keys were before the help or the whole ask was shown."""
        self.view = View(who=who, list_row=_HIGHEST_ROW)
        self._was_waiting = False
        """The ask that is open had not ended when the asks were last put in order."""

    # The view and the beat

    def change(self, **parts: object) -> None:
        """Change parts of what is shown."""
        self.view = replace(self.view, **parts)

    def show(self, mode: Mode) -> None:
        """Give the keys to another pane, which may be all that is seen."""
        if self.view.mode not in (Mode.HELP, Mode.WHOLE):
            self.mode_before = self.view.mode
        self.change(mode=mode, top=0, problem="")
        self.arm()

    def arm(self) -> None:
        """Begin the beat anew: the screen is another, or somebody has just come back to it."""
        self.guard.begin()
        self.change(is_armed=False)

    def is_armed(self) -> bool:
        """Say whether the key that is being handled may act."""
        return self.guard.may_act

    # What goes out

    def act(self, wish: Wish) -> Wish | None:
        """Let something happen outside of the screen: everything that does passes here."""
        if self.view.offline_since is None and self.is_armed():
            return wish
        self.change(problem=_EARLY if self.view.offline_since is None else _OFFLINE)
        return None

    def dispatch(self, wish: Send) -> Wish | None:
        """Let an answer go out, once."""
        if wish.ask.ask_id in self.sent:
            return None
        if self.act(wish) is None:
            return None
        self.sent[wish.ask.ask_id] = wish
        self.change(sending=True, problem="")
        return wish

    # The asks

    def sort(self) -> None:
        """Put the asks that are known in order; where none is open, open one."""
        groups = order(self.asks.values(), self.view.words, tuple(self._snoozed), self.view.current)
        for ask in groups.ended[MAX_ENDED:]:
            if ask.ask_id != self.view.current:
                del self.asks[ask.ask_id]
        kept = tuple(ask for ask in groups.ended if ask.ask_id in self.asks)
        drafts = frozenset(ask.ask_id for ask in groups.open if self.drafts.has(ask.ask_id))
        self.change(groups=replace(groups, ended=kept), drafts=drafts)
        ids: list[str] = [ask.ask_id for ask in groups.open]
        is_waiting = self.view.current in ids
        if self._was_waiting and not is_waiting:
            # What has ended goes to its place among those that have: the list is for what still waits.
            line = find_line(self.view.groups, self.view.current, drafts, self.view.now)
            self.change(list_row=line)
        self._was_waiting = is_waiting
        if is_waiting:
            self._place = ids.index(self.view.current)
        elif not self.view.current and groups.open:
            before = self.drafts.recall()
            self._open(groups.open[ids.index(before) if before in ids else 0])

    def _open(self, ask: Ask, *, row: int | None = None) -> None:
        reply = fit_reply(ask, self.drafts.read(ask.ask_id) or Reply())
        self.change(
            current=ask.ask_id,
            reply=reply,
            field_at=(first_lacking(ask, reply) or 0) if len(ask.prompt.fields) > 1 else 0,
            option_at=0,
            top=0,
            problem="",
            is_raw=False,
            check="",
            sending=ask.ask_id in self.sent,
        )
        self.drafts.remember(ask.ask_id)
        self.arm()
        self.sort()
        wanted = self.view.list_row if row is None else max(_HIGHEST_ROW, min(_LOWEST_ROW, row))
        self.change(
            list_row=min(wanted, find_line(self.view.groups, ask.ask_id, self.view.drafts, self.view.now))
        )

    def keep(self, reply: Reply) -> None:
        """Keep what is marked and written for the open ask."""
        ask_id = self.view.current
        kept = reply if self.view.ask is None else fit_reply(self.view.ask, reply)
        self.drafts.keep(ask_id, kept)
        drafts = self.view.drafts - {ask_id} if kept.is_blank else self.view.drafts | {ask_id}
        self.change(reply=reply, problem="", drafts=drafts)

    def move(self, by: int) -> None:
        """Open the ask that stands so many rows further down the list."""
        listed = self.view.groups.all
        if not listed:
            return
        ids: list[str] = [ask.ask_id for ask in listed]
        at = ids.index(self.view.current) if self.view.current in ids else -1
        to = max(0, min(len(ids) - 1, at + by))
        if ids[to] != self.view.current:
            view = self.view
            here, there = (
                find_line(view.groups, ask_id, view.drafts, view.now) for ask_id in (view.current, ids[to])
            )
            self._open(listed[to], row=view.list_row + there - here)

    def open_next(self) -> None:
        """Open the ask that waits after the open one."""
        following = next_after(self.view.groups, self.view.current, self._place)
        if following is not None:
            self._open(following)

    def open_oldest(self) -> None:
        """Open the ask that has waited longest."""
        found = oldest(self.view.groups)
        if found is not None and found.ask_id != self.view.current:
            self._open(found)

    def snooze(self, ask: Ask) -> None:
        """Put an ask out of sight and open the next one."""
        following = next_after(self.view.groups, ask.ask_id, self._place)
        self._snoozed.add(ask.ask_id)
        self.change(current="", reply=Reply())
        if following is not None:
            self._open(following)
        self.sort()

    def wake(self) -> None:
        """Show again what was snoozed."""
        self._snoozed.clear()
        self.sort()

    def filter(self, words: str) -> None:
        """Show only the asks that these words fit; an open one that they do not fit makes way for one that they do."""
        self.change(words=words)
        self.sort()
        fitting = order(self.asks.values(), words, tuple(self._snoozed))
        if fitting.open and self.view.current not in {ask.ask_id for ask in fitting.all}:
            self._open(fitting.open[0], row=_HIGHEST_ROW)
