"""What people say to a run that a host drives: messages in the run's own topic, taken in turn, and the words that go
with a no where the host's protocol has no place for them.

Only a person's word is taken. Who posted a message is known where the store is at hand; where it is not known, nobody's
word is taken, as an agent could have posted it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from assent.client.calls import Calls
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.principal import Role, parse_principal
from assent.protocol.topic import Message

__all__ = ["Words", "topic_of"]

_LOOK_SECONDS = 0.5
"""So long the watching thread may outlive the run."""
MAX_WORD = 100_000
"""What is longer is no word to a run."""


def topic_of(run_id: str) -> str:
    """Return the topic in which people speak to a run."""
    return f"host:{run_id}"


class Words:
    """Follows the topic of one run."""

    def __init__(self, calls: Calls, run_id: str) -> None:
        self._calls = calls
        self._topic = topic_of(run_id)
        self._waiting: deque[str] = deque()
        self._has_come = asyncio.Event()

    async def follow(self, after: int) -> None:
        """Take messages as they come, until cancelled."""
        with self._calls.door.follow_topic(self._calls.project, self._topic, after) as feed:
            while True:
                for message in await asyncio.to_thread(feed.wait, _LOOK_SECONDS):
                    text = said_by_person(message)
                    if text:
                        self.put(text)

    def put(self, text: str) -> None:
        """Take what a person said elsewhere."""
        self._waiting.append(text)
        self._has_come.set()

    def take(self) -> str | None:
        """Return the next word; None where there is none."""
        self._has_come.clear()
        return self._waiting.popleft() if self._waiting else None

    async def wait(self) -> None:
        """Return once there is a word."""
        if not self._waiting:
            await self._has_come.wait()


def said_by_person(message: Message) -> str | None:
    """Return what a person said in a message: a text, or an object with a `text`."""
    is_person = False
    with suppress(BadRequestError, AssentError):
        is_person = bool(message.by) and parse_principal(message.by).role is Role.HUMAN
    if not is_person:
        return None
    value = message.value
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) and text.strip() and len(text) <= MAX_WORD else None
