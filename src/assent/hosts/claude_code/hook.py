"""What each event of the host becomes: an ask in the inbox, and its answer told in the host's way.

    PreToolUse         a call that must be approved: an approval that binds. The question tool, where nobody sits at the
                       host: a question; unanswered, it is put off (`defer`) and found again when the session resumes.
    PermissionRequest  the host's own dialog is open at the same time, and the first answer wins.
    PostToolUse        the question was answered in the host's dialog: the ask gets that answer, as the host's word.
    Elicitation        the form of an MCP server, where nobody sits at the host.
    Stop, SessionEnd   what this session still asks is no longer needed by anybody: it is taken back.

Rule 1: no answer, no decision. A wait that lapses is told as what it is; the host's dialog stays, or the call is put off.
Rule 2: fails closed. Where a call must be approved, `failed` makes a no of every fault.
Rule 3: what is let through is exactly what was shown, once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from assent.client.calls import Calls, no_answer, value_of_form
from assent.client.door import Call
from assent.hosts.claude_code.glance import HOST, QUESTION_TOOL, Watch
from assent.hosts.claude_code.question import answered_input, parse_questions, parse_response
from assent.hosts.claude_code.reply import Reply, allow, defer, deny, elicited, permit, refuse
from assent.hosts.permission import Permission, ask_permission
from assent.hosts.person import person_at
from assent.protocol.ask import Ask, State
from assent.protocol.error import (
    AssentError,
    BadPromptError,
    BadRequestError,
    ConflictError,
    StillOpen,
    TooLargeError,
)
from assent.protocol.form import form
from assent.protocol.host_question import host_prompt

__all__ = ["ENDINGS", "failed", "reply_to"]

ENDINGS = frozenset({"PostToolUse", "Stop", "SessionEnd"})
"""After these, what was asked is taken back."""

_MAX_TITLE = 200
_TITLE = "Claude Code asks"
_OWN_SERVER = "assent"
"""What our own MCP server asks is in the inbox already."""
_SHOWN = ("command", "file_path", "notebook_path", "url", "query", "description")
_IN_THE_HOST = "It was answered in Claude Code."
_OVER = "Claude Code no longer waits for it."


def reply_to(calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float) -> Call[Reply | None]:
    """Return what the host is told of an event; people have `wait` seconds.

    Raises:
        AssentError: nobody could be asked; `failed` says what the host is told then.
    """
    name, tool = event["hook_event_name"], event.get("tool_name")
    if name == "PreToolUse" and tool == QUESTION_TOOL:
        return (yield from _question_put_off(calls, event, wait))
    if name == "PreToolUse":
        return (yield from _call(calls, event, watch, wait))
    if name == "PermissionRequest" and tool == QUESTION_TOOL:
        return (yield from _question_beside(calls, event, wait))
    if name == "PermissionRequest":
        return (yield from _permission(calls, event, watch, wait))
    if name == "Elicitation":
        return (yield from _elicitation(calls, event, wait))
    if name == "PostToolUse":
        yield from _record(calls, event)
    elif name in ENDINGS:
        yield from _take_back(calls, event)
    return None


def failed(event: Mapping[str, Any], watch: Watch, sentence: str) -> Reply | None:
    """Return what the host is told where a fault of ours stood between a person and the answer."""
    name, tool = event["hook_event_name"], event.get("tool_name")
    if name == "PreToolUse" and tool != QUESTION_TOOL:
        return deny(f"This needs the approval of a person, and nobody could be asked: {sentence}")
    if name == "PreToolUse":
        return deny(f"Nobody could be asked: {sentence}")
    if name == "PermissionRequest" and watch.is_headless:
        return refuse(f"Nobody could be asked: {sentence}")
    return None


def _call(calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float) -> Call[Reply]:
    key = _key(event, _part(event, "tool_use_id"))
    permission = yield from _ask_permission(calls, event, key, wait)
    if permission.is_allowed:
        return allow(permission.reason, event["tool_input"])
    if not permission.is_open:
        return deny(permission.reason)
    if watch.is_headless:
        return defer()
    # This call is over with our no, so a later yes would let nothing happen.
    yield from _withdraw(calls, permission.ask, _OVER)
    return deny(
        "Nobody has answered in time, so it was not approved. Ask the person before you try it again."
    )


def _permission(calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float) -> Call[Reply | None]:
    permission = yield from _ask_permission(calls, event, _passing_key(event), wait)
    if permission.is_allowed:
        return permit(event["tool_input"])
    if permission.is_open:
        yield from _withdraw(calls, permission.ask, _OVER)
        return refuse("Nobody has answered in time, so it was not approved.") if watch.is_headless else None
    if permission.ask is not None and permission.ask.state is State.WITHDRAWN and not watch.is_headless:
        return None  # the person at the host was first
    return refuse(permission.reason)


def _ask_permission(calls: Calls, event: Mapping[str, Any], key: str, wait: float) -> Call[Permission]:
    tool, given = event.get("tool_name"), event.get("tool_input")
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise BadRequestError("Claude Code named no tool, or no input of it.")
    action: dict[str, Any] = {"tool": tool, "input": given, "cwd": str(event.get("cwd", ""))}
    shown = next((given[name] for name in _SHOWN if isinstance(given.get(name), str)), "")
    title = " ".join(f"{tool}: {shown}".split()).removesuffix(":")
    if len(title) > _MAX_TITLE:
        title = title[: _MAX_TITLE - 1] + "…"
    return (yield from ask_permission(calls, title, action=action, key=key, wait=wait))


def _question_put_off(calls: Calls, event: Mapping[str, Any], wait: float) -> Call[Reply]:
    questions = parse_questions(event.get("tool_input"))
    prompt = host_prompt(questions, title=_TITLE)
    ask = yield from calls.open(prompt, key=_key(event, _part(event, "tool_use_id")))
    ask = yield from _await(calls, ask, wait)
    if ask.is_open:
        return defer()
    if ask.answer is None:
        return deny(no_answer(ask).message)
    return allow(
        "A person answered in the Assent inbox.", answered_input(event["tool_input"], questions, ask)
    )


def _question_beside(calls: Calls, event: Mapping[str, Any], wait: float) -> Call[Reply | None]:
    """Ask in the inbox while the host's own dialog is open."""
    questions = parse_questions(event.get("tool_input"))
    prompt = host_prompt(questions, title=_TITLE)
    ask = yield from calls.open(prompt, key=_passing_key(event))
    ask = yield from _await(calls, ask, wait)
    if ask.is_open:
        yield from _withdraw(calls, ask, _OVER)
        return None
    if ask.state is State.DECLINED:
        return refuse(no_answer(ask).message)
    if ask.answer is None:
        return None
    return permit(answered_input(event["tool_input"], questions, ask))


