"""`NotificationService`: notifications under the name that the protocol text gives them (Q16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assent.client.client import Client
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, Notification, NotificationKind, Source

__all__ = ["NotificationService"]


class NotificationService:
    """Creates notifications through a client. It keeps nothing: the same as `client.add_notification`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        source: Source | str,
        source_id: str,
        questions: Sequence[Mapping[str, Json] | str],
        *,
        kind: NotificationKind | str = NotificationKind.OPEN_QUESTION,
        error_code: ErrorCode | str | None = None,
        scope_change_metadata: Mapping[str, Json] | None = None,
    ) -> Notification:
        """Write a notification to the table `open_questions`, and return it; an open one that says the same is it.

        Raises:
            BadRequestError: it says something that its kind does not say, or nothing.
        """
        return self._client.add_notification(
            source,
            source_id,
            questions,
            kind=kind,
            error_code=error_code,
            scope_change_metadata=scope_change_metadata,
        )
