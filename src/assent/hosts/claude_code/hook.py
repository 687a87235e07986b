"""What each event of the host becomes: an ask in the inbox, and its answer told in the host's way.

    PreToolUse         a call that must be approved: an approval that binds, or the word of the policy. A call that must be confirmed: the host's own
                       dialog (`ask`). The question tool, where nobody sits at the host: a question; unanswered, it is put
                       off (`defer`) and found again when the session resumes.
    PermissionRequest  the host's own dialog is open at the same time, and the first answer wins.
    PostToolUse        the question was answered in the host's dialog: the ask gets that answer, as the host's word. Where
                       that is not enough the ask stays open, and the model is told that nothing was chosen yet.
    Elicitation        the form of an MCP server, where nobody sits at the host.
    Notification       what the host tells whoever sits at it, for those who do not: a message in the topic of its name.
    Stop, SessionEnd   what this session still asks is no longer needed by anybody: it is taken back.

Rule 1: no answer, no decision. A wait that lapses is told as what it is; the host's dialog stays, or the call is put off.
Rule 2: fails closed. Where a call must be approved, `failed` makes a no of every fault.
Rule 3: what is let through is exactly what was shown, once.
Rule 4: a call that must be approved is put off only where the host really does so; otherwise it is refused.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from assent.client.approving import ApprovalParts
from assent.client.calls import Calls, no_answer
from assent.client.door import Call
from assent.client.steer import post
from assent.hosts.claude_code.glance import HOST, QUESTION_TOOL, Watch
from assent.hosts.claude_code.pattern import must_ask
from assent.hosts.claude_code.question import answered_input, parse_questions, parse_response
from assent.hosts.claude_code.reply import Reply, allow, ask, block, defer, deny, elicited, permit, refuse
from assent.hosts.claude_code.transcript import is_alone
from assent.hosts.form import host_form
from assent.hosts.permission import Permission, ask_permission
from assent.hosts.person import find_shortfall, person_at, render_elsewhere
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.error import (
    AssentError,
    AssuranceError,
    BadPromptError,
    BadRequestError,
    ConfirmFirstError,
    ConflictError,
    StillOpen,
    TooLargeError,
)
from assent.protocol.host_question import host_prompt

__all__ = ["PASSING", "failed", "key_of", "reply_at_once", "reply_to", "take_back"]

PASSING = frozenset({"PostToolUse", "Notification", "Stop", "SessionEnd"})
"""Nobody is asked because of these, so no store is made for them."""

_MAX_TITLE = 200
_TITLE = "Claude Code asks"
_OWN_SERVER = "assent"
"""What our own MCP server asks is in the inbox already."""
_SHOWN = ("command", "file_path", "notebook_path", "url", "query", "description")
_IN_THE_HOST = "It was answered in Claude Code."
_OVER = "Claude Code no longer waits for it."
_STAYS = ":elsewhere"
"""The end of a key: this is answered elsewhere, and not by a hook that waits."""
_TOLD = ("message", "title", "notification_type", "session_id", "cwd")
_MAX_TOLD = 2_000


def reply_at_once(event: Mapping[str, Any], watch: Watch) -> Reply | None:
    """Return what the host is told of an event for which nobody else need be asked; None where somebody must."""
    tool, given = event.get("tool_name"), event.get("tool_input")
    if event["hook_event_name"] != "PreToolUse" or tool == QUESTION_TOOL or watch.is_headless:
        return None
    if not isinstance(tool, str) or must_ask(watch.patterns, tool, given):
        return None
    if not must_ask([*watch.confirmed], tool, given):
        return None
    # The dialog comes with a PermissionRequest, which puts it to the inbox as well.
    return ask("A person must confirm this call.")


def reply_to(
    calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float, key: str = ""
) -> Call[Reply | None]:
    """Return what the host is told of an event; people have `wait` seconds. What is asked goes by `key`.

    Raises:
        AssentError: nobody could be asked; `failed` says what the host is told then.
    """
    name, tool = event["hook_event_name"], event.get("tool_name")
    if name == "Notification":
        yield from _pass_on(calls, event)
    elif name == "PostToolUse":
        return (yield from _record(calls, event))
    elif name in PASSING:
        yield from _take_back(calls, event)
    if name in PASSING:
        return None
    key = key or key_of(event)
    if name == "PreToolUse" and tool == QUESTION_TOOL:
        return (yield from _question_put_off(calls, event, wait, key))
    if name == "PreToolUse":
        return (yield from _call(calls, event, watch, wait, key))
    if name == "PermissionRequest" and tool == QUESTION_TOOL:
        return (yield from _question_beside(calls, event, wait, key))
    if name == "PermissionRequest":
        return (yield from _permission(calls, event, watch, wait, key))
    if name == "Elicitation":
        return (yield from _elicitation(calls, event, wait, key))
    return None


def key_of(event: Mapping[str, Any]) -> str:
    """Return what the ask of an event goes by: a call has an id, and is asked about again when the session resumes.

    For what has no id and is asked no second time, the moment tells it from every other one.

    Raises:
        BadRequestError: the host named no session, or no call.
    """
    if event["hook_event_name"] == "PreToolUse":
        return _key(event, _part(event, "tool_use_id"))
    return _key(event, f"{event.get('prompt_id', '')}:{time.monotonic_ns()}")


def take_back(calls: Calls, key: str) -> Call[None]:
    """Withdraw what goes by `key`: the host has ended the hook that waits for it."""
    for asked in (yield from calls.inbox()):
        if asked.key == key and asked.asker == str(calls.principal):
            yield from _withdraw(calls, asked, _OVER)


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


def _call(calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float, key: str) -> Call[Reply | None]:
    spend_id = f"{HOST}:{watch.host_id}:{key}" if watch.host_id else ""
    permission = yield from _ask_permission(
        calls, event, key, wait, spend_id=spend_id, category=watch.category
    )
    if permission.is_by_policy:
        return None  # the policy asks nobody; what the host's own rules say of it still holds
    if permission.is_allowed:
        return allow(permission.reason, event["tool_input"])
    if not permission.is_open:
        return deny(permission.reason)
    if watch.is_headless and _is_put_off(event, watch):
        return defer()
    # This call is over with our no, so a later yes would let nothing happen.
    yield from _withdraw(calls, permission.ask, _OVER)
    again = "make it the only call of its turn" if watch.is_headless else "ask the person first"
    return deny(f"Nobody has answered in time, so it was not approved. If you try it again, {again}.")


def _is_put_off(event: Mapping[str, Any], watch: Watch) -> bool:
    """Say whether the host puts this call off. It does so for its own agent's, and only where it came alone."""
    return watch.can_defer and not event.get("agent_id") and is_alone(event, is_hosted=watch.is_hosted)


