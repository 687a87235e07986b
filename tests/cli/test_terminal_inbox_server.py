"""`assent` alone on a terminal, at a server: live in every project, and back by itself when the server is."""

import socket

import pytest

from assent.protocol.principal import Role
from tests.cli.serving import Served, served
from tests.cli.shell import Shell
from tests.cli.window import Window

__all__: list[str] = []

ENTER = "\r"


QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")


def make_token(shell: Shell, role: Role) -> str:
    """Return a token for every project."""
    made = shell.run(*("token", "create", "--role", role, "--name", "ana", "--all-projects", "--unattended"))
    assert made.status == 0, made.err
    return made.out.strip()


@pytest.fixture
def token(shell: Shell) -> str:
    """Give the token of a person."""
    return make_token(shell, Role.HUMAN)


def place(url: str, token: str) -> dict[str, str]:
    """Return what a person says to be at the server."""
    return {"ASSENT_STORE": url, "ASSENT_TOKEN": token}


def ask_there(shell: Shell, url: str, token: str, project: str, title: str) -> str:
    """Open an ask through the server, as an agent's process."""
    return shell.open(
        *(title, "-o", "PostgreSQL", "-o", "SQLite", "--project", project),
        ASSENT_STORE=url,
        ASSENT_TOKEN=token,
    )


def test_inbox_at_a_server_hears_of_asks_in_projects_that_are_there_and_that_are_new(
    shell: Shell, token: str
) -> None:
    """The feed of each project is followed; a project that is new is found within seconds."""
    agent = make_token(shell, Role.AGENT)
    ask_id = shell.open(*QUESTION)
    with served(shell) as server, Window(shell, changes=place(server.url, token)) as window:
        window.armed("1 wait", "Which database?")
        ask_there(shell, server.url, agent, "shop", "Which queue?")
        window.until("2 wait")
        ask_there(shell, server.url, agent, "annex", "Which cache?")
        window.until("3 wait", "Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        window.press(ENTER)
        window.until("2 wait")
        window.press("q")
        assert window.end() == 0
    told = shell.ask(ask_id)
    assert not told.is_open


def test_server_that_goes_away_is_said_to_and_comes_back_with_the_mark(shell: Shell, token: str) -> None:
    """Nothing is sent meanwhile; when a server is there again the same keys answer. Leaving does not wait for it."""
    ask_id = shell.open(*QUESTION)
    with served(shell) as server:
        url = server.url
        window = Window(shell, changes=place(url, token))
        window.armed("Which database?")
        window.press("b")
        window.until("Marked: SQLite", "Enter: Send")
        server.stop()
    with window:
        window.until("OFFLINE", "SQLite")
        assert shell.ask(ask_id).is_open
        again = Served(shell, ("--port", url.rpartition(":")[2]), {})
        try:
            window.until("Marked: SQLite", "Enter: Send", gone=["OFFLINE"])
            window.press(ENTER)
            window.until("0 wait")
        finally:
            again.stop()
        assert not shell.ask(ask_id).is_open
        window.press("q")
        assert window.end() == 0


def test_inbox_opens_where_the_server_is_away_and_says_so(shell: Shell, token: str) -> None:
    """It does not wait for the server to open, and finds it once it is there."""
    shell.open(*QUESTION)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Window(shell, changes=place(f"http://127.0.0.1:{port}", token)) as window:
        window.until("OFFLINE")
        again = Served(shell, ("--port", str(port)), {})
        try:
            assert "ana" in window.armed("1 wait", "Which database?")
        finally:
            again.stop()
