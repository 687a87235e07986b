"""Receipts, and the requests and grants that they come of, that several tests start from."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from assent.engine.receipt import GrantReceipt
from assent.engine.stamp import Stamp
from assent.hub.receipt_command import RequestApproval
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import AskId
from assent.protocol.canonical import canonical, digest
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.protocol.open_question import QuestionId
from assent.protocol.principal import Assurance
from assent.protocol.receipt import Receipt, ReceiptId, ReceiptLevel
from assent.protocol.terms import Terms
from tests.samples import AGENT, ANA, NOON, digest_of

__all__ = ["ACTION", "HOUR", "RECEIPT_ID", "REQUESTED", "TITLE", "granting", "new_receipt", "requesting"]

RECEIPT_ID = ReceiptId("rcp_000000000000000001")
TITLE = "Drop the column?"
ACTION: dict[str, Json] = {
    "sql": "ALTER TABLE users DROP COLUMN legacy_id",
    "rows": 12,
    "steps": [{"name": "backup", "force": False}],
}
HOUR = timedelta(hours=1)
_DIGEST = digest_of(approval_prompt(TITLE, ACTION))


def requesting(number: int = 1, **changes: Any) -> RequestApproval:
    """Return the request number so and so for ACTION; `changes` are fields of it."""
    request = RequestApproval(
        receipt_id=ReceiptId(f"rcp_{number:018}"),
        ask_id=AskId(f"ask_{number:018}"),
        notification_id=NotificationId(f"hil-{number:08x}"),
        question_id=QuestionId("q1"),
        title=TITLE,
        action=ACTION,
        life_seconds=3_600,
    )
    return replace(request, **changes)


REQUESTED = requesting()


def granting(**changes: Any) -> GrantReceipt:
    """Return what ana's yes to ACTION leads to; `changes` are fields of it."""
    command = GrantReceipt(
        ReceiptLevel.APPROVED,
        Terms(RECEIPT_ID, 3_600),
        TITLE,
        ACTION,
        _DIGEST,
        str(AGENT),
        str(ANA),
        Assurance.TERMINAL,
        AskId("ask_1"),
        stamp=Stamp(NOON, ANA, "cmd_yes"),
    )
    return replace(command, **changes)


def new_receipt(**changes: Any) -> Receipt:
    """Return the receipt that ana's yes made; `changes` are fields of it."""
    receipt = Receipt(
        RECEIPT_ID,
        "p",
        TITLE,
        ReceiptLevel.APPROVED,
        ACTION,
        digest(canonical(ACTION)),
        _DIGEST,
        str(AGENT),
        str(ANA),
        NOON,
        NOON + HOUR,
        Assurance.TERMINAL,
        ask_id=AskId("ask_1"),
    )
    return replace(receipt, **changes)
