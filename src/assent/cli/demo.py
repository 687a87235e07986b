"""`assent demo`: an agent in a process of its own asks, you answer, on a throw-away store.

Without a terminal a scripted person answers by `assent answer`, also in a process of its own, so that the same play
shows that an installation works.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

import click

from assent.cli.exit import DONE, FAILED, STILL_OPEN
from assent.cli.group import PlacedCommand
from assent.cli.log_line import render_record
from assent.cli.place import Place, now
from assent.client.client import Client
from assent.client.door import Door, run_call, until
from assent.client.identity import AGENT_MARKS, agent_mark, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.principal import Assurance, Principal, Role
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface, is_background
from assent.surfaces.wake import Wake
from assent.surfaces.width import cut, wrap

__all__ = ["command"]

_PROJECT = "demo-shop"
_AGENT = Principal(Role.AGENT, "shopkeeper")
_SCRIPT = (["A"], ["Nightly backups", "Monitoring"], ["people"])
_LOOK_SECONDS = 0.25
_PATIENCE_SECONDS = 60


@click.command("demo", cls=PlacedCommand)
@click.pass_obj
def command(place: Place, /) -> int:
    """Try it: a demo agent in its own process asks three things, and you answer.

    It plays on a store in a temporary folder, which is removed at the end; --store keeps it. Where no terminal is,
    a scripted person answers.

    \b
      assent demo
      assent demo --store sqlite:///demo.db
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    is_kept = place.store is not None
    if is_kept and not isinstance(place.address, Path):
        what = "a server" if place.is_server else "a database"
        raise click.UsageError(f"The demo plays on a file of its own, and not on {what}: leave --store out.")
    with ExitStack() as stack:
        if not is_kept:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assent-demo-"))
            place.store = f"sqlite:///{folder}/demo.db"
        place.project = place.project or _PROJECT
        door = stack.enter_context(place.door())
        start = run_call(until(door.head(place.project)))
        has_person = os.isatty(0) and os.isatty(1) and not is_background(0) and not agent_mark(place.environ)
        surface = TerminalSurface(now, place.environ, command=_how_called(), screen=sys.stdout)
        stage = _Stage(place, door, stack.enter_context(surface), has_person=has_person)
        status = stage.play(start)
        stage.look_back(start, is_kept=is_kept)
    return status


