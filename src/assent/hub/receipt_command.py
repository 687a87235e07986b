"""What can be sent to the hub about approvals that bind: the request for one, and its redemption."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from assent.engine.receipt import RedeemReceipt
from assent.protocol.ask import AskId, Consequence
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.open_question import QuestionId
from assent.protocol.policy import Category
from assent.protocol.terms import ReceiptId

__all__ = ["ReceiptRequest", "RedeemReceipt", "RequestApproval"]


class RequestApproval(msgspec.Struct, frozen=True, kw_only=True):
    """An agent wants to do something. Whether a person is asked is decided by the policy, in the same transaction.

    The caller mints the ids, so that a retry finds what it made. The reply is the receipt where there is one already,
    and else the ask that a person must answer; sent again after a yes, it is the receipt.
    """

    receipt_id: ReceiptId
    ask_id: AskId
    notification_id: NotificationId
    question_id: QuestionId
    title: str
    action: Json
    body: str = ""
    risk: str | None = None
    category: Category | None = None
    """None: a person is always asked."""
    life_seconds: int
    task_id: str | None = None
    """The task that it is about, for whoever reads the notification."""
    key: str | None = None
    run_id: str | None = None
    deadline: datetime | timedelta | None = None
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    again: str = ""
    """Why it is asked although a person said no to the same action."""


ReceiptRequest = RequestApproval | RedeemReceipt