def _permission(
    calls: Calls, event: Mapping[str, Any], watch: Watch, wait: float, key: str
) -> Call[Reply | None]:
    permission = yield from _ask_permission(calls, event, key, wait)
    if permission.is_allowed:
        return permit(event["tool_input"])
    if permission.is_open:
        yield from _withdraw(calls, permission.ask, _OVER)
        return refuse("Nobody has answered in time, so it was not approved.") if watch.is_headless else None
    if permission.ask is not None and permission.ask.state is State.WITHDRAWN and not watch.is_headless:
        return None  # the person at the host was first
    return refuse(permission.reason)


def _ask_permission(
    calls: Calls, event: Mapping[str, Any], key: str, wait: float, *, spend_id: str = "", category: str = ""
) -> Call[Permission]:
    tool, given = event.get("tool_name"), event.get("tool_input")
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise BadRequestError("Claude Code named no tool, or no input of it.")
    action: dict[str, Any] = {"tool": tool, "input": given, "cwd": str(event.get("cwd", ""))}
    shown = next((given[name] for name in _SHOWN if isinstance(given.get(name), str)), "")
    title = " ".join(f"{tool}: {shown}".split()).removesuffix(":")
    if len(title) > _MAX_TITLE:
        title = title[: _MAX_TITLE - 1] + "…"
    parts: ApprovalParts = {"action": action, "key": key}
    if category:
        parts["category"] = category
    return (yield from ask_permission(calls, title, wait=wait, spend_id=spend_id, **parts))


def _question_put_off(calls: Calls, event: Mapping[str, Any], wait: float, key: str) -> Call[Reply]:
    questions = parse_questions(event.get("tool_input"))
    asked = yield from calls.open(host_prompt(questions, title=_TITLE), key=key)
    asked = yield from _await(calls, asked, wait)
    if asked.is_open:
        return defer()
    if asked.answer is None:
        return deny(no_answer(asked).message)
    return allow(
        "A person answered in the Assent inbox.", answered_input(event["tool_input"], questions, asked)
    )


