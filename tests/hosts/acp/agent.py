"""An agent that speaks the Agent Client Protocol by the real library, and does what its script says.

`python agent.py SCRIPT.json`: the script is a list of turns, a turn a list of steps. Each step is a method and its
arguments; what came of it is said as a line of JSON.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import (
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationUrlSessionMode,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
)

__all__: list[str] = []


class Agent:
    """Plays the script, a turn for each prompt."""

    def __init__(self, turns: list[list[dict[str, Any]]]) -> None:
        self.turns = iter(turns)
        self.is_cancelled = asyncio.Event()
        self.connection: Any = None

    def on_connect(self, conn: Any) -> None:
        self.connection = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, **_: Any
    ) -> InitializeResponse:
        assert client_capabilities.elicitation.form is not None
        assert client_capabilities.elicitation.url is None
        assert protocol_version == acp.PROTOCOL_VERSION
        return InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        assert Path(cwd).is_absolute()
        assert os.environ["PWD"] == cwd
        return NewSessionResponse(session_id="s1")

    async def cancel(self, session_id: str, **_: Any) -> None:  # noqa: ARG002 - the library's signature
        self.is_cancelled.set()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> PromptResponse:
        await self.say(session_id, f"heard: {prompt[0].text}")
        for step in next(self.turns, []):
            told = await self.play(session_id, step)
            await self.say(session_id, json.dumps(told, sort_keys=True))
        reason = "cancelled" if self.is_cancelled.is_set() else "end_turn"
        return PromptResponse(stop_reason=reason)  # type: ignore[arg-type]  # one of its words

    async def play(self, session_id: str, step: dict[str, Any]) -> Any:
        if "permit" in step:
            options = [PermissionOption(option_id=i, name=n, kind=k) for i, n, k in step["options"]]
            call = ToolCallUpdate.model_validate(step["permit"])
            told = await self.connection.request_permission(
                session_id=session_id, tool_call=call, options=options
            )
            return told.outcome.model_dump(mode="json", by_alias=True, exclude_none=True)
        mode: Any
        if "url" in step:
            mode = ElicitationUrlSessionMode(session_id=session_id, elicitation_id="e1", url=step["url"])
        else:
            schema = ElicitationSchema.model_validate(step["form"])
            mode = ElicitationFormSessionMode(session_id=session_id, requested_schema=schema)
        try:
            told = await self.connection.create_elicitation(step["message"], mode)
        except acp.RequestError as error:
            return {"refused": error.code}
        return told.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def say(self, session_id: str, text: str) -> None:
        await self.connection.session_update(session_id, acp.update_agent_message_text(f"{text}\n"))


if __name__ == "__main__":
    script = json.loads(Path(sys.argv[1]).read_text())
    agent: Any = Agent(script)
    asyncio.run(acp.run_agent(agent, use_unstable_protocol=True))
