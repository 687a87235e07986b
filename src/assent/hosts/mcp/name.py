"""What the ask of a call goes by, so that the same call finds it again.

A key that the agent gives is the ask's key: the same ask, with the same answer, for ever.

Without one the arguments are the key, by these rules:

Rule 1: as long as the answer was not handed out, the same arguments find the same ask, also from another process: a call
        that its host gave up is asked again, and asks nobody twice.
Rule 2: once the answer was handed out, the same arguments are a new question. An old yes is no yes to the next one.
Rule 3: two servers that live at the same time never share an ask: what one host is told is not the other's. A server
        holds the names that it uses; what a dead one held goes to whoever asks the same next.
Rule 4: where it cannot be known whether an answer arrived, a person is asked again. Twice is a nuisance; an answer to
        another question is a danger. A host that had given up before the answer came says so, and then it is handed out
        again.
"""

from __future__ import annotations

from collections.abc import Iterable
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
_OUT, _BACK = "handed_out", "taken_back"


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
            name = _numbered(journal, number)
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
        await _note(calls, name, is_handed_out=True)
        self.leave(name)

    async def take_back(self, calls: Calls, name: Name) -> None:
        """Note that the agent was not told: its host had given up. What was asked anew meanwhile stays asked."""
        async with self._turn:  # whoever asks the same behind it finds it noted
            if name.journal and _numbered(name.journal, name.number + 1).text not in self._held:
                await _note(calls, name, is_handed_out=False)

    def leave(self, name: Name) -> None:
        """Let go of a name: the next one that asks the same may have it."""
        grip = self._held.pop(name.text, None)
        if grip is not None:
            grip.leave()

    def close(self) -> None:
        """Let go of everything."""
        while self._held:
            self._held.popitem()[1].leave()


def _numbered(journal: str, number: int) -> Name:
    return Name(f"{journal}:{number}", journal, number)


async def _note(calls: Calls, name: Name, *, is_handed_out: bool) -> None:
    if not name.journal:
        return
    for _ in range(_MOST_TRIES):
        steps = await await_call(calls.steps(name.journal))
        if (name.number in _fold(decode_entry(step, Returned) for step in steps)) is is_handed_out:
            return
        noted = Returned({_OUT if is_handed_out else _BACK: name.number})
        try:
            await await_call(calls.write_step(make_step(name.journal, len(steps), noted)))
        except FlowDivergedError:
            continue  # somebody else noted another one in this moment
        return


async def _handed_out(calls: Calls, journal: str) -> set[int]:
    return _fold(decode_entry(step, Returned) for step in await await_call(calls.steps(journal)))


def _fold(entries: Iterable[Returned]) -> set[int]:
    """Return the numbers whose answers were handed out, and not taken back."""
    numbers: set[int] = set()
    for entry in entries:
        noted = entry.value
        if isinstance(noted, dict):
            numbers |= {number for number in (noted.get(_OUT),) if isinstance(number, int)}
            numbers -= {number for number in (noted.get(_BACK),) if isinstance(number, int)}
    return numbers
