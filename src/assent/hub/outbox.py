"""The outbox: the log itself, read by a cursor for each target. Who delivers has a target alone, for a lease, under a fence.

Rule 1: a target is claimed before anything is delivered to it, and every delivery is noted under the fence of the claim.
        A sender that was stopped for longer than its lease delivers at most what it had in hand; then it finds its
        fence gone, and stops. So a message may come twice, always under the same id, and none is left out.
Rule 2: a cursor moves by one told event at a time, in order, and only forward.
Rule 3: what nobody has to be told of is skimmed without a write: a busy log must not be written to twice.
Rule 4: leases go by the hub's clock, as deadlines do. Clocks that differ make a message come twice sooner, and no more; and
        one that is further ahead than any lease lasts holds nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from assent.engine.ask import AskEscalated, AskOpened, AskOverdue, AskUndelivered, Event
from assent.engine.stamp import NOBODY
from assent.engine.target import GiveUpMessage
from assent.hub.desk import instant
from assent.hub.feed import Feed
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.record import decode_event
from assent.protocol.ask import Ask
from assent.protocol.display import quote
from assent.protocol.error import ConflictError, NotFoundError
from assent.protocol.target import (
    MAX_ERROR,
    Delivery,
    Notice,
    Secret,
    Target,
    What,
    message_id_of,
)
from assent.storage.port import Due, Reader, Record, Transaction

__all__ = ["LEASE_SECONDS", "MOST_SKIMMED", "Claim", "Due", "Outbox"]

LEASE_SECONDS = 60.0
"""Longer than any single delivery takes. A dead sender's target is somebody else's after it."""
MOST_SKIMMED = 5_000
"""So many events that nobody has to be told of, before the cursor is moved over them."""
_PAGE = 200
_MOST_PENDING = 100
_LOOK_SECONDS = 0.1
"""Looks are at least so far apart: where thousands of events come, one look finds them all."""

_WHAT: dict[type, What] = {
    AskOpened: What.OPENED,
    AskOverdue: What.OVERDUE,
    AskEscalated: What.ESCALATED,
    AskUndelivered: What.UNDELIVERED,
}
"""What an event means for whoever is told; every other event of an ask is its end."""
_PREFIX = "ask."


class Claim(msgspec.Struct, frozen=True):
    """A target that is ours for a while."""

    target: Target
    secret: Secret
    delivery: Delivery

    @property
    def key(self) -> tuple[str, str]:
        """By which it is found."""
        return self.target.project, self.target.name


class Outbox:
    """What a sender needs of a hub."""

    def __init__(self, hub: Hub, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._hub = hub
        self._lease = round(lease_seconds * 1e6)
        self._skimmed: dict[tuple[str, str], int] = {}
        """Up to where nothing is to be told, by what this process has read."""
        self._skimming = threading.Lock()

    # Looking

    def follow(self) -> Feed[Due]:
        """Return the targets that have to be told of something, live; the same one again and again until it was told."""
        looked = [0.0]

        def read(reader: Reader, _: int, __: int) -> list[Due]:
            if time.monotonic() - looked[0] < _LOOK_SECONDS:
                return []  # the feed looks again by itself soon
            found = self._due(reader)
            looked[0] = 0.0 if found else time.monotonic()
            return found

        return self._hub.listen(read)

    def due(self) -> list[Due]:
        """Return the targets that have to be told of something now."""
        with self._hub.reading() as reader:  # deadlines that have passed are applied first
            return self._due(reader)

    def targets(self, project: str) -> list[tuple[Target, Delivery]]:
        """Return the targets of a project that were not removed, oldest first."""
        with self._hub.store.reading() as reader:
            return [(target, far) for target, far in reader.targets(project) if target.removed_at is None]

    def find(self, project: str, name: str) -> tuple[Target, Secret] | None:
        """Return a target that was not removed, with its secret."""
        with self._hub.store.reading() as reader:
            found = reader.target(project, name)
        return None if found is None or found.target.removed_at is not None else (found.target, found.secret)

    def message_of(self, target: Target, ask_id: str) -> str:
        """Return how the message that told a target of an open ask is known there; empty where there is none."""
        with self._hub.store.reading() as reader:
            return reader.target_message(target.project, target.name, ask_id)

    def pending(self, target: Target, delivery: Delivery) -> int:
        """Return of how much a target is still to be told, counted up to a hundred."""
        cursor, found = delivery.cursor, 0
        with self._hub.store.reading() as reader:
            while (
                target.is_live
                and found < _MOST_PENDING
                and (page := reader.records(target.project, cursor, _PAGE))
            ):
                found += sum(_notice(reader, target, record) is not None for record in page)
                cursor = page[-1].sequence
        return min(found, _MOST_PENDING)

    def tick(self) -> None:
        """Apply the deadlines that have passed, so that those who wait are told of what is overdue."""
        self._hub.tick()

    def _due(self, reader: Reader) -> list[Due]:
        found = []
        for due in reader.due_targets(self._hub.clock.now()):
            key = (due.project, due.name)
            with self._skimming:
                last = max(due.cursor, self._skimmed.get(key, 0))
            last, is_any = _skim(reader, due.project, last)
            with self._skimming:
                self._skimmed[key] = last
            if is_any or last - due.cursor > MOST_SKIMMED:
                found.append(due)
        return found

    # Delivering

    def claim(self, project: str, name: str) -> Claim | None:
        """Take a target; None where somebody else has it."""
        now = self._hub.clock.now()
        with self._hub.store.mutex_of(project), self._hub.store.transaction() as transaction:
            claimed = transaction.claim_target(project, name, now, now + self._lease)
        return None if claimed is None else Claim(claimed.target, claimed.secret, claimed.delivery)

    def next_notice(self, claim: Claim) -> tuple[Claim, Notice | None]:
        """Return what the target is to be told next; the claim has then passed over what it need not be told."""
        target, cursor = claim.target, claim.delivery.cursor
        with self._hub.store.reading() as reader:
            while page := reader.records(target.project, cursor, _PAGE):
                for record in page:
                    notice = _notice(reader, target, record)
                    if notice is not None:
                        return _passed(claim, cursor), notice
                    cursor = record.sequence
        return _passed(claim, cursor), None

    def keep(self, claim: Claim) -> bool:
        """Keep a target for another lease; False when it is somebody else's."""
        until = self._hub.clock.now() + self._lease
        with self._writing(claim) as transaction:
            return transaction.keep_target(*claim.key, claim.delivery.fence, until)

    def delivered(self, claim: Claim, notice: Notice, reference: str) -> Claim | None:
        """Note that the target was told, and how the message is known there; None when it is somebody else's now."""
        until = self._hub.clock.now() + self._lease
        with self._writing(claim) as transaction:
            if not transaction.advance_target(*claim.key, claim.delivery.fence, notice.sequence, until):
                return None
            if notice.what is What.ENDED:
                transaction.keep_message(*claim.key, notice.ask.ask_id, "")
            elif reference:
                transaction.keep_message(*claim.key, notice.ask.ask_id, reference)
        return _told(claim, notice.sequence)

    def let_go(self, claim: Claim) -> bool:
        """Give a target back, told of everything up to the claim's cursor; False when it was somebody else's."""
        with self._writing(claim) as transaction:
            return transaction.advance_target(*claim.key, claim.delivery.fence, claim.delivery.cursor, 0)

    def leave(self, claim: Claim) -> bool:
        """Give a target back as it is, for whoever comes next; False when it was somebody else's."""
        with self._writing(claim) as transaction:
            return transaction.keep_target(*claim.key, claim.delivery.fence, 0)

    def put_off(self, claim: Claim, seconds: float, error: str) -> bool:
        """Give a target back for now: its next message could not be delivered. False when it was somebody else's."""
        next_try_at = self._hub.clock.now() + round(seconds * 1e6)
        with self._writing(claim) as transaction:
            told = transaction.put_off_target(
                *claim.key, claim.delivery.fence, next_try_at, quote(error, MAX_ERROR)
            )
        return told is not None

    def give_up(self, claim: Claim, notice: Notice, error: str, *, is_gone: bool = False) -> Claim | None:
        """Go on behind a message that cannot be delivered; the log says so. None when the target is somebody else's."""
        command = GiveUpMessage(
            claim.target.name,
            claim.delivery.fence,
            notice.sequence,
            notice.ask.ask_id,
            notice.what,
            claim.delivery.attempts + 1,
            error,
            is_gone,
        )
        future = self._hub.handle(command, project=claim.target.project, principal=NOBODY)
        assert isinstance(future, LightFuture)  # noqa: S101 - no loop was given
        try:
            future.result()
        except (ConflictError, NotFoundError):
            return None
        return None if is_gone else _told(claim, notice.sequence)

    @contextmanager
    def _writing(self, claim: Claim) -> Iterator[Transaction]:
        """Give a transaction that takes no project's head."""
        store = self._hub.store
        with store.mutex_of(claim.target.project), store.transaction() as transaction:
            yield transaction


