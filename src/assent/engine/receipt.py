"""A receipt lets one action happen, once, by whoever asked for it, before its time is over.

Rule 1: whatever grants or redeems a receipt is in this file.
Rule 2: what is compared is the canonical action, byte for byte. Names, titles and summaries decide nothing.
Rule 3: a refused command raises, says what is wrong, and leaves the receipt as it was: who presented another action by
        mistake may still present the right one.

The docs' diagram is printed from TRANSITIONS, and a test walks all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from assent.engine.machine import ASKERS, INTERNAL, Machine
from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.ask import AskId
from assent.protocol.canonical import canonical, digest
from assent.protocol.difference import MAX_DIFFERENCES, find_differences, render_differences
from assent.protocol.display import quote
from assent.protocol.error import (
    ApprovalDiffersError,
    CommandReusedError,
    ConflictError,
    Expired,
    ForbiddenError,
    NotFoundError,
)
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.policy import Category
from assent.protocol.principal import Assurance
from assent.protocol.receipt import (
    BY_POLICY,
    Receipt,
    ReceiptId,
    ReceiptLevel,
    ReceiptStatus,
    render_expiry,
    render_redeeming,
)
from assent.protocol.terms import Terms, check_life

__all__ = [
    "MACHINE",
    "TRANSITIONS",
    "GrantReceipt",
    "ReceiptCommand",
    "ReceiptEvent",
    "ReceiptGranted",
    "ReceiptRedeemed",
    "RedeemReceipt",
    "decide",
    "evolve",
]


# Events


class ReceiptGranted(msgspec.Struct, frozen=True, tag="receipt.granted"):
    """An action may happen, once."""

    receipt_id: ReceiptId
    """The receipt."""
    at: datetime
    """When it was granted."""
    level: ReceiptLevel
    """How it came about."""
    title: str
    """The question that was asked."""
    action: Json
    """The exact thing that may be done."""
    action_digest: str
    """sha256 over the action's canonical JSON."""
    digest: str
    """sha256 over the canonical JSON of the action and everything shown with it."""
    asker: str
    """Who may redeem it."""
    by: str
    """Who approved: a person, or the policy."""
    expires_at: datetime
    """From then on it is no longer good."""
    assurance: Assurance | None = None
    """How the person was established."""
    category: Category | None = None
    """The category of change."""
    ask_id: AskId | None = None
    """The ask that a person answered."""
    notification_id: NotificationId | None = None
    """The notification by which people were told."""
    key: str | None = None
    """The asker's own name for it."""
    is_unattended: bool = False
    """No person was there when the yes was given, or when its credential was made."""


class ReceiptRedeemed(msgspec.Struct, frozen=True, tag="receipt.redeemed"):
    """The action is about to happen."""

    receipt_id: ReceiptId
    """The receipt."""
    at: datetime
    """When it was used."""
    by: str
    """Who used it."""
    command_id: str = ""
    """The command that used it: a retry of it gets the same reply."""


ReceiptEvent = ReceiptGranted | ReceiptRedeemed


# Commands


class GrantReceipt(msgspec.Struct, frozen=True):
    """Let an action happen once. Only ever what follows from a person's yes, or from the policy."""

    level: ReceiptLevel
    terms: Terms
    title: str
    action: Json
    digest: str
    asker: str
    by: str = BY_POLICY
    assurance: Assurance | None = None
    ask_id: AskId | None = None
    notification_id: NotificationId | None = None
    key: str | None = None
    is_unattended: bool = False
    stamp: Stamp = UNSTAMPED


class RedeemReceipt(msgspec.Struct, frozen=True):
    """Spend it: the asker is about to do `action`, and presents it again."""

    receipt_id: ReceiptId
    action: Json
    stamp: Stamp = UNSTAMPED


ReceiptCommand = GrantReceipt | RedeemReceipt


# The machine

TRANSITIONS: dict[ReceiptStatus | None, dict[type[ReceiptEvent], ReceiptStatus]] = {
    None: {ReceiptGranted: ReceiptStatus.GRANTED},
    ReceiptStatus.GRANTED: {ReceiptRedeemed: ReceiptStatus.REDEEMED},
    ReceiptStatus.REDEEMED: {},
}


