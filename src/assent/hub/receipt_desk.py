"""The part of the desk for approvals that bind.

    requires_approval    ask.opened, notification.added; and when a person says yes
                         ask.answered, notification.resolved, receipt.granted
    notify_and_proceed   notification.added, receipt.granted
    automated            receipt.granted
    redeemed             receipt.redeemed

All of a row is one transaction: the policy that decides is the one of that moment, and whoever answers makes the receipt,
so nobody has to come back for it. What was asked or granted before is found again by its key, whatever the policy
says by now.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assent.engine.ask import OpenAsk
from assent.engine.notification import AddNotification
from assent.engine.receipt import GrantReceipt
from assent.engine.stamp import Stamp
from assent.hub.apply import apply
from assent.hub.receipt_command import ReceiptRequest, RequestApproval
from assent.hub.restored import find_restored_at
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, AskId, Kind
from assent.protocol.display import quote
from assent.protocol.ending import render_instant
from assent.protocol.error import BadRequestError, CommandReusedError, Expired, ForbiddenError, KeyReusedError
from assent.protocol.notification import Notification, NotificationKind, Source
from assent.protocol.open_question import Question
from assent.protocol.policy import Level, Policy, parse_category
from assent.protocol.prompt import Prompt, check_prompt, prompt_digest
from assent.protocol.receipt import Receipt, ReceiptLevel
from assent.protocol.run import RunId
from assent.protocol.terms import ReceiptId, Terms, check_life
from assent.storage.port import Head

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["ReceiptDesk"]

_INFORMED = "For your information, this goes on without you: "
"""What stands before the title of what nobody is asked about."""


class ReceiptDesk:
    """Approvals and receipts of one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def perform(self, head: Head, request: ReceiptRequest, stamp: Stamp) -> Receipt | Ask:
        """Do one request; return the receipt, or the ask that a person must answer first."""
        if isinstance(request, RequestApproval):
            return self._request(head, request, stamp)
        self._check_restored(head, request.receipt_id)
        self._check_policy(head, request.receipt_id)
        redeemed: Receipt = apply(self._desk, head, replace(request, stamp=stamp))
        return redeemed

    def _request(self, head: Head, request: RequestApproval, stamp: Stamp) -> Receipt | Ask:
        if request.action is None:
            raise BadRequestError("An approval needs the action that is to be approved.")
        life = check_life(timedelta(seconds=request.life_seconds))
        # Read again, although it is typed: what is no category must never pass for one that asks nobody.
        category = None if request.category is None else parse_category(request.category)
        prompt = approval_prompt(request.title, request.action, body=request.body, risk=request.risk)
        digest = prompt_digest(check_prompt(prompt))
        terms = Terms(request.receipt_id, life, category)
        known = self._known(head, request)
        if known is not None:
            return _granted_again(known, request, digest, str(stamp.by))
        asked = self._asked(head, request)
        level = Level.REQUIRES_APPROVAL
        # A person's no to this action is not undone by giving it another category.
        if category is not None and asked is None and not self._desk.rejection(head, Kind.APPROVAL, prompt):
            kept = self._desk.transaction.policy(head)
            level = (Policy() if kept is None else kept.policy).level(category)
        if level is Level.REQUIRES_APPROVAL:
            return self._ask(head, request, prompt, digest, terms, stamp, is_new=asked is None)
        return self._let_pass(head, request, digest, terms, stamp, level)

    def _check_restored(self, head: Head, receipt_id: ReceiptId) -> None:
        """Refuse to redeem what was granted before the store was restored: it may have been used since the backup.

        Raises:
            Expired: it was.
        """
        receipt = self._desk.transaction.receipt(head.project, receipt_id)
        restored_at = find_restored_at(self._desk.transaction, head)
        if receipt is None or receipt.redeemed_at is not None or restored_at is None:
            return
        if receipt.granted_at <= restored_at:
            raise Expired(
                f"The approval {receipt_id} is void: the store was restored from a backup at "
                f"{render_instant(restored_at)}, and it may have been used before. Ask again."
            )

    def _check_policy(self, head: Head, receipt_id: ReceiptId) -> None:
        """Refuse to redeem what the policy let pass once and would no longer: nobody could keep a yes for later.

        Raises:
            ForbiddenError: a person must approve it by now, and none did.
        """
        receipt = self._desk.transaction.receipt(head.project, receipt_id)
        if receipt is None or receipt.redeemed_at is not None or receipt.category is None:
            return
        kept = self._desk.transaction.policy(head)
        level = (Policy() if kept is None else kept.policy).level(receipt.category)
        if receipt.level is not ReceiptLevel.APPROVED and level is Level.REQUIRES_APPROVAL:
            raise ForbiddenError(
                f"{receipt.receipt_id} came from the policy, which has changed: a person must approve it now. Ask again."
            )

    def _known(self, head: Head, request: RequestApproval) -> Receipt | None:
        if request.key is not None:
            return self._desk.transaction.receipt_by_key(head, request.key)
        return self._desk.transaction.receipt(head.project, request.receipt_id)

    def _asked(self, head: Head, request: RequestApproval) -> Ask | None:
        """Return the ask that this request, or an earlier one with its key, has opened: it is a person's to end."""
        if request.key is not None:
            return self._desk.transaction.ask_by_key(head.project, request.key)
        return self._desk.transaction.ask(head.project, request.ask_id)

    def _ask(
        self,
        head: Head,
        request: RequestApproval,
        prompt: Prompt,
        digest: str,
        terms: Terms,
        stamp: Stamp,
        *,
        is_new: bool,
    ) -> Ask:
        """Ask a person, and say so in a notification: whoever resolves the one answers the other."""
        ask = self._desk.command(
            head,
            OpenAsk(
                request.ask_id,
                prompt,
                digest,
                Kind.APPROVAL,
                request.key,
                request.run_id,
                request.deadline,
                request.consequence,
                request.escalate_to,
                terms=terms,
                stamp=stamp,
                again=request.again,
            ),
        )
        if is_new:
            self._notify(head, request, request.title, stamp, ask.ask_id)
        return ask

    def _let_pass(
        self, head: Head, request: RequestApproval, digest: str, terms: Terms, stamp: Stamp, level: Level
    ) -> Receipt:
        """Grant a receipt by the policy; where it says so, people are told. Nothing waits for them (Q-X15)."""
        if request.run_id is not None:
            self._desk.check_run(head, RunId(request.run_id))
        told = None
        if level is Level.NOTIFY_AND_PROCEED:
            told = self._notify(head, request, _INFORMED + request.title, stamp)
        granted: Receipt = apply(
            self._desk,
            head,
            GrantReceipt(
                ReceiptLevel.AUTOMATED if told is None else ReceiptLevel.NOTIFIED,
                terms,
                request.title,
                request.action,
                digest,
                str(stamp.by),
                notification_id=None if told is None else told.notification_id,
                key=request.key,
                stamp=stamp,
            ),
        )
        return granted

    def _notify(
        self, head: Head, request: RequestApproval, text: str, stamp: Stamp, ask_id: AskId | None = None
    ) -> Notification:
        return self._desk.notify(
            head,
            AddNotification(
                request.notification_id,
                NotificationKind.HIL_APPROVAL,
                Source.EXECUTE,
                request.task_id or request.receipt_id,
                (Question(request.question_id, text.strip(), stamp.at),),
                ask_id,
                stamp=stamp,
            ),
        )


def _granted_again(receipt: Receipt, request: RequestApproval, digest: str, asker: str) -> Receipt:
    """Return the receipt that was granted before; never one for something else, nor one that a person had no say in."""
    if (receipt.digest, receipt.category, receipt.asker) == (digest, request.category, asker):
        return receipt
    if request.key is None:
        raise CommandReusedError(f"{receipt.receipt_id} already stands for another approval.")
    raise KeyReusedError(
        f'The key "{quote(request.key)}" already belongs to {receipt.receipt_id}, which is another approval.'
    )
