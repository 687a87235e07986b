"""One loop for the nouns of the core: load, decide, evolve, append, put.

Nouns that still have more to do than that have a desk of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from assent.engine.table import MACHINE_FOR
from assent.storage.port import Head, Transaction

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["apply"]


class _Rows(msgspec.Struct, frozen=True):
    """How the row of a noun is read, by its id, and written."""

    find: Callable[[Transaction, Head, Any], Any]
    put: Callable[[Transaction, Head, Any], None]


_ROWS = {
    "policy": _Rows(
        lambda transaction, head, _: transaction.policy(head),
        lambda transaction, head, policy: transaction.put_policy(head, policy),
    ),
    "receipt": _Rows(
        lambda transaction, head, receipt_id: transaction.receipt(head.project, receipt_id),
        lambda transaction, head, receipt: transaction.put_receipt(head, receipt),
    ),
    "token": _Rows(
        lambda transaction, head, token_id: transaction.token(head.project, token_id),
        lambda transaction, head, token: transaction.put_token(head, token),
    ),
}
"""By the name of the noun."""

_CONTEXT: dict[str, Callable[[Transaction, Head], Any]] = {"project": lambda _, head: head.project}
"""What a machine may ask for, and how it is read."""


def apply(desk: Desk, head: Head, command: Any) -> Any:
    """Let a command, which is stamped, happen to the row that it names; return that row as it is then.

    Raises:
        AssentError: its machine refuses it, and nothing was written.
    """
    machine = MACHINE_FOR[type(command)]
    assert machine.key is not None  # noqa: S101 - only such nouns come here
    key, rows = machine.key(command), _ROWS[machine.name]
    state = rows.find(desk.transaction, head, key)
    context = {name: _CONTEXT[name](desk.transaction, head) for name in machine.context}
    for event in machine.decide(state, command, **context):
        state = machine.evolve(state, event, project=head.project, sequence=head.sequence + 1)
        desk.record(head, event, key)
        rows.put(desk.transaction, head, state)
    return state
