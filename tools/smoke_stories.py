"""Smoke stories: one small deed for each extra, told inside an environment that holds nothing else.

    python -I tools/smoke_stories.py core server …

Rule 1: only the standard library and the installed package; `tools` is not there.
Rule 2: nothing leaves this machine, and every wait has an end.
Rule 3: a store of one's own in the present folder, which is empty at the beginning.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

__all__ = ["STORIES", "main"]

SECONDS = 60.0
PROGRAM = str(Path(sys.executable).parent / "assent")


def tell_core() -> None:
    """A question is asked, listed and answered, and Python reads the answer."""
    ask_id = called(
        "ask", "Which database?", "-o", "PostgreSQL", "-o", "SQLite", "--key", "db", "--no-wait"
    ).strip()
    assert "Which database?" in called("inbox")
    called("answer", ask_id, "SQLite")
    from_python = (
        "import assent\n"
        "with assent.connect() as client:\n"
        "    print(client.ask('Which database?', ['PostgreSQL', 'SQLite'], key='db', wait=30))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", from_python], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.stdout == "SQLite\n", done.stderr


def tell_server() -> None:
    """A server says that it is there, and carries a question and its answer."""
    with started("serve", "--throwaway", "--port", "0") as served:
        address = read_until(served, re.compile(r"(http://127\.0\.0\.1:\d+)"))
        with urllib.request.urlopen(f"{address}/healthz", timeout=SECONDS) as reply:
            assert reply.status == 200
    testing, server = import_module("assent.testing"), import_module("assent.testing.server")
    with testing.throwaway() as store, server.ThrowawayServer(store) as site:
        handle = site.agent().open("Deploy?", ["Yes", "No"], key="deploy")
        site.person().answer(handle.ask_id, "Yes")
        assert site.agent().ask("Deploy?", ["Yes", "No"], key="deploy", wait=SECONDS) == "Yes"


def tell_tui() -> None:
    """The inbox opens on a terminal and is left with a key."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", LINES="24", COLUMNS="80")
        os.execv(PROGRAM, [PROGRAM])
    seen, until = b"", time.monotonic() + SECONDS
    try:
        while b"leave" not in seen:  # the line of keys, which is drawn last
            part = read_some(terminal, until)
            assert part, seen
            seen += part
        os.write(terminal, b"q")
        while part := read_some(terminal, until):
            seen += part
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(child, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0, seen[-2_000:]


def tell_postgres() -> None:
    """A database that is not there is told in a sentence."""
    import_module("assent.storage.postgres.store").PostgresStore("postgresql://nobody@127.0.0.1:1/none")
    asked = [PROGRAM, "--store", "postgresql://nobody@127.0.0.1:1/none", "inbox"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode
    assert "127.0.0.1" in done.stderr or "database" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr


def tell_metrics() -> None:
    """The numbers are there."""
    assert import_module("assent.surfaces.http.metrics").Metrics().is_awake


def tell_traces() -> None:
    """Without a provider nothing is traced."""
    assert import_module("assent.client.traces").TRACES.find_tracer() is None


def tell_mcp() -> None:
    """The server greets a host."""
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "smoke", "version": "1"},
    }
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting})
    with started("mcp", stdin=subprocess.PIPE) as served:
        assert served.stdin is not None
        served.stdin.write(f"{request}\n".encode())
        served.stdin.flush()
        assert read_until(served, re.compile(r'("serverInfo")'))


def tell_notify() -> None:
    """Apprise knows an address that we have no sender for."""
    carrier = import_module("assent.surfaces.notify.by_apprise")
    carrier.check_address("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV", allows_internal=True)


def tell_acp() -> None:
    """A session starts with nothing that waits."""
    with throwaway() as store:
        client = import_module("assent.hosts.acp.client").AcpClient(store.agent().calls, "smoke")
        asyncio.run(client.load())


