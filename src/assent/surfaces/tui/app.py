"""The terminal inbox as a program: keys go to the sitting, its view is drawn, its wishes are done in threads.

Rule 1: what is drawn are the lines of `screen`: nothing that an agent wrote reaches the terminal by another way.
Rule 2: nothing that takes a while keeps the screen waiting, nor the end: it is done in threads that end with the process.
Rule 3: leaving never answers, however one leaves.
Rule 4: a field goes with a key of the person who types there, never by itself: what happens meanwhile is said above it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.error import AssentError, ConflictError, UnreachableError
from assent.protocol.run import Run
from assent.surfaces.tui.browser import open_page
from assent.surfaces.tui.curtain import TITLE_AS_IT_WAS, TITLE_KEPT, render_title
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.driver import InboxDriver
from assent.surfaces.tui.feed import Feed
from assent.surfaces.tui.hangup import Hangup
from assent.surfaces.tui.line import Line
from assent.surfaces.tui.purpose import CANCEL, ESCALATE, FILTER
from assent.surfaces.tui.screen import compose, is_wide, scroll_card
from assent.surfaces.tui.sitting import BEAT_SECONDS, Sitting
from assent.surfaces.tui.view import Fate, Mode, RunDetail, Snapshot
from assent.surfaces.tui.wish import (
    Browse,
    Claim,
    Control,
    Copy,
    Edit,
    Leave,
    Scroll,
    Send,
    Stay,
    Wish,
    Withdraw,
    Write,
)

__all__ = ["InboxApp"]

_STYLES = {
    "": Style(),
    "1": Style(bold=True),
    "2": Style(dim=True),
    "31": Style(color="red"),
    "32": Style(color="green"),
    "33": Style(color="yellow"),
    "36": Style(color="cyan"),
}
_TICK_SECONDS = 1.0
_SLOW_SECONDS = 4.0
"""A look that takes longer is one at stores that do not answer."""
_GRACE_SECONDS = 0.02
"""The beat is over a little after its end, so that the clock agrees."""


class _Canvas(Widget, can_focus=True):
    """Draws the lines that it is given, and nothing else."""

    DEFAULT_CSS = "_Canvas { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Draw these lines from now on."""
        self._lines = lines
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one line, ready to be drawn."""
        if y >= len(self._lines):
            return Strip.blank(self.size.width)
        pieces = self._lines[y].pieces
        return Strip([Segment(text, _STYLES.get(paint, _STYLES[""])) for text, paint in pieces])


class InboxApp(App[None]):
    """The inbox of one person, over all stores of theirs."""

    CSS = """
    Screen { background: $background; }
    #line { dock: bottom; height: 3; display: none; }
    #text { dock: bottom; height: 10; max-height: 70%; display: none; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
        Binding("f2,ctrl+enter", "take_text", show=False, priority=True),
    ]

    def __init__(
        self,
        feed: Feed,
        drafts: Drafts,
        who: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sitting: Sitting | None = None,
        hangup: Hangup | None = None,
    ) -> None:
        """Make the app; a sitting that is given has taken in a first look."""
        super().__init__(driver_class=InboxDriver, ansi_color=True)
        self.hangup = hangup or Hangup(0)
        self._feed = feed
        self._clock = clock
        self._ahead = timedelta(0)
        """As the last snapshot has it."""
        self.sitting = sitting or Sitting(drafts, who, clock)
        self._canvas = _Canvas()
        self._line, self._text = Input(id="line", select_on_focus=False), TextArea(id="text")
        self._writing: Write | None = None
        self._is_sent = False
        """What is in the field is on its way."""
        self._is_looking = self._must_look = self._is_reading = False
        self._looks_since = 0.0
        self._title = ""
        self._is_aside = False
        self._turn: asyncio.AbstractEventLoop | None = None
        """The loop whose thread alone may touch what is shown."""

    def compose(self) -> ComposeResult:
        """Return the widgets: one canvas, and two fields that are there when they are wanted."""
        yield self._canvas
        yield self._line
        yield self._text

    def on_mount(self) -> None:
        """Begin to look and to listen."""
        self._canvas.focus()
        self._turn = asyncio.get_running_loop()
        self.app_suspend_signal.subscribe(self, lambda _: self._step_aside(), immediate=True)
        self.app_resume_signal.subscribe(self, lambda _: self._come_back())
        self._feed.listen(lambda: self._tell(self.look_again))
        self.set_interval(_TICK_SECONDS, self._tick)
        self.look_again()
        self.hangup.tell(lambda: self._tell(self.action_leave))

    # Threads

    def _start(self, work: Callable[[], None]) -> None:
        """Do something that takes a while; what goes wrong with it ends the program, and says so."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - it is raised again where it is seen
                self._tell(_throw, error)

        threading.Thread(target=run, daemon=True, name="assent-inbox").start()

    def _tell(self, do: Callable[..., object], *given: object) -> None:
        """Have something done by the thread that draws; from any thread, without waiting for it."""
        if self._turn is not None:
            with suppress(RuntimeError):  # it is over
                self._turn.call_soon_threadsafe(self.call_later, do, *given)

    # Drawing

    def _draw(self) -> None:
        size = self._canvas.size
        self._name_field()
        if size.width and size.height:
            self._canvas.show(compose(self.sitting.view, size.width, size.height))
        title = render_title(len(self.sitting.view.groups.open))
        if title != self._title and self._driver is not None and not self._is_aside:
            self._title = title
            self._driver.write(title)

    def _step_aside(self) -> None:
        """Give the title back while the shell or an editor has the terminal."""
        self._is_aside = True
        if self._driver is not None:
            self._driver.write(TITLE_AS_IT_WAS)

    def _come_back(self) -> None:
        """Keep whatever the title is by now; ours is written by the next drawing."""
        if self._is_aside and self._driver is not None:
            self._driver.write(TITLE_KEPT)
        self._is_aside, self._title = False, ""
        self.on_app_focus()

    def _settle(self) -> None:
        """Draw now, and again when the beat is over."""
        if not self.sitting.view.is_armed:
            self.set_timer(BEAT_SECONDS + _GRACE_SECONDS, self._tick)
        self._draw()

    def _now(self) -> datetime:
        return _now() + self._ahead

    def _tick(self) -> None:
        self.sitting.tick(self._now())
        self._draw()
        view = self.sitting.view
        if view.mode is Mode.RUN and view.run is not None and not self._is_reading:
            self._is_reading = True
            run = view.run.run
            self._start(lambda: self._read_run(run))
        if self._is_looking and time.monotonic() - self._looks_since > _SLOW_SECONDS:
            self.sitting.lose(
                self._now()
            )  # a server that was there is tried for longer than anybody likes to guess
        if view.offline_since is not None:
            self.look_again()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the new size; keys wait a beat, for what is under them is another place."""
        self._fit(event.size)

    def _fit(self, size: Size) -> None:
        if is_wide(size.width, size.height):
            self.sitting.show_card()
        self.sitting.arm()
        self.call_after_refresh(self._settle)

    def on_app_focus(self) -> None:
        """Somebody has come back: a key that was meant for elsewhere decides nothing."""
        self.sitting.arm()
        self._settle()

    # Looking

    def look_again(self) -> None:
        """Look at all stores; once more if something happens meanwhile."""
        if self._is_looking:
            self._must_look = True
            return
        self._is_looking = True
        self._looks_since = time.monotonic()
        self._start(self._look)

    def _look(self) -> None:
        try:
            snapshot = self._feed.look()
        except AssentError as error:
            self._tell(self._fail, error)
        else:
            self._tell(self._looked, snapshot)

    def _looked(self, snapshot: Snapshot) -> None:
        gone = self.sitting.gone(snapshot)
        if gone:
            self._start(lambda: self._find(snapshot, gone))
        else:
            self._take(snapshot, [])

    def _find(self, snapshot: Snapshot, gone: list[Ask]) -> None:
        ended = []
        for ask in gone:
            with suppress(AssentError):  # it is looked for again with the next news
                ended.append(self._feed.find(ask))
        self._tell(self._take, snapshot, ended)

    def _take(self, snapshot: Snapshot, ended: list[Ask]) -> None:
        self._is_looking = False
        self._ahead = snapshot.ahead
        is_first = not self.sitting.view.current
        is_new = self.sitting.take(snapshot, self._now())
        for ask in ended:
            self.sitting.learn(ask)
        self._give_back()
        if is_new:
            self.bell()
        if is_first:  # later news take the keys from no pane
            self._fit_mode()
        self._settle()
        self._again()

    def _fit_mode(self) -> None:
        size = self._canvas.size
        if is_wide(size.width, size.height) and self.sitting.view.current:
            self.sitting.show_card()

    def _fail(self, error: AssentError) -> None:
        self._is_looking = False
        self.sitting.lose(self._now())
        if not isinstance(error, UnreachableError):
            self.sitting.refuse(error.message)
        self._draw()

    def _again(self) -> None:
        if self._must_look:
            self._must_look = False
            self.look_again()

    def _read_run(self, run: Run) -> None:
        try:
            detail = self._feed.detail(run)
        except AssentError:
            self._tell(self._show_run, run, None)
        else:
            self._tell(self._show_run, run, detail)

    def _show_run(self, run: Run, detail: RunDetail | None) -> None:
        self._is_reading = False
        shown = self.sitting.view.run
        # What could not be read leaves what is shown; what was read of another run is of no use by now.
        if detail is not None and shown is not None and shown.run.run_id == run.run_id:
            self.sitting.show_run(detail)
            self._draw()

    # Keys

    def on_key(self, event: events.Key) -> None:
        """Give a key to the sitting, unless somebody is typing."""
        if self._writing is not None:
            if event.key == "escape":
                event.stop()
                self.sitting.left(self._writing.purpose)
                self._close_field()
            return
        event.stop()
        event.prevent_default()
        printable = event.character if event.is_printable and event.character else ""
        self._do(self.sitting.press(event.key, printable, self._moment_of(event)))
        self._settle()

    def _moment_of(self, event: events.Key) -> float | None:
        """Return when a key came: it may have waited for a drawing that took long."""
        return event.time if self._clock is time.monotonic else None

    def _scroll(self, pages: int) -> None:
        size = self._canvas.size
        most, page = scroll_card(self.sitting.view, size.width, size.height)
        self.sitting.scroll(pages * page, most)

    def action_leave(self) -> None:
        """Leave; what was marked is kept as a draft, and nothing is sent."""
        self.sitting.note_typing(is_typing=False)
        self.exit()

    def action_take_text(self) -> None:
        """End writing, and send."""
        # This key overtakes the letters that were typed just before it: they are still on their way to the field.
        field = self._field
        if field is not None:
            field.call_later(self._take_text)

    def _take_text(self) -> None:
        field = self._field
        if field is not None:
            self._entered(field.text if isinstance(field, TextArea) else field.value, sends=True)

    @property
    def _field(self) -> TextArea | Input | None:
        """The field that is open."""
        if self._writing is None:
            return None
        return self._text if self._writing.is_long else self._line

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed in one line."""
        self._entered(event.value)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep what is being written."""
        if self._writing is not None and self._writing.is_long:
            self._typed(event.text_area.text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep what is being written in one line."""
        if self._writing is not None and not self._writing.is_long:
            self._typed(event.value)

    def _typed(self, text: str) -> None:
        if self._writing is not None and not self._is_sent:
            self.sitting.typed(self._writing.purpose, text)

    def _entered(self, text: str, *, sends: bool = False) -> None:
        writing = self._writing
        if writing is None or self._is_sent:
            return
        # Before the beat that begins when the field goes: whoever writes has long seen the ask.
        wish = self.sitting.entered(writing.purpose, text, sends=sends)
        if isinstance(wish, Send):
            self._is_sent = True  # the words stay in the field until the store has them
        elif not isinstance(wish, Stay):
            self._close_field()
        self._do(wish)
        self._settle()

    def _open_field(self, wish: Write) -> None:
        self._writing = wish
        self.sitting.note_typing(is_typing=True)
        field = self._field
        if isinstance(field, TextArea):
            field.text = wish.text
        elif field is not None:
            field.value, field.cursor_position = wish.text, len(wish.text)
        if field is not None:
            field.styles.display = "block"
            field.focus()

    def _name_field(self) -> None:
        """Say above the field what it is for, or that its ask has ended; and below it why its words were not taken."""
        field, writing, view = self._field, self._writing, self.sitting.view
        if field is None or writing is None:
            return
        label = f"{writing.label}: F2 sends, Esc keeps it as a draft" if writing.is_long else writing.label
        is_about_ask = writing.purpose not in (FILTER, CANCEL, ESCALATE)
        if is_about_ask and view.ask is not None and not view.ask.is_open:
            label = "It has ended: nothing is sent. Esc leaves, your words are kept"
        # As it is: in what others wrote there may be brackets, which Textual would obey.
        field.border_title = Content(display(label, lines=False))
        field.border_subtitle = Content(display(view.problem, lines=False))

    def _close_field(self) -> None:
        self._writing, self._is_sent = None, False
        self.sitting.note_typing(is_typing=False)
        for widget in (self._line, self._text):
            widget.styles.display = "none"
        self._canvas.focus()
        self.sitting.arm()
        self._settle()

    # Wishes

    def _do(self, wish: Wish | None) -> None:
        match wish:
            case None:
                return
            case Leave():
                self.exit()
            case Stay():
                return
            case Scroll(pages):
                self._scroll(pages)
            case Write():
                self._open_field(wish)
            case Edit():
                self._edit(wish)
            case Copy(text):
                self.copy_to_clipboard(text)
            case Browse(ask):
                self._browse(ask)
            case Send():
                self._start(lambda: self._send(wish))
            case _:
                self._start(lambda: self._act(wish))

    def _send(self, wish: Send) -> None:
        try:
            ask = self._feed.answer(wish)
        except ConflictError as error:
            ended = error.ask
            self._tell(self._sent, ended or wish.ask, Fate.LOST, error.message)
        except AssentError as error:
            self._tell(self._refused, error.message, wish.ask.ask_id)
        else:
            self._tell(self._sent, ask, Fate.MINE, "")

    def _sent(self, ask: Ask, fate: Fate, sentence: str) -> None:
        if ask.is_open:
            self._refused(sentence, ask.ask_id)
            return
        self.sitting.learn(ask, fate)
        self._give_back()
        self._settle()

    def _give_back(self) -> None:
        """Let the field go whose words were sent and whose ask has ended."""
        ask = self.sitting.view.ask
        if self._is_sent and (ask is None or not ask.is_open):
            self._close_field()

    def _refused(self, sentence: str, ask_id: str = "") -> None:
        self.sitting.refuse(sentence, ask_id)
        if ask_id == self.sitting.view.current:
            self._is_sent = False
        self._settle()

    def _act(self, wish: Claim | Withdraw | Control) -> None:
        try:
            if isinstance(wish, Control):
                self._tell(self._refused, self._feed.control(wish))
                self._tell(self.look_again)
                return
            ask = self._feed.claim(wish) if isinstance(wish, Claim) else self._feed.withdraw(wish)
        except AssentError as error:
            self._tell(self._refused, error.message)
            return
        self._tell(self.sitting.learn, ask)
        self._tell(self._settle)

    def _browse(self, ask: Ask) -> None:
        address = self._feed.address(ask)
        if address:
            self._start(lambda: self._tell(self._refused, open_page(address)))
        else:
            self._refused("This store has no page: no server shows it. assent serve starts one.")

    def _edit(self, wish: Edit) -> None:
        """Let somebody write in their own editor; what they leave there is the text."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="assent-") as folder:
            path = Path(folder) / "answer.md"
            path.write_text(wish.text, encoding="utf-8")
            with self.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 - the person's own
            text = path.read_text(encoding="utf-8", errors="replace")
        self._do(self.sitting.entered(wish.purpose, text.rstrip("\n")))
        self.sitting.arm()
        self._settle()


def _throw(error: Exception) -> None:
    raise error


def _now() -> datetime:
    # Only what is shown depends on it: deadlines are the store's.
    return datetime.fromtimestamp(time.time(), UTC)  # noqa: TID251
