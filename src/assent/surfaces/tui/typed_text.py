"""Texts that are typed for the open ask: words, commands, reasons, and the option that is looked for.

Rule 1: what is being typed for an answer is kept letter by letter; it marks nothing and sends nothing.
Rule 2: only a text that was taken marks, and only one that is asked to be sent is.
Rule 3: a text for an ask that has ended meanwhile is kept, stays in its field, and nothing more.
"""

from __future__ import annotations

from assent.protocol.approval import REJECT, is_approval
from assent.protocol.ask import Ask
from assent.protocol.display import fold
from assent.surfaces.tui.ask_keys import AskKeys
from assent.surfaces.tui.place import find_by_words
from assent.surfaces.tui.purpose import CHECK, COMMAND, DECLINE, FIELD, PICK, WITHDRAW
from assent.surfaces.tui.reply import is_yes_no, lacking, mark, note_text, type_command, write
from assent.surfaces.tui.tray import Tray
from assent.surfaces.tui.wish import Send, Stay, Wish, Withdraw

__all__ = ["TypedText"]

_YES = ("y", "yes")
_ENDED = "It has ended: nothing was sent. Your words are kept."


class TypedText:
    """Takes what somebody types for the open ask."""

    def __init__(self, tray: Tray, ask_keys: AskKeys) -> None:
        self._tray, self._ask_keys = tray, ask_keys

    def typed(self, purpose: str, text: str) -> None:
        """Keep what somebody is typing, letter by letter."""
        tray, ask = self._tray, self._tray.view.ask
        if ask is None:
            return
        if purpose.startswith(FIELD):
            field = ask.prompt.fields[int(purpose.removeprefix(FIELD))]
            if text != tray.view.reply.of(field.name).text:
                tray.keep(note_text(tray.view.reply, field, text))
        elif purpose == COMMAND:
            tray.drafts.keep(ask.ask_id, type_command(tray.view.reply, text.strip()))
        elif purpose == DECLINE:
            tray.reasons[ask.ask_id] = text

    def left(self, purpose: str) -> None:
        """Note that somebody left a line without taking it."""
        tray = self._tray
        if purpose == COMMAND and tray.view.current:
            tray.keep(tray.view.reply)
        tray.change(check="", problem="")
        if tray.view.ask is not None and not tray.view.ask.is_open:
            tray.guard.release()  # whoever wrote on may not have seen yet that it has ended

    def entered(self, purpose: str, text: str, *, sends: bool) -> Wish | None:
        """Take a text for the open ask; return what is to be done with it."""
        ask = self._tray.view.ask
        if ask is None:
            return None
        if not ask.is_open:
            self.typed(purpose, text)
            self._tray.change(problem=_ENDED)
            return Stay()
        return self._take(ask, purpose, text, sends=sends)

    def _take(self, ask: Ask, purpose: str, text: str, *, sends: bool) -> Wish | None:
        tray = self._tray
        if purpose == COMMAND:
            tray.keep(type_command(tray.view.reply, text.strip()))
        elif purpose == DECLINE:
            tray.reasons[ask.ask_id] = text
            return tray.dispatch(Send(ask, reason=text.strip())) or Stay()
        elif purpose == WITHDRAW:
            if text.strip():
                return tray.act(Withdraw(ask, text.strip())) or Stay()
            tray.change(problem="Not taken back: say why.")
        elif purpose == CHECK:
            return self._check(ask, text)
        elif purpose.startswith(PICK):
            return self._pick(ask, int(purpose.removeprefix(PICK)), text)
        elif purpose.startswith(FIELD):
            self._fill(ask, int(purpose.removeprefix(FIELD)), text)
            if sends and not lacking(ask, tray.view.reply):
                return self._ask_keys.send(ask) or Stay()
        return None

    def _check(self, ask: Ask, text: str) -> Wish | None:
        tray = self._tray
        if fold(text) in _YES:
            wish = tray.dispatch(self._ask_keys.sent(ask, is_confirmed=True))
            if wish is None:
                return Stay()
            tray.change(check="")
            return wish
        tray.change(check="", problem="Nothing was sent.")
        return None

    def _pick(self, ask: Ask, field_at: int, text: str) -> Wish | None:
        found = find_by_words(ask.prompt.fields[field_at], text)
        if found.first is None:
            self._tray.change(problem="No option fits that.")
            return None
        if found.number == 1:
            return self._ask_keys.mark(ask, field_at, found.first)
        self._tray.change(
            field_at=field_at,
            option_at=found.first,
            problem=f"{found.number} options fit that. Nothing was marked: the cursor is on the first of them.",
        )
        return None

    def _fill(self, ask: Ask, field_at: int, text: str) -> None:
        tray = self._tray
        field = ask.prompt.fields[field_at]
        if not text.strip():
            tray.keep(note_text(tray.view.reply, field, ""))
            return
        tray.change(field_at=field_at)
        if is_approval(ask.prompt):
            tray.keep(mark(note_text(tray.view.reply, field, text), field, REJECT))
            return
        reply = write(tray.view.reply, field, text)
        tray.keep(mark(reply, field, "changes") if is_yes_no(ask) else reply)
        if not is_yes_no(ask):
            self._ask_keys.advance(ask, field)
