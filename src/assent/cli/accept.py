"""Commands that stand in a repository's file run only after a person accepted that very file, once.

The acceptance is an approval in the store, under a key with the file's digest: a changed file is a new question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assent.client.client import Client
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError, StillOpen
from assent.protocol.prompt import Field, Option, Prompt
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here
from assent.surfaces.terminal import TerminalSurface

__all__ = ["accepting"]

_ACCEPT, _REFUSE = "Accept", "Refuse"


def accepting(
    asker: Client,
    typist: Client | None,
    terminal: TerminalSurface,
    file: str,
    digest: str,
    commands: Mapping[str, Sequence[str]],
) -> Callable[[], None]:
    """Return what to call before one of the `commands` of `file` is run.

    It raises:
        EffectError: no person has accepted it.
    """
    action: Json = {
        "file": file,
        "digest": digest,
        "commands": {name: list(command) for name, command in commands.items()},
    }
    options = (Option(_ACCEPT, _ACCEPT), Option(_REFUSE, _REFUSE))
    prompt = Prompt(
        f"May the commands that {file} names be run?",
        "They run as you, on this machine. Your answer holds for this file as it is now; what the programs themselves "
        "do is not looked at.",
        (Field("accept", options=options),),
        action=action,
    )

    def check() -> None:
        ask = _open(asker, prompt, f"accept:{digest}")
        if ask.is_open:
            ask = _ask(typist, terminal, ask, file)
        if ask.answer is None or ask.answer.values["accept"] != (_ACCEPT,):
            raise EffectError(f"The command in {file} was not accepted, so it was not run.")

    return check


def _open(asker: Client, prompt: Prompt, key: str) -> Ask:
    """Return what a person is asked, or how they answered; what was taken back before they did is asked anew."""
    number = 1
    while True:
        ask = asker.open(prompt, kind=Kind.APPROVAL, key=key if number == 1 else f"{key}:{number}").ask
        if ask.state in (State.OPEN, State.ANSWERED, State.DECLINED):
            return ask
        number += 1


def _ask(typist: Client | None, terminal: TerminalSurface, ask: Ask, file: str) -> Ask:
    how = f"accept it with: assent answer {short_id(ask.ask_id)} Accept"
    if typist is None or terminal.is_piped:  # approvals are typed at a terminal, or given elsewhere
        raise EffectError(f"A person has to accept the command in {file} first; {how}.")
    try:
        return answer_here(terminal, typist, ask)
    except (EOFError, StillOpen):
        raise EffectError(f"The command in {file} was not accepted yet; {how}.") from None
