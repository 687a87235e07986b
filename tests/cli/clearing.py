"""A sitting: asks of every kind from several agents, cleared by keyboard in a window whose program is killed now and then.

Each agent is a thread with a client of its own, in a project of its own, and waits for its answers as agents do. What the
keyboard does next depends on nothing but the screen.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from assent import Option, Prompt, StillOpen
from assent.client.client import Client
from assent.client.gate import pass_gate
from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import Ask
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import Field
from assent.surfaces.tui.key_guard import BEAT_SECONDS
from tests.cli.shell import Shell
from tests.cli.window import Window
from tests.patience import PATIENCE

__all__ = ["KINDS", "Agents", "clear", "expected"]

_THREE = tuple(Option(name, name) for name in ("First", "Second", "Third"))
_F2, _ENTER, _ESCAPE = "\x1bOQ", "\r", "\x1b"
_TAKEN_OVER = b"\x1b[?1004h"
_CARD = re.compile(r"Q(?P<number>\d\d) (?P<kind>[a-z]+)")


def _open(client: Client, kind: str, title: str) -> None:
    match kind:
        case "choice":
            client.open(title, ["First", "Second"], body="Words of an agent.")
        case "several":
            client.open(Prompt(title, "", (Field("q1", "Which of them?", _THREE, multiple=True),)))
        case "free":
            client.open(Prompt(title, "", (Field("q1", "In your words?", free=True),)))
        case "confirm":
            client.open(title, kind="confirm", body="Four tasks.")
        case "round":
            both = Field("q1", "The one?", _THREE), Field("q2", "The other?", _THREE)
            client.open(Prompt(title, "", both))
        case "approval":
            _until_open(lambda: client.approve(title, action={"command": "true"}, wait=0))
        case "gate":
            _until_open(lambda: pass_gate(client, "Chunk Loop", f"{title}: twelve files.", chunks=5, wait=0))


def _until_open(begin: Callable[[], object]) -> None:
    try:
        begin()
    except StillOpen:
        return
    raise AssertionError("Somebody has answered already.")


KINDS: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "choice": (("b",), {"q1": ("Second",)}),
    "several": (("a", "c"), {"q1": ("First", "Third")}),
    "free": (("i",), {"q1": ("own words on {title}",)}),
    "confirm": (("y",), {"q1": ("yes",)}),
    "round": (("a", "b"), {"q1": ("First",), "q2": ("Second",)}),
    "approval": (("a",), {"approve": ("Approve",)}),
    "gate": (("1",), {"action": ("Continue",)}),
}
"""Of each kind: the keys that mark an answer, and what the agent is then told."""


def expected(title: str) -> dict[str, tuple[str, ...]]:
    """Return what the agent is to be told that asked this."""
    values = KINDS[title.partition(" ")[2]][1]
    return {name: tuple(value.format(title=title) for value in given) for name, given in values.items()}


class Agents:
    """Agents that ask and wait."""

    def __init__(self, shell: Shell, agents: int, asks: int) -> None:
        self._shell = shell
        self.told: dict[str, Ask] = {}
        """What each was told, by title."""
        self.failed: list[str] = []
        kinds = list(KINDS)
        titles = [f"Q{number:02} {kinds[number % len(kinds)]}" for number in range(asks)]
        self._threads = [
            threading.Thread(target=self._ask, args=(f"agent-{number}", titles[number::agents]), daemon=True)
            for number in range(agents)
        ]
        self._waiting = threading.Semaphore(0)
        for thread in self._threads:
            thread.start()
        for _ in self._threads:
            assert self._waiting.acquire(timeout=PATIENCE), self.failed
        assert not self.failed, self.failed

    def _ask(self, name: str, titles: Sequence[str]) -> None:
        try:
            with self._shell.client(Principal(Role.AGENT, name), name) as client:
                for title in titles:
                    _open(client, title.partition(" ")[2], title)
                opened = client.inbox()
                self._waiting.release()
                for ask in opened:
                    found = _CARD.search(f"{ask.prompt.title} {ask.prompt.body}")
                    assert found, ask.prompt
                    self.told[found[0]] = client.wait(ask.ask_id, 10 * PATIENCE)
        except Exception as error:  # noqa: BLE001 - it is told where it is waited for
            self.failed.append(f"{name}: {error!r}")
            self._waiting.release()

    def send_home(self) -> None:
        """Decline all that is open, so that nobody waits any more."""
        for number in range(len(self._threads)):
            with self._shell.client(Principal(Role.HUMAN, "sam"), f"agent-{number}") as person:
                for ask in person.inbox():
                    person.decline(ask.ask_id, "The day is over.")
        self.join()

    def join(self) -> None:
        """Wait until all have been told."""
        for thread in self._threads:
            thread.join(PATIENCE)
        assert not self.failed, self.failed


def clear(shell: Shell, asks: int, kill_at: Sequence[int], program: Sequence[str] = ()) -> Iterator[str]:
    """Clear all asks; give what was lost by the program's deaths, which come in the middle of the asks of these numbers."""
    marks: dict[str, str | None] = dict.fromkeys(AGENT_MARKS)
    window = Window(shell, program=program, changes=marks)
    done: set[str] = set()
    try:
        for number in range(asks):
            left = asks - number
            window.until(f"{left} wait")
            title = _title(window, done)
            kind = title.partition(" ")[2]
            _mark(window, title, kind)
            if number in kill_at:
                window.kill()
                window.__exit__()
                window = Window(shell, program=program, changes=marks)
                window.until(f"{left} wait")
                # Somebody was typing: no key of theirs may act on what stands there now.
                if kind == "free" and not _release(window):
                    yield f"{title}: its draft is gone"
                    continue
                found = _title(window, done)
                if found != title:
                    yield f"{title} was open, and {found} is"
                # A yes is given anew: no earlier mark stands for it.
                if kind not in ("approval", "confirm") and "your draft" not in window.text:
                    yield f"{title}: its draft is gone"
                title, kind = found, found.partition(" ")[2]
                _mark(window, title, kind)
            _send(window, kind)
            window.until(f"{left - 1} wait")
            done.add(title)
            window.press("n")
        window.press("q")
        if window.end() != 0:
            yield f"it ended with {window.end()}"
    finally:
        window.__exit__()