def _skim(reader: Reader, project: str, after: int) -> tuple[int, bool]:
    """Return up to where nothing is to be told of, and whether something is right behind that."""
    while page := reader.records(project, after, _PAGE):
        for record in page:
            if record.type.startswith(_PREFIX):
                return after, True
            after = record.sequence
    return after, False


def _notice(reader: Reader, target: Target, record: Record) -> Notice | None:
    if not record.type.startswith(_PREFIX) or record.body is None:
        return None
    event = decode_event(record.body)
    assert isinstance(event, Event)  # noqa: S101 - what is called ask. is an ask's
    ask = reader.ask(event.ask_id, target.project)
    if ask is None:
        return None
    what = _WHAT.get(type(event), What.ENDED)
    reference = reader.target_message(target.project, target.name, ask.ask_id)
    if not _concerns(target, ask, what, was_told=bool(reference)):
        return None
    message_id = message_id_of(target, record.sequence)
    return Notice(message_id, what, ask, record.sequence, instant(record.at), reference)


def _concerns(target: Target, ask: Ask, what: What, *, was_told: bool) -> bool:
    """Whether a target is to be told this of an ask."""
    is_escalation = what is What.ESCALATED
    is_asked = is_escalation and target.is_of(ask.escalate_to)
    if target.kinds and ask.kind not in target.kinds and not is_asked and not was_told:
        return False
    if target.service.is_record:
        return True
    if what is What.ENDED:  # a person is not told of the end of what they were never told of
        return was_told
    if is_escalation and target.person and not is_asked:
        return False  # somebody else is asked now
    return ask.is_open  # nor of what is over


def _passed(claim: Claim, cursor: int) -> Claim:
    """Return the claim behind what need not be told; how often the next message was tried stays known."""
    return replace(claim, delivery=replace(claim.delivery, cursor=cursor))


def _told(claim: Claim, cursor: int) -> Claim:
    return replace(claim, delivery=replace(claim.delivery, cursor=cursor, attempts=0))
