"""`assent doctor`: it works where nothing else does, and changes nothing."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assent.client.client import Client
from assent.hub.hub import Hub
from assent.protocol.error import (
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreTooNewError,
)
from assent.protocol.principal import Principal, Role
from assent.storage.sqlite.store import SqliteStore
from assent.testing import FakeClock
from tests.cli.shell import Result, Shell

__all__: list[str] = []

Call = Callable[..., Result]


def checks(found: Result) -> dict[str, dict[str, object]]:
    """Return the findings by name."""
    return {check["name"]: check for check in found.json["checks"]}


def test_doctor_without_a_store_is_well_and_makes_none(call: Call, shell: Shell) -> None:
    """A missing store is the normal start."""
    found = call("doctor", "--json")
    assert (found.status, found.json["ok"]) == (0, True)
    told = checks(found)
    assert {
        "assent",
        "python",
        "sqlite",
        "store",
        "project",
        "file",
        "doorbell",
        "who",
        "agent marks",
    } <= told.keys()
    assert told["file"]["value"] == "not there yet; the first ask makes it"
    assert told["who"]["value"] == "human:ana answers, agent:ana asks"
    assert list(shell.folder.iterdir()) == []


def test_doctor_tells_what_a_store_holds(call: Call) -> None:
    """Counts, and the words that people read."""
    call("ask", "Which?", "--no-wait")
    assert checks(call("doctor", "--json"))["contents"]["value"] == (
        "WAL, full sync; 1 project, 1 event, 1 open ask"
    )
    shown = call("doctor")
    assert (shown.status, shown.out.splitlines()[-1]) == (0, "All is well.")


def write_ahead(shell: Shell, by: timedelta) -> None:
    """Ask one thing by a clock that is ahead."""
    clock = FakeClock(datetime.now(UTC) + by)
    hub = Hub(SqliteStore(shell.store), clock)
    Client(hub, "work", Principal(Role.AGENT, "late")).open("Ahead?", ["Yes", "No"])
    hub.close()


def test_doctor_names_events_of_a_clock_that_was_ahead(call: Call, shell: Shell) -> None:
    """One sentence, what to do, and the status of every other finding; log and audit mark them, too."""
    project = call("ask", "Which?", "--no-wait", "--json").json["project"]
    assert checks(call("doctor", "--json"))["clock"]["ok"]
    write_ahead(shell, timedelta(minutes=4))
    assert checks(call("doctor", "--json"))["clock"]["ok"]
    write_ahead(shell, timedelta(days=365, minutes=1))
    found = call("doctor", "--json")
    told = checks(found)["clock"]
    assert (found.status, told["ok"]) == (1, False)
    assert told["value"] == "events are dated ahead of the clock: work: 1 event from 2 on, by up to 365 days"
    assert "set it right" in str(told["remedy"])
    lines = call("log", "--project", "work").out.splitlines()
    assert [line.endswith("(dated ahead of the clock)") for line in lines] == [False, True]
    events = [json.loads(line) for line in call("log", "--project", "work", "--json").out.splitlines()]
    assert [event.get("is_ahead", False) for event in events] == [False, True]
    audit = call("audit", "verify")
    assert audit.status == 0
    assert "1 of the events dated more than 5 minutes ahead of the clock: the record is whole." in audit.out
    assert project != "work"


def test_event_of_a_clock_that_was_ahead_moves_nobodys_time(call: Call, shell: Shell) -> None:
    """What is left of a deadline is left by the clock of the moment, in the same project, too."""
    asked = call("ask", "Which?", "--no-wait", "--json", "--project", "work").json["ask_id"]
    write_ahead(shell, timedelta(days=365))
    timed = call("ask", "When?", "--no-wait", "--json", "--project", "work", "--deadline", "2h").json[
        "ask_id"
    ]
    assert "1 h 59 min" in call("show", timed).out
    listed = call("inbox", "--project", "work", "--json").json["asks"]
    assert (listed[0]["ask_id"], listed[2]["ask_id"]) == (timed, asked)


def test_doctor_on_a_damaged_store_ends_with_1_and_a_remedy(call: Call, shell: Shell) -> None:
    """The file is left as it is."""
    call("ask", "Which?", "--no-wait")
    shell.store.write_bytes(b"no database " * 500)
    found = call("doctor", "--json")
    assert found.status == 1
    damaged = checks(found)["contents"]
    assert damaged["ok"] is False
    assert "is damaged or is not an Assent store" in str(damaged["value"])
    assert damaged["remedy"]
    assert shell.store.read_bytes() == b"no database " * 500
    assert "!!  contents" in call("doctor").out


def test_doctor_on_a_folder_in_the_stores_place_ends_with_1(call: Call, shell: Shell) -> None:
    """Not a file at all."""
    shell.store.mkdir(parents=True)
    assert checks(call("doctor", "--json"))["contents"]["ok"] is False


def test_doctor_sees_a_store_that_others_can_read(call: Call, shell: Shell) -> None:
    """With the line that mends it."""
    call("ask", "Which?", "--no-wait")
    shell.store.chmod(0o644)
    found = checks(call("doctor", "--json"))["file"]
    assert (found["ok"], "mode 0644" in str(found["value"])) == (False, True)
    assert str(found["remedy"]).startswith("Others can read it: chmod 600 ")


def test_doctor_on_an_address_of_no_known_form_ends_with_1(call: Call) -> None:
    """It goes on with the rest."""
    found = call("doctor", "--json", "--store", "carrier-pigeon://x")
    assert found.status == 1
    assert checks(found)["store"]["ok"] is False
    assert "extras" in checks(found)


def test_doctor_names_agent_marks(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """No fault, but it explains why answer is refused here."""
    monkeypatch.setenv("CLAUDECODE", "1")
    found = call("doctor", "--json")
    assert found.status == 0
    assert "CLAUDECODE is set" in str(checks(found)["agent marks"]["value"])


def test_doctor_tells_when_no_bell_can_be_rung(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Answers still arrive, by looking."""
    tmp_path.joinpath("file").write_text("")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    found = call("doctor", "--json")
    assert (found.status, checks(found)["doorbell"]["ok"]) == (1, False)


@pytest.mark.parametrize("error", [StoreReadOnlyError, StoreFullError, StoreBusyError, StoreTooNewError])
def test_doctor_has_a_remedy_for_every_trouble_of_a_store(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
) -> None:
    """Whatever opening it says."""
    call("ask", "Which?", "--no-wait")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("assent.client.connect.open_hub", fail)
    found = call("doctor", "--json")
    contents = checks(found)["contents"]
    assert (found.status, contents["ok"], contents["value"]) == (1, False, error().message)
    assert contents["remedy"]
