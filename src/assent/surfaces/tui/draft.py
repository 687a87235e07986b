"""What somebody has marked or written and not sent yet, in files of their own: it survives the program, however that ends.

Rule 1: a draft is written whole or not at all, and before the next key counts.
Rule 2: nothing goes wrong for want of a draft: a folder that cannot be written to keeps none.
Rule 3: which ask was open is kept in the same way, so that a sitting goes on where it was interrupted; and that somebody
        was typing, so that the keys that they go on typing do nothing there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from assent.surfaces.tui.reply import Reply

__all__ = ["MAX_DRAFT_BYTES", "Drafts"]

MAX_DRAFT_BYTES = 1 << 20
"""A longer file is no draft of ours."""
_KEPT_SECONDS = 14 * 86_400.0
_PLACE = "place.json"
_TYPING = "typing.json"


class Drafts:
    """The drafts of one user."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        """Where they are; None keeps them for as long as the program runs."""
        self._kept: dict[str, Reply] = {}
        self._names: set[str] | None = None
        """The files that there are: a long list asks for each of its drafts with every key."""
        self._place = ""

    def read(self, ask_id: str) -> Reply | None:
        """Return the draft for an ask, if there is one."""
        if ask_id in self._kept or self._folder is None:
            return self._kept.get(ask_id)
        name = _name(ask_id)
        if name not in self._files():
            return None
        text = self._read_file(name)
        try:
            reply = None if text is None else msgspec.json.decode(text, type=Reply)
        except (msgspec.DecodeError, RecursionError):
            reply = None
        if reply is None:
            self._files().discard(name)
        else:
            self._kept[ask_id] = reply
        return reply

    def keep(self, ask_id: str, reply: Reply) -> bool:
        """Keep a draft; one with nothing in it is dropped. Say whether it will survive the program."""
        if reply.is_blank:
            self.drop(ask_id)
            return True
        self._kept[ask_id] = reply
        return self._write_file(_name(ask_id), _encode(reply))

    def drop(self, ask_id: str) -> None:
        """Forget a draft."""
        self._kept.pop(ask_id, None)
        name = _name(ask_id)
        if name in self._files():
            self._unlink(name)

    def has(self, ask_id: str) -> bool:
        """Say whether there is a draft for an ask."""
        return self.read(ask_id) is not None

    def remember(self, ask_id: str) -> None:
        """Keep which ask is open."""
        if ask_id != self._place:
            self._place = ask_id
            self._write_file(_PLACE, _encode(ask_id))

    def recall(self) -> str:
        """Return the id of the ask that was open the last time; empty if none was."""
        text = None if self._place or self._folder is None else self._read_file(_PLACE)
        with suppress(msgspec.DecodeError, RecursionError):
            self._place = self._place if text is None else msgspec.json.decode(text, type=str)
        return self._place

    def note_typing(self, *, is_typing: bool) -> None:
        """Keep whether somebody is typing into a field."""
        if is_typing:
            self._write_file(_TYPING, b"true")
        elif _TYPING in self._files():
            self._unlink(_TYPING)

    def was_typing(self) -> bool:
        """Say whether somebody was typing into a field when the inbox ended, and did not leave it."""
        return _TYPING in self._files()

    def sweep(self, now: float) -> None:
        """Drop what nobody has touched for weeks; `now` is in seconds, as files have it."""
        if self._folder is None:
            return
        with suppress(OSError):
            for path in self._folder.iterdir():
                with suppress(OSError):
                    if now - path.stat().st_mtime > _KEPT_SECONDS:
                        path.unlink()
        self._names = None

    def _unlink(self, name: str) -> None:
        self._files().discard(name)
        with suppress(OSError):
            if self._folder is not None:
                (self._folder / name).unlink()

    def _files(self) -> set[str]:
        if self._names is None:
            self._names = set()
            with suppress(OSError):
                self._names = set() if self._folder is None else set(os.listdir(self._folder))  # noqa: PTH208
        return self._names

    def _read_file(self, name: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            with (self._folder / name).open("rb") as file:
                text = file.read(MAX_DRAFT_BYTES + 1)
        except OSError:
            return None
        return text if len(text) <= MAX_DRAFT_BYTES else None

    def _write_file(self, name: str, text: bytes) -> bool:
        if self._folder is None or len(text) > MAX_DRAFT_BYTES:
            return False
        path = self._folder / name
        fresh = path.with_suffix(f".{os.getpid()}.new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh.touch(mode=0o600)
            fresh.write_bytes(text)
            fresh.replace(path)
        except OSError:
            with suppress(OSError):
                fresh.unlink()
            return False
        self._files().add(name)
        return True


def _name(ask_id: str) -> str:
    # The id is a server's word: it becomes no path of its own choosing.
    return f"{sha256(ask_id.encode(errors='surrogatepass')).hexdigest()[:32]}.json"


def _encode(value: object) -> bytes:
    # A terminal may type half of a character: what cannot be written is shown as such when it is read again.
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        return msgspec.json.encode(_cleaned(plain))


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, list | tuple):
        return [_cleaned(each) for each in value]
    if isinstance(value, dict):
        return {_cleaned(name): _cleaned(each) for name, each in value.items()}
    return value
