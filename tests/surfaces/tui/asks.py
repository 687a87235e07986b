"""Asks of every kind, and a sitting to answer them at, for tests of the terminal inbox."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from assent.protocol.answer import Answer
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, AskId, Kind, State
from assent.protocol.gate import CHUNK_LOOP, Gate, check_question
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Option, Prompt, question
from assent.protocol.run import Frame, Level, Mode, Run, RunId, Status
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.draft import Drafts
from assent.surfaces.tui.sitting import BEAT_SECONDS, Sitting
from assent.surfaces.tui.view import Snapshot
from assent.surfaces.tui.wish import Wish

__all__ = [
    "APPROVAL",
    "CHECK",
    "CONFIRM",
    "FREE",
    "GATE",
    "LONG",
    "NOW",
    "ONE",
    "OWN",
    "ROUND",
    "SEVERAL",
    "Table",
    "ended",
    "make_ask",
    "make_run",
]

NOW = datetime(2026, 3, 1, 20, 51, tzinfo=UTC)
ONE = question("Which database?", ["PostgreSQL", "SQLite", Option("drop", "Drop it", destructive=True)])
SEVERAL = question("Which regions?", ["Frankfurt", "Virginia", "Singapore"], multiple=True)
FREE = question("What must stay?")
OWN = question("How old may a page be?", ["30 seconds", "5 minutes"], free=True)
LONG = question("Which city?", [f"City {number}" for number in range(1, 31)])
CONFIRM = question("Confirm (human) phase P2: Backfill. Continue? (Y/N)")
GATE = Gate(CHUNK_LOOP, "Chunk 2 of 5.", ("M4", "L2"), 5).prompt
CHECK = check_question("Discard everything? [y/n]")
APPROVAL = approval_prompt("Drop the column?", {"command": "psql"}, risk="irreversible")
ROUND = Prompt(
    "Roll out",
    "",
    (
        Field(
            "q1", "Which regions?", tuple(Option(name, name) for name in ("Eu", "Us", "Asia")), multiple=True
        ),
        Field("q2", "How old?", (Option("30s", "30 seconds"), Option("5m", "5 minutes")), free=True),
        Field("q3", "What must stay?", free=True),
    ),
)


def make_ask(
    prompt: Prompt = ONE, name: str = "a1", kind: Kind = Kind.QUESTION, minutes: int = 0, deadline: int = 0
) -> Ask:
    """Return an ask that waits since so many minutes, and for so many more if its time runs."""
    return Ask(
        AskId(f"ask_{name}"),
        "shop",
        kind,
        State.OPEN,
        None,
        prompt,
        "sha256:00",
        "agent:coder",
        None,
        NOW - timedelta(minutes=minutes),
        NOW + timedelta(minutes=deadline) if deadline else None,
        sequence=1,
    )


def ended(ask: Ask, by: str = "human:sam", **values: tuple[str, ...]) -> Ask:
    """Return an ask as somebody answered it."""
    answer = Answer(dict(values), "", by, "cli", Assurance.DECLARED, NOW)
    return replace(ask, state=State.ANSWERED, answer=answer, sequence=2)


def make_run(name: str = "r1", mode: Mode = Mode.GRIND) -> BoardRun:
    """Return a run that goes on."""
    level = Level(Frame("f1", mode, 2, 10))
    return BoardRun(
        Run(RunId(name), "shop", Status.RUNNING, (level,), NOW, "agent:coder", NOW), is_driven=True
    )


class Table:
    """A sitting with a clock that is moved, and a record of all that it wished for."""

    def __init__(self, *asks: Ask, folder: Path | None = None, runs: tuple[BoardRun, ...] = ()) -> None:
        self.time = 100.0
        self.wishes: list[Wish] = []
        self.sitting = Sitting(Drafts(folder), "ana", lambda: self.time)
        self.sitting.take(Snapshot(asks, runs), NOW)
        self.beat()

    def beat(self) -> None:
        """Let the beat go by."""
        self.time += BEAT_SECONDS
        self.sitting.tick(NOW)

    def press(self, *keys: str, waits: bool = True) -> Wish | None:
        """Press keys, each a beat after the other unless told; return what the last one wanted."""
        wish = None
        for key in keys:
            # Some terminals say which letter it is with Alt, too.
            letter = key.removeprefix("alt+")
            wish = self.sitting.press(_NAMES.get(key, key), letter if len(letter) == 1 else "")
            if wish is not None:
                self.wishes.append(wish)
            if waits:
                self.beat()
        return wish

    def entered(self, purpose: str, text: str, *, sends: bool = False) -> Wish | None:
        """Take a text, and let the beat go by."""
        wish = self.sitting.entered(purpose, text, sends=sends)
        self.beat()
        return wish

    def read(self, *keys: str) -> Wish | None:
        """Open the ask that the cursor is on, and press keys."""
        self.press("enter")
        return self.press(*keys)


_NAMES = {":": "colon", "?": "question_mark", "/": "slash", "#": "number_sign", "+": "plus", " ": "space"}
