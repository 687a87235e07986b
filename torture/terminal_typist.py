"""Prose typed at the terminal inbox while asks come, end and expire and the inbox restarts: nobody is answered by it.

First the program under a clock of ours, key by key; then the real one on a pty, in real time. Now and then the script
pauses and does something on purpose: it marks and sends an answer, or begins to write one. Nothing else may end an ask.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from unittest.mock import patch

import msgspec

from assent import Client, ConflictError
from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import Ask, Consequence, Kind
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Prompt
from assent.surfaces.tui.view import Mode
from assent.testing import throwaway
from assent.testing.clock import FakeClock
from tests.cli.shell import Shell
from tests.cli.window import Window
from tests.surfaces.tui.asks import APPROVAL, CHECK, CONFIRM, FREE, GATE, ONE, OWN
from tests.surfaces.tui.seat import ClientFeed, Seat, sit
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

_KEYS, _REAL_KEYS = 20_000, 500
_GAPS = 0.02, 0.2
_PAUSE = 2.0
_MOST_OPEN = 6
_TEXT = """
a and be but by can changes decide done drop enter everything find go have I if in it just know later like maybe my next no
of ok only our please quite really say see so sure than that the then this to use very we what when with would Why Yes yes.
you zero discard deselect: #4 2 1 / e.g. y n
"""
_WORDS = _TEXT.split()
_ASKS: tuple[tuple[Prompt, Kind, str, str], ...] = (
    (ONE, Kind.QUESTION, "b", "1"),
    (ONE, Kind.QUESTION, "c", "2"),
    (OWN, Kind.QUESTION, "a", "2"),
    (FREE, Kind.QUESTION, "i", "blue"),
    (CONFIRM, Kind.CONFIRM, "y", "no"),
    (APPROVAL, Kind.APPROVAL, "a", "Reject"),
    (GATE, Kind.GATE, "1", "2"),
    (CHECK, Kind.GATE, "y", "n"),
)
"""What is asked, the key that marks an answer on purpose, and what somebody else answers."""
_FAULT = "asks ended by typing"


def _prose(chance: Random) -> str:
    """Return some sentences, line by line; they begin with a word."""
    words = [chance.choice(_WORDS) for _ in range(chance.randrange(2, 9))]
    return "".join(word + chance.choice(("\n", " ", " ", " ", ", ", ".\n")) for word in words)


class _World:
    """Asks that come and end while somebody types."""

    def __init__(self, chance: Random, tally: Tally, agent: Client, other: Client) -> None:
        self.chance, self.tally, self._agent, self._other = chance, tally, agent, other
        self.marks: dict[str, str] = {}
        self._replies: dict[str, str] = {}
        self.meant: set[str] = set()
        """The asks that the script answered on purpose."""

    def happen(self, clock: FakeClock | None = None) -> None:
        """Let something come or end."""
        waiting = self._other.inbox()
        if clock is not None and self.chance.random() < 0.2:
            clock.advance(self.chance.uniform(1, 60))
            self.tally.add("moments at which time went by")
        elif len(waiting) < _MOST_OPEN and self.chance.random() < 0.6:
            self.open()
        elif waiting:
            self._end(self.chance.choice(waiting))

    def open(self) -> None:
        """Ask something."""
        prompt, kind, key, reply = self.chance.choice(_ASKS)
        is_timed = kind in (Kind.QUESTION, Kind.APPROVAL) and self.chance.random() < 0.4
        deadline = timedelta(seconds=self.chance.randrange(20, 120)) if is_timed else None
        consequence = Consequence.DENY if is_timed else Consequence.WAIT
        if prompt.action is not None:  # nobody is asked again about what was just declined
            prompt = msgspec.structs.replace(prompt, action={"number": len(self.marks)})
        ask = self._agent.open(prompt, kind=kind, deadline=deadline, consequence=consequence).ask
        self.marks[ask.ask_id], self._replies[ask.ask_id] = key, reply
        self.tally.add("asks")

    def _end(self, ask: Ask) -> None:
        with suppress(ConflictError):  # its time was up
            # An approval wants to know more of whoever answers it than that they say so.
            if ask.kind is Kind.APPROVAL or self.chance.random() < 0.3:
                self._agent.withdraw(ask.ask_id, "not needed")
            else:
                self._other.answer(ask.ask_id, self._replies[ask.ask_id], confirmed=True)
            self.tally.add("asks that others ended")

    def judge(self) -> None:
        """Count the asks that the typist ended, though not on purpose."""
        for ask_id in self.marks:
            ask = self._agent.show(ask_id)
            ended = ask.answer or ask.outcome
            is_mine = ended is not None and ended.by == "human:ana"
            self.tally.check(not is_mine or ask_id in self.meant, _FAULT, f"{ask.prompt.title}: {ended}")
            self.tally.add("asks answered on purpose", is_mine and ask_id in self.meant)


class _Typist:
    """Somebody who types prose at an inbox on a clock of ours."""

    def __init__(self, world: _World, clock: FakeClock, keys: int) -> None:
        self._world, self._clock, self._keys = world, clock, keys
        self._tally, self._chance = world.tally, world.chance

    @property
    def is_done(self) -> bool:
        """All keys have been typed."""
        return self._tally.counts["keys"] >= self._keys

    async def story(self, seat: Seat) -> None:
        """Type until all is typed, the inbox is left, or it dies under the typist's hands."""
        seat.app.suspend = _StaysHere  # type: ignore[method-assign, assignment]
        while not self.is_done and not seat.app._exit:
            await self._type(seat, _prose(self._chance))
            if self._chance.random() < 0.05:
                break
            if self._chance.random() < 0.8 and not seat.app._exit:
                await self._do_on_purpose(seat)
        self._tally.add("restarts")

    async def _type(self, seat: Seat, prose: str) -> None:
        for character in prose:
            if seat.app._exit:
                return
            after = self._chance.uniform(*_GAPS)
            await seat.hit({"\n": "enter", " ": "space"}.get(character, character), after)
            self._tally.add("keys")
            if self._chance.random() < 0.05:
                self._world.happen(self._clock)
                seat.feed.tell()

    async def _do_on_purpose(self, seat: Seat) -> None:
        """Look up and go to an ask; then go on typing there, begin to write an answer, or mark and send one."""
        # Out of a field and of what is read, into the list of all; then to the ask that has waited longest.
        for key in ("escape", "escape", "escape", "Z", "o", "enter"):
            await seat.hit(key, _PAUSE)
        ask = seat.view.ask
        if seat.view.mode is not Mode.ASK or ask is None or not ask.is_open:
            return
        await seat.hit("backspace", _PAUSE)
        deed = self._chance.random()
        if deed < 0.2:
            await seat.hit("i", _PAUSE)
            self._tally.add("fields begun on purpose")
        if deed < 0.7:
            return
        self._world.meant.add(ask.ask_id)
        key = self._world.marks[ask.ask_id]
        await seat.hit(key, _PAUSE)
        if key == "i":
            await seat.hit("x", _PAUSE)
        await seat.hit("f2" if key == "i" else "enter", _PAUSE)
        if seat.view.check:
            await seat.hit("y", _PAUSE)
            await seat.hit("enter", _PAUSE)
        await seat.until(lambda: not seat.view.sending or seat.app._exit, "the answer")
        await seat.hit("escape", _PAUSE)  # where nothing came of it, a field may be open


