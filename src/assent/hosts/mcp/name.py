"""What the ask of a call goes by, so that the same call finds it again.

A key that the agent gives is the ask's key: the same ask, with the same answer, for ever.

Without one the arguments are the key, by these rules:

Rule 1: as long as the answer was not handed out, the same arguments find the same ask, also from another process: a call
        that its host gave up is asked again, and asks nobody twice.
Rule 2: once the answer was handed out, the same arguments are a new question. An old yes is no yes to the next one.
Rule 3: two servers that live at the same time never share an ask: what one host is told is not the other's. A server
        holds the names that it uses; what a dead one held goes to whoever asks the same next.
Rule 4: where it cannot be known whether an answer arrived, a person is asked again. Twice is a nuisance; an answer to
        another question is a danger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from assent.client.awaiting import await_call, await_wait
from assent.client.grip import Grip
from assent.client.journal import Returned, decode_entry, make_step
from assent.protocol.canonical import canonical, digest
from assent.protocol.error import BadRequestError, FlowDivergedError, FlowTakenError

if TYPE_CHECKING:
    from assent.client.calls import Calls

__all__ = ["MAX_GIVEN_KEY", "Name", "Names"]

MAX_GIVEN_KEY = 400
"""Characters of a key that an agent gives: the asks of a flow have more behind it."""
_MOST_TRIES = 20


class Name(msgspec.Struct, frozen=True):
    """What the ask of one call goes by."""

    text: str
    journal: str = ""
    """Where it is noted that its answer was handed out; empty under a key that the agent gave."""
    number: int = 0

    @property
    def given(self) -> str | None:
        """The key, where the agent gave it."""
        return None if self.journal else self.text


class Names:
    """The names that this process uses."""

    def __init__(self) -> None:
        self._held: dict[str, Grip] = {}
        self._turn = anyio.Lock()

    async def claim(self, calls: Calls, tool: str, arguments: dict[str, Any], key: str | None) -> Name:
        """Return the name for a call of `tool`.

        Raises:
            BadRequestError: the key is too long.
        """
        if key is not None:
            if not 1 <= len(key) <= MAX_GIVEN_KEY:
                raise BadRequestError(f"A key has 1 to {MAX_GIVEN_KEY} characters.")
            return Name(key)
        what = [tool, arguments, str(calls.principal), calls.run_id]
        journal = f"mcp:{digest(canonical(what))}"
        async with self._turn:  # the same call twice at once is one
            return await self._claim(calls, journal)

    async def _claim(self, calls: Calls, journal: str) -> Name:
        number = 0
        handed_out = await _handed_out(calls, journal)
        while True:
            number += 1
            if number in handed_out:
                continue
            name = Name(f"{journal}:{number}", journal, number)
            if name.text in self._held:
                return name
            try:
                grip = Grip(await await_wait(calls.door.hold(calls.project, name.text)))
            except FlowTakenError:
                continue
            # Again: only now does nobody else hand it out.
            handed_out = await _handed_out(calls, journal)
            if number in handed_out:
                grip.leave()
                continue
            self._held[name.text] = grip
            return name

    async def hand_out(self, calls: Calls, name: Name) -> None:
        """Note that the agent is told the answer now, and let go of the name."""
        if not name.journal:
            return
        for _ in range(_MOST_TRIES):
            steps = await await_call(calls.steps(name.journal))
            if any(_number(decode_entry(step, Returned)) == name.number for step in steps):
                break
            noted = Returned({"handed_out": name.number})
            try:
                await await_call(calls.write_step(make_step(name.journal, len(steps), noted)))
            except FlowDivergedError:
                continue  # somebody else noted another one in this moment
            break
        grip = self._held.pop(name.text, None)
        if grip is not None:
            grip.leave()

    def close(self) -> None:
        """Let go of everything."""
        while self._held:
            self._held.popitem()[1].leave()


async def _handed_out(calls: Calls, journal: str) -> set[int]:
    steps = await await_call(calls.steps(journal))
    return {_number(decode_entry(step, Returned)) for step in steps}


def _number(entry: Returned) -> int:
    noted = entry.value
    number = noted.get("handed_out") if isinstance(noted, dict) else None
    return number if isinstance(number, int) else 0
