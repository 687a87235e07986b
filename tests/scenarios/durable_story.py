"""A process that drives one durable flow and dies where it is told to. Its fail points are all its own.

    python -m tests.scenarios.durable_story STORE FOLDER [POINT]

The flow reads a document, asks twice, says something, and changes the document twice. At POINT the process kills
itself with SIGKILL: no handler runs and nothing is flushed. Without one it prints what the flow returned.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from assent.client.client import Client
from assent.effects.document import DocumentReader, DocumentWriter
from assent.effects.performer import Intention, Performers, World
from assent.effects.place import Place
from assent.flows.document import ReadDocument, WriteDocument, read_document, write_document
from assent.flows.kind import FlowKind
from assent.flows.step import Answered, Effect, Ended, Failed, Flow, ask, do, say
from assent.hub.compose import hub_on_file
from assent.protocol.ask import Ask
from assent.protocol.canonical import Json, digest
from assent.protocol.error import FlowTakenError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import question

__all__ = ["DRIVE_IN_A_FORK", "FLOW_ID", "POINTS", "PROJECT", "STORY", "performers"]

PROJECT, FLOW_ID = "story", "story:1"
DRIVE_IN_A_FORK = "fork"
POINTS = [
    "flow begins",
    "document read",
    "read noted",
    "colour asked",
    "colour answered",
    "colour noted",
    "saying",
    "said",
    "said noted",
    "append about to be intended",
    "append intended",
    "append noted",
    "append about to be performed",
    "append about to be moved",
    "append moved",
    "append performed",
    "append done",
    "size asked",
    "size answered",
    "size noted",
    "write noted",
    "write performed",
    "write done",
]
"""Every step boundary, and the moments inside a step that a crash could choose."""

_point = ""


def die(point: str) -> None:
    """End this process here if that was wanted."""
    if point == _point:
        os.kill(os.getpid(), signal.SIGKILL)


class Append(Effect, frozen=True):
    """Add a line to a document: done twice, it stands there twice."""

    path: str
    line: str


def tell(document: str) -> Flow[list[str]]:
    """The story. `die` does nothing to its steps: it either ends the process or returns."""
    die("flow begins")
    yield from read_document(document)
    die("read noted")
    colour = yield from ask(question("Which colour?", ["red", "green"]))
    die("colour noted")
    yield from say("Now it is painted.")
    die("said noted")
    painted = yield from do(Append(document, f"colour: {chosen(colour)}\n"))
    die("append done")
    size = yield from ask(question("Which size?", ["small", "large"]))
    die("size noted")
    found = yield from read_document(document)
    assert not isinstance(found, Failed)
    cut = yield from write_document(document, found, found.content + f"size: {chosen(size)}\n".encode())
    die("write done")
    return [chosen(colour), chosen(size), *(type(came).__name__ for came in (painted, cut))]


def chosen(came: Answered | Ended) -> str:
    """Return the chosen option, or how the ask ended."""
    return came.values["q1"][0] if isinstance(came, Answered) else came.state


STORY: FlowKind[str, list[str]] = FlowKind("story", 1, tell, str, list)


class MortalReader(DocumentReader):
    """Reads, and dies with what it read."""

    def perform(self, intention: Intention) -> Json:
        document = super().perform(intention)
        die("document read")
        return document


class MortalWriter(DocumentWriter):
    """Writes, and dies around each of its moments."""

    name = "write"

    def look(self, intention: Intention) -> World:
        die(f"{self.name} noted")
        return super().look(intention)

    def perform(self, intention: Intention) -> Json:
        die(f"{self.name} about to be performed")
        super().perform(intention)
        die(f"{self.name} performed")
        return None


class MortalAppender(MortalWriter):
    """Computes what to write from what is there, so that doing it twice would show."""

    name = "append"

    def __init__(self, root: Path) -> None:
        super().__init__(Place(root))
        self._root = root

    def intend(self, effect: Append) -> Intention:  # type: ignore[override]  # another effect, the same way to do it
        die("append about to be intended")
        before = (self._root / effect.path).read_bytes()
        intention = super().intend(WriteDocument(effect.path, digest(before), before + effect.line.encode()))
        die("append intended")
        return intention


def performers(root: Path) -> Performers:
    """Return who does the story's effects."""
    place = Place(root)
    return {
        ReadDocument: MortalReader(place),
        WriteDocument: MortalWriter(place),
        Append: MortalAppender(root),
    }


def die_around_the_move() -> None:
    """Make the first move of a file mortal: it is the append's."""
    move = os.replace

    def mortal(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        die("append about to be moved")
        move(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        die("append moved")

    os.replace = mortal  # type: ignore[assignment]  # called in this one way only


def leave_to_a_child(folder: Path) -> None:
    """Fork and die; the child drives on with what it inherited, until it is told that it may not."""
    hear_child, tell_parent = os.pipe()
    child = os.fork()
    if not child:
        os.write(tell_parent, b".")  # it lives, so whatever it does first has been done
        return
    os.read(hear_child, 1)
    (folder / "child").write_text(str(child))
    os.kill(os.getpid(), signal.SIGKILL)


def meet(client: Client, folder: Path) -> Callable[[Ask], None]:
    """Return what is told of each ask: it dies when it is asked, or when it is answered and not yet noted."""

    def present(ask: Ask) -> None:
        name = "colour" if "colour" in ask.prompt.title else "size"
        die(f"{name} asked")
        if _point == f"{name} answered":
            client.wait(ask.ask_id, 60)
            die(f"{name} answered")
        if _point == DRIVE_IN_A_FORK:
            leave_to_a_child(folder)

    return present


def hear(folder: Path) -> Callable[[str], None]:
    """Return what is told what the flow says: it writes it down."""

    def said(markdown: str) -> None:
        die("saying")
        with (folder / "said").open("a") as file:
            file.write(f"{markdown}\n")
        die("said")

    return said


def main(store: Path, folder: Path) -> None:
    """Drive the story."""
    die_around_the_move()
    client = Client(hub_on_file(store), PROJECT, Principal(Role.AGENT, "teller"))
    try:
        told = client.drive(
            FLOW_ID, STORY, "story.md", performers(folder), say=hear(folder), present=meet(client, folder)
        )
    except FlowTakenError as taken:
        (folder / "taken").write_text(str(os.getpid()))
        sys.exit(taken.message)
    sys.stdout.write(json.dumps(told))
    client.close()


if __name__ == "__main__":
    _point = sys.argv[3] if len(sys.argv) > 3 else ""
    main(Path(sys.argv[1]), Path(sys.argv[2]))
