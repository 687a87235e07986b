"""An agent asks, its task waits, a person answers and the next run is told: real processes, killed at any moment."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assent
from assent.client.client import Client
from assent.client.identity import AGENT_MARKS
from assent.protocol.task import TaskStatus
from tests.patience import PATIENCE
from tests.proves import proves
from tools.warm import spawn

__all__: list[str] = []

MANY = 60
"""More than a process gets done before it is killed."""

CODER = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop") as client:
    task = client.create_task("Add a login page", task_id="login")
    handed = client.hand_in({
        "agent": "Coder", "sourceId": "login", "status": "failed",
        "open_questions": [{"id": "q1", "text": "Which database?"}, {"text": "Pages?"}],
    })
    print(handed.notification.notification_id, len(client.ready()), flush=True)
"""
PERSON = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop", principal="human:ana") as client:
    if sys.argv[2] == "inbox":
        [ask] = client.inbox()
        client.answer(ask.ask_id, "q1: SQLite\\nq2: No.")
    else:
        [told] = client.notifications()
        client.resolve(told.notification_id, "SQLite\\nNo.")
"""
NEXT_RUN = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop") as client:
    [task] = client.ready()
    print(task.task_id, [answer.answer for answer in client.answers(task.task_id)], flush=True)
"""
MANY_CODERS = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop") as client:
    for number in range(int(sys.argv[2])):
        about = f"task-{number}"
        client.create_task("Work", task_id=about)
        body = {"agent": "Coder", "sourceId": about, "status": "failed", "open_questions": [{"text": "Which?"}]}
        client.hand_in(body, command_id=f"run-{number}")
        print(about, flush=True)
"""
MANY_ANSWERS = """
import sys
from pathlib import Path
import assent

with assent.connect(Path(sys.argv[1]), project="shop", principal="human:ana") as client:
    for told in client.notifications():
        client.resolve(told.notification_id, "This one.", command_id=f"answer-{told.source_id}")
        print(told.source_id, flush=True)
"""


class Started:
    """A process that was started, and its lines; its people are no agents."""

    def __init__(self, script: str, *arguments: object) -> None:
        environ = {name: value for name, value in os.environ.items() if name not in AGENT_MARKS}
        command = [sys.executable, "-c", script, *map(str, arguments)]
        self.process: subprocess.Popen[bytes] = spawn(command, stdout=subprocess.PIPE, bufsize=0, env=environ)

    def line(self) -> str:
        """Return its next line, in bounded time."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, "nothing was said in time"
        return (
            self.process.stdout.readline().decode().strip()
        )  # byte by byte: what follows is left for `kill`

    def kill(self) -> list[str]:
        """Kill it as a crash would; return the lines that it got out."""
        self.process.send_signal(signal.SIGKILL)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return rest.decode().split()

    def end(self) -> None:
        """Wait for its orderly end."""
        assert self.process.wait(PATIENCE) == 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / ".assent" / "assent.db"


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Started]]:
    """Give what starts processes on the store; what is left is killed."""
    started: list[Started] = []

    def begin(script: str, *arguments: object) -> Started:
        started.append(Started(script, path, *arguments))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait(PATIENCE)
        if each.process.stdout is not None:
            each.process.stdout.close()


def look(path: Path) -> Client:
    """Return a client of this process on the same store."""
    return assent.connect(path, project="shop")


@proves("Q22", "Q25", "Q27")
@pytest.mark.parametrize(
    ("way", "answers"), [("inbox", ["SQLite", "No."]), ("notification", ["SQLite\nNo."] * 2)]
)
def test_next_run_gets_the_task_and_the_answer(
    path: Path, start: Callable[..., Started], way: str, answers: list[str]
) -> None:
    """Three processes that never meet: one asks, one answers, one goes on."""
    coder = start(CODER)
    _, ready = coder.line().split()
    coder.end()
    assert ready == "0"
    start(PERSON, way).end()
    following = start(NEXT_RUN)
    assert following.line() == f"login {answers}"
    following.end()
    with look(path) as client:
        assert [record.type for record in client.log()] == [
            "task.created",
            "notification.added",
            "ask.opened",
            "task.updated",
            "ask.answered",
            "topic.posted",
            "notification.resolved",
            "task.updated",
        ]
        assert len(client.chat("login")) == 1
        assert client.verify().problems == ()


def check_whole(client: Client) -> tuple[set[str], set[str]]:
    """Check that nothing is half done; return the tasks that wait, and those that go on with an answer."""
    notifications = client.notifications(is_open=False)
    waiting = {each.source_id for each in notifications if each.is_open}
    answered = {each.source_id for each in notifications if not each.is_open}
    assert len(notifications) == len(waiting) + len(answered)
    assert {ask.ask_id for ask in client.inbox()} == {each.ask_id for each in notifications if each.is_open}
    for task in client.tasks():
        is_waiting = task.task_id in waiting
        assert (task.status is TaskStatus.BLOCKED) is is_waiting
        assert len(client.chat(task.task_id)) == (task.task_id in answered)
    assert client.verify().problems == ()
    return waiting, answered


@pytest.mark.parametrize("lines", [1, 2, 5, 9, 17])
def test_killed_processes_lose_nothing_and_do_nothing_twice(
    path: Path, start: Callable[..., Started], lines: int
) -> None:
    """What was acknowledged is there, what was not is there whole or not at all; the rest is done by trying again."""
    coders = start(MANY_CODERS, MANY)
    acknowledged = {coders.line() for _ in range(lines)} | set(coders.kill())
    with look(path) as client:
        waiting, answered = check_whole(client)
        assert acknowledged <= waiting
        assert not answered
    start(MANY_CODERS, MANY).end()
    people = start(MANY_ANSWERS)
    acknowledged = {people.line() for _ in range(lines)} | set(people.kill())
    with look(path) as client:
        waiting, answered = check_whole(client)
        assert len(waiting | answered) == MANY
        assert acknowledged <= answered
    # Whoever asked tries again, not knowing that some of it was answered meanwhile.
    start(MANY_CODERS, MANY).end()
    with look(path) as client:
        assert check_whole(client) == (waiting, answered)
    start(MANY_ANSWERS).end()
    with look(path) as client:
        waiting, answered = check_whole(client)
        assert (len(waiting), len(answered)) == (0, MANY)
        assert len(client.ready()) == MANY
