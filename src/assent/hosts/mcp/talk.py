"""One call of a tool that asks: from the first look at the store to what its agent is told.

Rule 1: the ask is stored before anything is shown, so the surfaces of the hub always have it. Where the host offers
        dialogs it is shown there as well, and whichever answer is first counts.
Rule 2: a host of before 2026-07-28 is sent the form while the call waits; when the hub's answer comes first, the form is
        taken back. A newer one is handed the form as the result of the call, and comes again with what was filled in;
        then the hub is looked at first.
Rule 3: a dialog that was declined, cancelled or failed decides nothing: the ask stays open, and the call waits for the hub.
Rule 4: a reply that is not recognised is asked again, a few times. What remains is no decision. So is what cannot be
        undone: it is asked once more in a dialog of its own, and only that one's yes is sent.
Rule 5: while a dialog is open the call waits for as long as it takes, unless its agent said how long.
Rule 6: where a host's word does not suffice, as for approvals by default, no dialog is shown, and the agent is told why.
"""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from assent.client.awaiting import await_call
from assent.client.calls import Calls
from assent.client.door import Call
from assent.hosts.mcp.argument import Waiting
from assent.hosts.mcp.form import Filled, Form, make_check, make_form
from assent.hosts.mcp.name import Name
from assent.hosts.mcp.told import Told, tell_open
from assent.hosts.mcp.tools import Room, Tool
from assent.hosts.person import find_shortfall
from assent.protocol.answer import FieldValues
from assent.protocol.approval import is_approval
from assent.protocol.ask import Ask, Kind
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ConfirmFirstError,
    ConflictError,
    FlowTakenError,
    StillOpen,
    TooLargeError,
    UnrecognisedError,
)

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

__all__ = ["MAX_ROUNDS", "PROGRESS_SECONDS", "Errand", "Sealed", "Talk"]

MAX_ROUNDS = 8
"""Clients give a call up after 10 rounds of forms."""
PROGRESS_SECONDS = 5.0
"""So often a host that wants to know is told that the call still waits."""
_AGAIN_SECONDS = 0.1
_REPLY = "reply"


class Sealed(msgspec.Struct, frozen=True):
    """What a newer host hands back with what was filled in. It is sealed: nobody but us has written it."""

    name: Name
    ask_id: str
    round: int
    project: str
    asker: str
    chosen: FieldValues | None = None
    """What the form asks about once more, as it cannot be undone."""


class Errand(msgspec.Struct, frozen=True):
    """What an agent wants of one call."""

    tool: Tool
    given: Waiting
    name: Name


class _Taken(Enum):
    """What became of a reply of the host."""

    ENDED = auto()
    """The ask has ended, by this reply or another."""
    REFUSED = auto()
    """It was not recognised."""
    NONE = auto()
    """Nobody decided anything."""


