"""`assent mcp` as hosts start it: a process on a pipe, or over HTTP, on every kind of store."""

import json
import os
import pwd
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import (
    CallToolResult,
    ElicitResult,
    Implementation,
    InputRequiredResult,
    jsonrpc_message_adapter,
)

from assent import connect
from assent.client.door import run_call, until
from assent.protocol.principal import Role
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.cli.shell import Shell, wait_for
from tests.patience import PATIENCE

__all__: list[str] = []

ERAS = ("legacy", "2026-07-28")
QUESTION: dict[str, Any] = {"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}


async def choose_sqlite(*_: object) -> ElicitResult:
    """Fill a form in."""
    return ElicitResult(action="accept", content={"answer": "SQLite"})


@asynccontextmanager
async def piped(shell: Shell, era: str, *options: str, **more: Any) -> AsyncIterator[Client]:
    """Give a host that started the server, which is the last process of the shell."""
    process = shell.start("mcp", *options, stdin=subprocess.PIPE, **more.pop("environ", {}))
    async with Client(on_pipe(process), mode=era, **more) as client:
        yield client


@asynccontextmanager
async def on_pipe(process: subprocess.Popen[bytes]) -> AsyncIterator[Any]:
    """Give what the library's own pipe gives, to a process that is there already; its input ends with it."""
    hears, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, says = anyio.create_memory_object_stream[SessionMessage](0)
    mouth, ear = process.stdin, process.stdout
    assert mouth is not None
    assert ear is not None

    async def hear() -> None:
        async with hears:
            async for line in anyio.wrap_file(ear):
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await hears.send(
                        SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                    )

    async def say() -> None:
        async with says:
            async for each in says:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                with suppress(OSError):  # the server is gone, which is heard
                    mouth.write(f"{text}\n".encode())
                    mouth.flush()

    async with anyio.create_task_group() as group:
        group.start_soon(hear)
        group.start_soon(say)
        try:
            yield heard, said
        finally:
            heard.close()
            said.close()
            with suppress(OSError):
                mouth.close()


def content(result: CallToolResult) -> dict[str, Any]:
    """Return the object that a tool told."""
    told: dict[str, Any] | None = result.structured_content
    assert told is not None, result
    return told


@pytest.mark.parametrize("era", ERAS)
def test_server_on_a_pipe_asks_in_the_hosts_dialog_and_keeps_its_key_to_itself(
    shell: Shell, era: str
) -> None:
    """One process per host, as the library starts it; the key beside the store is the user's own."""
    more: Any = {"mode": era, "elicitation_callback": choose_sqlite}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "assent", "mcp"], env=shell.environ(), cwd=shell.folder
    )

    async def story() -> None:
        async with Client(stdio_client(started), **more) as host:
            told = content(await host.call_tool("ask_user", QUESTION))
        assert (told["answer"], told["assurance"]) == ("SQLite", "host")

    anyio.run(story)
    key = shell.store.with_name("assent.db.mcp-key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert shell.waiting() == []


@pytest.mark.parametrize("era", ERAS)
def test_agent_that_plays_the_host_gets_no_receipt_and_every_line_says_that_it_was_a_host(
    shell: Shell, era: str
) -> None:
    """Whatever it calls itself, and whoever its environment names. Only a project that lists it takes a host's yes."""
    action = {"title": "Drop it", "action": {"drop": "users"}}
    claims = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "sam")

    async def say_yes(_: object, params: Any) -> ElicitResult:
        is_approval = "The action, whole:" in params.message
        return ElicitResult(action="accept", content={"answer": "Approve" if is_approval else "SQLite"})

    async def call() -> dict[str, Any]:
        environ = {**claims, "ASSENT_PRINCIPAL": "human:sam"}
        info = Implementation(name="terminal", version="1")
        options: Any = {"environ": environ, "client_info": info, "elicitation_callback": say_yes}
        async with piped(shell, era, "--wait", "0", **options) as host:
            await host.call_tool("ask_user", QUESTION)
            return content(await host.call_tool("request_approval", action))

    told = anyio.run(call)
    assert told["state"] == "open"
    assert "an agent's host is not enough" in told["message"]
    log = shell.run("log").out
    user = pwd.getpwuid(os.getuid()).pw_name
    assert f"{user}: SQLite (host:terminal, host)" in log
    assert "receipt" not in log
    assert shell.run("policy", "accept", "approval", "terminal", "host", "--unattended").status == 0
    assert anyio.run(call)["assurance"] == "host"
    log = shell.run("log").out
    assert f"{user}: Approve (host:terminal, host)" in log
    assert "go on: Drop it (host)" in log


