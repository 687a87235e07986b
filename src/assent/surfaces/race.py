"""One ask, two ways to end it: typed here, or answered anywhere else. The first wins and the other side is told.

Rule 1: what cannot be undone is asked once more, by its name; only y or yes is a yes, and anything else changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from assent.client.client import Client
from assent.client.door import run_call, until
from assent.effects.interrupt import uninterrupted
from assent.protocol.answer import FieldValues, find_destructive
from assent.protocol.ask import Ask
from assent.protocol.block import render_brief
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import display, fold, quote
from assent.protocol.ending import render_ending
from assent.protocol.error import (
    AssentError,
    ConflictError,
    StillOpen,
    StoreError,
    TooLargeError,
    UnrecognisedError,
)
from assent.protocol.menu import is_menu
from assent.protocol.principal import parse_principal
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.reply import parse_reply, recognise, render_refusal
from assent.surfaces.card import render_check, render_question_of
from assent.surfaces.terminal import TerminalSurface
from assent.surfaces.wake import Wake

__all__ = [
    "Draft",
    "Elsewhere",
    "Typed",
    "answer_here",
    "await_end",
    "race",
    "read_typed",
    "refuse",
    "show_next",
    "tell_end",
]

_JOIN_SECONDS = 2.0
_SPACE, _DELETE = 0x20, 0x7F


class Elsewhere:
    """Waits for an ask's end on a thread of its own and then calls `tell`.

    The thread that a person can interrupt does nothing but wait: Ctrl-C never strikes in the middle of the store.
    """

    def __init__(self, client: Client, ask: Ask, seconds: float | None, tell: Callable[[], None]) -> None:
        self._client, self._ask, self._seconds, self._tell = client, ask, seconds, tell
        self._ended: Ask | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="assent-elsewhere")
        with uninterrupted():  # Ctrl-C in the middle of a start leaves half a thread
            self._thread.start()

    def _run(self) -> None:
        client, ask = self._client, self._ask
        try:
            # In the name of whoever asked, since this is their process: whoever types here may be somebody else.
            asker = parse_principal(ask.asker)
            wait = client.door.until_ended(ask.ask_id, ask.project, self._seconds, asker)
            self._ended = run_call(until(wait))
        except Exception as error:  # noqa: BLE001 - whoever waits for `tell` must hear of it
            self._error = error
        self._tell()

    def result(self) -> Ask:
        """Return the ask as it ended; call it once `tell` was called.

        Raises:
            StillOpen: the seconds went by.
        """
        if self._error is not None and not isinstance(self._error, StillOpen):
            raise self._error
        ask = self._ended or self._client.show(self._ask.ask_id)
        if self._error is not None and ask.is_open:  # else it ended in the moment in which the wait lapsed
            raise StillOpen(ask=ask)
        return ask

    def stop(self) -> None:
        """The ask has ended otherwise, which ends the wait, too."""
        self._thread.join(_JOIN_SECONDS)


def await_end(client: Client, ask: Ask, seconds: float | None = None) -> Ask:
    """Return an ask as it ended elsewhere, where nobody types here.

    Raises:
        StillOpen: `seconds` went by.
    """
    with Wake() as wake:
        elsewhere = Elsewhere(client, ask, seconds, wake.call)
        while wake.wait() is not None:
            pass  # a signal that ends nothing
    return elsewhere.result()


class Draft:
    """What has been answered so far: a round is asked one by one and sent together."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._values: FieldValues = {}

    @property
    def count(self) -> int:
        """How many questions there are."""
        return len(self._prompt.fields)

    @property
    def rest(self) -> Prompt:
        """The prompt with only the question that is open now."""
        return replace(self._prompt, fields=(self.next[1],))

    @property
    def next(self) -> tuple[int, Field]:
        """The first question without an answer, or else the last one, and its number."""
        numbered = list(enumerate(self._prompt.fields, 1))
        return next((pair for pair in numbered if pair[1].name not in self._values), numbered[-1])

    def take(self, text: str) -> FieldValues | None:
        """Take one line; return all values once every question has its own.

        In a round, `q1: …` changes an earlier answer.
        """
        if self.count == 1:
            return _without_keys(self._prompt, recognise(self._prompt, text), text)
        named = parse_reply(self._prompt, text)
        if named.wrong:
            # It was meant for that very question, and whatever was there before was meant to go.
            self._values = {name: kept for name, kept in self._values.items() if name not in named.wrong}
            raise UnrecognisedError(render_refusal(named, text))
        if named.values and not named.unrecognised:
            self._values |= named.values
        else:
            self._values |= recognise(self.rest, text)
        _without_keys(self._prompt, self._values, text)
        return self._values if len(self._values) == self.count else None

    def find_grave(self, values: FieldValues) -> Option | None:
        """Return the first chosen option that cannot be undone."""
        return find_destructive(self._prompt, values)

    def take_back(self) -> None:
        """Forget the answers that cannot be undone."""
        kept = {name: given for name, given in self._values.items() if not self.find_grave({name: given})}
        self._values = kept


