"""`assent host`: agents in their own programs, whose questions and approvals people get. Acts for an agent.

What the agent says is on standard output, what we say on standard error. No answer is read here: people answer where they
always do.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import shutil
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click

from assent.cli.exit import STILL_OPEN
from assent.cli.group import PlacedGroup
from assent.cli.loop import status_of_run
from assent.cli.place import Place
from assent.client.client import Client
from assent.client.identity import agent
from assent.client.wheel import Plan, plan_run
from assent.hosts.codex.session import CodexOrders, CodexSession
from assent.hosts.opencode.bridge import OpencodeBridge
from assent.hosts.opencode.server import DEFAULT_URL, OpencodeServer
from assent.hosts.screen import Screen
from assent.protocol.display import display
from assent.protocol.error import AssentError
from assent.protocol.run import Mode, Run

__all__ = ["command"]

R = TypeVar("R")
_MOST_TURNS = 100
_LONGEST_TITLE = 100
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


class _StoppedError(Exception):
    """A signal came."""


class _Log(logging.Handler):
    """Shows in one line what a library logs: its own way is a stack trace, with the agent's words in it as they are."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.ERROR)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.tell(f"the talk with the agent: {record.getMessage()}")


@click.group("host", cls=PlacedGroup)
def command() -> None:
    """Run an agent's own program, and carry what it asks to people and back.

    What it wants to be allowed is an approval: a person's yes is good for exactly that, once. What it asks is a question
    in everybody's inbox. No answer is never an answer.

    \b
      assent host codex "Fix the failing test"
      assent host opencode
      assent host acp "Fix the failing test" -- my-agent --acp
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("codex")
@click.argument("prompt")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- CODEX OPTIONS…]")
@click.option(
    "--cd", "folder", type=_FOLDER, metavar="DIR", default=Path(), help="Work there. [default: here]"
)
@click.option("--model", metavar="M", help="The model to begin with. [default: as Codex has it]")
@click.option("--plan", "is_plan", is_flag=True, help="Plan mode, in which Codex asks its own questions.")
@click.option("--resume", "thread_id", metavar="THREAD", default="", help="Go on with a thread of before.")
@click.option("--run-id", metavar="ID", help="The run's id; one that was begun before is gone on with.")
@click.option("--codex", "program", metavar="FILE", default="codex", help="The program. [default: codex]")
@click.option("--as", "name", metavar="NAME", help="The name of the agent. [default: codex]")
@click.pass_obj
def codex(place: Place, /, **given: Any) -> int:
    """Have Codex work on PROMPT, as a run that people can pause, resume, cancel and escalate.

    What people post to the run's topic is said to Codex: into the turn that goes on, or as the next one. Killed or stopped, it is gone on with by --resume and --run-id: what was asked is still asked, and what
    was answered meanwhile is told.

    \b
      assent host codex "Fix the failing test"
      assent host codex --plan "How should we shard the users?"
      assent host codex "Look around" -- -c 'sandbox_mode="read-only"'

    Exit status: 0 done, 1 Codex failed, 3 stopped but not over, 5 cancelled, 6 somebody else drives this run.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    plan = _plan(given)
    with place.door() as door:
        client = place.client(door, agent(place.environ, given["name"] or "codex"))
        folder: Path = given["folder"].absolute()
        orders = CodexOrders(
            (_find(given["program"]), "app-server", *given["words"]),
            _environ(place, plan, folder),
            folder,
            (given["prompt"],),
            given["is_plan"],
            given["thread_id"],
        )
        screen = Screen()
        session = CodexSession(client.calls, plan, orders, screen)
        try:
            return _end(screen, _run(session.drive()))
        except _StoppedError:
            thread = session.thread_id
            screen.tell(f"stopped. To go on: assent host codex --resume {thread} --run-id {plan.run_id} …")
            return STILL_OPEN
        finally:
            screen.close()


