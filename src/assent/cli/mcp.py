"""`assent mcp`: the MCP server, for the hosts that agents live in. It acts for an agent.

Rule 1: on a pipe, standard output is the protocol and nothing else; whatever is said goes to standard error.
Rule 2: over HTTP it listens on this machine only, and every request shows a token: with a server as the store that of
        whoever calls, otherwise one that is told at the start.
Rule 3: its end is no decision: what was asked stays open.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.exit import DONE, say
from assent.cli.gate_file import FOLDER, read_contexts
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, acting
from assent.cli.span import SPAN
from assent.client.calls import Calls
from assent.client.identity import agent
from assent.client.label import label_finder
from assent.client.place import find_root, find_working_tree, state_folder
from assent.hub.ids import new_token_secret
from assent.protocol.error import AssentError
from assent.protocol.principal import Assurance

if TYPE_CHECKING:
    from mcp.server import Server

    from assent.client.door import Door
    from assent.hosts.mcp.caller import Callers

__all__ = ["DEFAULT_PORT", "command"]

DEFAULT_PORT = 8485
_HIGHEST_PORT = 65_535
_INSTALL = "assent mcp needs the extra `mcp`, which is not installed: pip install 'assent[mcp]'"
_DEFAULT_WAIT = "50"
_LEAVE_SECONDS = 1


@click.command("mcp", cls=PlacedCommand)
@click.option("--http", "is_http", is_flag=True, help="Serve over HTTP on this machine, and not on a pipe.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, _HIGHEST_PORT),
    show_default=f"{DEFAULT_PORT}",
    help="With --http: listen there; 0 is any free one.",
)
@click.option(
    "--wait",
    "wait",
    type=SPAN,
    metavar="TIME",
    default=_DEFAULT_WAIT,
    help="How long a call waits for an answer before it says that there is none yet. [default: 50s]",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent that asks.")
@click.pass_obj
def command(place: Place, /, is_http: bool, port: int | None, wait: timedelta, name: str | None) -> int:
    """Serve agents whose host speaks MCP: they ask, people answer in the host or anywhere else.

    Put this command into the settings of the host. The tools are ask_user, confirm, open_gate, request_approval,
    redeem_approval, review_findings, report_result, check_control and inbox. Where the host shows dialogs an ask is
    shown there, too, and the first answer counts. Approvals are given there only where the project takes a host's word
    for enough: see assent policy accept.

    A call waits for --wait at most, so keep it below the time limit of the host; asked again, it finds its answer.

    \b
      claude mcp add assent -- assent mcp
      assent mcp --http --port 8485

    Exit status: 0 the host went away, or stopped by a signal; 1 the port is taken; 2 refused.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if port is not None and not is_http:
        raise click.UsageError("--port goes with --http.")
    if find_spec("mcp") is None:
        raise AssentError(_INSTALL)
    from assent.hosts.mcp.caller import Callers
    from assent.hosts.mcp.seal import find_key_file, load_key
    from assent.hosts.mcp.server import Desk, make_server
    from assent.hosts.mcp.tools import Room

    with ExitStack() as stack:
        is_own_token = not (is_http and place.is_server)
        callers = Callers(
            lambda token: _calls(place, name, token), new_token_secret() if is_own_token else None
        )
        stack.callback(callers.close)
        if is_own_token:
            callers.first()  # a store that is not there is found out now, and not by the first question
        root = find_root(Path.cwd())
        room = Room(find_working_tree(Path.cwd()), root / FOLDER, read_contexts(root))
        key = load_key(find_key_file(place.address, state_folder(place.environ)), new_token_secret)
        desk = Desk(callers.find if is_http else callers.find_first, room, wait.total_seconds())
        stack.callback(desk.close)
        server = make_server(desk, key, sys.modules["assent"].__version__)
        _log_plainly()
        if is_http:
            with _listen(DEFAULT_PORT if port is None else port) as listening:
                asyncio.run(_serve_http(server, callers, listening))
            return DONE
        is_stopped = asyncio.run(_serve_pipe(server))
    if is_stopped:
        sys.stderr.flush()
        # A thread still waits for the host's next line, and the interpreter would wait for it.
        os._exit(DONE)
    return DONE


def _calls(place: Place, name: str | None, token: str | None) -> Calls:
    """Return the calls of the agent; over HTTP with a server as the store, of whoever shows the token."""
    from assent.client.connect import open_door

    environ = place.environ if token is None else {**place.environ, "ASSENT_TOKEN": token}
    door: Door = open_door(place.address, environ, is_named=place.is_named())
    try:
        who = acting(door, agent(place.environ, name))
    except BaseException:
        door.close()
        raise
    run_id = place.environ.get("ASSENT_RUN_ID") or None
    return Calls(
        door, place.project_name, who, "mcp", Assurance.DECLARED, run_id, label_finder(place.environ)
    )


async def _until_signal(serving: Callable[[], Awaitable[None]]) -> bool:
    """Serve; say whether a signal was what ended it."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(serving())
    is_stopped = False

    def stop() -> None:
        nonlocal is_stopped
        is_stopped = True
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not is_stopped:
            raise
    return is_stopped


async def _serve_pipe(server: Server[Any]) -> bool:
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    return await _until_signal(serve)


async def _serve_http(server: Server[Any], callers: Callers, listening: socket.socket) -> None:
    import uvicorn

    from assent.hosts.mcp.http import PATH, Guard, LoopbackServer

    port = listening.getsockname()[1]
    app = Guard(server.streamable_http_app(streamable_http_path=PATH), port, callers.admit)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=_LEAVE_SECONDS
    )
    serving = LoopbackServer(config)
    say(f"MCP over HTTP: http://127.0.0.1:{port}{PATH}")
    if callers.token is None:
        say("Callers show the token that the server knows them by: Authorization: Bearer …")
    else:
        say(f"Callers show: Authorization: Bearer {callers.token}")
    loop = asyncio.get_running_loop()

    def stop() -> None:
        serving.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await serving.serve([listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise AssentError(f"Port {port} is taken: give another one with --port, or --port 0.") from None
        raise
    listening.listen()
    return listening


class _Plainly(logging.Formatter):
    """One line for whatever happened: what a host sent must not draw anything on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        from assent.protocol.display import display

        return f"assent mcp: {display(record.getMessage(), lines=False)}"


def _log_plainly() -> None:
    to_error = logging.StreamHandler(sys.stderr)
    to_error.setFormatter(_Plainly())
    root = logging.getLogger()
    root.handlers[:] = [to_error]
    root.setLevel(logging.WARNING)
