"""One thread of Codex as a run: its turns are iterations, and what it asks is asked of people.

Rule 1: everything that Codex asks is answered by a person's decision or by a no that says why; an error of ours is a no.
Rule 2: a cancelled run interrupts the turn at once. A paused one lets the turn go on and begins no other. Another model
        is used from the next turn on.
Rule 3: what a person says with a no is put into the turn, or begins the next: most of Codex' replies have no place for it.
Rule 4: what a turn left open when it ended is withdrawn. Told to stop, we leave the run and its asks as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from assent.client.calls import Calls, no_answer
from assent.client.turns import Turn
from assent.client.wheel import Plan
from assent.hosts.codex import question as codex
from assent.hosts.codex.rpc import END_SECONDS, Incoming, Peer
from assent.hosts.course import Course
from assent.hosts.form import host_form
from assent.hosts.request import Request, Requests
from assent.hosts.screen import Screen
from assent.protocol.ask import State
from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import AssentError, BadPromptError
from assent.protocol.host_question import host_prompt, host_replies
from assent.protocol.run import Run

__all__ = ["CodexOrders", "CodexSession"]

_OUR_SERVER = "assent"
"""Our own tools ask the hub by themselves; what they also show through Codex would be asked twice."""
_MOST_CHANGES = 1_000
"""So many file changes of a turn are remembered, for whoever is to approve them."""


class CodexOrders(msgspec.Struct, frozen=True):
    """What Codex is to do, and how it is started."""

    command: tuple[str, ...]
    environ: Mapping[str, str]
    folder: Path
    prompts: tuple[str, ...]
    """One turn each."""
    is_plan: bool = False
    """Plan mode: there Codex may ask its own questions."""
    thread_id: str = ""
    """The thread to go on with."""


class CodexSession:
    """Drives one run with one thread of Codex."""

    def __init__(self, calls: Calls, plan: Plan, orders: CodexOrders, screen: Screen) -> None:
        self._calls = calls
        self._orders = orders
        self._screen = screen
        self._course = Course(calls, plan, orders.prompts, screen)
        self._changes: dict[str, Json] = {}
        self._model = ""
        self.thread_id = orders.thread_id
        """The thread, as soon as Codex has told."""
        self._turn_id = ""
        self._turn_over: asyncio.Future[Mapping[str, Any]] | None = None
        self._peer: Peer
        self._requests: Requests

    @property
    def run_id(self) -> str:
        """The run that this is."""
        return self._course.run_id

    async def drive(self) -> Run:
        """Have all turns; return the run as it is then.

        Raises:
            AssentError: Codex cannot be started, refused, or ended in the middle.
            RunTakenError: somebody alive drives the run.
        """
        orders = self._orders
        self._peer = await Peer.start("Codex", orders.command, orders.environ, orders.folder)
        errors = asyncio.ensure_future(self._screen.pass_on(self._peer.errors))
        try:
            await self._begin()
            listening = asyncio.ensure_future(self._listen())
            try:
                return await self._course.drive(self._have_turn)
            finally:
                await self._requests.leave()
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)
        finally:
            await self._peer.close()
            errors.cancel()
            await asyncio.gather(errors, return_exceptions=True)

    async def _begin(self) -> None:
        client = {"name": "assent", "title": "Assent", "version": "1"}
        # The questions of Codex are of its experimental interface.
        await self._peer.call("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        await self._peer.notify("initialized", {})
        where: dict[str, Any] = {"cwd": str(self._orders.folder)}
        if self.thread_id:
            told = await self._peer.call("thread/resume", {**where, "threadId": self.thread_id})
        else:
            told = await self._peer.call("thread/start", where)
        thread = told.get("thread")
        self.thread_id = str(thread.get("id", "")) if isinstance(thread, Mapping) else ""
        if not self.thread_id:
            raise AssentError("Codex began no thread.")
        self._model = str(told.get("model") or "")
        self._requests = Requests(self._calls, "codex", self.thread_id, run_id=self.run_id)
        await self._requests.load()
        self._screen.tell(f"Codex thread {self.thread_id}")

    # A turn

    async def _have_turn(self, turn: Turn, text: str) -> None:
        over = asyncio.get_running_loop().create_future()
        self._turn_over = over
        started = await self._peer.call("turn/start", self._turn_params(turn, text))
        told = started.get("turn")
        self._turn_id = str(told.get("id", "")) if isinstance(told, Mapping) else ""
        ending = asyncio.ensure_future(self._course.until_ended())
        try:
            while not over.done() and not ending.done():
                word = asyncio.ensure_future(self._course.words.wait())
                await asyncio.wait({over, ending, word}, return_when=asyncio.FIRST_COMPLETED)
                if word.done():
                    await self._steer()
                word.cancel()
            if not over.done():
                await self._interrupt(over)
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
        await self._requests.drop_all("Codex ended its turn.")
        self._changes.clear()
        if over.done():
            self._check_turn(over.result())

    def _turn_params(self, turn: Turn, text: str) -> dict[str, Any]:
        params: dict[str, Any] = {"threadId": self.thread_id, "input": _input(text)}
        model = turn.model or self._model
        if turn.model:
            params["model"] = turn.model
        if self._orders.is_plan:
            settings = {"model": model, "reasoning_effort": None, "developer_instructions": None}
            params["collaborationMode"] = {"mode": "plan", "settings": settings}
        return params

    async def _interrupt(self, over: asyncio.Future[Mapping[str, Any]]) -> None:
        self._screen.tell("the run was ended; interrupting Codex")
        await self._requests.drop_all("The run was ended.")
        with suppress(AssentError, TimeoutError):
            params = {"threadId": self.thread_id, "turnId": self._turn_id}
            await asyncio.wait_for(self._peer.call("turn/interrupt", params), END_SECONDS)
            await asyncio.wait_for(asyncio.shield(over), END_SECONDS)

    async def _steer(self) -> None:
        """Put a person's word into the turn; one that comes too late begins the next."""
        word = self._course.words.take()
        if word is None:
            return
        params = {"threadId": self.thread_id, "expectedTurnId": self._turn_id, "input": _input(word)}
        try:
            await self._peer.call("turn/steer", params)
        except AssentError:
            self._course.put_off(word)
        else:
            self._screen.tell("Codex was told what a person said")

    def _check_turn(self, told: Mapping[str, Any]) -> None:
        status, error = told.get("status"), told.get("error")
        if status == "failed":
            sentence = error.get("message") if isinstance(error, Mapping) else ""
            raise AssentError(f"Codex failed: {quote(str(sentence or 'it did not say why'))}")

    # What Codex says

    async def _listen(self) -> None:
        async for said in self._peer.listen():
            if said.request_id is not None:
                await self._take(said)
            else:
                await self._hear(said)
        over = self._turn_over
        if over is not None and not over.done():
            over.set_exception(AssentError("Codex has ended."))

    async def _hear(self, said: Incoming) -> None:
        params, item = said.params, said.params.get("item")
        if said.method == "serverRequest/resolved":
            await self._requests.drop(str(params.get("requestId")), "Codex does not wait for it any more.")
        elif said.method == "item/fileChange/patchUpdated":
            self._remember(params.get("itemId"), params.get("changes"))
        elif said.method in {"item/started", "item/completed"} and isinstance(item, Mapping):
            if item.get("type") == "fileChange":
                self._remember(item.get("id"), item.get("changes"))
            elif item.get("type") in {"agentMessage", "plan"} and said.method == "item/completed":
                self._screen.show(str(item.get("text") or ""))
        elif said.method == "turn/completed":
            turn, over = params.get("turn"), self._turn_over
            is_ours = params.get("threadId", self.thread_id) == self.thread_id
            if over is not None and not over.done() and is_ours:
                over.set_result(turn if isinstance(turn, Mapping) else {})

    def _remember(self, item_id: object, changes: Json) -> None:
        if isinstance(item_id, str) and changes and len(self._changes) < _MOST_CHANGES:
            self._changes[item_id] = changes

    async def _take(self, said: Incoming) -> None:
        known = {codex.COMMAND, codex.FILE_CHANGE, codex.PERMISSIONS, codex.INPUT, codex.ELICITATION}
        assert said.request_id is not None  # noqa: S101 - the caller has just looked
        if said.method not in known:
            await self._peer.refuse(said.request_id, "Assent does not carry this.")
            return
        content = {"method": said.method, "changes": self._shown(said), **codex.lasting(said.params)}
        self._requests.start(str(said.request_id), content, lambda request: self._answer(said, request))

    def _shown(self, said: Incoming) -> Json:
        return self._changes.get(str(said.params.get("itemId"))) if said.method == codex.FILE_CHANGE else None

    async def _answer(self, said: Incoming, request: Request) -> None:
        words = ""
        try:
            result, words = await self._decide(said, request)
        except Exception as error:  # noqa: BLE001 - rule 1: whatever went wrong is a no
            why = (
                error.message
                if isinstance(error, AssentError)
                else f"Something went wrong ({type(error).__name__})."
            )
            self._screen.tell(f"Codex is told no: {why}")
            result = _refusal(said, why)
        assert said.request_id is not None  # noqa: S101 - it is a request
        with suppress(AssentError):
            if await self._course.is_ended():
                return  # the ask ended with the run; Codex is about to be interrupted, and must not go on before
        await self._peer.reply(said.request_id, result)
        if words:
            self._course.words.put(words)

    async def _decide(self, said: Incoming, request: Request) -> tuple[dict[str, Json], str]:
        """Return the reply, and what a person said with a no, as Codex has no place for it in this reply."""
        if said.method == codex.INPUT:
            return await self._put_questions(said, request), ""
        if said.method == codex.ELICITATION and not codex.is_tool_approval(said.params):
            return await self._put_form(said, request)
        title, action, body = codex.approval(said.method, said.params, self._shown(said))
        self._screen.tell(f"waits for a person: {title}")
        permission = await request.permit(title, action, body=body)
        self._screen.tell(permission.reason)
        words = permission.ask.words if permission.ask is not None else ""
        told = codex.grant(said.method, said.params, is_allowed=permission.is_allowed)
        return told, f"{title}: {permission.reason}" if words else ""

    async def _put_questions(self, said: Incoming, request: Request) -> dict[str, Json]:
        asked = codex.questions(said.params)
        prompt = host_prompt(asked, title="Codex asks")
        self._screen.tell(f"waits for a person: {prompt.title}")
        ended = await request.ask(prompt)
        replies = host_replies(asked, ended)
        return codex.answers(asked, replies) if replies else _refusal(said, no_answer(ended).message)

    async def _put_form(self, said: Incoming, request: Request) -> tuple[dict[str, Json], str]:
        params = said.params
        server = str(params.get("serverName", ""))
        if server == _OUR_SERVER:
            return {"action": "cancel"}, ""
        if params.get("mode") not in {"form", "openai/form"}:
            raise BadPromptError("Only forms are carried, and no addresses to open.")
        form = host_form(
            str(params.get("message", "")), params.get("requestedSchema"), body=f"From {server}."
        )
        self._screen.tell(f"waits for a person: {form.prompt.title}")
        ended = await request.ask(form.prompt)
        content = form.content(ended)
        if content is None:
            words = f"{form.prompt.title}: {no_answer(ended).message}" if ended.words else ""
            return {"action": "decline" if ended.state is State.DECLINED else "cancel"}, words
        return {"action": "accept", "content": content}, ""


def _refusal(said: Incoming, why: str) -> dict[str, Json]:
    if said.method == codex.INPUT:
        return codex.no_answers(said.params, why)
    if said.method == codex.ELICITATION:
        return {"action": "cancel"}
    return codex.grant(said.method, said.params, is_allowed=False)


def _input(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, "text_elements": []}]
