"""One command on one store, done by a child on a failing disk; and the eye that looks at what it left behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from assent.engine.ask import AnswerAsk, DeclineAsk, OpenAsk, WithdrawAsk
from assent.hub.audit import verify
from assent.hub.command import Request, Tick
from assent.hub.compose import hub_on_file
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.protocol.ask import Ask, AskId
from assent.protocol.canonical import digest
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from torture.nursery import Wire
from torture.shim import Disk

__all__ = ["SCENES", "VERBS", "Finding", "examiner", "main", "surgeon"]

PROJECT = "cliff"
ASK_ID = AskId("ask_1m7gp24rrh03khq6s")
VERBS = ("ask", "answer", "decline", "withdraw")
SCENES = ("warm", "checkpoint", "recovery", "first")
"""A store in use; a commit that also empties the log file; a store that a killed process left; no store at all."""
_ENDS = {"answer": "answered", "decline": "declined", "withdraw": "withdrawn"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one attempt showed."""

    calls: list[str] = []
    fired: int = 0
    code: str = "killed"
    """What the command was told at first: empty when it was acknowledged, `killed` when it heard nothing."""
    again: str = "killed"
    """The same for the second try in the same process."""
    unsynced: list[str] = []
    """Files with unsynced writes at the moment of the acknowledgement."""
    faults: list[tuple[str, str]] = []


class Command:
    """The one command, the same at every try."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def request(self) -> Request:
        """Return it."""
        if self.verb == "answer":
            return AnswerAsk(ASK_ID, "2", None, "torture")
        if self.verb == "decline":
            return DeclineAsk(ASK_ID, "not now", "torture")
        if self.verb == "withdraw":
            return WithdrawAsk(ASK_ID, "never mind")
        prompt = question("Shall we jump?", ["Jump now", "Step back"])
        return OpenAsk(ASK_ID, prompt, digest(encode_prompt(prompt)), key="jump")

    def send(self, hub: Hub) -> str:
        """Send it; return the code of its refusal, empty when it was done."""
        role = Role.HUMAN if self.verb in ("answer", "decline") else Role.AGENT
        try:
            send(hub, self.request(), role, f"cmd_{self.verb}")
        except AssentError as error:
            return error.code
        return ""

    def is_done(self, ask: Ask | None) -> bool:
        """Say whether the store shows it as done."""
        if self.verb == "ask":
            return ask is not None
        return ask is not None and ask.state == _ENDS[self.verb]


def send(hub: Hub, request: Request, role: Role, command_id: str) -> Ask | None:
    """Send a command and wait for its reply."""
    future = hub.handle(request, project=PROJECT, principal=Principal(role, "ana"), command_id=command_id)
    assert isinstance(future, LightFuture)
    if not future.wait(20):
        raise TimeoutError("No reply in 20 s.")
    ask = future.result()
    assert ask is None or isinstance(ask, Ask)
    return ask


def open_cliff(store: Path) -> Hub:
    """Return a hub on the store: a copy, which as such nobody could use."""
    return hub_on_file(store)


def surgeon(wire: Wire, folder: str) -> None:
    """Do what is ordered to a fresh copy of a store, again and again, and tell what was found."""
    place = Path(folder)
    patterns: dict[str, Path] = {}
    for number in range(10_000_000):
        told = wire.hear()
        verb, scene = told["verb"], told["scene"]
        name = f"{scene}-{verb}"
        if name not in patterns:
            patterns[name] = _pattern(place / name, verb, scene)
        copy = place / f"copy-{number}"
        shutil.copytree(patterns[name], copy)
        store = copy / "x.db"
        command = Command(verb)
        finding = Finding()
        for act, first, last in told["faults"]:
            finding = _in_child(partial(_operate, store, command, scene, act, first, last))
        faults = _examine(store, command, finding)
        shutil.rmtree(copy)
        wire.say(finding=msgspec.structs.replace(finding, faults=faults))


def _in_child(body: Callable[[], Finding]) -> Finding:
    """Run `body` in a forked child and return what it reported last, however it ended."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        _Report.descriptor = into
        body()
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        lines = pipe.read().splitlines()
    os.waitpid(child, 0)
    return msgspec.json.decode(lines[-1], type=Finding) if lines else Finding()


