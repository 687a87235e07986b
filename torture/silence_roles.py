"""Every way of saying nothing, done to one ask each. None of them is an answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.ids import new_command_id
from assent.protocol.ask import Consequence
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from torture.nursery import Wire
from torture.shell import Step, run_command, run_in_terminal, store_url

__all__ = ["KINDS", "Silence", "mute"]

PROJECT = "quiet"
OPTIONS = ("Delete it", "Keep it")
_BLANKS = ("", " ", "\t", "\n", "\u200b", "\u2800", " \u00a0 ", "\u3164", "\r\n", "\u2060\ufeff")
_UNKNOWN = (
    "yes",
    "y",
    "ok",
    "0",
    "3",
    "C",
    "Delete",
    "it",
    "Delete itt",
    "1 2",
    "A B",
    "A/B",
    "1.5",
    "Ⅰ",
    "１",
    "-1",
    "a?",
)


_AT_MOST = 120.0
"""Seconds until what must happen has happened, on whatever machine."""


class Silence(msgspec.Struct, frozen=True):
    """What came of one ask that nobody answered."""

    kind: str
    key: str
    told: str
    """What the asker or the one who typed was told: a code, or the exit status."""
    expected: tuple[str, ...]
    state: str
    """The state in which the ask must be."""


class Scene:
    """One hub for all asks of this worker, and the command line on the same store."""

    def __init__(self, store: str) -> None:
        hub = open_hub(Path(store), os.environ)
        self.agent = Client(hub, PROJECT, Principal(Role.AGENT, "coder"))
        self.person = Client(hub, PROJECT, Principal(Role.HUMAN, "ana"))
        self.place = ["--store", store_url(Path(store)), "--project", PROJECT]
        self.turn = 0

    def ask(self, key: str, **told: object) -> str:
        """Open an ask through the client."""
        return str(self.agent.open("Delete the backups?", OPTIONS, key=key, **told).ask_id)  # type: ignore[arg-type]

    def command(self, key: str, *more: str) -> list[str]:
        """Return the arguments that open an ask through the command line."""
        options = [word for label in OPTIONS for word in ("--option", label)]
        return ["ask", "Delete the backups?", *options, "--key", key, *self.place, *more]


Doing = Callable[[Scene, str], Silence]


def _reply(replies: tuple[str, ...]) -> Doing:
    def do(scene: Scene, key: str) -> Silence:
        ask_id = scene.ask(key)
        told = _code(lambda: scene.person.answer(ask_id, replies[scene.turn % len(replies)]))
        return Silence("", key, told, ("unrecognised",), "open")

    return do


def _piped_reply(scene: Scene, key: str) -> Silence:
    ask_id = scene.ask(key)
    reply = (_BLANKS + _UNKNOWN)[scene.turn % (len(_BLANKS) + len(_UNKNOWN))]
    ran = run_command(["answer", ask_id, "-", *scene.place], reply.encode())
    return Silence("", key, str(ran.status), ("2",), "open")


def _no_terminal(scene: Scene, key: str) -> Silence:
    ran = run_command(scene.command(key, "--wait", "0.01"), b"1\n")
    return Silence("", key, str(ran.status), ("3",), "open")


def _terminal(steps: list[Step], *expected: str) -> Doing:
    def do(scene: Scene, key: str) -> Silence:
        ran = run_in_terminal(scene.command(key), [("expect", "> "), *steps])
        return Silence("", key, str(ran.status), expected, "open")

    return do


def _deadline(consequence: Consequence, state: str, told: str) -> Doing:
    def do(scene: Scene, key: str) -> Silence:
        whom = "human:boss" if consequence is Consequence.ESCALATE else None
        due = timedelta(milliseconds=scene.turn % 20)
        heard = _code(
            lambda: scene.agent.ask(
                "Delete the backups?",
                OPTIONS,
                key=key,
                deadline=due,
                consequence=consequence,
                escalate_to=whom,
                wait=0.05 if state == "open" else _AT_MOST,
            )
        )
        return Silence("", key, heard, (told,), state)

    return do


def _lapsed_wait(scene: Scene, key: str) -> Silence:
    heard = _code(lambda: scene.agent.ask("Delete the backups?", OPTIONS, key=key, wait=0.005))
    return Silence("", key, heard, ("still_open",), "open")


def _declined(scene: Scene, key: str) -> Silence:
    ask_id = scene.ask(key)
    scene.person.decline(ask_id, "not now")
    heard = _code(lambda: scene.agent.ask("Delete the backups?", OPTIONS, key=key))
    return Silence("", key, heard, ("declined",), "declined")


def _withdrawn(scene: Scene, key: str) -> Silence:
    scene.agent.withdraw(scene.ask(key))
    heard = _code(lambda: scene.agent.ask("Delete the backups?", OPTIONS, key=key))
    return Silence("", key, heard, ("withdrawn",), "withdrawn")


def _dead_asker(scene: Scene, key: str) -> Silence:
    """The asker is killed while it waits; whether its ask was stored is known by then."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(20)
            scene.ask(key)
            os.write(into, b".")
            scene.agent.ask("Delete the backups?", OPTIONS, key=key)
        finally:
            os._exit(0)
    os.close(into)
    os.read(out, 1)
    os.close(out)
    time.sleep(0.001 * (scene.turn % 5))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return Silence("", key, str(os.waitstatus_to_exitcode(status)), ("-9",), "open")


def _code(call: Callable[[], object]) -> str:
    try:
        call()
    except AssentError as error:
        return error.code
    return "answered"


KINDS: dict[str, Doing] = {
    "empty reply": _reply(_BLANKS),
    "unknown reply": _reply(_UNKNOWN),
    "empty or unknown reply from a pipe": _piped_reply,
    "no terminal": _no_terminal,
    "terminal closed": _terminal([("hang up", "")], "3", "-1", "1"),
    "terminal closed in mid-line": _terminal([("type", "1"), ("hang up", "")], "3", "-1", "1"),
    "end of input": _terminal([("type", "\x04")], "3"),
    "empty lines, then end of input": _terminal([("type", "\n \n"), ("expect", "> "), ("type", "\x04")], "3"),
    "unknown lines, then end of input": _terminal(
        [("type", "yes\n"), ("expect", "> "), ("type", "\x04")], "3"
    ),
    "interrupted": _terminal([("type", "\x03")], "3"),
    "killed at its prompt": _terminal([("type", "1"), ("kill", "")], "-9"),
    "deadline, wait": _deadline(Consequence.WAIT, "open", "still_open"),
    "deadline, deny": _deadline(Consequence.DENY, "expired", "expired"),
    "deadline, escalate": _deadline(Consequence.ESCALATE, "open", "still_open"),
    "deadline, end-run": _deadline(Consequence.END_RUN, "expired", "expired"),
    "wait lapsed": _lapsed_wait,
    "declined": _declined,
    "withdrawn": _withdrawn,
    "asker killed": _dead_asker,
}


def mute(wire: Wire, store: str) -> None:
    """Stay silent in the ways that are ordered."""
    scene = Scene(store)
    while True:
        kind = wire.hear()["kind"]
        scene.turn += 1
        done = KINDS[kind](scene, new_command_id())
        wire.say(silence=msgspec.structs.replace(done, kind=kind))
