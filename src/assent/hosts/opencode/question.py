"""What opencode asks, as a prompt or an action of ours; and what it is told. Values only.

Rule 1: answers go by place: one list of labels for each question, in their order.
Rule 2: the only yes is `once`; `always` would answer what nobody has seen yet.
Rule 3: no answer is no reply of ours: opencode's question stays open, or is rejected when a person declined it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assent.protocol.canonical import Json
from assent.protocol.error import BadPromptError
from assent.protocol.host_question import HostOption, HostQuestion, HostReply

__all__ = ["Pending", "answers", "pending_permission", "pending_question", "permission", "questions", "reply"]


class Pending(msgspec.Struct, frozen=True):
    """Something that opencode waits for."""

    request_id: str
    is_question: bool
    params: Mapping[str, Any]

    @property
    def name(self) -> str:
        """By which it is found again."""
        return f"{'question' if self.is_question else 'permission'}:{self.request_id}"


def pending_question(params: object) -> Pending | None:
    """Return a question of the list, or of an event; None where it is none."""
    return _pending(params, is_question=True)


def pending_permission(params: object) -> Pending | None:
    """Return a request for permission of the list, or of an event; None where it is none."""
    return _pending(params, is_question=False)


def _pending(params: object, *, is_question: bool) -> Pending | None:
    if not isinstance(params, Mapping) or not isinstance(params.get("id"), str) or not params["id"]:
        return None
    return Pending(params["id"], is_question, params)


def questions(params: Mapping[str, Any]) -> tuple[HostQuestion, ...]:
    """Return the questions of a request.

    Raises:
        BadPromptError: it is none.
    """
    given = params.get("questions")
    if not isinstance(given, Sequence) or not all(isinstance(each, Mapping) for each in given):
        raise BadPromptError("opencode asked nothing that can be read.")
    return tuple(_question(place, each) for place, each in enumerate(given))


def _question(place: int, given: Mapping[str, Any]) -> HostQuestion:
    options = tuple(
        HostOption(str(each.get("label", "")), str(each.get("description") or ""))
        for each in given.get("options") or ()
        if isinstance(each, Mapping)
    )
    return HostQuestion(
        str(place),
        str(given.get("question", "")),
        options,
        bool(given.get("multiple")),
        given.get("custom") is not False,
        str(given.get("header") or ""),
    )


def answers(replies: Sequence[HostReply]) -> dict[str, Json]:
    """Return the reply to questions: one list each, in their order."""
    return {"answers": [list(each.texts) for each in replies]}


def permission(params: Mapping[str, Any]) -> tuple[str, Json]:
    """Return the title and the exact action of a request for permission.

    Raises:
        BadPromptError: it does not show what would be done.
    """
    name, patterns = params.get("permission") or params.get("type"), params.get("patterns")
    if not isinstance(name, str) or not name:
        raise BadPromptError("opencode did not show what it wants to do.")
    shown = [str(each) for each in patterns] if isinstance(patterns, Sequence) else []
    about: dict[str, Json] = {
        key: value
        for key, value in params.items()
        # `always` is what a yes for ever would cover, and there is none.
        if key not in {"id", "sessionID", "tool", "always", "time"} and value is not None
    }
    title = f"opencode: {name} {', '.join(shown)}".strip()
    return title, {"host": "opencode", "permit": about}


def reply(*, is_allowed: bool, reason: str = "") -> dict[str, Json]:
    """Return the reply to a request for permission."""
    return {"reply": "once"} if is_allowed else {"reply": "reject", "message": reason}