def _question_beside(calls: Calls, event: Mapping[str, Any], wait: float, key: str) -> Call[Reply | None]:
    """Ask in the inbox while the host's own dialog is open; where that is not enough, the dialog is closed."""
    questions = parse_questions(event.get("tool_input"))
    prompt = host_prompt(questions, title=_TITLE)
    shortfall = yield from find_shortfall(calls, Kind.QUESTION)
    if shortfall:
        asked = yield from calls.open(prompt, key=f"{key}{_STAYS}")
        return refuse(_not_here(shortfall, asked))
    asked = yield from calls.open(prompt, key=key)
    asked = yield from _await(calls, asked, wait)
    if asked.is_open:
        yield from _withdraw(calls, asked, _OVER)
        return None
    if asked.state is State.DECLINED:
        return refuse(no_answer(asked).message)
    if asked.answer is None:
        return None
    return permit(answered_input(event["tool_input"], questions, asked))


def _elicitation(calls: Calls, event: Mapping[str, Any], wait: float, key: str) -> Call[Reply | None]:
    schema, server = event.get("requested_schema"), event.get("mcp_server_name")
    if event.get("mode", "form") != "form" or not isinstance(schema, dict) or server == _OWN_SERVER:
        return None
    try:
        shown = host_form(f"{server} asks: {event.get('message', '')}", schema)
    except (BadPromptError, TooLargeError):
        return None  # it cannot be shown in full, so it is not shown at all
    asked = yield from calls.open(shown.prompt, key=key)
    asked = yield from _await(calls, asked, wait)
    if asked.is_open:
        yield from _withdraw(calls, asked, _OVER)
        return None
    if asked.state is State.DECLINED:
        return elicited("decline")
    content = shown.content(asked)
    return None if content is None else elicited("accept", content)


def _pass_on(calls: Calls, event: Mapping[str, Any]) -> Call[None]:
    """Put what the host tells into the topic of its name: `assent read claude-code --follow` shows it anywhere."""
    told = {name: event[name][:_MAX_TOLD] for name in _TOLD if isinstance(event.get(name), str)}
    yield from post(calls, HOST, told)


def _take_back(calls: Calls, event: Mapping[str, Any]) -> Call[None]:
    """Withdraw what this session still asks. What must be answered elsewhere is still wanted when a turn ends."""
    is_over = event["hook_event_name"] == "SessionEnd"
    for asked in (yield from _own(calls, event)):
        if is_over or not (asked.key or "").endswith(_STAYS):
            yield from _withdraw(calls, asked, _OVER)


def _record(calls: Calls, event: Mapping[str, Any]) -> Call[Reply | None]:
    """Answer the question that the person at the host has answered there; where that cannot be read, take it back."""
    questions = parse_questions(event.get("tool_input"))
    prompt = host_prompt(questions, title=_TITLE)
    asks = [asked for asked in (yield from _own(calls, event)) if asked.prompt == prompt]
    person = (yield from person_at(calls, HOST)) if asks else None
    for asked in asks:
        values = parse_response(event.get("tool_response"), questions, asked)
        if person is not None and values and asked is asks[0]:
            try:
                yield from person.answer(asked.ask_id, values)
                continue
            except (AssuranceError, ConfirmFirstError) as refusal:
                return block(_not_here(refusal.message, asked))
            except AssentError:
                pass  # it fits no option, or somebody was first: then there is nothing to record
        yield from _withdraw(calls, asked, _IN_THE_HOST)
    return None


def _not_here(why: str, asked: Ask) -> str:
    return (
        f"What is chosen in this dialog does not count, so take no option for chosen: {why} {render_elsewhere(asked)} "
        f"`assent show {asked.ask_id[-6:]}` then tells what they chose."
    )


def _own(calls: Calls, event: Mapping[str, Any]) -> Call[list[Ask]]:
    """Return what this session asks and nobody has ended, newest first."""
    prefix, asker = _key(event, ""), str(calls.principal)
    waiting = yield from calls.inbox()
    return [asked for asked in waiting if asked.asker == asker and (asked.key or "").startswith(prefix)]


def _withdraw(calls: Calls, asked: Ask | None, reason: str) -> Call[None]:
    if asked is None:
        return
    try:
        yield from calls.withdraw(asked.ask_id, reason)
    except ConflictError:
        return  # somebody ended it in this moment


def _await(calls: Calls, asked: Ask, wait: float) -> Call[Ask]:
    if not asked.is_open:
        return asked
    try:
        return (yield from calls.wait(asked.ask_id, wait))
    except StillOpen:
        return asked


def _key(event: Mapping[str, Any], end: str) -> str:
    return f"{HOST}:{_part(event, 'session_id')}:{end}"


def _part(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequestError(f"Claude Code named no {name}.")
    return value
