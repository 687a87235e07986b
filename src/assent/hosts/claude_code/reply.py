"""What a hook tells the host, in the host's own shapes; None is to say nothing, and the host goes on by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Reply", "allow", "ask", "block", "defer", "deny", "elicited", "permit", "refuse"]

Reply = dict[str, Any]


def allow(reason: str, given: Mapping[str, Any]) -> Reply:
    """Let a call of a tool happen, with this input and no other."""
    return _before("allow", permissionDecisionReason=reason, updatedInput=dict(given))


def deny(reason: str) -> Reply:
    """Let it not happen; the model is told why."""
    return _before("deny", permissionDecisionReason=reason)


def ask(reason: str) -> Reply:
    """Have the host ask in its own dialog, also where its rules would let the call pass."""
    return _before("ask", permissionDecisionReason=reason)


def defer() -> Reply:
    """Put it off: the host ends here, and asks again when the session is resumed."""
    return _before("defer")


def permit(given: Mapping[str, Any]) -> Reply:
    """Answer the host's own request for permission with a yes to this input."""
    return _request({"behavior": "allow", "updatedInput": dict(given)})


def refuse(reason: str) -> Reply:
    """Answer it with a no; the model is told why."""
    return _request({"behavior": "deny", "message": reason})


def block(reason: str) -> Reply:
    """Tell the model after a call that its result does not count, and why."""
    return {"decision": "block", "reason": reason}


def elicited(action: str, content: Mapping[str, Any] | None = None) -> Reply:
    """Answer the form of an MCP server."""
    told: Reply = {"hookEventName": "Elicitation", "action": action}
    return {"hookSpecificOutput": told if content is None else {**told, "content": dict(content)}}


def _before(decision: str, **more: Any) -> Reply:
    told = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": told}


def _request(decision: Mapping[str, Any]) -> Reply:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": dict(decision)}}
