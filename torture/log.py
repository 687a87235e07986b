"""A project's whole log once a trial is over, in order, and what the audit finds.

Read by a worker of its own without any planted fault, so that the eye is never the one that is being tested.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import msgspec

from assent.hub.audit import verify
from assent.storage.port import Record
from torture.look import hub_of
from torture.nest import Nest
from torture.nursery import Wire

__all__ = ["Entry", "Log", "read_log", "report"]

_PAGE = 1_000


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One event as it is stored."""

    sequence: int
    type: str
    subject: str
    topic: str | None
    body: dict[str, Any]
    check: int = 0
    """Over the very bytes of its message, for whoever compares what readers were shown."""

    @property
    def message(self) -> dict[str, Any]:
        """What its topic shows of it."""
        message: dict[str, Any] = self.body["message"]
        return message


class Log(msgspec.Struct, frozen=True):
    """All of it."""

    entries: list[Entry]
    problems: list[str]


def read_log(nest: Nest, project: str, *, store: str = "", is_audited: bool = True) -> Log:
    """Read a project's log; with `is_audited` the store is verified, too."""
    worker = nest.start(
        "torture.log:report", twin="", store=store or str(nest.store), project=project, is_audited=is_audited
    )
    entries: list[Entry] = []
    while True:
        heard = worker.hear(300)
        entries += msgspec.convert(heard.get("entries", []), list[Entry])
        if "problems" in heard:
            worker.join()
            return Log(entries, heard["problems"])


def report(wire: Wire, store: str, project: str, is_audited: bool) -> None:
    """Worker: tell a project's whole log."""
    opened = hub_of(store).store
    with opened.reading() as reader, reader.snapshot():
        last = 0
        while records := reader.records(project, last, _PAGE):
            last = records[-1].sequence
            wire.say(entries=[_entry_of(record) for record in records])
    wire.say(problems=list(verify(opened).problems) if is_audited else [])


class _Shown(msgspec.Struct):
    message: msgspec.Raw = msgspec.Raw()


def _entry_of(record: Record) -> tuple[Any, ...]:
    body = record.body or b"{}"
    shown = msgspec.json.decode(body, type=_Shown).message if record.topic else b""
    about = (record.sequence, record.type, record.subject, record.topic)
    return (*about, msgspec.Raw(body), crc32(shown))
