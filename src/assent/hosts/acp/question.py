"""What an ACP agent asks, as a prompt or an action of ours. Values only; nothing here knows the library.

Rule 1: only options for this once count: `allow_once` and `reject_once`. What is for ever is never chosen.
Rule 2: an action is all that the tool call shows, and the option that would be chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assent.protocol.canonical import Json
from assent.protocol.error import BadPromptError
from assent.protocol.host_question import HostOption, HostQuestion

__all__ = ["Choice", "allowing", "choose_question", "permission_action", "rejecting"]

_PASSING = frozenset({"toolCallId", "status", "_meta", "sessionUpdate", "rawOutput"})
"""What differs from one time to the next, or is no part of what would be done."""


class Choice(msgspec.Struct, frozen=True):
    """One of the options that an agent offers for its tool call."""

    option_id: str
    name: str
    kind: str


def allowing(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return those that would let it happen, once."""
    return tuple(choice for choice in choices if choice.kind == "allow_once")


def rejecting(choices: Sequence[Choice]) -> Choice | None:
    """Return the first one that says no, once."""
    return next((choice for choice in choices if choice.kind == "reject_once"), None)


def choose_question(title: str, choices: Sequence[Choice]) -> HostQuestion:
    """Return the question which of several ways is meant; the approval of that way comes after it."""
    options = tuple(HostOption(choice.name) for choice in choices)
    return HostQuestion("option", title, options, free=False)


def permission_action(call: Mapping[str, Any], choice: Choice) -> tuple[str, Json]:
    """Return the title and the exact action of a request for permission.

    Raises:
        BadPromptError: it does not show what would be done.
    """
    shown: dict[str, Json] = {
        key: value for key, value in call.items() if key not in _PASSING and value is not None
    }
    title = shown.get("title")
    if not any(shown.get(key) for key in ("title", "rawInput", "content")):
        raise BadPromptError("The agent did not show what it would do.")
    action: Json = {"host": "acp", "tool call": shown, "option": {"name": choice.name, "kind": choice.kind}}
    return str(title) if isinstance(title, str) and title.strip() else "A tool call of the agent", action
