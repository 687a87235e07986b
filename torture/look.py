"""What a store holds once a trial is over: every row, every event, and what the audit finds.

Read by a worker of its own without any planted fault, so that the eye is never the one that is being tested.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from assent.client.connect import open_hub
from assent.client.place import is_database
from assent.engine.ask import AskOpened
from assent.hub.audit import verify
from assent.hub.hub import Hub
from assent.hub.record import FlowStepped, decode_event
from assent.protocol.ask import Ask
from torture.nest import Nest
from torture.nursery import Wire

__all__ = ["ENDS", "Event", "Look", "Row", "hub_of", "look", "report", "row_of"]

ENDS = ("ask.answered", "ask.declined", "ask.withdrawn", "ask.expired", "ask.superseded")
_PAGE = 5_000


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One ask as it is stored."""

    ask_id: str
    state: str
    sequence: int
    by: str
    at: str
    command_id: str
    values: dict[str, list[str]]
    key: str | None


class Event(msgspec.Struct, frozen=True, array_like=True):
    """One event of the log."""

    project: str
    sequence: int
    type: str
    ask_id: str
    command_id: str


class Look(msgspec.Struct, frozen=True):
    """All of it."""

    rows: dict[str, Row]
    events: dict[str, list[Event]]
    """Per ask, in order."""
    problems: list[str]

    def endings(self, ask_id: str) -> list[Event]:
        """Return the events that ended an ask; there may be at most one."""
        return [event for event in self.events.get(ask_id, ()) if event.type in ENDS]


def row_of(ask: Ask) -> Row:
    """Return what the trials compare of an ask."""
    ending = ask.answer or ask.outcome
    values = {} if ask.answer is None else {name: list(given) for name, given in ask.answer.values.items()}
    if ending is None:
        return Row(ask.ask_id, ask.state, ask.sequence, "", "", "", values, ask.key)
    at = ending.at.isoformat()
    return Row(ask.ask_id, ask.state, ask.sequence, ending.by, at, ending.command_id, values, ask.key)


def hub_of(store: str) -> Hub:
    """Return a hub on a store as workers are told of it: the path of a file, or the address of a database."""
    return open_hub(store if is_database(store) else Path(store), os.environ)


def look(nest: Nest, store: Path | str | None = None) -> Look:
    """Read a whole store."""
    worker = nest.start("torture.look:report", twin="", store=str(store or nest.store))
    rows: dict[str, Row] = {}
    events: dict[str, list[Event]] = {}
    while True:
        heard = worker.hear(300)
        for row in msgspec.convert(heard.get("rows", []), list[Row]):
            rows[row.ask_id] = row
        for event in msgspec.convert(heard.get("events", []), list[Event]):
            events.setdefault(event.ask_id, []).append(event)
        if "problems" in heard:
            worker.join()
            return Look(rows, events, heard["problems"])


def report(wire: Wire, store: str) -> None:
    """Worker: tell all that is in the store."""
    opened = hub_of(store).store
    with opened.reading() as reader, reader.snapshot():
        for head in reader.heads():
            wire.say(rows=[row_of(ask) for ask in reader.asks(head.project, None, 10_000_000)])
            last = 0
            while records := reader.records(head.project, last, _PAGE):
                last = records[-1].sequence
                wire.say(events=[_event_of(record) for record in records])
    wire.say(problems=list(verify(opened).problems))


def _event_of(record: Any) -> Event:
    event = decode_event(record.body)
    ending = getattr(event, "answer", None) or getattr(event, "outcome", None)
    command_id = "" if isinstance(event, AskOpened | FlowStepped) or ending is None else ending.command_id
    return Event(record.project, record.sequence, record.type, record.subject, command_id)
