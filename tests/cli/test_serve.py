"""`assent serve` as a process: what it prints, whom it lets in, how it stops, and where it refuses to start."""

import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import psutil
import pytest

from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import State
from assent.storage.sqlite.store import SqliteStore
from tests.cli.serving import served
from tests.cli.shell import Result, Shell, wait_for
from tests.patience import PATIENCE
from tests.surfaces.http.hostile import Reply, write_head

__all__: list[str] = []

TLS = Path(__file__).parent / "tls"
"""A certificate for localhost that nobody trusts, and its key."""
WITH_TLS = ("--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem"))
AT_ONCE = 40.0
"""Seconds: less than the minute that a request may wait."""
Call = Callable[..., Result]


def test_server_says_where_it_is_and_how_to_come_in(shell: Shell) -> None:
    """Address, store, project, a link for a person, and a line for agents."""
    with served(shell) as server:
        lines = server.said.splitlines()
        assert re.fullmatch(r"Assent listens on http://127\.0\.0\.1:\d+", lines[0])
        assert f"  store    {shell.store}" in lines
        assert "  project  shop" in lines
        assert "  agents   assent token create --role agent" in lines
        assert len(server.code) * 4 >= 128
        assert httpx2.get(f"{server.url}/healthz", trust_env=False).json() == {"status": "ok"}
        ended = server.stop()
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.endswith("The server has stopped.\n")


def test_link_signs_a_person_in_once(shell: Shell) -> None:
    """And what they do over HTTP is theirs, in the log of the file."""
    ask_id = shell.open("Which?", "-o", "A", "-o", "B")
    with served(shell) as server, server.sign_in() as browser:
        assert browser.get("/whoami").json()["name"] == "ana"
        assert browser.get("/asks/count").json() == {"count": 1}
        answered = browser.post(f"/projects/shop/asks/{ask_id}/answer", json={"text": "A"})
        assert answered.json()["answer"]["by"] == "human:ana"
        assert answered.json()["answer"]["assurance"] == "token"
        again = httpx2.post(f"{server.url}/sign-in", json={"code": server.code}, trust_env=False)
        assert again.status_code == 401
    assert shell.ask(ask_id).state is State.ANSWERED
    files = b"".join(path.read_bytes() for path in shell.store.parent.iterdir() if path.is_file())
    assert server.code.encode() not in files


@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
def test_agent_that_starts_a_server_gets_no_link(shell: Shell, mark: str) -> None:
    """It would read it, and sign in as a person; the line says why there is none."""
    value = "agent:coder" if mark == "ASSENT_PRINCIPAL" else "1"
    with served(shell, **{mark: value}) as server:
        assert server.code == ""
        assert f"no link is printed, as {mark} is set" in server.said
        tried = httpx2.post(f"{server.url}/sign-in", json={"code": ""}, trust_env=False)
        assert tried.status_code == 401


def test_clients_and_commands_use_it_as_a_store(shell: Shell) -> None:
    """An agent with a token asks through it, and waits for the answer that a person gives on the file."""
    token = shell.run("token", "create", "--role", "agent").out.strip()
    with served(shell) as server:
        place = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": token}
        asking = shell.start("ask", "Which?", "-o", "A", "-o", "B", stdin=subprocess.DEVNULL, **place)
        ask = shell.only_open()
        shell.answer(ask.ask_id, "B")
        assert shell.finish(asking).out == "B\n"


# Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_stops_it_well(shell: Shell, number: int) -> None:
    """Whoever waits is answered with what is known, and the store is closed."""
    ask_id = shell.open("Which?", "-o", "A", "-o", "B")
    token = shell.run("token", "create", "--role", "agent").out.strip()
    with served(shell) as server, server.line() as line:
        path = f"/projects/shop/asks/{ask_id}/answer?wait=60"
        host = server.url.removeprefix("http://")
        line.sendall(write_head("GET", path, host, {"Authorization": f"Bearer {token}"}))
        for _ in range(3):  # what was sent before has been taken up when these are answered
            assert httpx2.get(f"{server.url}/healthz", trust_env=False).status_code == 200
        began = time.monotonic()
        ended = server.stop(number)
        told = Reply(b"".join(iter(lambda: line.recv(65_536), b"")))
    assert (ended.status, ended.err) == (0, "")
    assert time.monotonic() - began < AT_ONCE
    assert (told.status, b'"state":"open"' in told.body) == (200, True)
    assert shell.run("audit", "verify").status == 0


def test_second_signal_ends_it_at_once(shell: Shell) -> None:
    """Somebody sends half a request and no more, which a server that stops well would wait for."""
    token = shell.run("token", "create", "--role", "agent").out.strip()
    with served(shell) as server:
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Content-Length": "100",
            "Expect": "100-continue",
        }
        with server.line() as line:
            line.sendall(
                write_head("POST", "/projects/shop/asks", server.url.removeprefix("http://"), headers)
            )
            assert line.recv(1_000).startswith(b"HTTP/1.1 100")  # it is being read
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            wait_for(lambda: not is_listening(server.process.pid))
            ended = server.stop(signal.SIGTERM)
    assert ended.status == -signal.SIGTERM
    assert time.monotonic() - began < AT_ONCE
    assert shell.run("audit", "verify").status == 0