class _Report:
    descriptor = -1

    @classmethod
    def say(cls, finding: Finding) -> Finding:
        os.write(cls.descriptor, msgspec.json.encode(finding) + b"\n")
        return finding


def _operate(store: Path, command: Command, scene: str, act: str, first: int, last: int) -> Finding:
    signal.alarm(60)
    disk = Disk()
    hub = open_cliff(store)
    if scene in ("warm", "checkpoint"):
        send(hub, Tick(), Role.AGENT, "cmd_warm")
    if scene == "checkpoint":
        hub.store._writer.wal_autocheckpoint(1)  # type: ignore[attr-defined]  # SQLite's own, for this store only
    disk.unsynced.clear()
    disk.arm(act, first, last)
    code = command.send(hub)
    unsynced = sorted(name for name in disk.unsynced if name.endswith("-wal")) if not code else []
    found = Finding(calls=disk.calls, fired=disk.fired, code=code, unsynced=unsynced)
    _Report.say(found)
    if act in ("eio", "enospc"):
        if not code:
            os.kill(
                os.getpid(), signal.SIGKILL
            )  # acknowledged in spite of it: is it there, whatever comes now?
        disk.heal()
        again = command.send(hub)
        return _Report.say(msgspec.structs.replace(found, again=again, fired=disk.fired))
    hub.close()
    return _Report.say(msgspec.structs.replace(found, calls=disk.calls, fired=disk.fired))


def _pattern(folder: Path, verb: str, scene: str) -> Path:
    """Make the store that each attempt starts from."""
    folder.mkdir()
    if scene == "first":
        return folder
    _in_child(lambda: _prepare(folder / "x.db", verb, scene))
    return folder


def _prepare(store: Path, verb: str, scene: str) -> Finding:
    hub = open_cliff(store)
    send(hub, Tick(), Role.AGENT, "cmd_first")
    if verb != "ask":
        Command("ask").send(hub)
    if scene == "recovery":
        os.kill(os.getpid(), signal.SIGKILL)
    hub.close()
    return Finding()


def _examine(store: Path, command: Command, finding: Finding) -> list[tuple[str, str]]:
    """Compare what was told with what is there; then send the same command once more, as a next life would."""
    faults: list[tuple[str, str]] = []
    hub = open_cliff(store)
    is_told = "" in (finding.code, finding.again)
    with hub.reading() as reader:
        before = reader.ask(ASK_ID)
    if is_told and not command.is_done(before):
        faults.append(("lost", f"{command.verb}: told done, the store says {before}"))
    if finding.unsynced:
        faults.append(("acknowledged unsynced", str(finding.unsynced)))
    if command.verb != "ask" and before is None:
        # In the scene without a store the ask itself has yet to be made.
        Command("ask").send(hub)
    code = command.send(hub)
    if code:
        faults.append(("conflicts with oneself", f"{command.verb}: sent again, {code}"))
    with hub.reading() as reader:
        types = [record.type for record in reader.records(PROJECT, 0, 100)]
    if len(types) != (1 if command.verb == "ask" else 2):
        faults.append(("twice", f"{command.verb}: {types}"))
    faults += [("audit problems", problem) for problem in verify(hub.store).problems]
    hub.close()
    return faults


def examiner(wire: Wire) -> None:
    """Look at stores that traced programs left, one after the other, given what each program said."""
    while True:
        left = wire.hear()
        words = (*left["told"], "killed", "killed")[:2]
        code, again = ("" if word == "done" else word for word in words)
        wire.say(faults=_examine(Path(left["store"]), Command("answer"), Finding(code=code, again=again)))


def main(store: str, verb: str) -> None:
    """As a program of its own, for the system's tracer: do the command twice and say what it was told."""
    hub = open_cliff(Path(store))
    command = Command(verb)
    for _ in range(2):
        os.write(1, f"{command.send(hub) or 'done'}\n".encode())
    hub.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
