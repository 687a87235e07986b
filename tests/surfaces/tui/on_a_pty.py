"""The inbox as a program on a pty, with hostile texts in its feed; and what of the bytes that it writes is obeyed.

Run as a module it is the program: the texts come as JSON in the file that it is given. With `read` behind it, each text
stands in an ask by itself, on a screen that is long enough for all of it.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import re
import select
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack
from typing import NamedTuple

import pyte

from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import Ask
from assent.protocol.error import BadRequestError
from assent.protocol.run import Run
from assent.surfaces.tui.app import InboxApp
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.view import RunDetail, Snapshot
from assent.surfaces.tui.wish import Claim, Control, Send, Withdraw
from tests.patience import PATIENCE
from tests.surfaces.tui.hostile import controls_in, hostile_asks, hostile_detail, hostile_runs, read_ask
from tools.warm import spawn
from torture.hostile_cases import without_joints

__all__ = ["ALLOWED", "PACKED", "UNDRAWN", "Card", "Seen", "obeyed_in", "read_cards", "sit"]

PACKED = 25
"""So many texts stand in one ask."""
_WIDTH, _HEIGHT = 120, 36
_LONG_HEIGHT = 160
UNDRAWN = dict.fromkeys((0x200D, 0xFE0F, 0x20E3))
"""The emulator drops all that stands behind a sign without width that is no accent, so they are taken out before."""

ALLOWED = re.compile(
    r"""
    \x1b\[[0-9;]*m                              # paint
    | \x1b\[[0-9]+;[0-9]+H | \r\n               # to a place
    | \x1b\[\?(?:7|25|1049)[hl]                 # wrapping, the cursor, a screen of its own
    | \x1b\[\?(?:1000|1003|1004|1006|1015)[hl]  # the mouse, and coming back
    | \x1b\[\?(?:2004|2048)[hl]                 # pasting, sizes
    | \x1b\[\?2026(?:\$p|[hl]) | \x1b\[\?2048\$p  # drawing at once, and whether that is known
    | \x1b\[(?:>[0-9]+|<)u                      # how keys are told
    | \x1b\]22;[a-z-]+\x07                      # the shape of the pointer
    | \x1b\]2;(?:(?:\([0-9]+\)\x20)?Assent)?\x07  # the title: a count, and our own name
    """,
    re.VERBOSE,
)
"""What Textual 8 and we ourselves write, and nothing else: not even a bell, for nothing new comes here."""


class Seen(NamedTuple):
    """What came of a sitting."""

    written: bytes
    asks: int
    packed: int = PACKED


def obeyed_in(written: bytes) -> list[str]:
    """Return what is left that is obeyed or hidden, once all is taken out that the program itself writes."""
    text = written.decode()
    left = without_joints(ALLOWED.sub("", text))
    found = controls_in(left)
    if not found:
        return []
    at = next(at for at, character in enumerate(left) if controls_in(character))
    return [repr(left[max(0, at - 40) : at + 40]), *found]


# The program


class _Feed:
    """A feed of hostile texts: every answer of it holds one."""

    def __init__(self, texts: Sequence[str]) -> None:
        packs = ["\n".join(texts[at : at + PACKED]) for at in range(0, len(texts), PACKED)]
        # Of the nine asks that a text makes one is looked at, another one for each.
        made = [hostile_asks(pack, number) for number, pack in enumerate(packs, start=1)]
        self._asks = tuple(asks[number % 5] for number, asks in enumerate(made))
        self._texts, self._packs = texts, packs

    def look(self) -> Snapshot:
        return Snapshot(self._asks, hostile_runs(self._texts[0]), 1, (self._packs[0],))

    def find(self, ask: Ask) -> Ask:
        return ask

    def answer(self, _: Send) -> Ask:
        raise BadRequestError(self._packs[0])

    def claim(self, _: Claim) -> Ask:
        raise BadRequestError(self._packs[0])

    def withdraw(self, _: Withdraw) -> Ask:
        raise BadRequestError(self._packs[0])

    def control(self, _: Control) -> str:
        return self._packs[0]

    def detail(self, _: Run) -> RunDetail:
        return hostile_detail(self._packs[-1])

    def address(self, _: Ask) -> str:
        return ""

    def listen(self, tell: Callable[[], None]) -> None:
        """There is never any news."""

    def close(self) -> None:
        """There is nothing to let go of."""


class _Shelf(_Feed):
    """A feed in which each text has an ask of its own."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts[:1])
        self._asks = tuple(read_ask(text, number) for number, text in enumerate(texts, start=1))


# The person


class _Person:
    """Somebody who looks at a pty and presses keys."""

    def __init__(self, arguments: Sequence[str], height: int = _HEIGHT) -> None:
        self._height = height
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, pack("HHHH", height, _WIDTH, 0, 0))
        # A size in the environment, as a test runner's, would count before that of the terminal.
        left_out = {*AGENT_MARKS, "COLUMNS", "LINES"}
        marks = {name: value for name, value in os.environ.items() if name not in left_out}
        self._process = spawn(
            [sys.executable, "-m", "tests.surfaces.tui.on_a_pty", *arguments],
            cwd=Path(__file__).parents[3],
            env={**marks, "TERM": "xterm-256color", "TZ": "UTC"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._screen = pyte.Screen(_WIDTH, height)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rows = [""] * height
        self.written = b""

    def read(self, seconds: float = 0.05) -> bool:
        """Read what there is; say whether there can be more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self._master, 65_536)
        except OSError:
            return False
        self.written += more
        self._stream.feed(self._decoder.decode(more).translate(UNDRAWN))
        return bool(more)

    def _text(self) -> str:
        # Not the emulator's own: it fails where one half of a wide character was drawn over, and draws all rows anew.
        for row in self._screen.dirty & set(range(self._height)):
            cells = self._screen.buffer[row]
            self._rows[row] = "".join(cells[at].data for at in range(_WIDTH))
        self._screen.dirty.clear()
        return "\n".join(self._rows)

    def card(self) -> Card:
        """Return what stands on the screen now, between its head and its foot."""
        self._text()
        return Card(
            tuple(
                (row[1:].rstrip(), bool(self._screen.buffer[number][_WIDTH - 2].data.strip()))
                for number, row in enumerate(self._rows)
            )
        )

    def until(self, *wanted: str) -> None:
        """Wait until all of this is seen."""
        end = time.monotonic() + PATIENCE
        while not all(each in (text := self._text()) for each in wanted):
            assert self._process.poll() is None, text
            assert time.monotonic() < end, f"{wanted} never came:\n{text}"
            self.read()

    def press(self, keys: str, *wanted: str) -> None:
        """Press keys, and wait for what comes of them."""
        os.write(self._master, keys.encode())
        self.until(*wanted)

    def leave(self) -> None:
        """Press Ctrl-C, and wait for the end."""
        os.write(self._master, b"\x03")
        end = time.monotonic() + PATIENCE
        while self.read():
            if self._process.poll() is not None and not select.select([self._master], [], [], 0)[0]:
                break
            assert time.monotonic() < end
        self._process.wait(PATIENCE)

    def close(self) -> None:
        """Leave nothing behind."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(PATIENCE)
        os.close(self._master)


def sit(texts: Sequence[str]) -> Seen:
    """Look at every ask of a feed with these texts, whole and in the three panes, and at a run; return what was written."""
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(list(texts)), encoding="utf-8")
        person = _Person([str(path)])
        try:
            count = -(-len(texts) // PACKED)
            person.until(f"Ask 1 of {count}", "Keys ready")
            for number in range(1, count + 1):
                person.press("v", "Esc back")
                person.press(" ", "Esc back")
                person.press("v", f"Ask {number} of {count}", "? keys")
                if number < count:
                    person.press("j", f"Ask {number + 1} of {count}")
            person.press("r", "p pause")
            person.press("\r", "Space page", "REQUEST")
            person.leave()
        finally:
            person.close()
        return Seen(person.written, count)


class Card(NamedTuple):
    """The rows of an ask as a terminal shows them, and whether each is full: then the next one goes on with its word."""

    rows: tuple[tuple[str, bool], ...]

    def read(self, first: str, more: str, also: str = "", *, is_exact: bool = True) -> str:
        """Return what the rows say that begin so, or so where they go on; but for line ends, which are blanks.

        What begins with `also` goes on, too, and that is told.
        """
        told = ""
        is_in = False
        for row, is_full in self.rows:
            if not is_in and not told and row == first.rstrip():
                is_in = True  # what follows is a word too long for the rest of this row
                continue
            head = first if not is_in else more
            is_new = is_in and bool(also) and row.startswith(also)
            is_in = is_new or row.startswith(head) or (is_in and row == head.rstrip())
            if is_in:
                part = row if is_new else row[len(head) :]
                is_gap = is_exact and not part
                told += " " * (_WIDTH - 2 - len(head)) if is_gap else part + " " * (not is_full)
            elif told:
                break
        return told.rstrip()


def read_cards(texts: Sequence[str]) -> dict[int, Card]:
    """Look at an ask for each text, whole; return what each showed, by its number."""
    found: dict[int, Card] = {}
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(list(texts)), encoding="utf-8")
        person = _Person([str(path), "read"], _LONG_HEIGHT)
        try:
            person.until(f"Ask 1 of {len(texts)}", "Keys ready")
            for number in range(1, len(texts) + 1):
                person.press("v", "Esc back")
                card = person.card()
                shown = next(row for row, _ in card.rows if row.startswith("APPROVAL"))
                found[int(shown[-6:])] = card
                person.press("v", f"Ask {number} of {len(texts)}", "? keys")
                if number < len(texts):
                    person.press("j", f"Ask {number + 1} of {len(texts)}")
            person.leave()
        finally:
            person.close()
    return found


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    feed = _Feed(given) if sys.argv[2:] != ["read"] else _Shelf(given)
    InboxApp(feed, Drafts(None), "ana").run()