def is_listening(pid: int) -> bool:
    """Say whether a process takes new connections."""
    return any(each.status == psutil.CONN_LISTEN for each in psutil.Process(pid).net_connections("tcp"))


def test_deadline_passes_while_nobody_waits_or_looks(shell: Shell) -> None:
    """A server keeps the time: what is due is recorded when it is due."""
    with served(shell):
        ask_id = shell.open("Which?", "-o", "A", "--deadline", "1", "--consequence", "deny")
        store = SqliteStore(shell.store)  # a look through a hub would apply it
        try:

            def has_expired() -> bool:
                with store.reading() as reader:
                    found = reader.ask(ask_id)
                return found is not None and found.state is State.EXPIRED

            wait_for(has_expired)
        finally:
            store.close()


# Where it does not start


def test_port_that_is_taken_is_told_in_one_sentence(shell: Shell) -> None:
    """With a way out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = shell.run("serve", "--port", str(port))
    assert ended.status == 1
    assert ended.err == f"Port {port} is taken: choose another one with --port, or 0 for any that is free.\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "a.example", "::ffff:127.0.0.1"])
def test_public_address_without_tls_is_refused(call: Call, host: str) -> None:
    """Before anything listens, or a store is made."""
    ended = call("serve", "--host", host, "--port", "0")
    assert ended.status == 2
    assert ended.err.count("\n") == 1
    assert "takes TLS and a person's token" in ended.err
    assert "--tls-cert" in ended.err
    assert ended.out == ""


def test_public_address_without_a_persons_token_is_refused(shell: Shell) -> None:
    """An agent's will not do, nor one that was revoked."""
    assert shell.run("token", "create", "--role", "agent").status == 0
    assert shell.run("token", "create", "--role", "human", "--unattended").status == 0
    assert shell.run("token", "revoke", "human:ana").status == 0
    ended = shell.run("serve", "--host", "0.0.0.0", "--port", "0", *WITH_TLS)
    assert ended.status == 2
    assert "assent token create --role human" in ended.err


def test_public_address_with_tls_and_a_token_is_served(shell: Shell) -> None:
    """By its names alone; and without a link, as whoever sees the screen is not the only one who can reach it."""
    token = shell.run("token", "create", "--role", "human", "--unattended").out.strip()
    given = ("--host", "0.0.0.0", "--allow-host", "Assent.Example", *WITH_TLS)
    trusted = ssl.create_default_context(cafile=str(TLS / "cert.pem"))
    with served(shell, *given) as server:
        assert server.code == ""
        port = server.url.rpartition(":")[2]
        assert server.url == f"https://assent.example:{port}"
        url = f"https://localhost:{port}/whoami"
        with httpx2.Client(
            verify=trusted, trust_env=False, headers={"authorization": f"Bearer {token}"}
        ) as line:
            assert line.get(url).json()["name"] == "ana"
            assert line.get(url, headers={"host": "assent.example"}).status_code == 200
            assert line.get(url, headers={"host": "evil.example"}).status_code == 421


def test_certificate_that_cannot_be_used_is_told(call: Call, tmp_path: Path) -> None:
    """Without a question at the terminal, or a stack trace."""
    (tmp_path / "no.pem").write_text("nothing")
    for cert, key in (("missing.pem", "missing.pem"), (str(tmp_path / "no.pem"), str(TLS / "key.pem"))):
        ended = call("serve", "--port", "0", "--tls-cert", cert, "--tls-key", key)
        assert (ended.status, ended.err.count("\n")) == (2, 1)
        assert ended.err.startswith("The certificate and its key cannot be used: ")
    assert call("serve", "--port", "0", "--tls-cert", "a.pem").status == 2


@pytest.mark.parametrize("name", ["a b", "http://a.example", "a.example:80", "*"])
def test_name_that_is_none_is_refused(call: Call, name: str) -> None:
    """A star would open it to every page."""
    ended = call("serve", "--port", "0", "--allow-host", name)
    assert ended.status == 2
    assert "is no name of a host" in ended.err


def test_server_on_a_server_is_refused(call: Call) -> None:
    """It serves a store of its own."""
    ended = call("serve", "--store", "http://127.0.0.1:8484")
    assert ended.status == 2
    assert "is a server, and this needs a store of its own" in ended.err


def test_missing_extra_is_told_with_the_line_that_installs_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else happens."""
    monkeypatch.setattr("assent.cli.serve.find_spec", lambda _: None)
    ended = call("serve")
    assert ended.status == 1
    assert "pip install 'assent[server]'" in ended.err


def test_nothing_of_the_server_is_loaded_for_other_commands() -> None:
    """Nor for the help of this one: the extra may not be there."""
    looks = "import sys, assent.cli.serve; print('uvicorn' in sys.modules or 'starlette' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", looks], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "False\n"
