"""The audit: every kind of tampering with a store is found, and an honest store raises no alarm."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

from assent.hub.audit import Audit, verify
from assent.hub.command import (
    AnswerAsk,
    BeginTurn,
    ClaimAsk,
    DeclineAsk,
    ExecuteControl,
    PostMessage,
    ReportUndelivered,
    StartRun,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.hub import Hub
from assent.hub.record import Step
from assent.protocol.topic import CONTROL_TOPIC
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import opening, send, tell
from tests.run_samples import REQUEST_ID, RUN_ID, new_frame, request_text
from tests.samples import ANA

__all__: list[str] = []


@pytest.fixture
def path(store: ThrowawayStore, clock: FakeClock) -> Path:
    """Give the file of a closed store with one of everything in it."""
    hub = store.hub()
    fill(hub)
    clock.advance(60)
    hub.close()
    return store.path


def fill(hub: Hub) -> None:
    """Write eighteen events of several sorts, and a claim."""
    answered, declined, withdrawn = (send(hub, opening(key=key)) for key in ("a", "b", "c"))
    send(hub, opening(deadline=timedelta(seconds=10), consequence="deny"))
    send(hub, AnswerAsk(answered.ask_id, "2"), ANA)
    send(hub, DeclineAsk(declined.ask_id, "no"), ANA)
    send(hub, WithdrawAsk(withdrawn.ask_id))
    pending = send(hub, opening(key="pending"))
    send(hub, ReportUndelivered(pending.ask_id))
    send(hub, ClaimAsk(pending.ask_id), ANA)
    tell(hub, WriteStep(Step("f", 0, "d", "done", b"{}")))
    tell(hub, StartRun(RUN_ID, new_frame(), "host:1"))
    tell(hub, BeginTurn(RUN_ID, 1))
    tell(hub, PostMessage(CONTROL_TOPIC, request_text()), ANA)
    tell(hub, ExecuteControl(REQUEST_ID), ANA)
    tell(hub, PostMessage("issue:1", b'{"a": 1}'))
    send(hub, opening(), project="other")


def tamper(path: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Change the file behind the store's back."""
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement, values if "?" in statement else ())
        assert connection.changes() > 0
    connection.close()


def audit(path: Path) -> Audit:
    """Look at the file with a store of its own."""
    store = SqliteStore(path)
    try:
        return verify(store)
    finally:
        store.close()


def test_sound_store_raises_no_alarm(path: Path) -> None:
    """Twin of everything below; the counts show that it was looked at."""
    assert audit(path) == Audit(2, 19, 6, (), runs=1)


