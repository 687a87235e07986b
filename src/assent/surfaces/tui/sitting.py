"""One sitting of a person at the inbox: what is open, what is marked, and what a key means now.

It knows no terminal and no store: it is told what there is and which key was pressed, and says what is to be shown and
done. So every rule about keys can be tried without either. This file says who gets a key or a text; the rest is in
`tray.py` (what lies there), `key_guard.py` (whether a key may act), `tidings.py` (what it is told), `ask_keys.py`, `typed_text.py` and `run_keys.py`.

Rule 1: while its ask is open an option's letter wins over the command of the same letter; that is Alt and the letter then.
Rule 2: what only reads or walks needs no beat; what marks, sends, steers or reaches out of the inbox does.
Rule 3: in the list, where only the title of an ask is seen, it can be claimed and taken back, but not answered.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from assent.protocol.ask import Ask, Kind
from assent.surfaces.tui.ask_keys import AskKeys
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.purpose import CANCEL, ESCALATE, FILTER, WITHDRAW
from assent.surfaces.tui.reply import summary
from assent.surfaces.tui.run_keys import RunKeys
from assent.surfaces.tui.tidings import Tidings
from assent.surfaces.tui.tray import BEAT_SECONDS, MAX_ENDED, Tray
from assent.surfaces.tui.typed_text import TypedText
from assent.surfaces.tui.view import Fate, Mode, RunDetail, Snapshot, View, keeps_own
from assent.surfaces.tui.wish import Browse, Claim, Copy, Leave, Scroll, Wish, Write

__all__ = ["BEAT_SECONDS", "MAX_ENDED", "Sitting"]

_LIST_PAGE = 5
_PAGES = {"space": 1, "pagedown": 1, "b": -1, "pageup": -1}


class Sitting:
    """The state of one sitting."""

    def __init__(self, drafts: Drafts, who: str, clock: Callable[[], float]) -> None:
        self._tray = Tray(drafts, who, clock)
        self._tidings = Tidings(self._tray)
        self._ask_keys = AskKeys(self._tray)
        self._texts = TypedText(self._tray, self._ask_keys)
        self._run_keys = RunKeys(self._tray)
        if drafts.was_typing():
            self._tray.guard.hold()
            self._tray.change(is_held=True)

    @property
    def view(self) -> View:
        """All that is shown."""
        return self._tray.view

    # What it is told

    def take(self, snapshot: Snapshot, now: datetime) -> bool:
        """Take in what the stores say; return whether something has come since the last time."""
        return self._tidings.take(snapshot, now)

    def gone(self, snapshot: Snapshot) -> list[Ask]:
        """Return the asks that were open here and are not among those that wait: how they ended is to be asked for."""
        return self._tidings.gone(snapshot)

    def learn(self, ask: Ask, fate: Fate | None = None) -> None:
        """Take in one ask as it is now, and what became of the answer that was sent from here."""
        self._tidings.learn(ask, fate)

    def refuse(self, sentence: str, ask_id: str = "") -> None:
        """Show why something was refused; with an ask's id, why its answer was: it can be sent again."""
        self._tidings.refuse(sentence, ask_id)

    def lose(self, now: datetime) -> None:
        """Note that the stores do not answer."""
        self._tray.change(offline_since=self.view.offline_since or now, now=now)

    def show_run(self, detail: RunDetail) -> None:
        """Take in what a run printed and was told."""
        self._tray.change(detail=detail)

    def tick(self, now: datetime) -> None:
        """Let time pass."""
        self._tray.change(now=now, is_armed=self._tray.guard.is_quiet())

    def arm(self) -> None:
        """Begin the beat anew: the screen is another, or somebody has just come back to it."""
        self._tray.arm()

    def scroll(self, by: int, most: int) -> None:
        """Scroll what is read."""
        self._tray.change(top=max(0, min(most, self.view.top + by)))

    def show_card(self) -> None:
        """Give the keys to the ask, where it is seen beside the list."""
        if self.view.mode is Mode.LIST:
            self._tray.show(Mode.ASK)

    # Typed texts

    def note_typing(self, *, is_typing: bool) -> None:
        """Note that a field opened or went: the next sitting must know if this one dies meanwhile."""
        self._tray.drafts.note_typing(is_typing=is_typing)

    def typed(self, purpose: str, text: str) -> None:
        """Keep what somebody is typing, letter by letter: it survives, but marks nothing and sends nothing."""
        self._tray.guard.take_key()
        self._texts.typed(purpose, text)

    def left(self, purpose: str) -> None:
        """Note that somebody left a line without taking it; what they wrote for an answer stays."""
        self._texts.left(purpose)

    def entered(self, purpose: str, text: str, *, sends: bool = False) -> Wish | None:
        """Take a text that somebody typed; return what is to be done with it. `sends`: by the key that is for nothing else.

        Enter is in every text: it sends a line only after a beat without a key.
        """
        self._tray.guard.take_key(is_text=not sends)
        if purpose == FILTER:
            self._tray.filter(text.strip())
            return None
        if purpose in (CANCEL, ESCALATE):
            return self._run_keys.steer(purpose, text)
        return self._texts.entered(purpose, text, sends=sends)

    # Keys

    def press(self, key: str, character: str = "", at: float | None = None) -> Wish | None:
        """Do what a key means that came now, or at that moment; return what is to be done beside the screen."""
        guard = self._tray.guard
        guard.take_key(at)
        if not guard.is_held:
            wish = self._press(key, character)
            self._tray.change(is_armed=guard.is_quiet())
            return wish
        if key == "escape":
            guard.release()
            self.note_typing(is_typing=False)
            self._tray.change(is_held=False)
        return None

    def _press(self, key: str, character: str) -> Wish | None:
        mode = self.view.mode
        name = key.removeprefix("alt+")
        if mode in (Mode.HELP, Mode.WHOLE):
            return self._press_reading(name)
        if mode is Mode.ASK and name == key:
            is_taken, wish = self._ask_keys.choose(character)
            if is_taken:
                return wish
        if name in _PAGES:
            if mode is Mode.LIST:
                self._tray.move(_PAGES[name] * _LIST_PAGE)
                return None
            return Scroll(_PAGES[name])
        if mode in (Mode.RUNS, Mode.RUN):
            return self._run_keys.press(name)
        return self._command(name, character)

    def _press_reading(self, key: str) -> Wish | None:
        """Read on, or go back to where one was; there is nothing to choose from here, so nothing is chosen."""
        is_help = self.view.mode is Mode.HELP
        if key in _PAGES:
            return Scroll(_PAGES[key])
        if key in ("j", "down", "k", "up"):
            return Scroll(1 if key in ("j", "down") else -1)
        if key == "x" and not is_help:
            self._tray.change(is_raw=not self.view.is_raw, top=0)
        elif is_help or key in ("escape", "enter", "v", "q", "plus"):
            self._tray.show(self._tray.mode_before if is_help else Mode.ASK)
        return None

    def _command(self, key: str, character: str) -> Wish | None:
        tray = self._tray
        moves: dict[str, Callable[[], Wish | None]] = {
            "j": lambda: tray.move(1),
            "k": lambda: tray.move(-1),
            "down": lambda: self._ask_keys.move_cursor(1),
            "up": lambda: self._ask_keys.move_cursor(-1),
            "n": self._next,
            "o": tray.open_oldest,
            "Z": tray.wake,
            "enter": self._enter,
            "escape": self._back,
            "tab": self._walk,
            "q": Leave,
            "r": lambda: tray.show(Mode.RUNS),
            "question_mark": lambda: tray.show(Mode.HELP),
            "slash": lambda: Write(FILTER, "Filter", self.view.words),
        }
        if key in moves:
            return moves[key]()
        ask = self.view.ask
        if ask is None:
            return None
        if key in ("v", "plus", "x", "y", "w", "z"):
            return self._look(ask, key)
        if not ask.is_open or not tray.is_armed():
            return None
        if key == "c" or character == "W":
            return tray.act(
                Claim(ask) if key == "c" else Write(WITHDRAW, "Take this ask back for good? Say why")
            )
        # What follows is about the ask itself: in the list only its title is seen.
        return None if self.view.mode is Mode.LIST else self._ask_keys.press(ask, key)

    def _next(self) -> None:
        ask = self.view.ask
        if ask is not None and ask.is_open and ask.kind is Kind.CONFIRM:
            # Whoever types the n of "Y/N" neither marks what they did not read nor is somewhere else.
            self._tray.change(problem="On a confirm n does nothing: S marks the no, j goes on.")
        else:
            self._tray.open_next()

    def _look(self, ask: Ask, key: str) -> Wish | None:
        if key in ("v", "plus"):
            self._tray.show(Mode.WHOLE)
        elif key == "x":
            self._tray.change(is_raw=not self.view.is_raw, top=0)
        elif not self._tray.is_armed():
            return None
        elif key == "z":
            self._tray.snooze(ask)
        elif key == "w":
            return Browse(ask)
        elif key == "y":
            return Copy(summary(ask, self.view.reply) if keeps_own(self.view) else ask.ask_id)
        return None

    def _enter(self) -> Wish | None:
        view, ask = self.view, self.view.ask
        if view.mode is Mode.LIST:
            self._tray.show(Mode.ASK)
            return None
        if ask is None:
            return None
        if not ask.is_open:
            self._tray.open_next()
            return None
        return self._ask_keys.send(ask) if self._tray.is_armed() else None

    def _back(self) -> None:
        if self.view.mode is Mode.LIST and self.view.words:
            self._tray.change(words="")
            self._tray.sort()
        self._tray.show(Mode.LIST)

    def _walk(self) -> None:
        self._tray.show({Mode.LIST: Mode.ASK, Mode.ASK: Mode.RUNS}.get(self.view.mode, Mode.LIST))
