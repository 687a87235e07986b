"""What a project is made of, table by table: what a copy of it has to bring along, in which order.

Rule 1: every column of every table is named here, but a project's number, which is another one in every store, and the
        rights that processes hold, which are of one store only. A test compares this page with the tables of both stores.
Rule 2: the statements are of the part of SQL that both stores read alike, with `?` for a value.
Rule 3: a row's own number (`number`) orders lists over all projects. It is kept where it is free in the other store.
"""

from __future__ import annotations

import msgspec

__all__ = ["EVENTS", "HEADS", "LOG_SHIFT", "TABLES", "Table"]

LOG_SHIFT = 1 << 40
"""event_number = project_number * LOG_SHIFT + sequence."""


class Table(msgspec.Struct, frozen=True):
    """One table whose rows belong to projects."""

    name: str
    columns: tuple[str, ...]
    """All but the project's number; the key is first."""
    key: int = 1
    """So many of the columns tell the rows of a project apart, and give their order."""
    has_number: bool = False
    """The key is the row's own number in its store."""

    def select(self) -> str:
        """Return the statement that reads rows behind a key, some at a time."""
        keys = ", ".join(self.columns[: self.key])
        marks = ", ".join("?" * self.key)
        return (
            f"SELECT {', '.join(self.columns)} FROM {self.name} "  # noqa: S608 - our own names
            f"WHERE project_number = ? AND ({keys}) > ({marks}) ORDER BY {keys} LIMIT ?"
        )

    def first(self) -> str:
        """Return the statement that reads the first rows."""
        keys = ", ".join(self.columns[: self.key]) or "1"
        columns = ", ".join(self.columns)
        return f"SELECT {columns} FROM {self.name} WHERE project_number = ? ORDER BY {keys} LIMIT ?"  # noqa: S608

    def count(self) -> str:
        """Return the statement that counts the rows of a project."""
        return f"SELECT count(*) FROM {self.name} WHERE project_number = ?"  # noqa: S608 - as above

    def greatest(self) -> str:
        """Return the statement that finds the greatest number of a row."""
        return f"SELECT coalesce(max({self.columns[0]}), 0) FROM {self.name}"  # noqa: S608 - as above

    def taken(self, most: int) -> str:
        """Return the statement that finds one of so many numbers that a row has."""
        marks = ", ".join("?" * most)
        return f"SELECT {self.columns[0]} FROM {self.name} WHERE {self.columns[0]} IN ({marks}) LIMIT 1"  # noqa: S608


EVENTS = ("event_number", "at", "type", "subject", "body", "digest", "hash", "topic", "placed_at")
HEADS = "SELECT project, project_number, sequence, hash, at FROM projects ORDER BY project"

_ASK = (
    *(
        "ask_number",
        "ask_id",
        "kind",
        "state",
        "key",
        "digest",
        "prompt",
        "asker",
        "run_id",
        "opened_at",
        "opened",
    ),
    *("deadline", "consequence", "escalate_to", "flags", "sequence", "ending", "claim", "terms"),
    *("action_digest", "again"),
)
_NOTIFICATION = (
    *(
        "notification_number",
        "notification_id",
        "is_open",
        "source",
        "source_id",
        "repeat_key",
        "ask_id",
        "record",
    ),
)
_TARGET = (
    *("target_number", "name", "is_live", "record", "secret", "cursor", "fence"),
    *("lease_until", "attempts", "next_try_at", "last_error"),
)

TABLES = (
    Table("asks", _ASK, has_number=True),
    Table("steps", ("flow_id", "step", "digest", "state", "content", "by"), key=2),
    Table("runs", ("run_number", "run_id", "is_active", "record"), has_number=True),
    Table("controls", ("request_id", "is_settled", "sequence", "record")),
    Table("tasks", ("task_number", "task_id", "status", "record"), has_number=True),
    Table("notifications", _NOTIFICATION, has_number=True),
    Table("policies", ("record",), key=0),
    Table("tokens", ("token_number", "token_id", "digest", "record"), has_number=True),
    Table("receipts", ("receipt_number", "receipt_id", "key", "is_redeemed", "record"), has_number=True),
    Table("done_commands", ("command_id", "digest", "sequence")),
    Table("tails", ("run_id", "text", "written", "at", "command_id")),
    Table("targets", _TARGET, has_number=True),
    Table("target_messages", ("name", "ask_id", "reference"), key=2),
)
"""All but the log and the heads."""
