"""What the keys mean on the ask that is open: mark, write, and send.

Rule 1: a key marks, Enter sends; where something lacks, Enter goes there instead.
Rule 2: before the beat is over a key that marks is taken, and does nothing.
Rule 3: where words belong to what was marked, they are asked for.
Rule 4: what cannot be undone is asked once more, by its name, before it is sent.
"""

from __future__ import annotations

from assent.protocol.approval import is_approval
from assent.protocol.ask import Ask
from assent.protocol.prompt import Field
from assent.surfaces.card import render_check
from assent.surfaces.tui.place import find_by_key, find_written, places
from assent.surfaces.tui.purpose import CHECK, COMMAND, DECLINE, FIELD, PICK
from assent.surfaces.tui.reply import (
    WAYS,
    destructive,
    first_lacking,
    is_command_only,
    is_free_only,
    is_long,
    is_plain_check,
    is_yes_no,
    lacking,
    mark,
    own,
    reason_of,
    type_command,
    unmark,
    values_of,
)
from assent.surfaces.tui.tray import Tray
from assent.surfaces.tui.view import Mode
from assent.surfaces.tui.wish import Edit, Send, Wish, Write

__all__ = ["AskKeys"]


class AskKeys:
    """Does what keys mean on an ask."""

    def __init__(self, tray: Tray) -> None:
        self._tray = tray

    def choose(self, character: str) -> tuple[bool, Wish | None]:
        """Mark what goes by this key; say whether there is such a thing, and what is wanted beside it."""
        tray, ask = self._tray, self._tray.view.ask
        if ask is None or not ask.is_open or not character.isalnum():
            return False, None
        if is_plain_check(ask):
            if character.upper() not in ("Y", "N"):
                return False, None
            if tray.is_armed():
                tray.keep(type_command(tray.view.reply, character.lower()))
            return True, None
        field_at = tray.view.field_at
        field = ask.prompt.fields[field_at]
        if not is_yes_no(ask) and is_long(field) and character in "0123456789":
            return True, _pick(field_at, character) if tray.is_armed() else None
        found = find_by_key(ask, field_at, character.upper())
        if found is None:
            return False, None
        return True, self.mark(ask, field_at, found) if tray.is_armed() else None

    def press(self, ask: Ask, key: str) -> Wish | None:
        """Do what a command means that is about the open ask itself."""
        tray = self._tray
        field_at = tray.view.field_at
        field = ask.prompt.fields[field_at]
        if key in ("i", "e"):
            return self._write(ask, is_editor=key == "e")
        if key == "colon" and ask.prompt.commands:
            return Write(COMMAND, "Command", tray.view.reply.command)
        if key == "d":
            return tray.act(
                Write(DECLINE, "Decline. Why? The agent is told", tray.reasons.get(ask.ask_id, ""))
            )
        if key == "number_sign" and field.options:
            return _pick(field_at)
        if key == "m" and not is_command_only(ask):
            return self.mark(ask, field_at, tray.view.option_at)
        if key == "backspace":
            tray.keep(unmark(type_command(tray.view.reply, ""), field))
        return None

    def mark(self, ask: Ask, field_at: int, option_at: int) -> Wish | None:
        """Mark a place; where words belong to it, let them be written."""
        tray = self._tray
        field, reply = ask.prompt.fields[field_at], tray.view.reply
        tray.change(field_at=field_at, option_at=option_at)
        if is_yes_no(ask):
            way = WAYS[option_at].key
            tray.keep(mark(reply, field, way))
            is_wanting = way == "changes" and not reply.of(field.name).text.strip()
            return self._write(ask, is_editor=False) if is_wanting else None
        if option_at < len(field.options):
            tray.keep(mark(reply, field, field.options[option_at].key))
            self.advance(ask, field)
            return None
        if not field.options:
            return self._write(ask, is_editor=False)
        tray.keep(own(reply, field))
        part = tray.view.reply.of(field.name)
        return self._write(ask, is_editor=False) if part.is_own and not part.text.strip() else None

    def advance(self, ask: Ask, field: Field) -> None:
        """Go on to the next question of a round that has no answer; where several may be marked, stay."""
        tray = self._tray
        if len(ask.prompt.fields) > 1 and not field.multiple:
            following = first_lacking(ask, tray.view.reply, tray.view.field_at)
            if following is not None:
                tray.change(field_at=following, option_at=0)

    def send(self, ask: Ask) -> Wish | None:
        """Send what is marked; where something lacks, go there."""
        tray, reply = self._tray, self._tray.view.reply
        lack = lacking(ask, reply)
        if lack:
            tray.change(problem=f"{lack}.")
            return self._go_to_gap(ask)
        grave = destructive(ask, reply)
        if grave is None:
            return tray.dispatch(self.sent(ask))
        wish = tray.act(Write(CHECK, "Once more: only y or yes sends it"))
        if wish is not None:
            tray.change(check=render_check(grave), problem="")
        return wish

    def sent(self, ask: Ask, *, is_confirmed: bool = False) -> Send:
        """Return what goes out: it has been checked that nothing lacks."""
        reply = self._tray.view.reply
        command = reply.command.strip()
        if command:
            return Send(ask, text=command, is_confirmed=is_confirmed)
        return Send(ask, values_of(ask, reply), reason=reason_of(ask, reply), is_confirmed=is_confirmed)

    def _go_to_gap(self, ask: Ask) -> Wish | None:
        tray = self._tray
        if is_command_only(ask):
            return Write(COMMAND, "Your reply")
        at = first_lacking(ask, tray.view.reply, tray.view.field_at)
        if is_yes_no(ask):
            part = tray.view.reply.of(ask.prompt.fields[0].name)
            return self._write(ask, is_editor=False) if part.keys else None
        if at is None:
            return None
        if at != tray.view.field_at:
            tray.change(field_at=at, option_at=0)
        field = ask.prompt.fields[at]
        wants_words = is_free_only(field) or tray.view.reply.of(field.name).is_own
        return self._write(ask, is_editor=False) if wants_words else None

    def _write(self, ask: Ask, *, is_editor: bool) -> Wish | None:
        view = self._tray.view
        field_at = find_written(ask, view.field_at)
        if field_at is None:
            return None
        text = view.reply.of(ask.prompt.fields[field_at].name).text
        purpose = f"{FIELD}{field_at}"
        label = "Your no, and why" if is_approval(ask.prompt) else "Your words"
        return Edit(purpose, text) if is_editor else Write(purpose, label, text, is_long=True)

    def move_cursor(self, by: int) -> None:
        """Walk over the places of the open ask; in the list, or where nothing can be marked, over the asks."""
        view = self._tray.view
        ask = view.ask
        if view.mode is Mode.LIST or ask is None or not ask.is_open:
            self._tray.move(by)
            return
        where = places(ask)
        here = (view.field_at, view.option_at)
        at = where.index(here) if here in where else 0
        field_at, option_at = where[max(0, min(len(where) - 1, at + by))]
        self._tray.change(field_at=field_at, option_at=option_at)


def _pick(field_at: int, text: str = "") -> Wish:
    return Write(f"{PICK}{field_at}", "Which one? Its number, or a part of it", text)