@command.command("acp")
@click.argument("prompt")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- AGENT…")
@click.option(
    "--cd", "folder", type=_FOLDER, metavar="DIR", default=Path(), help="Work there. [default: here]"
)
@click.option("--run-id", metavar="ID", help="The run's id; one that was begun before is gone on with.")
@click.option("--as", "name", metavar="NAME", help="The name of the agent. [default: the program's]")
@click.pass_obj
def acp(place: Place, /, **given: Any) -> int:
    """Have an agent that speaks the Agent Client Protocol work on PROMPT, as a run that people can steer.

    Its requests for permission are approvals, its forms are questions. What people post to the run's topic is the next
    turn. Needs the extra acp.

    \b
      assent host acp "Fix the failing test" -- opencode acp

    Exit status: 0 done, 1 the agent failed, 3 stopped but not over, 5 cancelled, 6 somebody else drives this run.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    words: tuple[str, ...] = given["words"]
    plan = _plan(given)
    with place.door() as door:
        client = place.client(door, agent(place.environ, given["name"] or Path(words[0]).name))
        if importlib.util.find_spec("acp") is None:
            raise AssentError("This needs the extra acp: pip install 'assent[acp]'")
        from assent.hosts.acp.session import AcpOrders, AcpSession

        folder: Path = given["folder"].absolute()
        command_ = (_find(words[0]), *words[1:])
        orders = AcpOrders(command_, _environ(place, plan, folder), folder, (given["prompt"],))
        screen = Screen()
        logging.getLogger().addHandler(_Log(screen))
        try:
            return _end(screen, _run(AcpSession(client.calls, plan, orders, screen).drive()))
        except _StoppedError:
            screen.tell(f"stopped. To go on: assent host acp --run-id {plan.run_id} …")
            return STILL_OPEN
        finally:
            screen.close()


@command.command("opencode")
@click.argument("url", default=DEFAULT_URL)
@click.option(
    "--cd",
    "folder",
    type=_FOLDER,
    metavar="DIR",
    help="Carry what is asked in that folder. [default: the one that opencode was started in]",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent. [default: opencode]")
@click.pass_obj
def opencode(place: Place, /, url: str, folder: Path | None, name: str | None) -> int:
    """Carry what an opencode server asks to people and back, until it is stopped.

    The server keeps waiting as long as nobody has decided. Whoever answers first, here or in opencode, decides. Its
    password is read from OPENCODE_SERVER_PASSWORD; plain http goes to this machine only.

    \b
      opencode --port 4096
      assent host opencode http://127.0.0.1:4096

    Exit status: 1 no opencode answers, 3 stopped.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    environ = place.environ
    server = OpencodeServer(
        url,
        user=environ.get("OPENCODE_SERVER_USERNAME") or "opencode",
        password=environ.get("OPENCODE_SERVER_PASSWORD", ""),
        folder=None if folder is None else folder.resolve(),
    )
    with place.door() as door:
        client = place.client(door, agent(environ, name or "opencode"))
        screen = Screen()
        try:
            _run(_carry(client, server, screen))
        except _StoppedError:
            screen.tell("stopped; what was asked stays in assent inbox")
        finally:
            screen.close()
    return STILL_OPEN


async def _carry(client: Client, server: OpencodeServer, screen: Screen) -> None:
    try:
        await OpencodeBridge(client.calls, server, screen.tell).carry()
    finally:
        await server.close()


def _run(work: Coroutine[Any, Any, R]) -> R:
    """Do it in a loop of its own; a signal stops it and leaves what was asked as it is."""

    async def stoppable() -> R:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - we are in one
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                loop.add_signal_handler(number, task.cancel)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise _StoppedError from None


def _end(screen: Screen, run: Run) -> int:
    how = f"{run.status}: {run.reason}" if run.reason else str(run.status)
    screen.tell(f"run {run.run_id} {how}")
    return status_of_run(run)


def _plan(given: dict[str, Any]) -> Plan:
    title = display(given["prompt"], lines=False)[:_LONGEST_TITLE]
    model, run_id = given.get("model"), given["run_id"]
    return plan_run(Mode.LOOP, max=_MOST_TURNS, model=model, run_id=run_id, title=title)


def _environ(place: Place, plan: Plan, folder: Path) -> dict[str, str]:
    """Return what the agent inherits: the marks by which its own commands are known as an agent's."""
    address = place.address
    store = address if isinstance(address, str) else f"sqlite:///{address.resolve()}"
    marks = {"ASSENT_RUN_ID": plan.run_id, "ASSENT_STORE": store, "ASSENT_PROJECT": place.project_name}
    # What it logs is shown with every escape made visible, so it had better use none. Some believe PWD more than the system.
    return {**place.environ, "NO_COLOR": "1", "PWD": str(folder), **marks}


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise AssentError(f"{display(program, lines=False)} is no command here.")
    return found
