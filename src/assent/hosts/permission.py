"""A host's request for permission, as an approval that binds: what is let through is exactly what was shown, once.

Rule 1: no answer, no permission. Everything but a person's yes, redeemed for this very action, is a no with a reason
        that says what really happened.
Rule 2: under the same key the same request is found again, so a host that was stopped and resumed asks nobody twice.
Rule 3: the receipt is spent before the host is told; a host that asks again for the same key after that is refused.
"""

from __future__ import annotations

from typing import Unpack

import msgspec

from assent.client.approving import ApprovalParts, redeem, request_approval
from assent.client.calls import Calls, no_answer
from assent.client.door import Call
from assent.protocol.approval import is_approved, render_rejection
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, RejectedBefore, StillOpen
from assent.protocol.receipt import ReceiptLevel, render_granting

__all__ = ["Permission", "ask_permission"]


class Permission(msgspec.Struct, frozen=True):
    """What came of a request for permission."""

    is_allowed: bool
    reason: str = ""
    """Why not, in one sentence; or who said yes."""
    ask: Ask | None = None
    """Where a person was asked."""
    is_by_policy: bool = False
    """The policy let it happen, and nobody was asked."""

    @property
    def is_open(self) -> bool:
        """Nobody has decided yet: the ask waits."""
        return self.ask is not None and self.ask.is_open


def ask_permission(
    calls: Calls, title: str, *, wait: float | None = None, spend_id: str = "", **parts: Unpack[ApprovalParts]
) -> Call[Permission]:
    """Ask whether an action may happen, wait for the answer, and spend it; `wait` are seconds, None is without end.

    What the parts are is said by `client.approving.approve`; a host always has a `key`. Whoever asks at the same time for
    one and the same act has the same `spend_id`: for them it is spent once, and both are told so.
    """
    try:
        told = yield from request_approval(calls, title, **parts)
    except RejectedBefore as before:
        return Permission(is_allowed=False, reason=before.message, ask=before.ask)
    asked: Ask | None = None
    if isinstance(told, Ask):
        asked = told
        if told.is_open:
            try:
                asked = yield from calls.wait(told.ask_id, wait)
            except StillOpen:
                return Permission(is_allowed=False, reason="Nobody has answered yet.", ask=told)
        if asked.answer is None:
            return Permission(is_allowed=False, reason=no_answer(asked).message, ask=asked)
        if not is_approved(asked):
            return Permission(is_allowed=False, reason=render_rejection(asked), ask=asked)
        # The yes has made the receipt; the same request again is told of it.
        told = yield from request_approval(calls, title, **parts)
    if isinstance(told, Ask):
        return Permission(
            is_allowed=False, reason="It was approved, and there is no receipt of it.", ask=told
        )
    try:
        spent = yield from redeem(calls, told.receipt_id, parts["action"], command_id=spend_id)
    except AssentError as error:
        return Permission(is_allowed=False, reason=error.message, ask=asked)
    is_by_policy = spent.level is not ReceiptLevel.APPROVED
    return Permission(is_allowed=True, reason=render_granting(spent), ask=asked, is_by_policy=is_by_policy)