def _elicitation(calls: Calls, event: Mapping[str, Any], wait: float) -> Call[Reply | None]:
    schema, server = event.get("requested_schema"), event.get("mcp_server_name")
    if event.get("mode", "form") != "form" or not isinstance(schema, dict) or server == _OWN_SERVER:
        return None
    try:
        prompt = form(f"{server} asks: {event.get('message', '')}", schema)
    except (BadPromptError, TooLargeError):
        return None  # it cannot be shown in full, so it is not shown at all
    ask = yield from calls.open(prompt, key=_passing_key(event))
    ask = yield from _await(calls, ask, wait)
    if ask.is_open:
        yield from _withdraw(calls, ask, _OVER)
        return None
    if ask.state is State.DECLINED:
        return elicited("decline")
    return None if ask.answer is None else elicited("accept", value_of_form(ask))


def _take_back(calls: Calls, event: Mapping[str, Any]) -> Call[None]:
    """Withdraw what this session still asks."""
    for ask in (yield from _own(calls, event)):
        yield from _withdraw(calls, ask, _OVER)


def _record(calls: Calls, event: Mapping[str, Any]) -> Call[None]:
    """Answer the question that the person at the host has answered there; where that cannot be read, take it back."""
    questions = parse_questions(event.get("tool_input"))
    prompt = host_prompt(questions, title=_TITLE)
    asks = [ask for ask in (yield from _own(calls, event)) if ask.prompt == prompt]
    person = (yield from person_at(calls, HOST)) if asks else None
    for ask in asks:
        values = parse_response(event.get("tool_response"), questions, ask)
        if person is not None and values and ask is asks[0]:
            try:
                yield from person.answer(ask.ask_id, values)
                continue
            except AssentError:
                pass  # it fits no option, or somebody was first: then there is nothing to record
        yield from _withdraw(calls, ask, _IN_THE_HOST)


def _own(calls: Calls, event: Mapping[str, Any]) -> Call[list[Ask]]:
    """Return what this session asks and nobody has ended, newest first."""
    prefix, asker = _key(event, ""), str(calls.principal)
    waiting = yield from calls.inbox()
    return [ask for ask in waiting if ask.asker == asker and (ask.key or "").startswith(prefix)]


def _withdraw(calls: Calls, ask: Ask | None, reason: str) -> Call[None]:
    if ask is None:
        return
    try:
        yield from calls.withdraw(ask.ask_id, reason)
    except ConflictError:
        return  # somebody ended it in this moment


def _await(calls: Calls, ask: Ask, wait: float) -> Call[Ask]:
    if not ask.is_open:
        return ask
    try:
        return (yield from calls.wait(ask.ask_id, wait))
    except StillOpen:
        return ask


def _key(event: Mapping[str, Any], end: str) -> str:
    return f"{HOST}:{_part(event, 'session_id')}:{end}"


def _passing_key(event: Mapping[str, Any]) -> str:
    """Return a key for what has no id and is asked no second time: the moment tells it from every other one."""
    return _key(event, f"{event.get('prompt_id', '')}:{time.monotonic_ns()}")


def _part(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequestError(f"Claude Code named no {name}.")
    return value