@pytest.mark.parametrize("era", ERAS)
def test_call_is_answered_from_another_terminal_while_it_waits(shell: Shell, era: str) -> None:
    """No dialogs there: the person answers with a command, and the agent goes on at once."""

    async def story() -> None:
        async with piped(shell, era, "--wait", "40") as host, anyio.create_task_group() as group:

            async def answer() -> None:
                ask = await anyio.to_thread.run_sync(shell.only_open)
                await anyio.to_thread.run_sync(shell.answer, ask.ask_id, "SQLite")

            group.start_soon(answer)
            told = content(await host.call_tool("ask_user", QUESTION))
        assert (told["answer"], told["by"]) == ("SQLite", "human:sam")

    anyio.run(story)


def head_of(shell: Shell) -> int:
    """Return the number of the last thing that happened in the folder's project."""
    with connect(shell.store, project=shell.folder.name) as client:
        return run_call(until(client.door.head(client.project)))


def _kill(shell: Shell) -> None:
    shell.started[-1].kill()


@pytest.mark.parametrize("era", ERAS)
def test_server_that_is_killed_while_it_waits_leaves_the_ask_to_the_next_one(shell: Shell, era: str) -> None:
    """Kill -9 between ask and answer: the same call of a new process finds the answer."""

    async def story() -> None:
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                with pytest.raises(Exception, match=r".*"):
                    async with piped(shell, era, "--wait", "40") as host:
                        await host.call_tool("ask_user", QUESTION)

            group.start_soon(ask)
            asked = await anyio.to_thread.run_sync(shell.only_open)
            _kill(shell)
        shell.answer(asked.ask_id, "SQLite")
        async with piped(shell, era) as host:
            told = content(await host.call_tool("ask_user", QUESTION))
        assert (told["ask_id"], told["answer"]) == (asked.ask_id, "SQLite")

    anyio.run(story)


def test_form_of_a_server_that_was_killed_is_finished_by_the_next_one(shell: Shell) -> None:
    """What the host holds is sealed with a key that outlives the process; it counts once."""

    async def story() -> None:
        async with piped(shell, ERAS[1], elicitation_callback=choose_sqlite) as host:
            handed = await host.session.call_tool("ask_user", QUESTION, allow_input_required=True)
            assert isinstance(handed, InputRequiredResult)
            _kill(shell)
        async with piped(shell, ERAS[1], elicitation_callback=choose_sqlite) as host:
            came = []
            for value in ("SQLite", "PostgreSQL"):
                result = await host.session.call_tool(
                    "ask_user",
                    QUESTION,
                    input_responses={"reply": ElicitResult(action="accept", content={"answer": value})},
                    request_state=handed.request_state,
                    allow_input_required=True,
                )
                assert isinstance(result, CallToolResult)
                came.append(content(result)["answer"])
        assert came == ["SQLite", "SQLite"]

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_answer_that_came_after_the_hosts_time_limit_is_found_by_the_same_call(
    shell: Shell, era: str
) -> None:
    """The host gave up, and was told all the same before it said so; then nobody has heard the answer yet."""

    async def story() -> None:
        async with piped(shell, era, "--wait", "40") as host:
            await host.list_tools()  # it is up
            with pytest.raises(MCPError):
                await host.call_tool("ask_user", QUESTION, read_timeout_seconds=0.3)
            # In this thread: the host says nothing before the answer was handed out.
            asked = shell.only_open()
            answered = shell.answer(asked.ask_id, "SQLite")
            wait_for(lambda: head_of(shell) > answered.sequence)
            told = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0}))
            assert (told["ask_id"], told.get("answer")) == (asked.ask_id, "SQLite")
            again = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0}))
            assert (again["state"], again["ask_id"] != asked.ask_id) == ("open", True)

    anyio.run(story)


