"""Commands that stand in a repository's file run only after a person accepted that very file, once.

The acceptance is an approval in the store, under a key with the file's digest: a changed file is a new question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.client.calls import Calls
from assent.client.client import blocking
from assent.client.door import Call
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.canonical import Json
from assent.protocol.prompt import Field, Option, Prompt

__all__ = ["ask_acceptance", "is_accepted", "open_acceptance"]

_ACCEPT, _REFUSE = "Accept", "Refuse"
_FIELD = Field("accept", options=(Option(_ACCEPT, _ACCEPT), Option(_REFUSE, _REFUSE)))


def ask_acceptance(calls: Calls, file: str, digest: str, commands: Mapping[str, Sequence[str]]) -> Call[Ask]:
    """Return what a person is asked, or how they answered; what was taken back before they did is asked anew."""
    action: Json = {
        "file": file,
        "digest": digest,
        "commands": {name: list(command) for name, command in commands.items()},
    }
    prompt = Prompt(
        f"May the commands that {file} names be run?",
        "They run as you, on this machine. Your answer holds for this file as it is now; what the programs themselves "
        "do is not looked at.",
        (_FIELD,),
        action=action,
    )
    number = 1
    while True:
        key = f"accept:{digest}" if number == 1 else f"accept:{digest}:{number}"
        ask = yield from calls.open(prompt, kind=Kind.APPROVAL, key=key)
        if ask.state in (State.OPEN, State.ANSWERED, State.DECLINED):
            return ask
        number += 1


def is_accepted(ask: Ask) -> bool:
    """Whether a person said that the commands may be run."""
    return ask.answer is not None and ask.answer.values[_FIELD.name] == (_ACCEPT,)


open_acceptance = blocking(ask_acceptance)
