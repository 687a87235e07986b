"""A restore revives nothing: what may have been used after its backup was taken is void, and the log says so.

Rule 1: it is done in the transaction by which the restored project appears: there is no moment in which it could be used.
Rule 2: `store.restored` comes first, right behind the backup's last event. All that is void is void by it: a receipt
        that was granted before it is redeemed by nobody, and a REQUEST that was sent before it is never executed.
Rule 3: what was accepted and not executed gets its RESULT, which says that it was not; what only lay there expires.
Rule 4: tokens are revoked one by one, as if a person had done so, unless that person keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assent.engine.control import ControlEvent, ControlExpired, ResolveControl, decide, evolve
from assent.engine.stamp import Stamp
from assent.engine.token import RevokeToken
from assent.engine.token import decide as decide_token
from assent.engine.token import evolve as evolve_token
from assent.hub.desk import instant
from assent.hub.record import (
    Recorded,
    RestoredFrom,
    StoreRestored,
    encode_event,
    topic_of,
    type_of,
)
from assent.protocol.control import Code, Control, ControlState, failure
from assent.protocol.principal import Principal
from assent.protocol.token import TokenId
from assent.storage.port import Head, Transaction

__all__ = ["Voided", "mark_restored"]

_SUBJECT = "store"
_NOT_EXECUTED = "The store was restored from a backup, so the command was not executed."


class Voided(msgspec.Struct, frozen=True):
    """What a restore has ended in a project, besides the receipts."""

    requests: int
    tokens: int


def mark_restored(
    transaction: Transaction, project: str, now: int, by: Principal, tokens: Iterable[str]
) -> Voided:
    """Write into a restored project's log that it was restored, and end what must not go on."""
    head = transaction.head(project, now)
    stamp = Stamp(instant(head.at), by, "")
    restored = StoreRestored(stamp.at, str(by), RestoredFrom(head.sequence, head.hash.hex()))
    _record(transaction, head, restored, _SUBJECT)
    requests = transaction.open_controls(head)
    for control in requests:
        _end(transaction, head, control, stamp)
    revoked = sum(_revoke(transaction, head, TokenId(token_id), stamp) for token_id in tokens)
    return Voided(len(requests), revoked)


def _end(transaction: Transaction, head: Head, control: Control, stamp: Stamp) -> None:
    request_id = control.request.request_id
    events: tuple[ControlEvent, ...] = (ControlExpired(request_id, stamp.at),)
    if control.state is ControlState.ACCEPTED:
        events = decide(control, ResolveControl(failure(Code.INVALID_STATE, _NOT_EXECUTED), stamp))
    for event in events:
        sequence = _record(transaction, head, event, request_id)
        ended = evolve(control, event, sequence=sequence)
        if ended is not None:
            transaction.put_control(head, ended)


def _revoke(transaction: Transaction, head: Head, token_id: TokenId, stamp: Stamp) -> int:
    token = transaction.token(head.project, token_id)
    events = decide_token(token, RevokeToken(token_id, stamp), project=head.project)
    for event in events:
        token = evolve_token(token, event, project=head.project, sequence=head.sequence + 1)
        _record(transaction, head, event, token_id)
        transaction.put_token(head, token)
    return len(events)


def _record(transaction: Transaction, head: Head, event: Recorded, subject: str) -> int:
    transaction.append(head, type_of(event), subject, encode_event(event), topic_of(event))
    return head.sequence
