"""Approvals that bind, written once for both clients: ask whether an action may happen, and spend the yes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Required, TypedDict, Unpack

from assent.client.calls import MAX_KEY, Calls, check_deadline, no_answer
from assent.client.door import Call, until
from assent.hub.ids import new_command_id
from assent.hub.receipt_command import ReceiptRequest, RedeemReceipt, RequestApproval
from assent.protocol.approval import check_again, is_approved, render_rejection
from assent.protocol.ask import Ask, Consequence
from assent.protocol.canonical import convert
from assent.protocol.error import AssentError, BadRequestError, Declined, NotFoundError
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationKind
from assent.protocol.open_question import QuestionId
from assent.protocol.policy import parse_category
from assent.protocol.receipt import Receipt, ReceiptId
from assent.protocol.terms import DEFAULT_LIFE_SECONDS, check_life

__all__ = ["ApprovalParts", "approve", "check_approved", "find_receipt", "redeem", "request_approval"]

_LIFE = timedelta(seconds=DEFAULT_LIFE_SECONDS)


class ApprovalParts(TypedDict, total=False):
    """What an approval is asked with; see `approve`."""

    action: Required[Json]
    category: str | None
    risk: str | None
    body: str
    key: str | None
    life: timedelta
    task_id: str | None
    run_id: str | None
    deadline: datetime | timedelta | None
    consequence: Consequence | str
    escalate_to: str | None
    again: str


def approve(  # noqa: PLR0913 - the public call: every part of an approval has a name
    calls: Calls,
    title: str,
    *,
    action: Json,
    category: str | None = None,
    risk: str | None = None,
    body: str = "",
    key: str | None = None,
    life: timedelta = _LIFE,
    task_id: str | None = None,
    run_id: str | None = None,
    deadline: datetime | timedelta | None = None,
    consequence: Consequence | str = Consequence.WAIT,
    escalate_to: str | None = None,
    again: str = "",
    wait: float | None = None,
    command_id: str = "",
) -> Call[Receipt]:
    """Return the receipt for `action` as soon as it may happen. Do it after `redeem`, and not before.

    Without a `category` a person is always asked. With one the project's policy decides, at that moment: the receipt
    comes at once (`automated`), at once and people are told (`notify_and_proceed`), or a person is asked. With a `key`
    the same approval is found again after a restart, with its receipt if there is one.

    Where a person said no to the same action within a day, whoever in the project asked them, nobody is asked again,
    unless `again` says why: then the person sees the earlier no and this reason.

    Raises:
        Declined: a person said no; the sentence says who and why, and `reason` has the person's words.
        RejectedBefore: a person said so lately, and nobody was asked again; as `Declined`, which it is.
        NoAnswer: withdrawn, expired or superseded.
        StillOpen: `wait` (seconds) lapsed; the ask stays open.
        KeyReusedError: the key belongs to something else.
        BadRequestError: there is no such category, or no action.
    """
    command_id = command_id or new_command_id()
    parts: ApprovalParts = {
        "action": action,
        "category": category,
        "risk": risk,
        "body": body,
        "key": key,
        "life": life,
        "task_id": task_id,
        "run_id": run_id,
        "deadline": deadline,
        "consequence": consequence,
        "escalate_to": escalate_to,
        "again": again,
    }
    told = yield from request_approval(calls, title, command_id=command_id, **parts)
    if isinstance(told, Ask):
        ended = (yield from calls.wait(told.ask_id, wait)) if told.is_open else told
        check_approved(ended)
        # The yes has made the receipt; the same request again is told of it.
        told = yield from request_approval(calls, title, command_id=command_id, **parts)
    if not isinstance(told, Receipt):
        raise AssentError(f"{told.ask_id} was approved, and there is no receipt of it.")
    return told


def request_approval(
    calls: Calls, title: str, *, command_id: str = "", **parts: Unpack[ApprovalParts]
) -> Call[Receipt | Ask]:
    """Ask as `approve` does, and return at once: the receipt, or the ask that a person must answer first.

    Under a `command_id` of one's own it can be sent again, as often as one likes; after a yes it gives the receipt.
    """
    command_id = command_id or new_command_id()
    ids = calls.ids(command_id)
    key, deadline = parts.get("key"), parts.get("deadline")
    category = parts.get("category")
    consequence = convert(parts.get("consequence", Consequence.WAIT), Consequence)
    if key is not None and not 1 <= len(key) <= MAX_KEY:
        raise BadRequestError(f"A key has 1 to {MAX_KEY} characters.")
    check_deadline(deadline)
    if parts.get("escalate_to") is not None and consequence is not Consequence.ESCALATE:
        raise BadRequestError('Somebody to escalate to needs the consequence "escalate".')
    request = RequestApproval(
        receipt_id=ids.new_receipt_id(),
        ask_id=ids.new_ask_id(),
        notification_id=ids.new_notification_id(NotificationKind.HIL_APPROVAL),
        question_id=QuestionId(ids.new_question_id()),
        title=title,
        action=parts["action"],
        body=parts.get("body", ""),
        risk=parts.get("risk"),
        category=None if category is None else parse_category(category),
        life_seconds=check_life(parts.get("life", _LIFE)),
        task_id=parts.get("task_id"),
        key=key,
        run_id=parts.get("run_id") or calls.run_id,
        deadline=deadline,
        consequence=consequence,
        escalate_to=parts.get("escalate_to"),
        again=check_again(parts.get("again", "")),
    )
    return (yield from _send(calls, request, command_id))


def check_approved(ask: Ask) -> None:
    """Let an ask pass that was approved.

    Raises:
        Declined: a person said no; the sentence says who and why, and `reason` has the person's words.
        NoAnswer: it ended otherwise.
        StillOpen: it has not ended.
    """
    if ask.answer is None:
        raise no_answer(ask)
    if not is_approved(ask):
        raise Declined(render_rejection(ask), ask=ask)


def redeem(calls: Calls, receipt_id: str, action: Json, *, command_id: str = "") -> Call[Receipt]:
    """Spend a receipt on exactly the action that was approved, right before it is done; return the receipt.

    Raises:
        ApprovalDiffersError: it is another action; the sentence says what differs.
        ConflictError: it was redeemed before; the sentence says when and by whom.
        Expired: its time is over.
        ForbiddenError: somebody else asked for it.
        NotFoundError: there is none, or it is of another project.
    """
    request = RedeemReceipt(ReceiptId(receipt_id), action)
    told = yield from _send(calls, request, command_id or new_command_id())
    if not isinstance(told, Receipt):
        raise AssentError("The hub told of something else than a receipt.")
    return told


def find_receipt(calls: Calls, receipt_id: str) -> Call[Receipt]:
    """Return one receipt of this project.

    Raises:
        NotFoundError: there is none, or it is of another project.
    """
    found = yield from until(calls.door.receipt(calls.project, receipt_id))
    if found is None:
        raise NotFoundError("There is no such receipt here.")
    return found


def _send(calls: Calls, request: ReceiptRequest, command_id: str) -> Call[Receipt | Ask]:
    told = yield from until(calls.door.send(request, calls.project, calls.principal, command_id))
    if not isinstance(told, Receipt | Ask):
        raise AssentError("The hub told of something else than an approval.")
    return told
