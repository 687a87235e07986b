"""Plays a page: `python -m tools.play [--write] [PAGE…]`. What the docs show is what really happens.

The blocks of a page run in order in one empty folder called `shop`, as a person called ana. A console block is typed
into a real shell on a real terminal: lines after `$ ` are commands, lines after `> ` are replies, all else must be what
the terminal shows. Ids, moments, spans of time and process numbers may differ; a line of just `…` stands for any lines, or none.
A server of a page listens on port 8484, which is another one in each run, so that pages can be played side by side. A page
that names postgresql://assent@127.0.0.1:5432/assent has a PostgreSQL server with that database, on another port as well.

    ```console play                   in the first terminal
    ```console play terminal=two      in another one, at the same time
    ```console play waits             at its end the command waits, with a new ask in the store
    ```console play waits=again       at its end the command waits, or is just about to
    ```console play kill              the command is killed (kill -9) once it has asked and waits
    ```console play more kill         the command that waits is killed
    ```console play more              goes on where this terminal's last block stopped; if it begins with a reply, at the
                                      prompt that the block before it left; if with ^C, that is pressed first
    ```console play=codex             any of these, with the real program of that name: `make test-hosts` plays it
                                      (host_tests/test_pages.py), and everybody else leaves it as it is

With --write a page that does not tell the truth any more is captured anew.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import Ask
from assent.protocol.principal import Assurance, Principal, Role
from assent.testing import ScriptedPerson, ScriptError
from tools.names import Names, can_be_told, known_ids
from tools.node import node_environ
from tools.page import Block, Page, pages
from tools.postgres import PostgresServer
from tools.terminal import PATIENCE, Terminal
from tools.warm import run

__all__ = ["Cast", "PlayError", "is_played", "main", "play", "program_of"]


_TRIES = 30
_PORT = "8484"
"""Where a page says that a server listens."""
_DATABASE_PORT = "5432"
"""Where a page says that PostgreSQL listens."""
_PROGRAM_PORT = "4096"
"""Where a page says that a program of somebody else listens."""
_SECRET = re.compile(r"(\bassent_|/sign-in#)([0-9a-f]{32,})")
_DIGITS = "0123456789abcdef"
_HOME = "/srv"
"""Where a page says that the folder is."""
_ACCIDENTS = ("Something unexpected happened", "Traceback (most recent call last)")
"""What a program says that has a fault; nobody is to take it for documentation."""


class PlayError(Exception):
    """A block does not do what the page says."""


Cast = Callable[[Path, Mapping[str, str]], AbstractContextManager[Mapping[str, str]]]
"""Makes a real program ready to play: takes the folder that holds `home` and `shop`, and the ports of this run by those
that pages name; gives what the environment needs, and ends what it started."""


class _UnluckyError(Exception):
    """The run has an id that a page could not show."""


def is_played(page: Page) -> bool:
    """Tell whether some block of the page can be run without any program of somebody else."""
    return any(block.words.get("play") == "" or "run" in block.words for block in page.blocks())


def program_of(page: Page) -> str:
    """Return the name of the real program that some block of the page is played with; empty if there is none.

    Raises:
        PlayError: it wants more than one.
    """
    programs = {block.words["play"] for block in page.blocks() if block.words.get("play")}
    if len(programs) > 1:
        raise PlayError(
            f"{page.name}: a page is played with one program, and not {', '.join(sorted(programs))}."
        )
    return next(iter(programs), "")


def play(page: Page, *, writes: bool = False, cast: Cast | None = None) -> str:
    """Play all blocks of a page; return the page's text, with the consoles captured anew where `writes`.

    Blocks that want a real program are played with a `cast` that makes it ready, and only then.

    Raises:
        PlayError: something came out differently.
    """
    for _ in range(_TRIES):
        with suppress(_UnluckyError):
            return _play(page, writes=writes, cast=cast)
    raise PlayError(f"{page.name}: {_TRIES} tries had ids that cannot be told from words.")


def _play(page: Page, *, writes: bool, cast: Cast | None) -> str:
    text = page.text
    with _stage(page, cast) as stage:
        shift = 0
        for block in page.blocks():
            try:
                fresh = stage.perform(block, writes=writes)
            except PlayError as error:
                raise PlayError(f"{page.name}:{block.line}: {error}") from None
            text = text[: block.start + shift] + fresh + text[block.end + shift :]
            shift += len(fresh) - len(block.text)
    return text


@contextmanager
def _stage(page: Page, cast: Cast | None) -> Iterator[_Stage]:
    with tempfile.TemporaryDirectory(prefix="assent-page-") as name, ExitStack() as props:
        ports = {_PORT: _free_port()}
        if cast is not None:
            ports[_PROGRAM_PORT] = _free_port()
        if f":{_DATABASE_PORT}" in page.text:
            server = props.enter_context(PostgresServer(is_durable=True))
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE ROLE assent LOGIN")
                connection.execute("CREATE DATABASE assent OWNER assent")
            ports[_DATABASE_PORT] = str(server.port)
        stage = _Stage(Path(name), ports)
        if cast is not None:
            stage.admit(props.enter_context(cast(Path(name), ports)))
        try:
            yield stage
        finally:
            stage.close()


class _Stage:
    """The folder, the terminals and the names of one page."""

    def __init__(self, root: Path, ports: dict[str, str]) -> None:
        self._folder = root / "shop"
        self._folder.mkdir()
        (root / "home").mkdir()
        self._environ = _environ(root)
        self._database = (
            f"postgresql://assent@127.0.0.1:{ports[_DATABASE_PORT]}/assent"
            if _DATABASE_PORT in ports
            else None
        )
        self._ports = ports
        """The ports that pages name, and what they are in this run."""
        self._terminals: dict[str, Terminal] = {}
        self._told, self._seen = Names(), Names()
        self._printed = ""
        self._has_program = False

    def admit(self, environ: Mapping[str, str]) -> None:
        """Let a real program on, with what it needs."""
        self._environ |= environ
        self._has_program = True

    def perform(self, block: Block, *, writes: bool) -> str:
        """Do what a block says; return its text as it should stand."""
        if "file" in block.words:
            path = self._folder / block.words["file"]
            path.write_text(self._with_ports(block.text), encoding="utf-8")
        if "run" in block.words:
            self._printed = self._run(block)
        if "output" in block.words:
            self._told.learn_page(block.text)
            return self._printed if writes else self._compare(block.text, self._printed)
        is_played = "play" in block.words and (self._has_program or not block.words["play"])
        return self._type(block, writes=writes) if is_played else block.text

    def close(self) -> None:
        """End the shells."""
        for terminal in self._terminals.values():
            terminal.close()

    # Programs

    def _run(self, block: Block) -> str:
        program = self._folder / block.words.get("file", "block.py")
        program.write_text(self._with_ports(block.text), encoding="utf-8")
        replies = [reply for reply in block.words.get("answers", "").replace("\\n", "\n").split("|") if reply]
        if not replies:
            return self._finish(program)
        known = set(known_ids(self._folder, self._database))
        hub = open_hub(self._folder / ".assent" / "assent.db", self._environ)
        try:
            client = Client(
                hub, self._folder.name, Principal(Role.HUMAN, "ana"), assurance=Assurance.TERMINAL
            )
            with ScriptedPerson(client) as ana:
                for reply in replies:
                    _script(ana, reply, known)
                return self._finish(program)
        except ScriptError as error:
            raise PlayError(str(error)) from None
        finally:
            hub.close()

    def _finish(self, program: Path) -> str:
        try:
            done = run(
                [sys.executable, str(program)],
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PlayError("it never ended.") from None
        if done.returncode:
            raise PlayError(f"it ended with status {done.returncode}.\n{done.stderr}")
        return str(done.stdout)

    # Terminals

    def _type(self, block: Block, *, writes: bool) -> str:
        terminal = self._terminal(block.words.get("terminal", "one"))
        self._told.learn_page(block.text)
        known = len(known_ids(self._folder, self._database))
        if "more" in block.words and block.text.startswith("> "):
            terminal.give_back_line()
        try:
            self._enter(terminal, block.text.splitlines())
            if "$ " in block.text and (block.words.get("waits") == "" or "kill" in block.words):
                terminal.until(lambda: len(known_ids(self._folder, self._database)) > known, waits=True)
            if "kill" in block.words:
                if "$ " in block.text:
                    terminal.await_prompt(">")
                terminal.kill()
            return self._capture(block, terminal) if writes else self._check(block, terminal)
        except TimeoutError as error:
            raise PlayError(f"{error}\nThe terminal shows:\n{terminal.fresh()}") from None

    def _terminal(self, name: str) -> Terminal:
        if name not in self._terminals:
            programs = self._folder.parent / f"programs-{name}"
            programs.mkdir()
            self._terminals[name] = Terminal(self._folder, self._environ, programs)
        return self._terminals[name]

    def _check(self, block: Block, terminal: Terminal) -> str:
        self._await(block, terminal)
        return self._compare(block.text, self._as_told(terminal.take()))

    def _await(self, block: Block, terminal: Terminal) -> None:
        waits = "waits" in block.words
        with suppress(TimeoutError):  # the comparison says more
            terminal.until(lambda: self._fits(block.text, self._as_told(terminal.fresh())), waits=waits)
            if "…" in block.text.splitlines() and not waits:
                terminal.await_prompt("$")  # what it leaves out comes first, and is not the next block's

    def _capture(self, block: Block, terminal: Terminal) -> str:
        if "…" in block.text.splitlines():
            self._await(block, terminal)
        else:
            terminal.settle(waits="waits" in block.words)
        shown = self._as_told(terminal.take())
        if any(sign in shown for sign in _ACCIDENTS):
            raise PlayError(f"this must not stand on a page.\n{shown}")
        if "…" in block.text.splitlines():
            return self._compare(block.text, shown)
        self._learn(shown)
        if not all(can_be_told(ask_id) for ask_id in known_ids(self._folder, self._database)):
            raise _UnluckyError
        return shown

    def _enter(self, terminal: Terminal, lines: list[str]) -> None:
        is_going_on = False
        for line in lines:
            if line.startswith("$ ") or is_going_on:
                typed = line if is_going_on else line[2:]
                if not is_going_on:
                    terminal.await_prompt("$")
                is_going_on = typed.endswith("\\")
                terminal.type(self._translate(typed) + "\n")
            elif line == "> ^C":
                terminal.await_prompt(">")
                terminal.type("\x03")
            elif line.startswith("^C"):
                terminal.interrupt()
            elif line.startswith("> ") and line != "> Killed":
                terminal.await_prompt(">")
                terminal.type(self._translate(line[2:]) + "\n")

    def _translate(self, typed: str) -> str:
        """Return a typed line with the page's ids and port replaced by those of this run."""
        names = self._told.in_page(typed)
        if names:
            self._learn("\n".join(terminal.everything() for terminal in self._terminals.values()))
        for name in names:
            mine = self._seen.at(self._told.number(name))
            if mine is None:
                raise PlayError(f"nothing on the terminals is the {name} of the page.")
            typed = typed.replace(name, mine if len(name) > len(mine) else mine[-len(name) :])
        return self._with_ports(typed)

    def _with_ports(self, text: str) -> str:
        for told, real in self._ports.items():
            text = text.replace(told, real)
        return text

    # Comparing

    def _as_told(self, shown: str) -> str:
        """Return what a terminal shows with the port and the folder that pages name, and without a real secret."""
        shown = shown.replace(str(self._folder.parent), _HOME)
        shown = _SECRET.sub(lambda found: found[1] + (_DIGITS * 8)[: len(found[2])], shown)
        for told, real in self._ports.items():
            shown = re.sub(rf"(:|--port ){real}\b", rf"\g<1>{told}", shown)
        return shown

    def _learn(self, shown: str) -> None:
        self._seen.learn(shown, known_ids(self._folder, self._database))

    def _fits(self, told: str, shown: str) -> bool:
        self._learn(shown)
        wanted = "".join(
            "(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + "\n"
            for line in self._told.mask(told.rstrip("\n")).split("\n")
        )
        return re.fullmatch(wanted, self._seen.mask(shown.rstrip("\n")) + "\n") is not None

    def _compare(self, told: str, shown: str) -> str:
        if self._fits(told, shown):
            return told
        wanted, found = self._told.mask(told).splitlines(), self._seen.mask(shown).splitlines()
        lines = difflib.unified_diff(wanted, found, "the page", "what happens", lineterm="")
        raise PlayError("it came out differently.\n" + "\n".join(lines))


