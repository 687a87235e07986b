"""What can be asked of a receipt: its commands. The hub sets the stamp."""

from __future__ import annotations

import msgspec

from assent.engine.stamp import UNSTAMPED, Stamp
from assent.protocol.ask import AskId
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.principal import Assurance
from assent.protocol.receipt import BY_POLICY, ReceiptId, ReceiptLevel
from assent.protocol.terms import Terms

__all__ = ["GrantReceipt", "ReceiptCommand", "RedeemReceipt"]


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
