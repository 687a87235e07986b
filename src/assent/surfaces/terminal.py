"""The terminal as a surface: the question on standard error, the reply from the keyboard.

Rule 1: only a whole line counts. Its end, an empty line, half a line at the end of input and Ctrl-C are no reply.
        Where a pipe stands for the keyboard the same holds, and each line is written after the prompt's sign as if
        it had been typed.
Rule 2: the terminal keeps its own line editing, so there is no state to restore; a reply from elsewhere interrupts
        the wait for a line through a pipe, and what was half typed is thrown away, not left for the shell.
Rule 3: no byte of an asker reaches the terminal as it is: everything is made by `card` and `protocol.block`.
Rule 4: a gate is shown as the protocol's block and not wrapped: between its last line and the prompt's sign there is
        nothing (G9, G11). The same holds for a menu; of its block only prose is wrapped (W29).
Rule 5: a passing line is for eyes alone: it is on screens that can take it back, and gone before anything else is shown.
"""

from __future__ import annotations

import io
import os
import sys
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import NoReturn, Self, TextIO

from assent.flows.step import Ask as AskStep
from assent.protocol.approval import is_approval
from assent.protocol.ask import Ask, Kind
from assent.protocol.command import ANY_REPLY
from assent.protocol.display import display, quote
from assent.protocol.menu import is_menu
from assent.protocol.prompt import Prompt
from assent.surfaces.card import (
    lay_out,
    lay_out_markdown,
    render_block,
    render_earlier,
    render_header,
    render_opening,
    render_parts,
    render_silence,
    short_id,
)
from assent.surfaces.ink import Ink, ink_for
from assent.surfaces.wake import Wake
from assent.surfaces.width import columns, cut, wrap

__all__ = ["LONGEST_LINE", "TerminalSurface", "is_background", "width_of"]

LONGEST_LINE = 4_095 if sys.platform == "linux" else 1_023
"""A terminal in line mode silently drops what is typed beyond so many bytes."""
_WIDEST, _NARROWEST = 100, 30
_MOST_PIPED = 1 << 20
"""A line of a pipe that is longer than so many bytes is passed over."""
_LOOK_SECONDS = 1.0
"""In the background: how often to look whether a person brought us back."""


def is_background(descriptor: int) -> bool:
    """Whether another job has this terminal: reading from it would stop us."""
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:
        return False  # not our controlling terminal, so nobody stops us


def width_of(stream: TextIO) -> int:
    """Return how many columns to fill on `stream`; long lines are hard to read."""
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(_NARROWEST, min(found or 80, _WIDEST))


