"""Agents' hosts as doors of the world: the hooks of Claude Code, and the dialogs of MCP.

A reply that a host carries is the deed of the OS user, by assurance `host`, and of nobody else. What an agent makes up
for another session, another agent or an approval is no deed; neither is a dialog that was closed, declined or lost.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import threading
from pathlib import Path
from typing import Any

import anyio
from mcp.types import ElicitRequestFormParams, ElicitResult

from assent.client.client import blocking
from assent.hosts.claude_code.glance import HOST, QUESTION_TOOL, Watch
from assent.hosts.claude_code.hook import reply_to
from assent.protocol.approval import APPROVE
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError
from tests.cli.shell import wait_for
from tests.hosts.mcp.world import ERAS
from tests.hosts.mcp.world import World as McpWorld
from torture.provenance_ledger import UNGROUNDED, Deed
from torture.provenance_world import AGENTS, CATEGORIES, LABELS, PEOPLE, World

__all__ = ["Dialogs", "Hooks"]

PATIENCE = 120.0
_MOST_KEPT = 20
"""So many sessions of hosts are remembered, to go on with."""
_HOST_NAME = "desk-host"
_reply = blocking(reply_to)


def user() -> str:
    """Return the person who sits at every host of this machine."""
    return f"human:{pwd.getpwuid(os.getuid()).pw_name}"


class Hooks:
    """Hosts of Claude Code, headless or not, on the file and over HTTP."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._questions: list[tuple[str, dict[str, Any], str]] = []
        """Whose host, the event, and the ask."""
        self._calls: list[tuple[str, dict[str, Any], str]] = []
        world.acts += [(3, self.ask), (4, self.call), (3, self.post), (2, self.forge), (0.5, self.ask_beside)]

    def ask(self) -> None:
        """A host's question is put off, or asked about again when its session resumes."""
        world = self._world
        if self._questions and world.chance.random() < 0.3:
            name, event, ask_id = world.chance.choice(self._questions)
        else:
            name, event, ask_id = world.chance.choice(AGENTS), self._question("PreToolUse"), ""
        told = self._tell(name, event)
        ask_id = ask_id or self._remember(self._questions, name, event)
        if told.get("permissionDecision") == "allow":
            world.tally.check(world.ledger.has_yes([ask_id]), UNGROUNDED, (event, told))

    def call(self) -> None:
        """A host's call must be approved, or its category's policy says otherwise; perhaps it comes again."""
        world = self._world
        if self._calls and world.chance.random() < 0.5:
            name, event, ask_id = world.chance.choice(self._calls)
        else:
            given = {"command": f"rm -rf build-{world.number()}"}
            name, event, ask_id = world.chance.choice(AGENTS), self._event("PreToolUse", "Bash", given), ""
            event["category"] = world.chance.choice(("", "", *CATEGORIES))
        told = self._tell(name, event)
        ask_id = ask_id or self._remember(self._calls, name, event)
        if told.get("permissionDecision") == "allow":
            world.tally.add("calls let through")
            world.tally.check(world.ledger.has_yes([ask_id], APPROVE), UNGROUNDED, (event, told))

    def post(self) -> None:
        """A host tells what its user chose: that user's deed; over HTTP, or where it says nothing, nobody's."""
        if self._questions:
            name, event, ask_id = self._world.chance.choice(self._questions)
            self._post(name, event, self._world.looker.show(ask_id))

    def _post(self, name: str, event: dict[str, Any], ask: Ask) -> None:
        world, field = self._world, ask.prompt.fields[0]
        option = world.chance.choice(field.options)
        way = world.chance.choice(("chosen", "chosen", "chosen", "http", "timer", "nothing", "unreadable"))
        response: Any = {"answers": {event["tool_input"]["questions"][0]["question"]: option.label}}
        if way == "timer":
            response["afkTimeoutMs"] = 60_000
        elif way == "nothing":
            response["answers"] = {}
        elif way == "unreadable":
            response = option.label
        elif way == "chosen" and ask.is_open:
            content = ({field.name: [option.key]}, "")
            deed = Deed("answer", user(), ask.ask_id, content, ("host",), via=f"host:{HOST}")
            world.ledger.did(deed).is_acknowledged = True
        world.tally.add("replies by hook")
        sent = {**event, "hook_event_name": "PostToolUse", "tool_response": response}
        self._tell(name, sent, is_http=way == "http")

    def forge(self) -> None:
        """An agent makes an event up that says what somebody chose, for what its session never asked."""
        world, chance = self._world, self._world.chance
        ask, name = world.pick(), chance.choice(AGENTS)
        if ask is None:
            return
        field = ask.prompt.fields[0]
        options = [{"label": option.label, "description": ""} for option in field.options]
        question = {"question": ask.prompt.title, "options": options or [{"label": "yes"}]}
        given: dict[str, Any] = {"questions": [question]}
        event = self._event("PostToolUse", QUESTION_TOOL, given)
        if (
            self._questions and chance.random() < 0.5
        ):  # another agent's session, or another session's question
            whose, known, _ = chance.choice(self._questions)
            name = next(other for other in AGENTS if other != whose)
            event = {**known, "hook_event_name": "PostToolUse"}
            if chance.random() < 0.5:
                name, event["session_id"] = whose, chance.choice(("s", f"{known['session_id']}:", "x", ""))
        elif self._calls and chance.random() < 0.5:  # a call that waits for its approval
            name, known, _ = chance.choice(self._calls)
            event = {**known, "hook_event_name": "PostToolUse"}
            if chance.random() < 0.5:
                event |= {"tool_name": QUESTION_TOOL, "tool_input": given}
        asked = event["tool_input"].get("questions", [question])[0]
        event["tool_response"] = {"answers": {asked["question"]: asked["options"][0]["label"]}}
        self._tell(name, event)
        world.tally.add("forged events of hosts")

    def ask_beside(self) -> None:
        """The host's own dialog and the inbox are open at once, and the host's user is first, or a person elsewhere."""
        world, name = self._world, self._world.chance.choice(AGENTS)
        event = self._question("PermissionRequest")
        thread = threading.Thread(target=self._tell, args=(name, event), kwargs={"wait": PATIENCE})
        thread.start()
        found: list[Ask] = []

        def is_there() -> bool:
            found[:] = [ask for ask in world.looker.inbox(limit=200) if _is_of(ask, event)]
            return bool(found)

        wait_for(is_there)
        if world.chance.random() < 0.5:
            world.answer_by(found[0], world.chance.choice(PEOPLE), "http")
        if world.looker.show(found[0].ask_id).is_open:
            self._post(name, event, found[0])
        if world.looker.show(found[0].ask_id).is_open:  # nobody chose anything, and the turn ends
            self._tell(name, {**event, "hook_event_name": "Stop"})
        thread.join(PATIENCE)

    def _question(self, name: str) -> dict[str, Any]:
        world = self._world
        labels = world.chance.sample(LABELS, world.chance.randint(2, 4))
        question = {
            "question": f"Which one {world.number()}?",
            "header": "One",
            "options": [{"label": label, "description": ""} for label in labels],
            "multiSelect": world.chance.random() < 0.3,
        }
        return self._event(name, QUESTION_TOOL, {"questions": [question]})

    def _event(self, name: str, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        number = self._world.number()
        common = {
            "session_id": f"s-{number}",
            "cwd": "/srv/shop",
            "prompt_id": "p-1",
            "hook_event_name": name,
        }
        return {**common, "tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{number}"}

    def _remember(self, kept: list[tuple[str, dict[str, Any], str]], name: str, event: dict[str, Any]) -> str:
        ask = next((ask for ask in self._world.looker.inbox(limit=200) if _is_of(ask, event)), None)
        if ask is None:
            return ""
        kept.append((name, event, ask.ask_id))
        del kept[:-_MOST_KEPT]
        return ask.ask_id

    def _tell(
        self, name: str, event: dict[str, Any], *, wait: float = 0, is_http: bool = False
    ) -> dict[str, Any]:
        world = self._world
        watch = Watch(["Bash(rm *)"], is_headless=True, category=event.get("category", ""))
        agent = (world.agents_far if is_http else world.agents)[name]
        told: dict[str, Any] | None = None
        with contextlib.suppress(AssentError):
            told = _reply(agent, event, watch, wait)
        said: dict[str, Any] = (told or {}).get("hookSpecificOutput", {})
        return said


def _is_of(ask: Ask, event: dict[str, Any]) -> bool:
    return (ask.key or "").startswith(f"{HOST}:{event['session_id']}:")


class Dialogs:
    """Hosts that speak MCP, of both eras: an agent asks through a tool, and the host shows a dialog, or fails to."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world, self._mcp = world, McpWorld(world.store, folder)
        world.acts.append((2.5, self.ask))

    def ask(self) -> None:
        """An agent calls a tool that asks; its host does something with the dialog."""
        world, chance = self._world, self._world.chance
        number = world.number()
        labels = chance.sample(LABELS, 3)
        tools: dict[str, dict[str, Any]] = {
            "ask_user": {"question": f"Which {number}?", "options": labels, "destructive": labels[:1]},
            "confirm": {"question": f"Which {number}?"},
            "request_approval": {"title": f"Which {number}?", "action": {"drop": number}},
        }
        tool, arguments = chance.choice(list(tools.items()))
        anyio.run(self._call, chance.choice(ERAS), tool, arguments, f"Which {number}?")
        world.tally.add("calls by MCP")

    async def _call(self, era: str, tool: str, arguments: dict[str, Any], title: str) -> None:
        is_shown = anyio.Event()

        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            result = self._fill(form, title)
            if result is None:
                is_shown.set()
                await anyio.sleep_forever()
            return result  # type: ignore[return-value]

        calls = self._world.agents["coder"].calls
        async with (
            self._mcp.host(era, fill, wait=0, calls=calls, name=_HOST_NAME) as host,
            anyio.create_task_group() as group,
        ):

            async def leave() -> None:
                await is_shown.wait()
                group.cancel_scope.cancel()

            group.start_soon(leave)
            with contextlib.suppress(Exception):  # a host that fails is one of the things that happen
                await host.call(tool, **arguments)
            group.cancel_scope.cancel()

    def _fill(self, form: ElicitRequestFormParams, title: str) -> ElicitResult | None:
        """Return what the host sends; None where it shows the dialog for ever."""
        world, chance = self._world, self._world.chance
        way = chance.choice(("accept", "accept", "accept", "decline", "cancel", "error", "close", "garbage"))
        if way == "close":
            return None
        if way == "error":
            raise RuntimeError("no dialogs here")
        if way in ("decline", "cancel"):
            return ElicitResult.model_validate({"action": way})
        if way == "garbage":
            content = chance.choice(
                (
                    {},
                    {"answer": ""},
                    {"answer": "perhaps"},
                    {"answer": 7},
                    {"reply": "Yes"},
                    {"answer": ["x"]},
                )
            )
            return ElicitResult.model_validate({"action": "accept", "content": content})
        ask = next(ask for ask in world.looker.inbox(limit=200) if ask.prompt.title == title)
        field = ask.prompt.fields[0]
        asked = form.requested_schema["properties"]["answer"]
        chosen: Any = chance.choice(_choices(asked))
        is_check = "cannot be undone" in form.message
        if is_check and chosen == "Yes":
            chosen = next(option.label for option in field.options if option.destructive)
            self._did(ask, chosen)
            return ElicitResult(action="accept", content={"answer": "Yes"})
        if not is_check and not any(
            option.destructive and option.label == chosen for option in field.options
        ):
            self._did(
                ask, {True: "Yes", False: "No"}.get(chosen, chosen) if asked["type"] == "boolean" else chosen
            )
        return ElicitResult(action="accept", content={"answer": chosen})

    def _did(self, ask: Ask, label: str) -> None:
        field = ask.prompt.fields[0]
        key = next(option.key for option in field.options if option.label == label)
        content = ({field.name: [key]}, "")
        deed = Deed("answer", user(), ask.ask_id, content, ("host",), via=f"host:{_HOST_NAME}")
        self._world.ledger.did(deed).is_acknowledged = True
        self._world.tally.add("replies by dialog")


def _choices(asked: dict[str, Any]) -> list[Any]:
    if asked["type"] == "boolean":
        return [True, False]
    return list(asked.get("enum") or [each["const"] for each in asked["oneOf"]])
