"""Commands that stand in a repository's file run only after a person accepted that very file, once.

Rule 1: what was accepted is noted in the user's state folder. A store may have come from elsewhere, with answers in it.
Rule 2: the question is an approval in the store, under a key with the file's digest: a changed file is a new question. Its
        answer counts where it was still open when this user's program asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from assent.client.calls import Calls
from assent.client.door import Call
from assent.client.place import state_folder
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.canonical import Json
from assent.protocol.prompt import Field, Option, Prompt

__all__ = ["Acceptance"]

_ACCEPT, _REFUSE = "Accept", "Refuse"
_FIELD = Field("accept", options=(Option(_ACCEPT, _ACCEPT), Option(_REFUSE, _REFUSE)))
_FOLDER = "accepted"
_DONE = "accepted\n"


class Acceptance:
    """Whether the commands that a file names may be run, as far as this user has said so."""

    def __init__(
        self,
        calls: Calls,
        file: str,
        digest: str,
        commands: Mapping[str, Sequence[str]],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._calls = calls
        self._file = file
        self._digest = digest
        self._commands = commands
        state = state_folder(environ)
        self._note = state / _FOLDER / self._name() if state else None
        self._is_given = False

    def _name(self) -> str:
        parts = (self._calls.door.url, self._calls.project, self._file, self._digest)
        return sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:40]

    @property
    def is_given(self) -> bool:
        """Whether this user has accepted the file as it is now."""
        return self._is_given or self._noted() == _DONE

    def ask(self) -> Call[Ask]:
        """Return what a person is asked, or how they answered; what was taken back before they did is asked anew."""
        action: Json = {
            "file": self._file,
            "digest": self._digest,
            "commands": {name: list(command) for name, command in self._commands.items()},
        }
        prompt = Prompt(
            f"May the commands that {self._file} names be run?",
            "They run as you, on this machine. Your answer holds for this file as it is now; what the programs themselves "
            "do is not looked at.",
            (_FIELD,),
            action=action,
        )
        number = 1
        while True:
            key = f"accept:{self._digest}" if number == 1 else f"accept:{self._digest}:{number}"
            ask = yield from self._calls.open(prompt, kind=Kind.APPROVAL, key=key)
            if ask.is_open:
                self._write(ask.ask_id)
                return ask
            if ask.state is State.DECLINED or (ask.state is State.ANSWERED and not _says_accept(ask)):
                return ask
            if ask.state is State.ANSWERED and self._is_ours(ask):
                return ask
            number += 1

    def settle(self, ask: Ask) -> bool:
        """Say whether a person said that the commands may be run, and note it."""
        if not _says_accept(ask):
            return False
        self._is_given = True
        self._write(_DONE)
        return True

    def _is_ours(self, ask: Ask) -> bool:
        return self._noted() == ask.ask_id

    def _noted(self) -> str:
        try:
            return self._note.read_text(encoding="utf-8") if self._note else ""
        except (OSError, UnicodeDecodeError):
            return ""

    def _write(self, text: str) -> None:
        """Note how far it is. Where it cannot be noted, it is asked again the next time."""
        if self._note is None:
            return
        fresh = Path(f"{self._note}.{os.getpid()}")
        with suppress(OSError):
            self._note.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._note.parent.mkdir(mode=0o700, exist_ok=True)
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self._note)


def _says_accept(ask: Ask) -> bool:
    return ask.answer is not None and ask.answer.values.get(_FIELD.name) == (_ACCEPT,)
