"""One session with an ACP agent as a run: its turns are iterations. Needs the extra `acp`.

A cancelled run cancels the turn. A paused one lets the turn go on and begins no other. The protocol has no way to change
the model that all agents share, so an escalation is told, and the agent keeps its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import PromptResponse

from assent.client.calls import Calls
from assent.client.turns import Turn
from assent.client.wheel import Plan
from assent.hosts.acp.client import CAPABILITIES, AcpClient
from assent.hosts.course import Course
from assent.hosts.screen import Screen
from assent.protocol.display import quote
from assent.protocol.error import AssentError
from assent.protocol.run import Run

__all__ = ["AcpOrders", "AcpSession"]

_END_SECONDS = 5.0
"""So long an agent may take to end a turn that was cancelled."""
_MAX_LINE = 64 << 20


class AcpOrders(msgspec.Struct, frozen=True):
    """What the agent is to do, and how it is started."""

    command: tuple[str, ...]
    environ: Mapping[str, str]
    folder: Path
    prompts: tuple[str, ...]
    """One turn each."""


class AcpSession:
    """Drives one run with one session of an agent."""

    def __init__(self, calls: Calls, plan: Plan, orders: AcpOrders, screen: Screen) -> None:
        self._orders = orders
        self._screen = screen
        self._course = Course(calls, plan, orders.prompts, screen)
        # The agent's session is a new one each time, so asks are found again by the run.
        self._client = AcpClient(
            calls,
            plan.run_id,
            run_id=plan.run_id,
            show=screen.show_piece,
            tell=screen.tell,
            pass_on=self._course.words.put,
        )
        self._model = plan.frame.model
        self._connection: ClientSideConnection
        self._session_id = ""

    async def drive(self) -> Run:
        """Have all turns; return the run as it is then.

        Raises:
            AssentError: the agent cannot be started, refused, or ended in the middle.
            RunTakenError: somebody alive drives the run.
        """
        orders = self._orders
        try:
            async with spawn_agent_process(
                lambda _: self._client,  # type: ignore[arg-type, return-value]  # it has no terminals
                *orders.command,
                env=orders.environ,
                cwd=orders.folder,
                transport_kwargs={"limit": _MAX_LINE},
                use_unstable_protocol=True,
            ) as (connection, process):
                self._connection = connection
                errors = asyncio.ensure_future(self._screen.pass_on(process.stderr))
                try:
                    await self._begin()
                    return await self._course.drive(self._have_turn)
                finally:
                    await self._client.leave()
                    errors.cancel()
                    await asyncio.gather(errors, return_exceptions=True)
        except ConnectionError:
            raise AssentError("The agent has ended.") from None
        except OSError as error:
            raise AssentError(
                f"{quote(orders.command[0])} cannot be started: {quote(error.strerror or str(error))}."
            ) from None
        except RequestError as error:
            raise AssentError(f"The agent refused: {quote(str(error))}.") from None

    async def _begin(self) -> None:
        await self._connection.initialize(protocol_version=PROTOCOL_VERSION, client_capabilities=CAPABILITIES)
        session = await self._connection.new_session(cwd=str(self._orders.folder.absolute()), mcp_servers=[])
        self._session_id = session.session_id
        await self._client.load()

    async def _have_turn(self, turn: Turn, text: str) -> None:
        if turn.model != self._model:
            self._screen.tell(f"the agent keeps its own model; {turn.model} was asked for")
            self._model = turn.model
        prompting = asyncio.ensure_future(
            self._connection.prompt(session_id=self._session_id, prompt=[text_block(text)])
        )
        ending = asyncio.ensure_future(self._course.until_ended())
        try:
            await asyncio.wait({prompting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not prompting.done():
                await self._cancel(prompting)
            if prompting.done() and not prompting.cancelled():
                response: PromptResponse = prompting.result()
                if response.stop_reason != "end_turn":
                    self._screen.tell(f"the agent stopped: {response.stop_reason}")
        finally:
            for task in (prompting, ending):
                task.cancel()
            await asyncio.gather(prompting, ending, return_exceptions=True)
            self._screen.finish_line()
        await self._client.drop_all("The agent ended its turn.")

    async def _cancel(self, prompting: asyncio.Task[PromptResponse]) -> None:
        self._screen.tell("the run was ended; cancelling the turn")
        await self._connection.cancel(session_id=self._session_id)
        await self._client.drop_all("The run was ended.")
        with suppress(TimeoutError, RequestError):
            await asyncio.wait_for(asyncio.shield(prompting), _END_SECONDS)