HOSTILE = (
    b"garbage \x1b[31m\n[1,2]\n\xff\xfe\n"
    + b"[" * 100_000
    + b"\n"
    + b'{"jsonrpc":"2.0","id":1e999,"method":"x"}\n'
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\u001b[31m","arguments":[]}}\n'
)


def test_server_that_is_sent_garbage_says_nothing_but_protocol_and_ends_with_its_input(shell: Shell) -> None:
    """Standard output is the protocol; there is no traceback, and the end of input is a clean end."""
    process = shell.start("mcp", stdin=subprocess.PIPE)
    ended = shell.finish(process, HOSTILE)
    assert ended.status == 0
    assert [json.loads(line)["jsonrpc"] for line in ended.out.splitlines()] == ["2.0"] * len(
        ended.out.splitlines()
    )
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.err + ended.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_server_that_waits_for_its_host_ends_cleanly_on_a_signal(
    shell: Shell, number: signal.Signals
) -> None:
    """A host that stops it is not kept waiting."""
    process = shell.start("mcp", stdin=subprocess.PIPE)
    wait_for(lambda: shell.store.with_name("assent.db.mcp-key").exists())
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(hello).encode() + b"\n")
    process.stdin.flush()
    assert process.stdout.readline()  # it serves
    process.send_signal(number)
    ended = shell.finish(process)
    assert (ended.status, ended.err) == (0, "")


def test_key_that_others_could_read_is_refused_in_one_sentence(shell: Shell) -> None:
    """Whoever can read it could make up what a host hands back."""
    shell.open("First?")
    key = shell.store.with_name("assent.db.mcp-key")
    key.write_text("k" * 64)
    key.chmod(0o644)
    ended = shell.run("mcp")
    assert ended.status == 1
    assert ended.err.count("\n") == 1
    assert "chmod 600" in ended.err


def test_port_without_http_is_refused(shell: Shell) -> None:
    """What has no effect is not taken."""
    ended = shell.run("mcp", "--port", "1")
    assert ended.status == 2
    assert "--http" in ended.err


def test_other_commands_do_not_load_the_protocol(shell: Shell) -> None:
    """It takes a second to load, and only who serves it pays."""
    script = "import sys; from assent.cli.exit import run; run(['inbox']); print('mcp' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", script],
        cwd=shell.folder,
        env=shell.environ(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert told.stdout.splitlines()[-1] == "False"


# Over HTTP.


class Web:
    """A server over HTTP, as its process told of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        self.url = process.stderr.readline().decode().split()[-1]
        self.token = process.stderr.readline().decode().split()[-1]

    @asynccontextmanager
    async def host(self, era: str, token: str = "", **more: Any) -> AsyncIterator[Client]:
        """Give a host that shows a token."""
        shown = {"Authorization": f"Bearer {token or self.token}"}
        async with (
            httpx2.AsyncClient(headers=shown, timeout=PATIENCE) as line,
            Client(streamable_http_client(self.url, http_client=line), mode=era, **more) as client,
        ):
            yield client


@contextmanager
def web(shell: Shell, *options: str, **changes: str | None) -> Iterator[Web]:
    """Give a server over HTTP on a free port; it ends with status 0."""
    process = shell.start("mcp", "--http", "--port", "0", *options, stdin=subprocess.DEVNULL, **changes)
    yield Web(process)
    process.send_signal(signal.SIGTERM)
    ended = shell.finish(process)
    assert (ended.status, ended.out) == (0, "")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("era", ERAS)
def test_server_over_http_asks_in_the_hosts_dialog(shell: Shell, era: str) -> None:
    """The same tools on the other transport."""

    async def story() -> None:
        async with made.host(era, elicitation_callback=choose_sqlite) as host:
            told = content(await host.call_tool("ask_user", QUESTION))
        assert told["answer"] == "SQLite"

    with web(shell) as made:
        anyio.run(story)


REFUSED: list[tuple[int, Callable[[Web], Any]]] = [
    (401, lambda _: {}),
    (401, lambda _: {"authorization": "Bearer assent_0"}),
    (401, lambda made: {"authorization": f"Basic {made.token}"}),
    (421, lambda made: {"authorization": f"Bearer {made.token}", "host": "evil.example"}),
    (403, lambda made: {"authorization": f"Bearer {made.token}", "origin": "http://evil.example"}),
    (403, lambda made: {"authorization": f"Bearer {made.token}", "origin": "null"}),
    (
        403,
        lambda made: [
            ("authorization", f"Bearer {made.token}"),
            ("origin", made.url.removesuffix("/mcp")),
            ("origin", "http://evil.example"),
        ],
    ),
]


SOCKET = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def test_server_over_http_takes_nothing_without_its_token_name_and_origin(shell: Shell) -> None:
    """Loopback is hostile: a page in the person's browser reaches it, too."""
    with web(shell) as made:
        came = [
            httpx2.post(made.url, json={}, headers=headers(made), timeout=PATIENCE).status_code
            for _, headers in REFUSED
        ]
        socket = httpx2.get(made.url, headers=SOCKET, timeout=PATIENCE).status_code
    assert came == [status for status, _ in REFUSED]
    assert socket == 403


def test_server_over_http_on_a_server_acts_for_whoever_calls(shell: Shell) -> None:
    """The caller's token is the server's: what it may do is the server's matter, and an agent's answers nothing."""

    async def story() -> None:
        bot = server.token(Role.AGENT, "bot")
        async with made.host(ERAS[0], bot, elicitation_callback=choose_sqlite) as host:
            told = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0.2}))
            assert told["state"] == "open"  # its dialog could have been filled in by the agent
            ask = server.store.person("ana").show(told["ask_id"])
            assert ask.asker == "agent:bot"
            server.person("ana").answer(ask.ask_id, "SQLite")
            told = content(await host.call_tool("ask_user", QUESTION))
            assert (told["answer"], told["by"], told["assurance"]) == ("SQLite", "human:ana", "token")

    with (
        throwaway(project="shop") as store,
        ThrowawayServer(store) as server,
        web(shell, ASSENT_STORE=server.url, ASSENT_TOKEN=None) as made,
    ):
        anyio.run(story)
        strange = {"authorization": "Bearer assent_" + "0" * 64}
        assert httpx2.post(made.url, json={}, headers=strange, timeout=PATIENCE).status_code == 401


