"""A small talk, somebody who answers, and an effect that shows when it was done twice: what the tests of drivers share.

Crashes are played by an error that no flow or driver catches. The real ones, with processes that are killed, are in
tests/scenarios/test_durable_flow.py.
"""

from pathlib import Path
from typing import Any, TypeVar

from assent.client.client import Client
from assent.client.durable import Driver
from assent.effects.document import DocumentWriter
from assent.effects.performer import Intention, Performers, World
from assent.effects.place import Place
from assent.flows.document import WriteDocument
from assent.flows.kind import FlowKind
from assent.flows.step import Answered, Done, Effect, Ended, Flow, ask, do, say
from assent.protocol.canonical import Json, digest
from assent.protocol.prompt import question

__all__ = [
    "APPEND",
    "COLOUR",
    "SIZE",
    "TALK",
    "Append",
    "Appender",
    "Crash",
    "appending",
    "chosen",
    "crash",
    "driver",
    "void",
]

R = TypeVar("R")
COLOUR = question("Which colour?", ["red", "green"])
SIZE = question("Which size?", ["small", "large"])


class Crash(BaseException):
    """The process ends here, as far as the driver can tell."""


def crash(*_: object) -> None:
    """Die."""
    raise Crash


def void(_: object) -> None:
    """Take something and do nothing."""


def chosen(came: Answered | Ended) -> str:
    """Return the chosen option, or how the ask ended."""
    return came.values["q1"][0] if isinstance(came, Answered) else came.state


def two_questions(first: str) -> Flow[list[str]]:
    """Ask twice and say something in between."""
    colour = yield from ask(question(first, ["red", "green"]))
    yield from say("Now the size.")
    size = yield from ask(SIZE)
    return [chosen(colour), chosen(size)]


TALK: FlowKind[str, list[str]] = FlowKind("talk", 1, two_questions, str, list)


def driver(
    made: type[Driver[Any, R]], agent: Client, kind: FlowKind[Any, R], performers: Performers | None = None
) -> Driver[Any, R]:
    """Return a driver of some class for the flow `f`."""
    return made(agent.calls, "f", kind, performers or {}, None, None, None)


class Append(Effect, frozen=True):
    """Add a line to a document: done twice, it stands there twice."""

    path: str
    line: str


class Appender(DocumentWriter):
    """Performs `Append`; dies where it is told to."""

    def __init__(self, root: Path, dies: str = "") -> None:
        super().__init__(Place(root))
        self.root = root
        self.dies = dies

    def intend(self, effect: Append) -> Intention:  # type: ignore[override]  # another effect, the same way to do it
        self.die("intend")
        before = (self.root / effect.path).read_bytes()
        return super().intend(WriteDocument(effect.path, digest(before), before + effect.line.encode()))

    def look(self, intention: Intention) -> World:
        self.die("noted")
        return super().look(intention)

    def perform(self, intention: Intention) -> Json:
        self.die("perform")
        super().perform(intention)
        self.die("performed")
        return None

    def die(self, where: str) -> None:
        """End here if that was wanted."""
        if where == self.dies:
            raise Crash


def append_once(_: None) -> Flow[str]:
    """Append a line and say what came of it."""
    came = yield from do(Append("log.md", "line\n"))
    return "done" if isinstance(came, Done) else came.code


APPEND: FlowKind[None, str] = FlowKind("append", 1, append_once, type(None), str)


def appending(log: Path, dies: str = "") -> Performers:
    """Return who appends to the log."""
    return {Append: Appender(log.parent, dies)}
