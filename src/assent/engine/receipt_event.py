"""What can happen to a receipt: its events, as the log keeps them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.protocol.ask import AskId
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.policy import Category
from assent.protocol.principal import Assurance
from assent.protocol.receipt import ReceiptId, ReceiptLevel

__all__ = ["ReceiptEvent", "ReceiptGranted", "ReceiptRedeemed"]


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
