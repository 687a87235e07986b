"""What Codex asks, as a prompt or an action of ours; and what it is told. Values only.

Rule 1: an action is all that the request shows, without the ids that differ from one time to the next.
Rule 2: the only yes is for this once: never for the session, never a rule for later.
Rule 3: no answer is never empty. Codex would take that for one, so it is told in words that nothing was decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assent.hosts.form import headline
from assent.protocol.canonical import Json
from assent.protocol.error import BadPromptError
from assent.protocol.host_question import HostOption, HostQuestion, HostReply

__all__ = [
    "COMMAND",
    "ELICITATION",
    "FILE_CHANGE",
    "INPUT",
    "PERMISSIONS",
    "answers",
    "approval",
    "grant",
    "is_tool_approval",
    "lasting",
    "no_answers",
    "questions",
]

COMMAND = "item/commandExecution/requestApproval"
FILE_CHANGE = "item/fileChange/requestApproval"
PERMISSIONS = "item/permissions/requestApproval"
INPUT = "item/tool/requestUserInput"
ELICITATION = "mcpServer/elicitation/request"

_PASSING = frozenset(
    {"threadId", "turnId", "itemId", "approvalId", "startedAtMs", "availableDecisions", "elicitationId"}
)
"""What differs from one time to the next, or says how Codex would like to be answered."""
_NOTE = "user_note: "
_NONE = "None of the above"
"""As Codex' own screen sends words of one's own: this label, and the words behind the prefix."""


def questions(params: Mapping[str, Any]) -> tuple[HostQuestion, ...]:
    """Return the questions of a request for user input.

    Raises:
        BadPromptError: it is none, or wants a secret, which the record would keep.
    """
    given = params.get("questions")
    if not isinstance(given, Sequence) or not all(isinstance(each, Mapping) for each in given):
        raise BadPromptError("Codex asked nothing that can be read.")
    if any(each.get("isSecret") for each in given):
        raise BadPromptError("Codex asked for a secret, and what is answered here is kept in the record.")
    found = tuple(_question(each) for each in given)
    if len({each.key for each in found}) != len(found):
        raise BadPromptError("Codex asked two questions under one id.")
    return found


def _question(given: Mapping[str, Any]) -> HostQuestion:
    options = tuple(
        HostOption(str(each.get("label", "")), str(each.get("description") or ""))
        for each in given.get("options") or ()
        if isinstance(each, Mapping)
    )
    return HostQuestion(
        str(given.get("id", "")),
        str(given.get("question", "")),
        options,
        free=bool(given.get("isOther")) or not options,
        header=str(given.get("header") or ""),
    )


def answers(asked: Sequence[HostQuestion], replies: Sequence[HostReply]) -> dict[str, Json]:
    """Return the reply to a request for user input: by id, labels as Codex has them."""
    told: dict[str, Json] = {}
    for question, reply in zip(asked, replies, strict=True):
        chosen: list[Json] = list(reply.labels)
        if reply.text:
            none = [_NONE] if question.options and not chosen else []
            chosen += [*none, _NOTE + reply.text]
        told[question.key] = {"answers": chosen}
    return {"answers": told}


def no_answers(params: Mapping[str, Any], why: str) -> dict[str, Json]:
    """Return the reply that says that nobody decided anything."""
    given = params.get("questions")
    ids = [str(each.get("id", "")) for each in given or () if isinstance(each, Mapping)]
    sentence = f"{_NOTE}No decision was made. {why} No option was chosen; do not take any for chosen."
    return {"answers": {each: {"answers": [sentence]} for each in ids}}


def lasting(params: Mapping[str, Any]) -> dict[str, Json]:
    """Return what a request shows, the same when it is asked again."""
    return {key: value for key, value in params.items() if key not in _PASSING and value is not None}


def approval(method: str, params: Mapping[str, Any], changes: Json = None) -> tuple[str, Json, str]:
    """Return the title, the exact action and the body of a request for approval.

    Raises:
        BadPromptError: it does not show what would be done.
    """
    shown = lasting(params)
    body = str(shown.get("reason") or "")
    if method == COMMAND:
        command, network = shown.get("command"), shown.get("networkApprovalContext")
        if not isinstance(command, str) and not isinstance(network, Mapping):
            raise BadPromptError("Codex did not show which command it would run.")
        what = command if isinstance(command, str) else f"reach {network.get('host')}"  # type: ignore[union-attr]
        return f"Codex: run {_first(what)}", {"host": "codex", "run": shown}, body
    if method == FILE_CHANGE:
        if shown.get("grantRoot"):
            raise BadPromptError("Codex asked to write in a folder for the rest of the session.")
        if not changes:
            raise BadPromptError("Codex did not show what it would change.")
        return f"Codex: change {_paths(changes)}", {"host": "codex", "change": changes, "about": shown}, body
    if method == PERMISSIONS:
        if not isinstance(shown.get("permissions"), Mapping):
            raise BadPromptError("Codex did not show what it wants to be permitted.")
        return "Codex: more permissions for this turn", {"host": "codex", "permit": shown}, body
    server, message = str(shown.get("serverName", "")), str(shown.get("message", ""))
    return f"Codex: {_first(message)}", {"host": "codex", "tool of": server, "request": shown}, ""


def grant(method: str, params: Mapping[str, Any], *, is_allowed: bool) -> dict[str, Json]:
    """Return the reply to a request for approval."""
    if method == PERMISSIONS:
        return {"permissions": params["permissions"] if is_allowed else {}, "scope": "turn"}
    if method == ELICITATION:
        return {"action": "accept", "content": {}} if is_allowed else {"action": "decline"}
    return {"decision": "accept" if is_allowed else "decline"}


def is_tool_approval(params: Mapping[str, Any]) -> bool:
    """Whether an elicitation is Codex' own request to let a tool be called: a form without a question."""
    meta, schema = params.get("_meta"), params.get("requestedSchema")
    is_marked = isinstance(meta, Mapping) and bool(meta.get("codex_approval_kind"))
    is_empty = isinstance(schema, Mapping) and not schema.get("properties")
    return is_marked and is_empty


def _first(text: str) -> str:
    return headline(text)[0]


def _paths(changes: Json) -> str:
    entries = changes if isinstance(changes, list) else [changes]
    paths = [str(each.get("path", "?")) if isinstance(each, Mapping) else "?" for each in entries]
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{_first(paths[0])}{more}"