class _StaysHere:
    """Stands for leaving the screen: there is no terminal to give away."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def _type_on_a_clock(plan: Plan, tally: Tally) -> None:
    clock = FakeClock()
    with ExitStack() as stack:
        store = stack.enter_context(throwaway(clock=clock))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assent-torture-"))
        stack.enter_context(patch.dict("os.environ", {"VISUAL": "true"}))
        stack.enter_context(patch.object(ClientFeed, "address", lambda *_: ""))
        # Nobody looks: what is drawn is other tests' matter, and takes most of the time.
        stack.enter_context(patch("assent.surfaces.tui.app.compose", lambda *_: []))
        if plan.twin:
            stack.enter_context(patch("assent.surfaces.tui.key_guard.KeyGuard.is_quiet", lambda *_: True))
        world = _World(plan.chance(), tally, store.agent(), store.person("sam"))
        for _ in range(_MOST_OPEN):
            world.open()
        feed = ClientFeed(store.person("ana", assurance=Assurance.TERMINAL))
        typist = _Typist(world, clock, plan.count(_KEYS))
        while not typist.is_done:
            sit(store, typist.story, size=(100, 24), folder=Path(folder), feed=feed)
            plan.progress(f"{tally.counts['keys']:,} keys")
        world.judge()


def _type_in_real_time(plan: Plan, tally: Tally) -> None:
    chance, count = plan.chance(), plan.count(_REAL_KEYS)
    with tempfile.TemporaryDirectory(prefix="assent-torture-") as folder, ExitStack() as stack:
        home = Path(folder) / "shop"
        home.mkdir()
        shell = Shell(home)
        stack.callback(shell.close)
        agent = stack.enter_context(shell.client(Principal(Role.AGENT, "coder")))
        other = stack.enter_context(shell.client(Principal(Role.HUMAN, "sam")))
        world = _World(chance, tally, agent, other)
        for _ in range(_MOST_OPEN):
            world.open()
        changes: dict[str, str | None] = {**dict.fromkeys(AGENT_MARKS), "VISUAL": "true", "BROWSER": "true"}
        while tally.counts["keys in real time"] < count:
            with Window(shell, changes=changes) as window:
                window.until("wait")
                _type_at(window, world, tally, count)
            tally.add("restarts in real time")
        world.judge()


def _type_at(window: Window, world: _World, tally: Tally, count: int) -> None:
    """Type until the program has ended, or dies in the middle of a sentence."""
    for _ in range(12):
        for character in _prose(world.chance):
            if window.process.poll() is not None or tally.counts["keys in real time"] >= count:
                return
            window.press({"\n": "\r"}.get(character, character))
            tally.add("keys in real time")
            if world.chance.random() < 0.03:
                world.happen()
            time.sleep(world.chance.uniform(*_GAPS))  # this is how fast somebody types
            window.text  # noqa: B018 - so that it can write on


def run(plan: Plan) -> Verdict:
    """Type all keys on a clock of ours, and some in real time."""
    tally = Tally((_FAULT,))
    _type_on_a_clock(plan, tally)
    if not plan.twin:  # a twin is in this process, the program is another one
        tally.require("asks answered on purpose")
        tally.require("asks that others ended")
        _type_in_real_time(plan, tally)
        tally.require("keys in real time", plan.count(_REAL_KEYS))
    tally.require("keys", plan.count(_KEYS))
    return tally.verdict()


TRIAL = Trial(
    "terminal-typist",
    "20,000 keys of prose at the terminal inbox, and 500 in real time, while asks come and end and it restarts: no answer",
    run,
    (Twin("hasty", "a key acts only after a quiet beat", _FAULT, 0.06),),
    share=0.03,
)