def decide(receipt: Receipt | None, command: ReceiptCommand) -> tuple[ReceiptEvent, ...]:
    """Return what `command` does to `receipt`; nothing when it was done before.

    Raises:
        NotFoundError: there is no such receipt.
        ForbiddenError: somebody else than the asker presents it.
        ConflictError: it was redeemed before; the sentence says when and by whom.
        Expired: its time is over.
        ApprovalDiffersError: another action is presented; the sentence says what differs.
        CommandReusedError: its id, or the command's, stands for something else.
    """
    return _DECISIONS[type(command)](receipt, command)


def evolve(receipt: Receipt | None, event: ReceiptEvent, *, project: str = "", sequence: int = 0) -> Receipt:
    """Return the receipt as it is after `event`, the project's event number `sequence`."""
    status = TRANSITIONS[receipt.status if receipt else None][type(event)]
    if isinstance(event, ReceiptGranted):
        return Receipt(
            event.receipt_id,
            project,
            event.title,
            event.level,
            event.action,
            event.action_digest,
            event.digest,
            event.asker,
            event.by,
            event.at,
            event.expires_at,
            event.assurance,
            event.category,
            event.ask_id,
            event.notification_id,
            event.key,
            sequence=sequence,
            is_unattended=event.is_unattended,
        )
    assert receipt is not None  # noqa: S101 - TRANSITIONS has just said so
    redeemed = replace(
        receipt, redeemed_at=event.at, redeemed_by=event.by, command_id=event.command_id, sequence=sequence
    )
    assert redeemed.status is status  # noqa: S101 - a status is read off the fields, and must be the table's
    return redeemed


def _grant(receipt: Receipt | None, command: GrantReceipt) -> tuple[ReceiptEvent, ...]:
    action_digest = digest(canonical(command.action))
    if receipt is not None:
        known = (receipt.digest, receipt.action_digest, receipt.asker, receipt.ask_id)
        if known != (command.digest, action_digest, command.asker, command.ask_id):
            raise CommandReusedError(f"{receipt.receipt_id} already stands for another approval.")
        return ()
    at = command.stamp.at
    life = timedelta(seconds=command.terms.life_seconds)
    check_life(life)
    return (
        ReceiptGranted(
            command.terms.receipt_id,
            at,
            command.level,
            command.title,
            command.action,
            action_digest,
            command.digest,
            command.asker,
            command.by,
            at + life,
            command.assurance,
            command.terms.category,
            command.ask_id,
            command.notification_id,
            command.key,
            command.is_unattended,
        ),
    )


def _redeem(receipt: Receipt | None, command: RedeemReceipt) -> tuple[ReceiptEvent, ...]:
    receipt = _found(receipt, command.receipt_id)
    stamp = command.stamp
    if str(stamp.by) != receipt.asker:
        raise ForbiddenError(f"{stamp.by} did not ask for this approval: only {receipt.asker} can redeem it.")
    is_same = digest(canonical(command.action)) == receipt.action_digest
    if receipt.redeemed_at is not None:
        if stamp.command_id and stamp.command_id == receipt.command_id:
            if not is_same:
                raise CommandReusedError
            return ()  # a retry gets its own reply
        raise ConflictError(f"An approval is used once: {render_redeeming(receipt)}")
    if stamp.at >= receipt.expires_at:
        raise Expired(render_expiry(receipt))
    if not is_same:
        differences = find_differences(receipt.action, command.action)
        raise ApprovalDiffersError(
            f"This is not what was approved: {render_differences(differences)}",
            differences=differences[:MAX_DIFFERENCES],
        )
    return (ReceiptRedeemed(receipt.receipt_id, stamp.at, str(stamp.by), stamp.command_id),)


def _found(receipt: Receipt | None, receipt_id: ReceiptId) -> Receipt:
    if receipt is None:
        raise NotFoundError(f'There is no receipt "{quote(receipt_id, 60)}" here.')
    return receipt


_DECISIONS: dict[type[ReceiptCommand], Callable[[Receipt | None, Any], tuple[ReceiptEvent, ...]]] = {
    GrantReceipt: _grant,
    RedeemReceipt: _redeem,
}


def _receipt_id(command: ReceiptCommand) -> str:
    return command.terms.receipt_id if isinstance(command, GrantReceipt) else command.receipt_id


MACHINE = Machine(
    "receipt",
    {
        GrantReceipt: INTERNAL,
        RedeemReceipt: ASKERS,  # everybody only their own
    },
    get_args(ReceiptEvent),
    decide,
    evolve,
    key=_receipt_id,
)
