"""Which rows are found by something else than what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assent.storage.sql.receipt_row import strayed_receipt
from assent.storage.sql.row import strayed_control, strayed_run
from assent.storage.sql.target_row import strayed_target
from assent.storage.sql.token_row import strayed_token
from assent.storage.sql.work_row import strayed_notification, strayed_policy, strayed_task

__all__ = ["find_strayed"]

_STRAYED: dict[str, Callable[..., str | None]] = {
    "run_columns": strayed_run,
    "control_columns": strayed_control,
    "task_columns": strayed_task,
    "notification_columns": strayed_notification,
    "policy_columns": strayed_policy,
    "token_columns": strayed_token,
    "receipt_columns": strayed_receipt,
    "target_columns": strayed_target,
}
"""Which statement reads the columns of all rows of a table, and what names a row whose columns are not its own."""


def find_strayed(query: Callable[[str], list[tuple[Any, ...]]]) -> list[str]:
    """Return a sentence for each row whose columns are not those of its record."""
    names = (name_of(*row) for name, name_of in _STRAYED.items() for row in query(name))
    return [f"the row of {name} is listed under what it is not." for name in names if name is not None]