def tell_langgraph() -> None:
    """An interrupted graph's question stands in the inbox."""
    adapter, types = import_module("assent.hosts.langgraph"), import_module("langgraph.types")
    graphs = import_module("langgraph.graph")
    saver = import_module("langgraph.checkpoint.memory").InMemorySaver()
    built = graphs.StateGraph(dict)
    built.add_node("ask", lambda _: {"name": types.interrupt("Which name?")})
    built.add_edge(graphs.START, "ask")
    graph = built.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    graph.invoke({}, config)
    with throwaway() as store:
        assert waits(store, lambda client: adapter.answer_interrupts(client, graph, config, wait=0.0))


def tell_langchain() -> None:
    """A named tool waits for a person, and another one runs."""
    middleware = import_module("assent.hosts.langchain").ApprovalMiddleware
    runtime = SimpleNamespace(config={"configurable": {"thread_id": "t"}})
    named = SimpleNamespace(tool_call={"name": "send", "id": "1", "args": {}}, runtime=runtime)
    other = SimpleNamespace(tool_call={"name": "look", "id": "2", "args": {}}, runtime=runtime)
    with throwaway() as store:
        guard = middleware(store.agent(), {"send"}, wait=0.0)
        assert guard.wrap_tool_call(other, lambda _: "ran") == "ran"
        assert waits(store, lambda _: guard.wrap_tool_call(named, lambda _: "ran"))


def tell_openai_agents() -> None:
    """A run in which nothing waits goes on as it was."""
    adapter = import_module("assent.hosts.openai_agents")
    state = SimpleNamespace(get_interruptions=list)
    with throwaway() as store:
        assert adapter.answer_approvals(store.agent(), state, thread="t", wait=0.0) is state


def tell_pydantic_ai() -> None:
    """A deferred call stands in the inbox."""
    adapter = import_module("assent.hosts.pydantic_ai")
    part = import_module("pydantic_ai.messages").ToolCallPart("send", {"to": "ana"}, tool_call_id="1")
    requests = import_module("pydantic_ai").DeferredToolRequests(approvals=[part])
    with throwaway() as store:
        assert waits(store, lambda client: adapter.answer_deferred(client, requests, thread="t", wait=0.0))


STORIES: dict[str, Callable[[], None]] = {
    "core": tell_core,
    "server": tell_server,
    "tui": tell_tui,
    "postgres": tell_postgres,
    "metrics": tell_metrics,
    "traces": tell_traces,
    "mcp": tell_mcp,
    "notify": tell_notify,
    "acp": tell_acp,
    "langgraph": tell_langgraph,
    "langchain": tell_langchain,
    "openai-agents": tell_openai_agents,
    "pydantic-ai": tell_pydantic_ai,
}
"""Extra to its story; `core` is the package without any."""


def throwaway() -> Any:
    return import_module("assent.testing").throwaway()


def waits(store: Any, deed: Callable[[Any], object]) -> bool:
    """Tell whether a deed stops with an ask that stays open."""
    client = store.agent()
    try:
        deed(client)
    except import_module("assent").StillOpen:
        return bool(store.person().inbox())
    return False


def called(*arguments: str) -> str:
    """Run `assent` and return what it printed."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


@contextmanager
def started(*arguments: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    """Start `assent`, and stop it at the end."""
    served = subprocess.Popen(
        [PROGRAM, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield served
    finally:
        served.send_signal(signal.SIGTERM)
        try:
            served.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            served.kill()
            served.communicate()


def read_until(served: subprocess.Popen[bytes], wanted: re.Pattern[str]) -> str:
    """Return the first group of what a process prints."""
    assert served.stdout is not None
    seen, until = b"", time.monotonic() + SECONDS
    while not (found := wanted.search(seen.decode(errors="replace"))):
        part = read_some(served.stdout.fileno(), until)
        assert part, f"it ended: {seen!r}"
        seen += part
    return found.group(1)


def read_some(descriptor: int, until: float) -> bytes:
    """Return what comes next; nothing at the end."""
    ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
    assert ready, "nothing came in time"
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # a terminal whose other side is closed
        return b""


def main(names: list[str]) -> int:
    """Tell the named stories, one after the other."""
    for name in names:
        STORIES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
