"""What a LangGraph interrupt asks for, read from its value; and the answer as the graph wants it back.

Three families, as programs in the wild send them: Agent Inbox's list of requests, LangChain's review of tool calls (one
interrupt for all of them or one for each), and any other value, with or without a schema for the answer.

Rule 1: what is read as a tool call is approved as one, whole. A value of no known family is a question, and its answer
        goes back as it was given.
Rule 2: a schema that no form can check is refused and not half checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from assent.hosts.framework import ToolReview, Verdict, Way
from assent.protocol.ask import Ask
from assent.protocol.display import is_blank
from assent.protocol.error import BadRequestError, NoAnswer
from assent.protocol.form import form, form_value, is_form
from assent.protocol.host_question import HostQuestion, host_prompt
from assent.protocol.json_text import Json, check_json
from assent.protocol.prompt import Prompt

__all__ = ["Wish", "read_interrupt", "resume_value"]

_QUESTIONS = ("question", "message", "prompt", "query")
"""Where a plain object has its text, by the habit of those who write graphs."""
_VALUE = "value"
_INBOX = {
    "allow_accept": Way.APPROVE,
    "allow_edit": Way.EDIT,
    "allow_respond": Way.RESPOND,
    "allow_ignore": Way.IGNORE,
}
_NO_TEXT = "The graph asks."


class Wish(msgspec.Struct, frozen=True):
    """What one interrupt waits for: decisions about tool calls, or the answer to a question."""

    key: str
    family: str
    reviews: tuple[ToolReview, ...] = ()
    prompt: Prompt | None = None
    is_wrapped: bool = False
    """The form has one field that stands for the whole value."""


def read_interrupt(key: str, value: Any, schema: Any = None) -> Wish:
    """Return what an interrupt's value asks for.

    Raises:
        BadRequestError: a tool call in it is not JSON, or no form can check its schema; the sentence names the place.
    """
    if isinstance(value, list) and value and all(_is_inbox(entry) for entry in value):
        reviews = tuple(_inbox_review(f"{key}:{number}", entry) for number, entry in enumerate(value, 1))
        return Wish(key, "inbox", reviews)
    if _is_inbox(value):
        return Wish(key, "inbox_one", (_inbox_review(key, value),))
    if isinstance(value, Mapping) and _are_requests(value.get("action_requests")):
        configs = _configs(value.get("review_configs"))
        reviews = tuple(
            _tool_review(f"{key}:{number}", request, configs.get(str(request.get("name"))))
            for number, request in enumerate(value["action_requests"], 1)
        )
        return Wish(key, "batched", reviews)
    if isinstance(value, Mapping) and value.get("type") == "tool_approval":
        return Wish(key, "per_call", (_tool_review(key, value, _allowed(schema)),))
    return _question(key, value, schema)


def resume_value(wish: Wish, verdicts: tuple[Verdict, ...], ask: Ask | None) -> Any:
    """Return what the graph is resumed with.

    Raises:
        NoAnswer: it was refused, and this family has no word for that.
    """
    if wish.family in {"inbox", "inbox_one"}:
        replies = [_inbox_reply(*pair) for pair in zip(wish.reviews, verdicts, strict=True)]
        return replies if wish.family == "inbox" else replies[0]
    if wish.reviews:
        decisions = [_decision(*pair) for pair in zip(wish.reviews, verdicts, strict=True)]
        return {"decisions": decisions} if wish.family == "batched" else decisions[0]
    assert ask is not None  # noqa: S101 - a wish without reviews has a prompt
    assert ask.answer is not None  # noqa: S101 - as above, and it was waited for
    if is_form(ask.prompt):
        made = form_value(ask.prompt, ask.answer.values)
        return made[_VALUE] if wish.is_wrapped else made
    return ask.answer.values[ask.prompt.fields[0].name][0]


# Agent Inbox


def _is_inbox(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("action_request"), Mapping)


def _inbox_review(key: str, entry: Mapping[str, Any]) -> ToolReview:
    request, config = entry["action_request"], entry.get("config")
    allowed = config if isinstance(config, Mapping) else {}
    ways = frozenset(way for name, way in _INBOX.items() if allowed.get(name) is True)
    return _review(key, request.get("action"), request.get("args"), entry.get("description"), ways)


def _inbox_reply(review: ToolReview, verdict: Verdict) -> dict[str, Any]:
    match verdict.way:
        case Way.APPROVE:
            return {"type": "accept", "args": None}
        case Way.EDIT:
            assert verdict.review is not None  # noqa: S101 - an edit has what was edited
            return {"type": "edit", "args": {"action": verdict.review.name, "args": verdict.review.args}}
        case Way.RESPOND:
            return {"type": "response", "args": verdict.text}
        case Way.IGNORE:
            return {"type": "ignore", "args": None}
    # The family has no word for a no. Its agent is told in words where it takes any, and else that it is ignored.
    if Way.RESPOND in review.ways:
        return {"type": "response", "args": verdict.text}
    if Way.IGNORE in review.ways:
        return {"type": "ignore", "args": None}
    raise NoAnswer(verdict.text, ask=verdict.ask)


# LangChain's middleware


def _are_requests(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(entry, Mapping) for entry in given)


def _configs(given: Any) -> dict[str, Any]:
    """Return the decisions that are allowed, by the name of the tool."""
    entries = given if isinstance(given, list) else []
    return {
        str(entry.get("action_name")): entry.get("allowed_decisions")
        for entry in entries
        if isinstance(entry, Mapping)
    }


def _tool_review(key: str, request: Mapping[str, Any], allowed: Any) -> ToolReview:
    if not isinstance(allowed, list | tuple | set):
        allowed = (Way.APPROVE, Way.REJECT)
    ways = frozenset(way for way in Way if way is not Way.IGNORE and way in allowed)
    return _review(key, request.get("name"), request.get("args"), request.get("description"), ways)


def _allowed(schema: Any) -> set[str] | None:
    """Return the decisions that the schema of an answer names."""
    if not isinstance(schema, Mapping):
        return None
    try:
        if "discriminator" in schema:
            return set(schema["discriminator"]["mapping"])
        return {schema["properties"]["type"]["const"]}
    except (KeyError, TypeError):
        return None


def _decision(review: ToolReview, verdict: Verdict) -> dict[str, Any]:
    match verdict.way:
        case Way.APPROVE:
            return {"type": "approve"}
        case Way.EDIT:
            assert verdict.review is not None  # noqa: S101 - an edit has what was edited
            return {
                "type": "edit",
                "edited_action": {"name": verdict.review.name, "args": verdict.review.args},
            }
        case Way.RESPOND:
            return {"type": "respond", "message": verdict.text}
    if Way.REJECT not in review.ways:
        raise NoAnswer(verdict.text, ask=verdict.ask)
    return {"type": "reject", "message": verdict.text}


def _review(key: str, name: Any, args: Any, description: Any, ways: frozenset[Way]) -> ToolReview:
    if not isinstance(name, str):
        raise BadRequestError("The interrupt's tool call has no name.")
    check_json(args)
    return ToolReview(key, name, args, description if isinstance(description, str) else "", ways)


# Anything else


def _question(key: str, value: Any, schema: Any) -> Wish:
    text, body = _wording(value)
    prompt = host_prompt([HostQuestion("", text)], body=body)
    if not isinstance(schema, Mapping):
        return Wish(key, "plain", prompt=prompt)
    is_wrapped = schema.get("type") != "object" and "$ref" not in schema
    whole: dict[str, Json] = dict(schema)
    if is_wrapped:
        notes: dict[str, Json] = {
            name: whole.pop(name) for name in ("$defs", "definitions", "$schema") if name in whole
        }
        whole = {**notes, "type": "object", "properties": {_VALUE: whole}, "required": [_VALUE]}
    return Wish(key, "form", prompt=form(prompt.title, whole, body=prompt.body), is_wrapped=is_wrapped)


def _wording(value: Any) -> tuple[str, str]:
    """Return the text of a question, and what stands below it."""
    if isinstance(value, str):
        return value, ""
    if isinstance(value, Mapping):
        for name in _QUESTIONS:
            text = value.get(name)
            if isinstance(text, str) and not is_blank(text):
                rest = {other: value[other] for other in value if other != name}
                return text, _spell(rest) if rest else ""
    return _NO_TEXT, _spell(value)


def _spell(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
