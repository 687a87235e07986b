"""The client side of the Agent Client Protocol, for people who are elsewhere. Needs the extra `acp`.

Give one to `acp.spawn_agent_process` or `acp.connect_to_agent`: what the agent asks is asked of people through the hub.

Rule 1: everything but a person's yes, redeemed for this very tool call, is a no; an error of ours is one, too.
Rule 2: a turn that was cancelled has its requests answered `cancelled`, and its asks withdrawn.
Rule 3: neither files nor terminals are offered: an agent has its own, and asks before it uses them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from acp import RequestError
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationFormRequestMode,
    ElicitationFormSessionMode,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from assent.client.calls import Calls
from assent.hosts.acp.question import Choice, allowing, choose_question, permission_action, rejecting
from assent.hosts.form import host_form
from assent.hosts.request import Request, Requests
from assent.protocol.approval import render_rejection
from assent.protocol.ask import Ask, State
from assent.protocol.canonical import Json
from assent.protocol.ending import render_ending
from assent.protocol.error import AssentError, BadPromptError
from assent.protocol.host_question import host_prompt

__all__ = ["CAPABILITIES", "AcpClient", "ElicitationResponse"]

CAPABILITIES = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))
"""What to say of it when the talk begins."""
ElicitationResponse = AcceptElicitationResponse | DeclineElicitationResponse | CancelElicitationResponse
R = TypeVar("R")
_UNDECIDED = frozenset({State.WITHDRAWN, State.EXPIRED, State.SUPERSEDED})
"""Nobody said no: the agent's own no is not for us to choose."""
_MOST_CALLS = 10_000
"""So many tool calls of a turn are remembered, for whoever is to approve them."""