def _release(window: Window) -> bool:
    """Press Esc, once the program listens: its first screen stands there before. Say whether it knew of a draft."""
    window.wait(lambda: any(each in window.text for each in ("Press Esc", "Keys ready")))
    if "Press Esc" not in window.text:
        return False
    window.wait(lambda: _TAKEN_OVER in window.raw)
    window.press(_ESCAPE)
    window.until(gone=["Press Esc"])
    return True


def _card(window: Window) -> str:
    """Return the pane in which the ask stands in full."""
    return "\n".join(line.split("│")[2] for line in window.lines if line.count("│") == 3)


def _title(window: Window, done: set[str]) -> str:
    """Return which ask is open, once it is one that is to be answered and keys count."""
    seen: list[str] = []

    def is_there() -> bool:
        found = _CARD.search(_card(window))
        seen[:] = [found[0]] if found and found[0] not in done and "[Enter]" not in window.text else []
        return bool(seen)

    window.wait(is_there)
    return seen[0]


def _mark(window: Window, title: str, kind: str) -> None:
    """Mark the answer, unless it is marked; of a text, write it and leave it in its field."""
    window.wait(lambda: title in _card(window))
    _rest(window)
    if kind == "free":
        window.press("i")
        window.until("F2 sends")
        words = expected(title)["q1"][0]
        if words not in window.text:
            window.press(words)
            window.until(words)
        return
    if "Enter: " in window.text:
        return
    for number, key in enumerate(KINDS[kind][0], 1):
        _rest(window)
        window.press(key)
        window.wait(partial(_has_marks, window, number))


def _rest(window: Window) -> None:
    """Rest for a beat while the screen says that keys count: what is being drawn may say so for a moment of the past."""
    since = time.monotonic()

    def is_rested() -> bool:
        nonlocal since
        if "[Enter]" in window.text:
            since = time.monotonic()
        return time.monotonic() - since > BEAT_SECONDS

    window.wait(is_rested)


def _has_marks(window: Window, number: int) -> bool:
    return _card(window).count("[x]") >= number


def _send(window: Window, kind: str) -> None:
    if kind != "free":
        _rest(window)
        window.until("Enter: ")
    window.press(_F2 if kind == "free" else _ENTER)
