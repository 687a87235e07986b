"""What a review keeps beside the store: its state, its exported findings, its list of tasks.

Rule 1: a few files with fixed names in one folder that only this user can enter; no other name is ever touched.
Rule 2: a file is replaced in one move. Whoever reads it sees the old one or the new one.
Rule 3: a link or anything else that is no ordinary file is not followed and not replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from assent.effects.direct import Direct
from assent.effects.document import DocumentWriter, read_document_in
from assent.effects.performer import Performers
from assent.effects.place import Place
from assent.flows.document import Document, WriteDocument
from assent.flows.gate import AddTodo
from assent.flows.session.effect import (
    ClearSession,
    CountTodos,
    InitTodo,
    SaveFindings,
    SaveSession,
    TickTodo,
)
from assent.flows.session.state import MAX_STATE_BYTES, parse_state, render_state
from assent.flows.session.todo import add_task, begin_list, count_open, tick
from assent.protocol.error import BadRequestError, EffectError, PathRefusedError

__all__ = ["EARLIER", "FINDINGS", "STATE", "TODO", "Kept", "kept_performers"]

STATE, FINDINGS, TODO = "review-state.md", "review-findings.md", "review-todo.md"
EARLIER = "review-findings-earlier.md"
"""Findings of another review that the last export took the place of."""
_IGNORE = ".gitignore"


class Kept:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._place: Place | None = None

    def read(self, name: str) -> Document:
        """Return a file as it is; one without a digest where there is none.

        Raises:
            EffectError: it cannot be read.
        """
        if not self.folder.is_dir():
            return Document(b"", None)
        place = self._there()
        self._check(name)
        return read_document_in(place, name, MAX_STATE_BYTES)

    def write(self, name: str, text: str) -> None:
        """Replace a file.

        Raises:
            EffectError: it cannot be written.
        """
        before = self.read(name).digest
        writer = DocumentWriter(self._there(), MAX_STATE_BYTES)
        writer.perform(writer.intend(WriteDocument(name, before, text.encode())))

    def change(self, name: str, change: Callable[[str], str]) -> None:
        """Replace a file by what `change` makes of it; people may have edited it.

        Raises:
            EffectError: it cannot be read or written, or is no text.
        """
        try:
            before = self.read(name).content.decode()
        except UnicodeDecodeError:
            raise EffectError(f"{name} is not UTF-8 text, so it is left as it is.") from None
        after = change(before)
        if after != before:
            self.write(name, after)

    def remove(self, *names: str) -> None:
        """Remove files that are there.

        Raises:
            EffectError: one cannot be removed.
        """
        for name in names:
            try:
                with suppress(FileNotFoundError, NotADirectoryError):
                    (self.folder / name).unlink()
            except OSError as error:
                raise EffectError(f"{name} cannot be removed: {error.strerror}.") from error

    def _check(self, name: str) -> None:
        # The store lies in the same folder: a link to it would be no way out of the folder, and yet a way to harm.
        if (self.folder / name).is_symlink():
            raise PathRefusedError(f"{name} is a link, and not followed.")

    def _there(self) -> Place:
        """Return the folder, made if need be: for this user alone, and not for git."""
        if self._place is None:
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                ignore = self.folder / _IGNORE
                if not ignore.exists():
                    ignore.write_text("*\n", encoding="utf-8")
            except OSError as error:
                raise EffectError(f"{self.folder.name} cannot be made: {error.strerror}.") from error
            self._place = Place(self.folder)
        return self._place


def _is_other(kept: Kept, name: str, started: str) -> bool:
    """Whether a file is of another session than the one that began at `started`."""
    document = kept.read(name)
    if document.digest is None:
        return False
    try:
        return parse_state(document.content).started != started
    except BadRequestError:
        return True  # nobody knows whose it is


def kept_performers(
    folder: Path, now: Callable[[], datetime], asked: Callable[[], int] = lambda: 0
) -> Performers:
    """Return who keeps a session's files in `folder`; `asked` counts the asks that were settled."""
    kept = Kept(folder)

    def stamp() -> str:
        return now().isoformat(timespec="seconds")

    def add(effect: AddTodo) -> None:
        # The moment is the id; two tasks of one moment must still differ.
        count = kept.read(TODO).content.count(b"<!-- id: ")
        task_id = f"{now():%Y%m%dT%H%M%S.%fZ}-{count + 1}"
        kept.change(TODO, lambda before: add_task(before, effect.text, task_id))

    def save_findings(effect: SaveFindings) -> str:
        where = f"{folder.name}/{FINDINGS}"
        if _is_other(kept, FINDINGS, effect.session.started):  # of another review: not to be lost
            kept.write(EARLIER, kept.read(FINDINGS).content.decode(errors="replace"))
            where += f"; those that were there before are in {folder.name}/{EARLIER}"
        kept.write(FINDINGS, render_state(effect.session, stamp(), asked()))
        return where

    def clear(effect: ClearSession) -> None:
        others = [
            name for name in (STATE, FINDINGS) if effect.started and _is_other(kept, name, effect.started)
        ]
        names = (
            (STATE,) if effect.keeps_findings else (STATE, FINDINGS, *(() if STATE in others else (TODO,)))
        )
        kept.remove(*(name for name in names if name not in others))

    def tick_line(effect: TickTodo) -> None:
        if kept.read(TODO).digest is not None:
            kept.change(TODO, lambda before: tick(before, effect.line))

    return {
        AddTodo: Direct(AddTodo, add),
        InitTodo: Direct(
            InitTodo, lambda effect: kept.change(TODO, lambda before: begin_list(effect.session, before))
        ),
        TickTodo: Direct(TickTodo, tick_line),
        CountTodos: Direct(
            CountTodos, lambda _: count_open(kept.read(TODO).content.decode(errors="replace"))
        ),
        SaveSession: Direct(
            SaveSession, lambda effect: kept.write(STATE, render_state(effect.session, stamp(), asked()))
        ),
        SaveFindings: Direct(SaveFindings, save_findings),
        ClearSession: Direct(ClearSession, clear),
    }
