"""What the hub needs of a store, and nothing more. SQLite stands behind it; a second store joins by fitting here.

A store gives transactions (one at a time a project), short reads, and a bell that tells other processes to look.
It knows nothing of commands, machines or principals.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec

from assent.protocol.ask import Ask, AskId, Claim, State

__all__ = [
    "EVERYTHING",
    "Bell",
    "Head",
    "Hold",
    "Listener",
    "Reader",
    "Record",
    "Step",
    "Store",
    "Transaction",
]


EVERYTHING = "*"
"""A ring that names no ids but means all of them."""


class Head:
    """A project's last number, hash and moment. Held by one transaction at a time; moved by `append`."""

    __slots__ = ("at", "hash", "number", "project", "sequence")

    def __init__(self, project: str, number: int, sequence: int, hash_: bytes, at: int) -> None:
        self.project = project
        self.number = number
        """The store's own number for the project."""
        self.sequence = sequence
        self.hash = hash_
        self.at = at
        """Microseconds since 1970; never before the last event."""


class Record(msgspec.Struct, frozen=True):
    """One event of the log as it is stored: the exact bytes that were hashed."""

    project: str
    sequence: int
    at: int
    type: str
    subject: str
    body: bytes | None
    """None when it was erased; `digest` then keeps the chain whole."""
    digest: bytes
    hash: bytes


class Step(msgspec.Struct, frozen=True):
    """One entry of a flow's journal."""

    flow_id: str
    step: int
    """Its place; the numbers have no gaps."""
    digest: str
    """Of what the flow yielded."""
    state: Literal["intended", "done"]
    content: bytes
    """Canonical JSON: what is about to be done, or what came of it."""


class Transaction(Protocol):
    """Everything between taking a project's head and the commit. What was put is seen by later reads of it."""

    def head(self, project: str, now: int) -> Head: ...
    def prefetch(self, project: str, ask_ids: Sequence[str], keys: Sequence[str]) -> None: ...
    def ask(self, project: str, ask_id: AskId) -> Ask | None: ...
    def ask_by_key(self, project: str, key: str) -> Ask | None: ...
    def due(self, head: Head) -> list[Ask]: ...
    def put(self, head: Head, ask: Ask) -> None: ...
    def claim(self, ask: Ask, claim: Claim | None) -> None: ...
    def append(self, head: Head, type_: str, subject: str, body: bytes) -> None: ...
    def steps(self, project: str, flow_id: str, start: int = 0) -> list[Step]: ...
    def put_step(self, head: Head, step: Step) -> None: ...


class Reader(Protocol):
    """Short reads of what is committed."""

    def snapshot(self) -> AbstractContextManager[None]: ...
    def ask(self, ask_id: str, project: str | None = None) -> Ask | None: ...
    def asks_ending_in(self, suffix: str, project: str | None = None) -> list[Ask]: ...
    def asks(self, project: str | None, state: State | None, limit: int) -> list[Ask]: ...
    def count_open(self, project: str | None) -> int: ...
    def heads(self) -> list[Head]: ...
    def head_sequence(self, project: str) -> int: ...
    def records(self, project: str, after: int, limit: int) -> list[Record]: ...
    def ended(self, project: str, after: int) -> tuple[int, list[Ask]]: ...
    def next_deadline(self) -> int | None: ...
    def has_due(self, at: int) -> list[str]: ...
    def steps(self, project: str, flow_id: str | None = None) -> list[Step]: ...
    def version(self) -> int: ...
    def close(self) -> None: ...


class Listener(Protocol):
    """One process's ear. A ring is a hint: whoever hears it reads the store."""

    def wait(self, seconds: float) -> tuple[str, ...] | None: ...
    def nudge(self) -> None: ...
    def close(self) -> None: ...


class Bell(Protocol):
    """Wakes the other processes after a commit."""

    def ring(self, ended: Sequence[str], has_news: bool) -> None: ...
    def listen(self, *, follows_feed: bool) -> Listener | None: ...


class Hold(Protocol):
    """A right that one holder in the world has, until it lets go or dies."""

    @property
    def is_held(self) -> bool: ...
    def release(self) -> None: ...


class Store(Protocol):
    """A place that remembers."""

    @property
    def url(self) -> str: ...
    @property
    def bell(self) -> Bell: ...
    @property
    def mutex(self) -> threading.Lock: ...
    def transaction(self, *, may_wait: bool = True) -> AbstractContextManager[Transaction]: ...
    def reading(self) -> AbstractContextManager[Reader]: ...
    def reader(self) -> Reader: ...
    def hold(self, name: str) -> Hold: ...
    def check(self) -> list[str]: ...
    def after_fork(self) -> None: ...
    def close(self) -> None: ...