class TerminalSurface:
    """This process's own terminal. `read` belongs to one thread; `wake` may be called from any."""

    def __init__(
        self,
        now: Callable[[], datetime],
        environ: Mapping[str, str],
        *,
        command: str = "assent",
        keyboard: int = 0,
        screen: TextIO | None = None,
    ) -> None:
        self._now = now
        self._command = command
        self._keyboard = keyboard
        self.is_piped = not os.isatty(keyboard)
        self._screens = [screen or sys.stderr or io.StringIO()]  # standard error may have been closed
        if not self._screens[0].isatty():
            self._show_to_the_reader()
        self.ink: Ink = ink_for(self._screens[-1], environ)
        self._wake = Wake()
        self._passing = ""
        """The line that may be taken back."""
        self._typed = b""
        self._is_half_dropped = False
        """A line in the pipe is far too long, or was begun for an ask that has ended: its rest is for nobody."""

    def _show_to_the_reader(self) -> None:
        # Standard error goes to a file: whoever sits here must still see what they would be answering.
        with suppress(OSError):
            descriptor = os.open(os.ttyname(self._keyboard), os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
            self._screens.append(os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace"))

    @property
    def width(self) -> int:
        """The columns to fill now; the window may have changed."""
        return width_of(self._screens[-1])

    @property
    def room(self) -> int | None:
        """The columns of the window, however wide; None where nobody knows: then lines are as long as they are."""
        try:
            return os.get_terminal_size(self._screens[-1].fileno()).columns or None
        except (OSError, ValueError):
            return None

    def present(self, ask: Ask, *, can_type: bool = True) -> None:
        """Show an ask and what silence means for it."""
        self._forget_early(ask.prompt, ask.kind)
        self.repeat(ask, can_type=can_type)

    def repeat(self, ask: Ask, *, can_type: bool = True) -> None:
        """Show an ask again; what was typed meanwhile counts."""
        ink, width = self.ink, self.width
        silence = wrap(render_silence(ask, self._now()), width)
        is_timed = ask.deadline is not None
        how = "Or from elsewhere" if can_type else "Waiting for an answer from elsewhere"
        elsewhere = map(ink.faint, wrap(f"{how}: {self._command} answer {short_id(ask.ask_id)} …", width))
        lines = ["", render_header(ask, ink, width), *(map(ink.caution, silence) if is_timed else ())]
        if ask.prompt.commands and not ask.prompt.fields[0].options:  # a question of the gate above it
            lines = ["", *elsewhere, "", *self._lay(ask.prompt)]
        elif _is_exact(ask.prompt):  # it waits without limit, always, and nothing may follow it
            lines += [*elsewhere, "", *self._lay(ask.prompt)]
        else:
            lines += [*render_earlier(ask, ink, width), *self._lay(ask.prompt)]
            if is_approval(ask.prompt) and can_type:
                lines += map(ink.faint, wrap("Reject: WHY says no, and tells the agent why.", width))
            lines += [*(() if is_timed else map(ink.faint, silence)), *elsewhere]
        self.say(*lines)

    def pose(self, ask: AskStep) -> None:
        """Show what a flow in memory asks: it has no id, and nobody can answer it from elsewhere."""
        self._forget_early(ask.prompt, ask.kind)
        self.repose(ask.prompt)

    def repose(self, prompt: Prompt) -> None:
        """Show it again; what was typed meanwhile counts."""
        self.say("", *self._lay(prompt))

    def _forget_early(self, prompt: Prompt, kind: Kind) -> None:
        is_typed_at = _is_exact(prompt) and not self.is_piped
        if kind is Kind.APPROVAL or ANY_REPLY in prompt.commands or is_typed_at:
            self.forget()  # nobody approves, confirms or passes what was not yet on the screen

    def _lay(self, prompt: Prompt) -> list[str]:
        if prompt.commands:
            return render_block(prompt, self.ink)
        if is_menu(prompt):
            return render_parts(prompt, self.ink, self.room)
        return lay_out(render_opening(prompt), self.ink, self.width)

    def show(self, block: str, *, has_title: bool = True) -> None:
        """Show one of the protocol's text blocks."""
        self.say(*lay_out(block, self.ink, self.width, has_title=has_title))

    def say(self, *lines: str) -> None:
        """Write lines of ours."""
        self._write("".join(f"{line}\n" for line in lines))

    def tell(self, markdown: str) -> None:
        """Show what a flow says. An agent may have written it, so it is made safe first."""
        self.say(*lay_out_markdown(markdown, self.room))

    @property
    def is_watched(self) -> bool:
        """Some screen is a terminal, so that a passing line can be seen."""
        return any(screen.isatty() for screen in self._screens)

    def pass_by(self, line: str) -> None:
        """Show a line in the place of the last such line, until something else is shown; an empty one takes it away."""
        shown = cut(line, (self.room or self.width) - 1)
        blank = " " * (columns(self._passing) - columns(shown))
        self._passing = shown
        if shown or blank:
            watched = [screen for screen in self._screens if screen.isatty()]
            _write_to(watched, f"\r{shown}{blank}" if shown else f"\r{blank}\r")

    def read(self, prompt: str = "> ") -> str | None:
        """Return the next line that is typed; None when `wake` was called first.

        Raises:
            EOFError: the terminal was closed, or Ctrl-D: there will be no reply.
        """
        self._write(self.ink.accent(prompt))
        while True:
            line, newline, rest = self._typed.partition(b"\n")
            if newline:
                self._typed = rest
                if self._is_half_dropped:
                    self._is_half_dropped = False
                    continue
                text = self._decode(line)
                if text is not None:
                    return text
                self._write(self.ink.accent(prompt))
            elif not self._listen():
                self.forget()
                self._write("\n")
                return None

    def wake(self) -> None:
        """Make `read` return without a reply."""
        self._wake.call()

    def forget(self) -> None:
        """Throw away what was typed and not yet read, and calls of `wake`.

        Whole lines in a pipe stay: nobody typed them too early, they were written for what comes next.
        """
        self.drop_typed()
        self.rest()

    def drop_typed(self) -> None:
        """Throw away what was typed and not yet read, as `forget` does; calls of `wake` stay."""
        if not self.is_piped or b"\n" not in self._typed:
            self._is_half_dropped |= self.is_piped and bool(self._typed)
            self._typed = b""
        with suppress(termios.error):
            termios.tcflush(self._keyboard, termios.TCIFLUSH)

    def rest(self) -> None:
        """Forget calls of `wake`."""
        self._wake.rest()

    def close(self) -> None:
        """Let the terminal go."""
        for screen in self._screens[1:]:
            with suppress(OSError):
                screen.close()
        self._wake.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self) -> bool:
        """Wait for more typed bytes and keep them; False when woken."""
        away = is_background(self._keyboard)
        ready = self._wake.wait([] if away else [self._keyboard], _LOOK_SECONDS if away else None)
        if ready is None:
            return False
        if self._keyboard not in ready or is_background(self._keyboard):
            return True
        try:
            typed = os.read(self._keyboard, 65_536)
        except OSError:
            typed = b""  # hung up
        if not typed:
            self._end_of_input()
        self._typed += typed
        if self.is_piped and len(self._typed) > _MOST_PIPED and b"\n" not in self._typed:
            self.say(f"A line of more than {_MOST_PIPED:,} bytes is not read.")
            self._typed, self._is_half_dropped = b"", True
        return True

    def _end_of_input(self) -> NoReturn:
        half, self._typed = self._typed.decode(errors="backslashreplace"), b""
        if half and not self._is_half_dropped:
            self.say(
                quote(half) if self.is_piped else "",  # a terminal showed it already
                f'The last line, "{quote(half)}", has no line end, so it was not read.',
            )
        raise EOFError

    def _decode(self, line: bytes) -> str | None:
        line = line.removesuffix(b"\r")
        if self.is_piped:
            self.say(quote(line.decode(errors="backslashreplace"), LONGEST_LINE))
        elif len(line) >= LONGEST_LINE:
            self.say(f"A terminal cuts lines off at {LONGEST_LINE:,} bytes, so nothing was sent.")
            return None
        try:
            return line.decode()
        except UnicodeDecodeError:
            shown = display(line.decode(errors="backslashreplace"), lines=False)
            self.say(f'"{shown}" is not UTF-8 text, so nothing was sent.')
            return None

    def _write(self, text: str) -> None:
        if self._passing:
            self.pass_by("")
        _write_to(self._screens, text)


def _is_exact(prompt: Prompt) -> bool:
    """Whether it is shown as the protocol has it, line by line, and then nothing but the prompt's sign."""
    return bool(prompt.commands) or is_menu(prompt)


def _write_to(screens: list[TextIO], text: str) -> None:
    for screen in screens:
        with suppress(OSError, ValueError):  # a screen that is gone hides nothing that is stored
            screen.write(text)
            screen.flush()