class Talk:
    """One call."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        calls: Calls,
        person: Calls | None,
        errand: Errand,
        room: Room,
        wait_seconds: float,
    ) -> None:
        self._ctx = ctx
        self.calls = calls
        self._person = person if _offers_forms(ctx) else None
        self._tool = errand.tool
        self._given = errand.given
        self.name = errand.name
        self._room = room
        said = errand.given.wait_seconds
        self._until = time.monotonic() + (wait_seconds if said is None else said)
        self._echo = ""
        self._chosen: FieldValues | None = None
        """What is asked once more, as it cannot be undone."""
        self._shortfall = ""
        """Why this host's dialog cannot answer what waits."""
        self._round = 0
        self._reports = 0
        self.asked: Ask | None = None
        """The ask that waits."""
        self.over = anyio.Event()

    @property
    def request_id(self) -> types.RequestId:
        """The call's own number in its connection."""
        return self._ctx.request_id if self._ctx.request_id is not None else ""

    @property
    def _is_modern(self) -> bool:
        return self._ctx.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def hold(
        self, sealed: Sealed | None, responses: types.InputResponses | None
    ) -> Told | types.InputRequiredResult:
        """Go on until there is something to tell, or to show."""
        reply = (responses or {}).get(_REPLY) if sealed is not None else None
        self._round = sealed.round if sealed is not None else 0
        while True:
            try:
                told = await self._attempt()
            except StillOpen as still:
                if still.ask is None:
                    raise
                ask = self.asked = still.ask
            except FlowTakenError:
                # Somebody else looks at the same flow in this moment.
                if time.monotonic() >= self._until:
                    raise
                await anyio.sleep(_AGAIN_SECONDS)
                continue
            else:
                return told
            if reply is not None and sealed is not None and sealed.ask_id == ask.ask_id:
                self._chosen = sealed.chosen
                await self._take_late(ask, reply)
                reply = None
                continue
            form = await self._find_form(ask)
            if form is None:
                if not await self._wait(ask):
                    return tell_open(ask, self.name.given, self._shortfall)
            elif self._is_modern:
                return self._hand_over(ask, form)
            elif not await self._show(ask, form):
                return tell_open(ask, self.name.given)

    async def _attempt(self) -> Told:
        # Shielded: whoever cancels the call must find out whether there is an ask to take back.
        attempt = self._tool.attempt(self.calls, self._given, self.name.text, self._room)
        told: Told | None = None
        with anyio.CancelScope(shield=True):
            told = await await_call(attempt)
        assert told is not None  # noqa: S101 - nothing leaves a shielded scope early
        return told

    async def _find_form(self, ask: Ask) -> Form | None:
        kind = ask.kind if ask.prompt.action is None else Kind.APPROVAL
        self._shortfall = await await_call(find_shortfall(self.calls, kind))
        if self._person is None or self._shortfall:
            return None
        if self._round >= MAX_ROUNDS:
            self._person = None
            return None
        return self._make_form(ask)

    def _make_form(self, ask: Ask) -> Form | None:
        version = self._ctx.protocol_version
        if self._chosen is not None:
            return make_check(ask, self._chosen, version)
        return make_form(ask, version, self._echo)

    # A host of 2026-07-28 and later.

    def _hand_over(self, ask: Ask, form: Form) -> types.InputRequiredResult:
        asker = str(self.calls.principal)
        sealed = Sealed(self.name, ask.ask_id, self._round + 1, self.calls.project, asker, form.chosen)
        return types.InputRequiredResult(
            input_requests={_REPLY: _request(form)}, request_state=msgspec.json.encode(sealed).decode()
        )

    async def _take_late(self, ask: Ask, reply: object) -> None:
        form = self._make_form(ask)
        taken = _Taken.NONE
        if form is not None and isinstance(reply, types.ElicitResult):
            taken = await self._take(ask, form, reply)
        if taken is _Taken.NONE:
            self._person = None

    # An older host.

    async def _show(self, ask: Ask, form: Form) -> bool:
        """Show the form and wait for whichever comes first; say whether there is a reason to look again."""
        came: list[types.ElicitResult | None] = []
        has_ended = False
        seconds = self._left() if self._given.wait_seconds is not None else None

        async with anyio.create_task_group() as group:

            async def dialog() -> None:
                came.append(await self._elicit(form))
                group.cancel_scope.cancel()

            async def hub() -> None:
                nonlocal has_ended
                has_ended = await self._has_ended(ask, seconds)
                group.cancel_scope.cancel()

            group.start_soon(dialog)
            group.start_soon(hub)
            group.start_soon(self._report)
        if came and not has_ended:
            self._round += 1
            result = came[0]
            taken = _Taken.NONE if result is None else await self._take(ask, form, result)
            if taken is _Taken.NONE:
                self._person = None
            elif taken is _Taken.ENDED:
                self._round = 0  # what comes next is another question
            return True
        return has_ended

    async def _elicit(self, form: Form) -> types.ElicitResult | None:
        try:
            return await self._ctx.session.elicit_form(form.message, form.schema, self._ctx.request_id)
        except (MCPError, ValidationError):
            return None  # it offered dialogs and shows none: the surfaces of the hub have the ask

    async def _take(self, ask: Ask, form: Form, result: types.ElicitResult) -> _Taken:
        if result.action != "accept" or self._person is None:
            return _Taken.NONE
        self._chosen = None
        filled = Filled({})
        try:
            filled = form.read(result.content)
            with anyio.CancelScope(shield=True):
                await await_call(self._send(self._person, ask, filled))
        except ConfirmFirstError:
            self._chosen = filled.values
            return _Taken.REFUSED
        except (BadRequestError, UnrecognisedError, TooLargeError) as refusal:
            self._echo = refusal.message
            return _Taken.REFUSED
        except ConflictError:
            pass  # somebody else was first, and that one counts
        except AssentError:
            return _Taken.NONE
        self._echo = ""
        return _Taken.ENDED

    def _send(self, person: Calls, ask: Ask, filled: Filled) -> Call[Ask]:
        if filled.reason and not is_approval(ask.prompt):
            return person.decline(ask.ask_id, filled.reason)  # only an approval's no can have words itself
        return person.answer(ask.ask_id, filled.values, confirmed=filled.is_confirmed, reason=filled.reason)

    # Waiting for the hub.

    async def _wait(self, ask: Ask) -> bool:
        """Wait for the hub's answer; say whether it came."""
        has_ended = False
        async with anyio.create_task_group() as group:
            group.start_soon(self._report)
            has_ended = await self._has_ended(ask, self._left())
            group.cancel_scope.cancel()
        return has_ended

    async def _has_ended(self, ask: Ask, seconds: float | None) -> bool:
        try:
            await await_call(self.calls.wait(ask.ask_id, seconds))
        except AssentError:
            return False  # nobody has answered yet, or the store cannot say so: the ask is open, as far as is known
        return True

    def _left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    async def _report(self) -> None:
        """Tell a host that wants to know that the call still waits."""
        while True:
            self._reports += 1
            asked = self.asked
            where = f": assent answer {asked.ask_id[-6:]} …" if asked is not None else ""
            try:
                await self._ctx.session.report_progress(self._reports, None, f"Waiting for a person{where}")
            except (MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody listens any more
            await anyio.sleep(PROGRESS_SECONDS)


def _request(form: Form) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=form.message, requested_schema=form.schema)
    )


def _offers_forms(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Say whether the host shows forms: what it offers without naming any is forms."""
    offered = ctx.session.client_capabilities
    if offered is None or offered.elicitation is None:
        return False
    return offered.elicitation.form is not None or offered.elicitation.url is None