class AcpClient:
    """Carries what one agent asks to people, and their decisions back."""

    def __init__(
        self,
        calls: Calls,
        session: str,
        *,
        run_id: str | None = None,
        show: Callable[[str], None] = lambda _: None,
        tell: Callable[[str], None] = lambda _: None,
        pass_on: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the calls of a client (`client.calls`) and a name under which asks are found again after a restart.

        `pass_on` is given what a person says with a no, for the agent's next prompt: its protocol has no other place.
        """
        self._requests = Requests(calls, "acp", session, run_id=run_id)
        self._show = show
        self._tell = tell
        self._pass_on = pass_on
        self._number = 0
        self._tool_calls: dict[str, dict[str, Any]] = {}

    async def load(self) -> None:
        """Learn what was told in earlier processes; before the agent is given its first prompt."""
        await self._requests.load()

    async def drop_all(self, reason: str) -> None:
        """A turn has ended or was cancelled: what it asked is withdrawn, and answered `cancelled`."""
        await self._requests.drop_all(reason)
        self._tool_calls.clear()

    async def leave(self) -> None:
        """Stop; what is open stays open, to be found again."""
        await self._requests.leave()

    # What the library calls

    def on_connect(self, conn: Any) -> None:
        """Nothing is asked of the agent from here."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:  # noqa: ARG002 - the library's signature
        """Show what the agent says, and remember its tool calls."""
        told = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        kind, content = told.get("sessionUpdate"), told.get("content")
        if kind == "agent_message_chunk" and isinstance(content, Mapping):
            self._show(str(content.get("text") or ""))
        elif kind in {"tool_call", "tool_call_update"}:
            self._remember(told)

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002 - the library's signature
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **_: Any,
    ) -> RequestPermissionResponse:
        """Ask people whether a tool call may happen."""
        told = tool_call.model_dump(mode="json", by_alias=True, exclude_none=True)
        call = {**self._tool_calls.get(tool_call.tool_call_id, {}), **told}
        choices = [Choice(each.option_id, each.name, str(each.kind)) for each in options]
        lasting = {key: value for key, value in call.items() if key != "toolCallId"}

        async def work(request: Request) -> RequestPermissionResponse:
            return _selected(await self._choose(request, call, choices))

        no = _selected(rejecting(choices))
        return await self._carry({"permit": lasting}, work, no, _selected(None))

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> ElicitationResponse:
        """Put a form to people."""
        if not isinstance(mode, ElicitationFormSessionMode | ElicitationFormRequestMode):
            raise RequestError.invalid_params({"details": "Only forms are carried."})
        schema = mode.requested_schema.model_dump(mode="json", by_alias=True, exclude_none=True)
        cancelled: ElicitationResponse = CancelElicitationResponse(action="cancel")

        async def work(request: Request) -> ElicitationResponse:
            form = host_form(str(message), schema)
            self._tell(f"waits for a person: {form.prompt.title}")
            ended = await request.ask(form.prompt)
            content = form.content(ended)
            if content is not None:
                return AcceptElicitationResponse(action="accept", content=content)
            self._say_why(form.prompt.title, ended)
            is_declined = ended.state is State.DECLINED
            return DeclineElicitationResponse(action="decline") if is_declined else cancelled

        return await self._carry({"message": message, "form": schema}, work, cancelled, cancelled)

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        """Addresses to open are not carried, so nothing is completed."""

    async def read_text_file(self, *_: Any, **__: Any) -> Any:
        """Refuse: rule 3."""
        raise RequestError.method_not_found("fs/read_text_file")

    async def write_text_file(self, *_: Any, **__: Any) -> Any:
        """Refuse: rule 3."""
        raise RequestError.method_not_found("fs/write_text_file")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Refuse what is not of the protocol."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Pass over what is not of the protocol."""

    # Our side of it

    def _remember(self, told: dict[str, Any]) -> None:
        call_id = told.get("toolCallId")
        if isinstance(call_id, str) and (call_id in self._tool_calls or len(self._tool_calls) < _MOST_CALLS):
            self._tool_calls[call_id] = {**self._tool_calls.get(call_id, {}), **told}

    async def _choose(
        self, request: Request, call: Mapping[str, Any], choices: list[Choice]
    ) -> Choice | None:
        """Return the option that is to be chosen; None where there is none that says what was decided."""
        ways = allowing(choices)
        if not ways:
            raise BadPromptError("The agent offers no yes for this once.")
        way, no = ways[0], rejecting(choices)
        title, _ = permission_action(call, way)
        self._tell(f"waits for a person: {title}")
        if len(ways) > 1:
            # Which of several ways is a question; that it may happen is an approval, of that way.
            offered = [*ways, no] if no is not None else list(ways)
            asked = choose_question(title, offered)
            ended = await request.ask(host_prompt([asked]))
            if ended.answer is None:
                self._say_why(title, ended)
                return no if ended.state is State.DECLINED else None
            field = ended.prompt.fields[0]
            chosen = ended.answer.values[field.name][0]
            way = next(way for way, shown in zip(offered, field.options, strict=True) if shown.key == chosen)
            if way is no:
                return no
            request = request.next()
        title, action = permission_action(call, way)
        permission = await request.permit(title, action)
        self._tell(permission.reason)
        if permission.ask is not None:
            self._say_why(title, permission.ask)
            if permission.ask.state in _UNDECIDED:
                return None
        return way if permission.is_allowed else no

    def _say_why(self, title: str, ask: Ask) -> None:
        """Hand on what a person said with a no."""
        if ask.words:
            self._pass_on(
                f"{title}: {render_rejection(ask) if ask.answer is not None else render_ending(ask)}"
            )

    async def _carry(self, content: Json, work: Callable[[Request], Awaitable[R]], no: R, cancelled: R) -> R:
        """Return what came of it: `no` where something went wrong, `cancelled` where it is not wanted any more."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._number += 1

        async def tell(request: Request) -> None:
            result = cancelled
            try:
                result = await work(request)
            except Exception as error:  # noqa: BLE001 - rule 1: whatever went wrong is a no
                what = f"Something went wrong ({type(error).__name__})."
                self._tell(
                    f"the agent is told no: {error.message if isinstance(error, AssentError) else what}"
                )
                result = no
            finally:
                if not done.done():
                    done.set_result(result)

        self._requests.start(str(self._number), content, tell)
        return await done


def _selected(choice: Choice | None) -> RequestPermissionResponse:
    if choice is None:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
    return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=choice.option_id))