FIRST = "(SELECT min(event_number) FROM events)"
THIRD = f"{FIRST} + 2"
LAST = f"{FIRST} + 17"
TAMPERINGS: dict[str, tuple[str, ...]] = {
    "body changed": (
        f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'SQLite', 'MySQL!') AS BLOB) WHERE event_number = {FIRST} + 4",
    ),
    "body changed, digest kept": (
        f"UPDATE events SET digest = zeroblob(32), body = CAST('{{}}' AS BLOB) WHERE event_number = {THIRD}",
    ),
    "body taken out": (f"UPDATE events SET body = NULL WHERE event_number = {THIRD}",),
    "digest planted": (f"UPDATE events SET digest = zeroblob(32) WHERE event_number = {THIRD}",),
    "moment changed": (f"UPDATE events SET at = at + 1 WHERE event_number = {THIRD}",),
    "type changed": (f"UPDATE events SET type = 'ask.declined' WHERE event_number = {FIRST} + 4",),
    "subject changed": (f"UPDATE events SET subject = 'ask_x' WHERE event_number = {THIRD}",),
    "hash changed": (f"UPDATE events SET hash = zeroblob(32) WHERE event_number = {THIRD}",),
    "first event cut": (f"DELETE FROM events WHERE event_number = {FIRST}",),
    "event cut out": (f"DELETE FROM events WHERE event_number = {THIRD}",),
    "last event cut": (f"DELETE FROM events WHERE event_number = {LAST}",),
    "events swapped": (
        f"UPDATE events SET event_number = -1 WHERE event_number = {FIRST}",
        "UPDATE events SET event_number = event_number - 1 WHERE event_number = (SELECT min(event_number) FROM events WHERE event_number > 0)",
        "UPDATE events SET event_number = (SELECT min(event_number) FROM events WHERE event_number > 0) + 1 WHERE event_number = -1",
    ),
    "event added": (
        f"INSERT INTO events SELECT event_number + 1, at, type, subject, body, digest, hash, topic, placed_at FROM events WHERE event_number = {LAST}",
    ),
    "head moved": ("UPDATE projects SET sequence = sequence - 1 WHERE project = 'test'",),
    "head's hash changed": ("UPDATE projects SET hash = zeroblob(32) WHERE project = 'test'",),
    "project renamed": ("UPDATE projects SET project = 'renamed' WHERE project = 'test'",),
    "answer changed": (
        "UPDATE asks SET ending = CAST(replace(CAST(ending AS TEXT), 'SQLite', 'PostgreSQL') AS BLOB) WHERE state = 'answered'",
    ),
    "answerer changed": (
        "UPDATE asks SET ending = CAST(replace(CAST(ending AS TEXT), 'human:ana', 'human:bob') AS BLOB) WHERE state = 'answered'",
    ),
    "ask reopened": ("UPDATE asks SET state = 'open', ending = NULL WHERE state = 'declined'",),
    "prompt changed": (
        "UPDATE asks SET prompt = CAST(replace(CAST(prompt AS TEXT), 'Which', 'What') AS BLOB) WHERE key = 'a'",
    ),
    "mark taken off": ("UPDATE asks SET flags = 0 WHERE flags > 0",),
    "state unknown": ("UPDATE asks SET state = 'maybe' WHERE key = 'b'",),
    "ending unreadable": ("UPDATE asks SET ending = CAST('yes' AS BLOB) WHERE state = 'answered'",),
    "ask deleted": ("DELETE FROM asks WHERE key = 'b'",),
    "ask moved to another project": (
        "UPDATE asks SET project_number = (SELECT project_number FROM projects WHERE project = 'other') WHERE key = 'a'",
    ),
    "ask invented": (
        "INSERT INTO asks SELECT NULL, 'ask_invented', project_number, kind, state, 'new', digest, prompt, asker, run_id, opened_at, opened, deadline, consequence, escalate_to, flags, sequence, ending, claim, terms, action_digest, again FROM asks WHERE key = 'a'",
    ),
    "step changed": ("UPDATE steps SET content = CAST('[]' AS BLOB)",),
    "step deleted": ("DELETE FROM steps",),
    "run resumed": (
        "UPDATE runs SET record = CAST(replace(CAST(record AS TEXT), '\"paused\"', '\"running\"') AS BLOB)",
    ),
    "run unreadable": ("UPDATE runs SET record = CAST('{}' AS BLOB)",),
    "run deleted": ("DELETE FROM runs",),
    "run invented": (
        "INSERT INTO runs SELECT NULL, project_number, 'loop-9', 1, CAST(replace(CAST(record AS TEXT), run_id, 'loop-9') AS BLOB) FROM runs",
    ),
    "run hidden": ("UPDATE runs SET is_active = 0",),
    "run renamed": ("UPDATE runs SET run_id = 'loop-9'",),
    "request renamed": ("UPDATE controls SET request_id = 'req-9'",),
    "request reopened": ("UPDATE controls SET is_settled = 0",),
    "request renumbered": ("UPDATE controls SET sequence = sequence + 1",),
    "request forgotten": ("DELETE FROM controls",),
    "request changed": (
        "UPDATE controls SET record = CAST(replace(CAST(record AS TEXT), 'human:ana', 'human:bob') AS BLOB)",
    ),
    "request unreadable": ("UPDATE controls SET record = CAST('[]' AS BLOB)",),
    "message hidden": ("UPDATE events SET topic = NULL WHERE topic = 'loop:control'",),
    "message moved": ("UPDATE events SET topic = 'issue:2' WHERE topic = 'issue:1'",),
    "message planted": (f"UPDATE events SET topic = 'loop:current' WHERE event_number = {THIRD}",),
}


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_tampering_is_found(path: Path, kind: str) -> None:
    """It is named, and the audit itself never stumbles."""
    tamper(path, *TAMPERINGS[kind])
    problems = audit(path).problems
    assert problems
    assert all(problem.endswith(".") for problem in problems)


def test_changed_project_is_named_and_the_others_stay_clean(path: Path) -> None:
    """One project's trouble is not another's."""
    tamper(path, *TAMPERINGS["answer changed"])
    assert [problem.partition(":")[0] for problem in audit(path).problems] == ["test"]


def test_claim_is_volatile_and_no_part_of_the_record(path: Path) -> None:
    """It is not in the log, so the audit has nothing to compare it with."""
    tamper(path, "UPDATE asks SET claim = NULL WHERE claim IS NOT NULL")
    assert audit(path).problems == ()


def test_erased_body_keeps_the_chain_whole(path: Path) -> None:
    """The chain covers the digest: a body can be erased for good and everything else still verifies."""
    connection = apsw.Connection(str(path))
    erased = connection.execute(
        "SELECT event_number, body FROM events WHERE subject IN (SELECT ask_id FROM asks WHERE key = 'a')"
    ).fetchall()
    assert len(erased) == 2
    for number, body in erased:
        values = (sha256(body).digest(), number)  # type: ignore[arg-type]  # a blob
        connection.execute("UPDATE events SET digest = ?, body = NULL WHERE event_number = ?", values)
    connection.close()
    found = audit(path)
    assert (found.problems, found.erased) == ((), 1)
    tamper(path, *TAMPERINGS["ask reopened"])
    assert len(audit(path).problems) == 1


def test_body_erased_with_a_wrong_digest_is_found(path: Path) -> None:
    """Erasing is no way to change what was said."""
    tamper(path, f"UPDATE events SET digest = zeroblob(32), body = NULL WHERE event_number = {THIRD}")
    assert audit(path).problems


def test_damaged_index_is_reported(path: Path) -> None:
    """What SQLite's own check finds is part of the audit."""
    definition = "replace(sql, 'opened)', 'opened_at)')"
    tamper(
        path,
        f"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = {definition} WHERE name = 'asks_open'",
    )
    assert any(problem.startswith("SQLite:") for problem in audit(path).problems)