class _Stage:
    """Shows what the agent says and asks, in the order in which it happened, and lets a person answer."""

    def __init__(self, place: Place, door: Door, surface: TerminalSurface, *, has_person: bool) -> None:
        self._place, self._door, self._surface, self._has_person = place, door, surface, has_person
        self._client = place.client(door, _AGENT)
        self._is_over = threading.Event()
        self._opened: SimpleQueue[str] = SimpleQueue()
        self._news = Wake()
        self._asked = 0
        self._half_said = ""

    def play(self, start: int) -> int:
        """Run the agent to its end; return the exit status."""
        ink = self._surface.ink
        self._say(
            ink.strong(
                "An agent is about to ask you three things. It runs in another process and waits for you."
            )
        )
        if not self._has_person:
            self._say("There is no person at a terminal here, so a scripted one answers.")
        watcher = threading.Thread(target=self._watch, args=(start,), daemon=True, name="assent-demo")
        with uninterrupted():
            agent = self._start_agent()
            watcher.start()
        try:
            self._follow(agent)
            return DONE if agent.wait(_PATIENCE_SECONDS) == 0 else FAILED
        except (KeyboardInterrupt, EOFError):
            self._say(
                "", "You left, so nothing was decided: the ask is open, and an agent would go on waiting."
            )
            self._say(f"This is only a demo, so process {agent.pid} is stopped.")
            return STILL_OPEN
        finally:
            agent.terminate()  # nothing to do where it has ended by itself
            agent.wait(_PATIENCE_SECONDS)
            if agent.stdout is not None:
                agent.stdout.close()
            self._is_over.set()
            watcher.join(_PATIENCE_SECONDS)
            self._news.close()

    def look_back(self, start: int, *, is_kept: bool) -> None:
        """Show what is on record, and what to try next."""
        ink, called = self._surface.ink, _how_called()
        self._say("", ink.strong("What was recorded:"))
        for record in self._client.log(start):
            self._say(ink.faint(cut(render_record(record, has_date=False), self._surface.width)))
        audit = self._client.verify()
        verdict = "; ".join(audit.problems) or "the record is whole"
        self._say(ink.faint(f"{audit.events} events, each chained to the one before: {display(verdict)}."))
        kept = (
            f"The demo's store stays: {self._place.store}"
            if is_kept
            else "The demo's store was a temporary one and is gone."
        )
        self._say(
            "",
            kept,
            ink.strong("Try next, with two terminals open:"),
            "  in one     " + ink.accent(f"{called} ask 'Tea or coffee?' -o Tea -o Coffee"),
            "  in two     " + ink.accent(f"{called} inbox"),
            "             " + ink.accent(f"{called} answer ID Tea"),
            "  the rest   " + ink.accent(f"{called} --help"),
        )

    def _start_agent(self) -> subprocess.Popen[bytes]:
        path, project = str(self._place.path), self._place.project_name
        # A session of its own: Ctrl-C is for this process, which then says what becomes of the agent.
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "assent.cli.demo_agent", path, project],
            env={**self._place.environ, "ASSENT_PRINCIPAL": str(_AGENT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _watch(self, start: int) -> None:
        """Tell the main thread of new asks, as any inbox hears of them."""
        with self._door.follow(self._place.project_name, start) as feed:
            while not self._is_over.is_set():
                for record in feed.wait(_LOOK_SECONDS):
                    if record.type == "ask.opened":
                        self._opened.put(record.subject)
                        self._news.call()

    def _follow(self, agent: subprocess.Popen[bytes]) -> None:
        if agent.stdout is None:
            return
        spoken = agent.stdout.fileno()
        while True:
            if self._opened.empty():
                self._news.wait([spoken])
            has_asked = not self._opened.empty()
            # What the agent said before it asked was in its pipe before the ask was in the store.
            if select.select([spoken], [], [], 0)[0]:
                said = os.read(spoken, 65_536)
                if not said:
                    return
                self._quote(said.decode(errors="replace"))
            if has_asked:
                self._take(self._client.show(self._opened.get()))

    def _take(self, ask: Ask) -> None:
        if ask.asker != str(_AGENT) or not ask.is_open:
            return
        if self._has_person:
            who = person(self._place.environ)
            typist = Client(self._door, ask.project, who, via="terminal", assurance=Assurance.TERMINAL)
            answer_here(self._surface, typist, ask)
        else:
            self._surface.present(ask)
            self._play_person(ask, _SCRIPT[self._asked % len(_SCRIPT)])
        self._asked += 1

    def _play_person(self, ask: Ask, values: list[str]) -> None:
        path, short = str(self._place.path), short_id(ask.ask_id)
        shown = " ".join(f"'{value}'" if " " in value else value for value in values)
        self._say(f"$ assent answer {short} {shown}")
        # The throw-away person must act also where an agent tries the demo; it answers the demo's own asks only.
        environ = {name: value for name, value in self._place.environ.items() if name not in AGENT_MARKS}
        environ.pop("ASSENT_PRINCIPAL", None)
        where = ["--store", f"sqlite:///{path}", "--project", ask.project]
        answered = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "assent", *where, "answer", ask.ask_id, *values],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        self._say(display(answered.stdout.decode(errors="replace").rstrip("\n")))

    def _quote(self, said: str) -> None:
        *lines, self._half_said = (self._half_said + said).split("\n")
        name = f"{_AGENT.name}: "
        for line in lines:
            first, *more = wrap(display(line), self._surface.width - len(name))
            self._say("", self._surface.ink.caution(name) + first, *(" " * len(name) + part for part in more))

    def _say(self, *lines: str) -> None:
        self._surface.say(*lines)


def _how_called() -> str:
    """Return how this command can be started again: by its name if that is on the path, else as it was started."""
    if shutil.which("assent"):
        return "assent"
    started = Path(sys.argv[0])
    if started.name != "assent":
        return f"{sys.executable} -m assent"
    return os.path.relpath(started) if len(os.path.relpath(started)) < len(str(started)) else str(started)
