"""A receipt: the proof that an action was approved. It is redeemed once, for exactly that action.

Its JSON form is the public one. `digest` covers the action and everything that was shown with it; `action_digest` covers
the action alone, in its one canonical spelling, and is what an executor's action is compared with.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from assent.protocol.ask import AskId
from assent.protocol.ending import render_author, render_instant, render_name
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.policy import Category
from assent.protocol.principal import Assurance
from assent.protocol.terms import ReceiptId

__all__ = [
    "BY_POLICY",
    "Receipt",
    "ReceiptId",
    "ReceiptLevel",
    "ReceiptStatus",
    "parse_receipt",
    "render_expiry",
    "render_granting",
    "render_receipt",
    "render_redeeming",
]

BY_POLICY = "policy"
"""What stands behind a receipt that no person gave. It is no principal: none is called so."""


class ReceiptLevel(StrEnum):
    """How it came about."""

    APPROVED = "approved"
    """A person said yes to this action."""
    NOTIFIED = "notified"
    """The policy lets it happen, and people were told."""
    AUTOMATED = "automated"
    """The policy lets it happen."""


class ReceiptStatus(StrEnum):
    """Where a receipt is in its life. That its time is over is no status: the clock says so when it is presented."""

    GRANTED = "granted"
    REDEEMED = "redeemed"


class Receipt(msgspec.Struct, frozen=True):
    """One receipt as it is now."""

    receipt_id: ReceiptId
    """Its id, `rcp_…`."""
    project: str
    """Where it counts, and nowhere else."""
    title: str
    """The question that was asked."""
    level: ReceiptLevel
    """How it came about."""
    action: Json
    """The exact thing that may be done."""
    action_digest: str
    """sha256 over the action's canonical JSON."""
    digest: str
    """sha256 over the canonical JSON of the prompt: the action and everything shown with it."""
    asker: str
    """Who may redeem it, and nobody else."""
    by: str
    """Who approved: a person, or the policy."""
    granted_at: datetime
    """When it was made."""
    expires_at: datetime
    """From then on it is no longer good."""
    assurance: Assurance | None = None
    """How the person was established; null where there was none."""
    category: Category | None = None
    """The category of change; null where a person is always asked."""
    ask_id: AskId | None = None
    """The ask that a person answered; null where nobody was asked."""
    notification_id: NotificationId | None = None
    """The notification by which people were told; null where they were asked, or not told."""
    key: str | None = None
    """The asker's own name for it: the same key and action are the same approval."""
    redeemed_at: datetime | None = None
    """When it was used; null as long as it was not."""
    redeemed_by: str | None = None
    """Who used it."""
    command_id: str = ""
    """The command that redeemed it: a retry of it gets the same reply."""
    sequence: int = 0
    """The number of the last event that changed it."""
    is_unattended: bool = False
    """No person was there when the yes was given, or when its credential was made."""

    @property
    def status(self) -> ReceiptStatus:
        """Where it is in its life."""
        return ReceiptStatus.GRANTED if self.redeemed_at is None else ReceiptStatus.REDEEMED


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Receipt)


def render_receipt(receipt: Receipt) -> bytes:
    """Return the public JSON form."""
    return _encoder.encode(receipt)


def parse_receipt(text: bytes) -> Receipt:
    """Return the receipt that its public JSON form describes."""
    return _decoder.decode(text)


def render_granting(receipt: Receipt) -> str:
    """Return who approved it, and until when it can be redeemed or that it was, in one sentence."""
    rest = f"{receipt.receipt_id} can be redeemed once, until {render_instant(receipt.expires_at)}."
    if receipt.redeemed_at is not None:
        rest = f"{receipt.receipt_id} is spent on it."
    if receipt.level is ReceiptLevel.APPROVED:
        who = render_author(receipt.by, receipt.assurance, is_unattended=receipt.is_unattended)
        return f"{who} approved it; {rest}"
    told = "and people were told" if receipt.level is ReceiptLevel.NOTIFIED else "and nobody was asked"
    return f"The policy lets it happen, {told}; {rest}"


def render_redeeming(receipt: Receipt) -> str:
    """Return who redeemed it, and when, in one sentence."""
    if receipt.redeemed_at is None:
        return "Nobody has redeemed it yet."
    return f"{render_name(receipt.redeemed_by or '')} redeemed it at {render_instant(receipt.redeemed_at)}."


def render_expiry(receipt: Receipt) -> str:
    """Return when its time was over, in one sentence."""
    return f"The approval {receipt.receipt_id} expired at {render_instant(receipt.expires_at)}; ask again."
