"""A Coder fails with two questions and a person answers, all over a server: every part a process of its own."""

import json
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.shell import Shell
from tests.patience import PATIENCE
from tests.proves import proves
from tests.surfaces.http.listening import Listener
from tools.warm import run

__all__: list[str] = []

RESULT = {
    "status": "failed",
    "open_questions": [{"id": "q1", "text": "Which database?"}, {"id": "q2", "text": "How many pages?"}],
}
RESPONSES = {"responses": [{"questionId": "q1", "answer": "SQLite"}, {"questionId": "q2", "answer": "Ten."}]}
NEXT_RUN = """
import assent

with assent.connect() as client:
    for task in client.ready():
        print(task.task_id, [answer.answer for answer in client.answers(task.task_id)], flush=True)
"""


class Served:
    """`assent serve` as a process, which can be killed and started again where it was."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it says where it listens."""
        self._process = self._shell.start("serve", "--port", str(self.port))
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        assert ready, "the server said nothing in time"
        said = self._process.stdout.readline().decode()
        assert said.startswith("Assent listens on "), said
        self.port = int(said.rsplit(":", 1)[1])

    def end(self, number: int) -> int:
        """End it by this signal, and return its exit status."""
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in an empty folder; what it started is ended with the test."""
    folder = tmp_path / "shop"
    folder.mkdir()
    made = Shell(folder)
    yield made
    made.close()


def make_token(shell: Shell, role: str, name: str) -> str:
    """Return the secret of a new token, made by a person at a shell."""
    made = shell.run("token", "create", "--role", role, "--name", name, "--unattended", "--json")
    assert made.status == 0, made.err
    secret: str = made.json["token"]
    return secret


def call(server: Served, token: str, method: str, path: str, body: Any = None) -> Any:
    """Return what a request to the project comes back with."""
    reply = httpx2.request(
        method,
        f"{server.url}/projects/shop/{path}",
        headers={"Authorization": f"Bearer {token}"},
        json=body,
        timeout=PATIENCE,
    )
    assert reply.status_code in (200, 201), reply.text
    return reply.json()


def next_run(shell: Shell, server: Served, token: str) -> list[str]:
    """Return what the agent's next run finds to do, and is told about it, in a process of its own."""
    ran: subprocess.CompletedProcess[str] = run(
        [sys.executable, "-c", NEXT_RUN],
        cwd=shell.folder,
        env=shell.environ(ASSENT_STORE=server.url, ASSENT_TOKEN=token, ASSENT_PROJECT="shop"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@proves("Q17", "Q19", "Q20", "Q21", "Q22", "Q24", "Q25", "Q26", "Q27")
@pytest.mark.parametrize("fate", ["stays", "killed"])
def test_answer_over_http_reaches_the_next_run_once(shell: Shell, fate: str) -> None:
    """The whole way, also where the server is killed between question and answer and started again."""
    agent, person = make_token(shell, "agent", "coder"), make_token(shell, "human", "ana")
    server = Served(shell)
    call(server, agent, "POST", "tasks", {"title": "Add a login page", "task_id": "login"})
    assert next_run(shell, server, agent) == ["login []"]

    with Listener(server, person, project="shop") as listener:
        handed = shell.run(
            *("result", "coder", "--source-id", "login", "--json", "-"),
            typed=json.dumps(RESULT),
            ASSENT_STORE=server.url,
            ASSENT_TOKEN=agent,
            ASSENT_PROJECT="shop",
        )
        assert handed.status == 0, handed.err
        heard = listener.until("task.updated")
    assert [event.type for event in heard] == ["notification.added", "ask.opened", "task.updated"]
    notification = heard[0].data
    assert (notification["source"], notification["sourceId"]) == ("execute", "login")
    assert [question["text"] for question in notification["questions"]] == [
        "Which database?",
        "How many pages?",
    ]
    blocked = heard[-1].data
    assert (blocked["status"], blocked["assignee"], blocked["blockReason"]) == (
        "blocked",
        None,
        "Open Question",
    )
    assert next_run(shell, server, agent) == []

    if fate == "killed":
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
        server.start()
        assert next_run(shell, server, agent) == []

    with Listener(server, person, project="shop", after=heard[-1].sequence) as listener:
        resolved = call(server, person, "PATCH", f"notifications/{notification['id']}", RESPONSES)
        assert (resolved["status"], resolved["responses"]) == ("resolved", RESPONSES["responses"])
        after = listener.until("task.updated")
    assert [event.sequence for event in heard + after] == list(
        range(heard[0].sequence, after[-1].sequence + 1)
    )
    assert [event.type for event in after][-2:] == ["notification.resolved", "task.updated"]
    assert after[-2].data["notificationId"] == notification["id"]
    assert (after[-1].data["status"], after[-1].data["blockReason"]) == ("open", None)

    assert next_run(shell, server, agent) == ["login ['SQLite', 'Ten.']"]
    # Asked again by somebody who did not hear the reply, it is not said twice.
    assert call(server, person, "PATCH", f"notifications/{notification['id']}", RESPONSES) == resolved
    chat = call(server, agent, "GET", "tasks/login/chat")
    assert [message["text"] for message in chat["messages"]] == ["SQLite\nTen."]
    assert server.end(signal.SIGTERM) == 0