@pytest.mark.parametrize("era", ERAS)
def test_server_on_a_pipe_on_a_server_waits_for_the_servers_people(shell: Shell, era: str) -> None:
    """ASSENT_STORE and ASSENT_TOKEN are all that a host is given; nothing is kept in the folder."""

    async def story() -> None:
        environ = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": server.token(Role.AGENT, "bot")}
        async with piped(shell, era, environ=environ, elicitation_callback=choose_sqlite) as host:
            asked = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0.1}))
            assert asked["state"] == "open"
            server.person("ana").answer(asked["ask_id"], "1")
            told = content(await host.call_tool("ask_user", QUESTION))
            assert (told["answer"], told["by"]) == ("PostgreSQL", "human:ana")
            again = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0}))
            assert (again["state"], again["ask_id"] != told["ask_id"]) == ("open", True)
            gate = {"context": "phase-gate", "summary": "Twelve files.", "wait_seconds": 0}
            stopped = content(await host.call_tool("open_gate", gate))
            server.person("ana").answer(stopped["ask_id"], "1")
            passed = content(await host.call_tool("open_gate", gate))
            assert (passed["choice"], passed["by"]) == ("Proceed", "human:ana")

    with throwaway(project="shop") as store, ThrowawayServer(store) as server:
        anyio.run(story)
    assert not shell.store.exists()


def test_server_with_a_persons_token_takes_no_answer_from_the_hosts_dialog(shell: Shell) -> None:
    """The server would record what a host made up as that person's own word, as sure as their token."""

    async def story() -> None:
        environ = {"ASSENT_STORE": server.url, "ASSENT_TOKEN": server.token(Role.HUMAN, "ana")}
        async with piped(shell, ERAS[0], environ=environ, elicitation_callback=choose_sqlite) as host:
            asked = content(await host.call_tool("ask_user", QUESTION | {"wait_seconds": 0.1}))
        assert (asked["state"], asked.get("answer")) == ("open", None)
        assert server.store.person("ana").show(asked["ask_id"]).is_open

    with throwaway(project="shop") as store, ThrowawayServer(store) as server:
        anyio.run(story)


def test_server_on_a_database_asks_and_finds_its_answer(shell: Shell, database: str) -> None:
    """PostgreSQL is a store like any other; its key lies with what this user's commands remember."""

    async def story() -> None:
        environ = {"ASSENT_STORE": database}
        async with piped(shell, ERAS[1], environ=environ, elicitation_callback=choose_sqlite) as host:
            told = content(await host.call_tool("ask_user", QUESTION))
            assert (told["state"], told["answer"]) == ("answered", "SQLite")

    anyio.run(story)
    (key,) = Path(shell.environ()["XDG_STATE_HOME"], "assent").glob("mcp-*.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