def _free_port() -> str:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def _script(ana: ScriptedPerson, reply: str, known: set[str]) -> None:
    def is_new(ask: Ask) -> bool:
        return ask.ask_id not in known

    if reply.startswith("decline"):
        ana.will_decline(is_new, reply.removeprefix("decline").strip(": "))
    else:
        ana.will_answer(is_new, reply)


def _environ(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASSENT_")}
    for name in (
        *AGENT_MARKS,
        "PYTHONDONTWRITEBYTECODE",
        "PYTEST_ADDOPTS",
        "PYTEST_CURRENT_TEST",
        "NO_COLOR",
        "XDG_STATE_HOME",  # a host that starts a program of ours may hand on no more than HOME
        *("GH_TOKEN", "GITHUB_TOKEN"),  # a page that is played must reach nobody
    ):
        kept.pop(name, None)
    programs = Path(sys.executable).parent
    return kept | {
        "HOME": str(root / "home"),
        "PATH": f"{programs}{os.pathsep}{node_environ()['PATH']}",  # pages show programs in Node, too
        "USER": "ana",
        "LOGNAME": "ana",
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # what else is installed here is none of a page
        "PS1": "$ ",
        "PS2": "",
        "PYDANTIC_AI_NO_BANNER": "1",  # an advertisement, which comes and goes with where it runs
    }


def main(arguments: list[str] | None = None) -> int:
    """Play the pages that were named, or all; 1 if one of them does not tell the truth."""
    parser = argparse.ArgumentParser(prog="tools.play", description="Run what the pages show.")
    parser.add_argument("--write", action="store_true", help="capture anew what is no longer true")
    parser.add_argument("page", nargs="*", type=Path)
    chosen = parser.parse_args(arguments)
    named = [Page(path.resolve()) for path in chosen.page] or [page for page in pages() if is_played(page)]
    are_true = [_look(page, writes=chosen.write) for page in named]
    return 0 if all(are_true) else 1


def _look(page: Page, *, writes: bool) -> bool:
    """Play one page, say what is wrong with it, and mend it if that is wanted."""
    try:
        play(page)
    except PlayError as error:
        if not writes:
            print(error, file=sys.stderr)
            return False
    else:
        return True
    try:
        text = play(page, writes=True)
    except PlayError as error:
        print(error, file=sys.stderr)
        return False
    page.path.write_text(text, encoding="utf-8")
    print(f"{page.name}: captured anew")
    return True


if __name__ == "__main__":
    sys.exit(main())
