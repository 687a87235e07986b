"""Crash stories of a durable flow: its driver is killed at every moment that matters, and another one goes on.

What must hold, wherever that was: each question is asked once, each line stands in the document once, the document is
never seen half-written, the flow returns what it would have returned, and the store verifies.
"""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from assent.client.client import Client
from assent.hub.compose import hub_on_file
from assent.protocol.ask import AskId
from assent.protocol.error import FlowTakenError
from assent.protocol.principal import Principal, Role
from tests.patience import PATIENCE
from tests.scenarios.durable_story import DRIVE_IN_A_FORK, FLOW_ID, POINTS, PROJECT, STORY, performers
from tools.warm import spawn

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
IN_TURN = [point for point in POINTS if point not in {"colour answered", "append performed", "size answered"}]
"""The moments that are still to come when the one before was the last that a driver saw."""
BEGUN = "# Story\n"
PAINTED = BEGUN + "colour: green\n"
TOLD = PAINTED + "size: large\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give the folder of the document."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "story.md").write_text(BEGUN)
    return folder


@pytest.fixture
def ana(tmp_path: Path) -> Iterator[Client]:
    """Give a person's client on the story's store."""
    client = Client(hub_on_file(tmp_path / "store.db"), PROJECT, Principal(Role.HUMAN, "ana"))
    yield client
    client.close()


@contextmanager
def attending(ana: Client) -> Iterator[None]:
    """Have her take the second option of every ask, as it comes, from now on."""
    is_over = threading.Event()

    def attend() -> None:
        with ana.hub.follow(PROJECT, 0) as feed:
            while not is_over.is_set():
                for record in feed.wait(0.1):
                    if record.type == "ask.opened" and ana.show(record.subject).is_open:
                        ana.answer(record.subject, "2")

    thread = threading.Thread(target=attend)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(PATIENCE)


