"""The part of a transaction that keeps targets, and how far each one is.

Rule 1: who delivers is decided by one conditional write, `claim_target`, which gives a new fence.
Rule 2: whatever a sender writes afterwards is conditional on its fence. One that was stopped for longer than its lease
        finds that its row count is zero, and has moved nothing.
Rule 3: none of that takes the head of the project: those who ask and answer do not wait for those who deliver.
"""

from __future__ import annotations

from assent.protocol.target import Delivery, Secret, Target
from assent.storage.port import Claimed, Head
from assent.storage.sql.session import Session, refuse_long
from assent.storage.sql.target_row import (
    delivery_of,
    encode_secret,
    encode_target,
    secret_of,
    target_of,
)
from assent.storage.sql.work_transaction import WorkTransaction

__all__ = ["TargetTransaction"]

_NO_SECRET = Secret("")


class TargetTransaction(WorkTransaction):
    """The targets of one transaction: what it has read, and what it will write."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._targets: dict[tuple[str, str], tuple[Target, Secret] | None] = {}
        self._put_targets: dict[tuple[str, str], int] = {}

    def target(self, project: str, name: str) -> Target | None:
        """Return the target as it is in this transaction."""
        key = (project, name)
        if key not in self._targets:
            found = self._session.rows("target", key)
            self._targets[key] = (target_of(found[0][0]), secret_of(found[0][1])) if found else None
        known = self._targets[key]
        return None if known is None else known[0]

    def put_target(self, head: Head, target: Target, secret: Secret | None = None) -> None:
        """Keep `target` as it is now; without a secret, with the one that it has. A removed one loses it."""
        refuse_long(target.name)
        key = (head.project, target.name)
        known = self._targets.get(key)
        if secret is None:
            secret = _NO_SECRET if known is None or target.removed_at is not None else known[1]
        self._targets[key] = (target, secret)
        self._put_targets[key] = head.number

    def write_targets(self) -> None:
        """Write what was put; called once, before COMMIT."""
        for key, number in self._put_targets.items():
            known = self._targets[key]
            assert known is not None  # noqa: S101 - put_target() has set it
            target, secret = known
            values = (
                number,
                target.name,
                int(target.is_live),
                encode_target(target),
                encode_secret(secret),
                target.since,
            )
            self._session.run("put_target", values)
            if target.removed_at is not None:
                self._session.run("drop_target_messages", (number, target.name))

    # Delivery, which is volatile

    def claim_target(self, project: str, name: str, now: int, until: int) -> Claimed | None:
        """Give a target to whoever asks, until a moment; None where somebody has it, or it is not to be tried yet."""
        found = self._session.rows("claim_target", (project, name, now, until))
        if not found:
            return None
        record, secret, *rest = found[0]
        return Claimed(target_of(record), secret_of(secret), delivery_of(tuple(rest)))

    def advance_target(self, project: str, name: str, fence: int, cursor: int, until: int) -> bool:
        """Note how far a target was told; False when the fence is no longer the last one."""
        return bool(self._session.rows("advance_target", (project, name, fence, cursor, until)))

    def keep_target(self, project: str, name: str, fence: int, until: int) -> bool:
        """Keep a target until a moment; False when the fence is no longer the last one."""
        return bool(self._session.rows("keep_target", (project, name, fence, until)))

    def put_off_target(self, project: str, name: str, fence: int, next_try_at: int, error: str) -> int | None:
        """Let go of a target until a moment; return how often it was tried, None when the fence is not the last one."""
        found = self._session.rows("put_off_target", (project, name, fence, next_try_at, error))
        return int(found[0][0]) if found else None

    def delivery(self, project: str, name: str) -> Delivery | None:
        """Return how far a target is."""
        found = self._session.rows("target", (project, name))
        return delivery_of(found[0][2:]) if found else None

    def keep_message(self, project: str, name: str, ask_id: str, reference: str) -> None:
        """Remember how the message about an ask is known at the other side; an empty reference forgets it."""
        if reference:
            self._session.run("put_target_message", (project, name, ask_id, reference))
        else:
            self._session.run("drop_target_message", (project, name, ask_id))
