"""Somebody edits the store's file behind our back: the audit must notice every single edit.

What no chain can notice by itself is a log that was cut or rewritten together with its head, consistently; that
takes checkpoints kept outside, and is not claimed here.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import apsw

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.audit import verify
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from assent.storage.sqlite.store import SqliteStore
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["EDITS", "TRIAL", "editor", "run"]

COUNT = 1_000
"""Edits in a full run."""

Edit = Callable[[apsw.Connection, random.Random], None]


def run(plan: Plan) -> Verdict:
    """Edit a copy of a store in a hundred ways and verify it."""
    tally = Tally(("unnoticed", "audits that died", "false alarms"))
    edits = plan.count(COUNT, len(EDITS))
    with Nest(plan.twin, in_memory=True) as nest:
        worker = nest.start("torture.tamper:editor", folder=str(nest.folder), seed=plan.seed)
        tally.check(not worker.hear()["problems"], "false alarms", "the untouched store")
        names = list(EDITS)
        for number in range(edits):
            name = names[number % len(names)]
            worker.say(edit=name)
            heard = worker.hear()
            if heard["is_changed"]:
                tally.add("edits")
                tally.add(f"{name.partition(' ')[0]}")
                tally.check(not heard["crash"], "audits that died", (name, heard["crash"]))
                noticed = bool(heard["problems"] or heard["crash"])
                tally.check(noticed, "unnoticed", (name, heard["seed"]))
        worker.say(edit="")
        tally.check(not worker.hear()["problems"], "false alarms", "an untouched copy")
    tally.require("edits", edits * 9 // 10)
    for word in ("change", "delete", "insert", "reorder", "cut", "row"):
        tally.require(word)
    return tally.verdict()


# The edits. Each opens the file as any SQLite program would.


def _events(connection: apsw.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT event_number FROM events ORDER BY event_number")]


def _change(column: str, make: Callable[[object, random.Random], object]) -> Edit:
    def edit(connection: apsw.Connection, chance: random.Random) -> None:
        number = chance.choice(_events(connection))
        query = f"SELECT {column} FROM events WHERE event_number = ?"
        old = connection.execute(query, (number,)).fetchall()[0][0]
        connection.execute(
            f"UPDATE events SET {column} = ? WHERE event_number = ?", (make(old, chance), number)
        )

    return edit


def _flip(old: object, chance: random.Random) -> bytes:
    piece = bytearray(old if isinstance(old, bytes) else b"x")
    piece[chance.randrange(len(piece))] ^= 1 << chance.randrange(8)
    return bytes(piece)


def _delete(connection: apsw.Connection, chance: random.Random) -> None:
    connection.execute("DELETE FROM events WHERE event_number = ?", (chance.choice(_events(connection)),))


def _delete_and_close_up(connection: apsw.Connection, chance: random.Random) -> None:
    numbers = _events(connection)
    gone = chance.choice(numbers[:-1])
    connection.execute("DELETE FROM events WHERE event_number = ?", (gone,))
    for number in numbers:
        if number > gone and number >> 40 == gone >> 40:
            connection.execute(
                "UPDATE events SET event_number = ? WHERE event_number = ?", (number - 1, number)
            )


def _insert(connection: apsw.Connection, chance: random.Random) -> None:
    numbers = _events(connection)
    like = chance.choice(numbers)
    last = max(number for number in numbers if number >> 40 == like >> 40)
    connection.execute(
        "INSERT INTO events (event_number, at, type, subject, body, digest, hash)"
        " SELECT ?, at, type, subject, body, digest, hash FROM events WHERE event_number = ?",
        (last + 1, like),
    )


def _reorder(connection: apsw.Connection, chance: random.Random) -> None:
    numbers = _events(connection)
    first = chance.choice([number for number in numbers if number + 1 in set(numbers)])
    for old, new in ((first, -1), (first + 1, first), (-1, first + 1)):
        connection.execute("UPDATE events SET event_number = ? WHERE event_number = ?", (new, old))


def _cut(connection: apsw.Connection, chance: random.Random) -> None:
    numbers = _events(connection)
    base = chance.choice(numbers) >> 40
    tail = [number for number in numbers if number >> 40 == base]
    keep = len(tail) - chance.randint(1, min(5, len(tail)))
    connection.executemany("DELETE FROM events WHERE event_number = ?", [(number,) for number in tail[keep:]])


def _cut_with_number(connection: apsw.Connection, chance: random.Random) -> None:
    _cut(connection, chance)
    connection.execute(
        "UPDATE projects SET sequence = (SELECT coalesce(max(event_number) & ((1 << 40) - 1), 0) FROM events"
        " WHERE event_number >> 40 = project_number)"
    )


def _row(assignment: str, condition: str = "1") -> Edit:
    def edit(connection: apsw.Connection, chance: random.Random) -> None:
        query = f"SELECT ask_id FROM asks WHERE {condition} ORDER BY ask_id"
        ids = [row[0] for row in connection.execute(query)]
        connection.execute(f"UPDATE asks SET {assignment} WHERE ask_id = ?", (chance.choice(ids),))

    return edit


def _row_gone(connection: apsw.Connection, chance: random.Random) -> None:
    ids = [row[0] for row in connection.execute("SELECT ask_id FROM asks ORDER BY ask_id")]
    connection.execute("DELETE FROM asks WHERE ask_id = ?", (chance.choice(ids),))


def _row_made_up(connection: apsw.Connection, chance: random.Random) -> None:
    names = [
        row[1] for row in connection.execute("PRAGMA table_info(asks)") if row[1] not in ("ask_number", "key")
    ]
    ids = [row[0] for row in connection.execute("SELECT ask_id FROM asks ORDER BY ask_id")]
    columns = ", ".join(names)
    shown = columns.replace("ask_id", "ask_id || 'x'")
    connection.execute(
        f"INSERT INTO asks ({columns}) SELECT {shown} FROM asks WHERE ask_id = ?", (chance.choice(ids),)
    )


def _head(assignment: str) -> Edit:
    def edit(connection: apsw.Connection, chance: random.Random) -> None:
        ids = [row[0] for row in connection.execute("SELECT project_number FROM projects ORDER BY 1")]
        connection.execute(
            f"UPDATE projects SET {assignment} WHERE project_number = ?", (chance.choice(ids),)
        )

    return edit


def _swapped_answer(connection: apsw.Connection, chance: random.Random) -> None:
    query = "SELECT ask_id FROM asks WHERE state = 'answered' AND CAST(ending AS TEXT) LIKE '%\"Green\"%' ORDER BY ask_id"
    ids = [row[0] for row in connection.execute(query)]
    connection.execute(
        "UPDATE asks SET ending = CAST(replace(CAST(ending AS TEXT), '\"Green\"', '\"Red\"') AS BLOB) WHERE ask_id = ?",
        (chance.choice(ids),),
    )


EDITS: dict[str, Edit] = {
    "change a body": _change("body", _flip),
    "change a hash": _change("hash", _flip),
    "change a moment": _change("at", lambda old, chance: int(str(old)) + chance.choice((-1, 1, 1_000_000))),
    "change a type": _change(
        "type", lambda old, _: "ask.declined" if old != "ask.declined" else "ask.answered"
    ),
    "change a subject": _change("subject", lambda old, _: f"{old}x"),
    "change a body's digest": _change("digest", lambda _, chance: chance.randbytes(32)),
    "delete a body": _change("body", lambda *_: None),
    "delete an event": _delete,
    "delete an event and close up": _delete_and_close_up,
    "insert an event": _insert,
    "reorder two events": _reorder,
    "cut the tail": _cut,
    "cut the tail with its number": _cut_with_number,
    "row of an answer": _swapped_answer,
    "row of a state": _row("state = 'withdrawn'", "state = 'declined'"),
    "row opened again": _row("state = 'open', ending = NULL", "state = 'answered'"),
    "row of an asker": _row("asker = 'agent:somebody'"),
    "row of a prompt": _row("prompt = CAST(replace(CAST(prompt AS TEXT), 'Which', 'Whose') AS BLOB)"),
    "row of a deadline": _row("deadline = coalesce(deadline, opened_at) + 1"),
    "row of a key": _row("key = key || 'x'", "key IS NOT NULL"),
    "row of an unknown state": _row("state = 'strange'"),
    "row of an unreadable prompt": _row("prompt = CAST('{' AS BLOB)"),
    "row without its answer": _row("ending = NULL", "state = 'answered'"),
    "row gone": _row_gone,
    "row made up": _row_made_up,
    "change a head's hash": _head("hash = randomblob(32)"),
    "change a head's number": _head("sequence = sequence + 1"),
}


# The worker


def editor(wire: Wire, folder: str, seed: int) -> None:
    """Make a store, then edit a fresh copy of it for every order and tell what the audit finds."""
    original = Path(folder) / "original" / "x.db"
    original.parent.mkdir()
    _fill(original)
    wire.say(problems=list(verify(SqliteStore(original)).problems))
    count = 0
    while True:
        name = wire.hear()["edit"]
        count += 1
        copy = Path(folder) / f"copy-{count}" / "x.db"
        shutil.copytree(original.parent, copy.parent)
        is_changed = bool(name) and _edit(copy, EDITS[name], random.Random(seed + count))
        crash, problems = "", []
        store = SqliteStore(copy)
        try:
            problems = list(verify(store).problems)
        except AssentError as error:
            problems = [error.message]
        except Exception as error:  # noqa: BLE001 - an audit that dies with a stack trace is what we look for
            crash = repr(error)
        store.close()
        shutil.rmtree(copy.parent)
        wire.say(problems=problems, crash=crash, is_changed=is_changed, seed=seed + count)


def _edit(path: Path, edit: Edit, chance: random.Random) -> bool:
    connection = apsw.Connection(str(path))
    before = connection.total_changes()
    edit(connection, chance)
    is_changed = connection.total_changes() != before
    connection.close()
    return is_changed


def _fill(path: Path) -> None:
    hub = open_hub(path, os.environ)
    for project in ("amber", "birch"):
        agent = Client(hub, project, Principal(Role.AGENT, "coder"))
        person = Client(hub, project, Principal(Role.HUMAN, "ana"))
        for number in range(24):
            options = ["Red", "Green", "Blue"]
            handle = agent.open(f"Which of {number}?", options, key=f"k{number}")
            if number % 4 == 0:
                person.decline(handle.ask_id, "later")
            elif number % 4 == 1:
                agent.withdraw(handle.ask_id)
            elif number % 4 == 2:
                person.answer(handle.ask_id, "Green")
        agent.open("Which before?", ["Yes", "No"], deadline=timedelta(0), consequence="deny")
        agent.inbox()
    hub.close()


TRIAL = Trial(
    "tamper",
    "every edit of the log or of a row behind our back is noticed",
    run,
    (
        Twin("trust-the-chain", "the audit recomputes every hash", "unnoticed", 0.05),
        Twin("trust-the-rows", "the audit compares the rows with the log", "unnoticed", 0.05),
    ),
)