def start(store: Path, folder: Path, point: str = "") -> subprocess.Popen[str]:
    """Start a driver that dies at `point`."""
    command = [sys.executable, "-m", "tests.scenarios.durable_story", str(store), str(folder), point]
    return spawn(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def end(driver: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a driver; return its exit status and what it printed."""
    printed, _ = driver.communicate(timeout=PATIENCE)
    return driver.returncode, printed


def first_ask(ana: Client) -> AskId:
    """Wait until the story has asked something."""
    with ana.hub.follow(PROJECT, 0) as feed:
        while records := feed.wait(PATIENCE):
            for record in records:
                if record.type == "ask.opened":
                    return AskId(record.subject)
    raise AssertionError("Nothing was asked.")


def fail(happened: object) -> None:
    """Nothing was to happen any more."""
    raise AssertionError(happened)


def check_story(ana: Client, folder: Path) -> None:
    """Check what must hold when the story was told, whoever told it."""
    assert (folder / "story.md").read_text() == TOLD
    asked = [ask.prompt.title for ask in ana.inbox(all_states=True)]
    assert sorted(asked) == ["Which colour?", "Which size?"]
    assert [step.state for step in ana.steps(FLOW_ID)] == ["done"] * 9
    assert ana.verify().problems == ()
    left = [
        path.name
        for path in (*folder.iterdir(), *folder.parent.iterdir())
        if "hold" in path.name or path.name.startswith(".")
    ]
    assert left == []


@pytest.mark.parametrize("point", POINTS)
def test_flow_whose_driver_is_killed_is_told_to_its_end(
    ana: Client, tmp_path: Path, folder: Path, point: str
) -> None:
    """Killed once at each moment, then driven by a new process, and once more when there is nothing left to do."""
    store = tmp_path / "store.db"
    with attending(ana):
        assert end(start(store, folder, point)) == (-signal.SIGKILL, "")
        assert (folder / "story.md").read_text() in {BEGUN, PAINTED, TOLD}
        status, printed = end(start(store, folder))
    assert (status, json.loads(printed)) == (0, ["green", "large", "Done", "Done"])
    check_story(ana, folder)
    said = (folder / "said").read_text().splitlines()
    assert said == ["Now it is painted."] * (2 if point == "said" else 1)
    before = ana.log()
    assert ana.drive(FLOW_ID, STORY, "story.md", say=fail, present=fail) == json.loads(printed)
    assert ana.log() == before


def test_flow_survives_a_driver_that_is_killed_at_every_moment_in_turn(
    ana: Client, tmp_path: Path, folder: Path
) -> None:
    """One flow, as many drivers as there are moments, each getting a little further."""
    store = tmp_path / "store.db"
    with attending(ana):
        statuses = [end(start(store, folder, point))[0] for point in IN_TURN]
        status, _ = end(start(store, folder))
    assert statuses == [-signal.SIGKILL] * len(IN_TURN)
    assert status == 0
    check_story(ana, folder)


def test_document_that_a_person_changed_while_nobody_drove_is_left_alone(
    ana: Client, tmp_path: Path, folder: Path
) -> None:
    """The append was noted and perhaps made; what a person wrote since then stays, and the flow is told."""
    store = tmp_path / "store.db"
    with attending(ana):
        end(start(store, folder, "append performed"))
        (folder / "story.md").write_text("My own story.\n")
        status, printed = end(start(store, folder))
    assert (status, json.loads(printed)) == (0, ["green", "large", "Failed", "Done"])
    assert (folder / "story.md").read_text() == "My own story.\nsize: large\n"


def test_answer_given_while_nobody_drives_is_found(ana: Client, tmp_path: Path, folder: Path) -> None:
    """The ask outlives its driver, so the person need not wait for the next one."""
    store = tmp_path / "store.db"
    end(start(store, folder, "colour asked"))
    (waiting,) = ana.inbox()
    ana.answer(waiting.ask_id, "green")
    with attending(ana):
        assert end(start(store, folder))[0] == 0
    check_story(ana, folder)


def test_second_driver_is_refused_until_the_first_is_dead(ana: Client, tmp_path: Path, folder: Path) -> None:
    """Alive, it is named; killed, its flow is taken over at once."""
    first = start(tmp_path / "store.db", folder)
    first_ask(ana)
    with pytest.raises(FlowTakenError, match=f"Process {first.pid} drives this flow"):
        ana.drive(FLOW_ID, STORY, "story.md", performers(folder))
    first.kill()
    assert end(first) == (-signal.SIGKILL, "")
    with attending(ana):
        told = ana.drive(FLOW_ID, STORY, "story.md", performers(folder))
    assert told == ["green", "large", "Done", "Done"]
    check_story(ana, folder)


def test_forked_child_neither_keeps_nor_drives_its_dead_parents_flow(
    ana: Client, tmp_path: Path, folder: Path
) -> None:
    """The child waits on, with all that it inherited; the flow is taken over all the same, and the child is told."""
    parent = start(tmp_path / "store.db", folder, DRIVE_IN_A_FORK)
    assert parent.wait(PATIENCE) == -signal.SIGKILL
    child = psutil.Process(int((folder / "child").read_text()))
    try:
        with attending(ana):
            told = ana.drive(FLOW_ID, STORY, "story.md", performers(folder))
        assert parent.communicate(timeout=PATIENCE)[0] == ""  # its other end closes with the child
    finally:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    assert told == ["green", "large", "Done", "Done"]
    check_story(ana, folder)
    assert int((folder / "taken").read_text()) == child.pid


def test_program_that_a_driver_starts_does_not_keep_its_flow(tmp_path: Path) -> None:
    """A hold is not inherited by another program, which may run for days."""
    store = hub_on_file(tmp_path / "store.db").store
    held = store.hold("flow")
    other = subprocess.Popen(
        [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        close_fds=False,
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"1\n"
        opened = [file.path for file in psutil.Process(other.pid).open_files()]
        assert not any("hold" in path for path in opened)
    finally:
        other.communicate(timeout=PATIENCE)
        held.release()
        store.close()