def _without_keys(prompt: Prompt, values: FieldValues, text: str) -> FieldValues:
    """Return `values`, unless a key that types no text got into them: an arrow in a line sends `ESC [ A` with it."""
    if ANY_REPLY in prompt.commands or all(letter.isprintable() or letter == "\t" for letter in text):
        return values
    if any(ord(letter) < _SPACE or ord(letter) == _DELETE for letter in text.replace("\t", "")):
        raise UnrecognisedError(
            f'I didn\'t recognize "{quote(text)}". There are keys in it that type no text.'
        )
    return values


def answer_here(surface: TerminalSurface, person: Client, ask: Ask, seconds: float | None = None) -> Ask:
    """Show an open ask on the terminal and return it as it ended, whoever ended it.

    Raises:
        StillOpen: `seconds` went by.
        EOFError: the terminal gives no reply any more; the ask stays open.
    """
    surface.present(ask)
    return race(surface, person, ask, seconds)


def race(surface: TerminalSurface, person: Client, ask: Ask, seconds: float | None = None) -> Ask:
    """Read replies to an ask that is shown already, until it has ended, here or elsewhere; see `answer_here`."""
    elsewhere = Elsewhere(person, ask, seconds, surface.wake)
    draft = Draft(ask.prompt)
    is_round = draft.count > 1
    if is_round:
        show_next(surface, draft)
    while True:
        typed = read_typed(surface, draft, lambda: surface.repeat(ask))
        if typed is None:
            ended = elsewhere.result()
            tell_end(surface, ended)
            return ended
        reply = typed.values if is_round else typed.text
        try:
            with uninterrupted(is_final=True):
                ended = person.answer(ask.ask_id, reply, confirmed=typed.is_confirmed)
        except (UnrecognisedError, TooLargeError) as refusal:
            refuse(surface, draft.rest, refusal)
        except StoreError as failure:
            surface.say(
                surface.ink.danger(display(failure.message, lines=False)), "Nothing was sent; try again."
            )
        except ConflictError as lost:
            _settle(elsewhere, surface)
            surface.say(surface.ink.caution(display(lost.message, lines=False)))
            return lost.ask or person.show(ask.ask_id)
        else:
            _settle(elsewhere, surface)
            return ended


class Typed(NamedTuple):
    """A line that fits, and all that was chosen with it."""

    text: str
    values: FieldValues
    is_confirmed: bool = False
    """The person was asked once more about what cannot be undone."""


def read_typed(surface: TerminalSurface, draft: Draft, repeat: Callable[[], None]) -> Typed | None:
    """Read lines until every question has its answer; None when `wake` was called first. `repeat` shows the ask again.

    Raises:
        EOFError: nothing more is typed.
    """
    while True:
        text = surface.read()
        if text is None:
            return None
        try:
            values = draft.take(text)
        except (UnrecognisedError, TooLargeError) as refusal:
            refuse(surface, draft.rest, refusal)
            continue
        if values is not None:
            grave = draft.find_grave(values)
            if grave is None:
                return Typed(text, values)
            surface.drop_typed()  # nobody confirms what was not yet on the screen
            surface.say(surface.ink.danger(render_check(grave)))
            said = surface.read()
            if said is None:
                return None
            if fold(said) in ("y", "yes"):
                return Typed(text, values, is_confirmed=True)
            draft.take_back()
            repeat()
        if draft.count > 1:
            show_next(surface, draft)


def refuse(surface: TerminalSurface, prompt: Prompt, refusal: AssentError) -> None:
    """Say that a reply was not recognised, and then only what can be chosen (G17, G18)."""
    surface.say(display(refusal.message, lines=False))
    brief = render_brief(prompt)
    if prompt.commands or is_menu(prompt):
        surface.say(*map(surface.ink.accent, brief.split("\n")))
    else:
        surface.show(brief, has_title=False)


def tell_end(surface: TerminalSurface, ended: Ask) -> None:
    """Say that an ask was answered elsewhere; how it ended otherwise is for the asker to say."""
    if ended.answer is not None:
        surface.say(surface.ink.good(f"Answered elsewhere: {render_ending(ended)}"))


def _settle(elsewhere: Elsewhere, surface: TerminalSurface) -> None:
    """Let the late news of an end that is known already pass, so that it does not disturb the next ask."""
    elsewhere.stop()
    surface.rest()


def show_next(surface: TerminalSurface, draft: Draft) -> None:
    """Show the question of a round that is open now."""
    number, field = draft.next
    surface.say("")
    surface.show(render_question_of(field, number, draft.count))
