"""What a model says in the four ways in which agent programs ask one; the words come from a script.

A step of the script is `{"text": …}` or `{"tool": NAME, "input": {…}}`, and `"namespace"` where the program
sorts its tools by server. Each function turns one step into the reply of one interface, whole or as a stream
of (name, value) pairs; None as a name means that the stream's lines carry no name.

Rule 1: values only. Nothing here opens a connection or keeps a place in the script.
Rule 2: ids are counted, never drawn by chance, so that a test can name them.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["Stream", "chat", "chat_stream", "gemini", "messages", "messages_stream", "responses_stream"]

Stream = list[tuple[str | None, Any]]

_USAGE = {"input_tokens": 1, "output_tokens": 1}
_CHAT_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def messages(step: dict[str, Any], number: int, model: str) -> dict[str, Any]:
    """Return the reply of the Anthropic Messages interface."""
    if "tool" in step:
        content = {
            "type": "tool_use",
            "id": f"toolu_{number:06}",
            "name": step["tool"],
            "input": step["input"],
        }
    else:
        content = {"type": "text", "text": step["text"]}
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [content],
        "stop_reason": "tool_use" if "tool" in step else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def messages_stream(step: dict[str, Any], number: int, model: str) -> Stream:
    """Return the same as the events of a stream."""
    whole = messages(step, number, model)
    (content,) = whole["content"]
    if "tool" in step:
        begun = {**content, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
    else:
        begun = {**content, "text": ""}
        delta = {"type": "text_delta", "text": step["text"]}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return [(event["type"], event) for event in events]


def responses_stream(step: dict[str, Any], number: int, model: str) -> Stream:
    """Return the events of the OpenAI Responses interface."""
    if "tool" in step:
        said = {
            "type": "function_call",
            "id": f"fc_{number:06}",
            "call_id": f"call_{number:06}",
            "name": step["tool"],
            "arguments": json.dumps(step["input"]),
        }
        if "namespace" in step:
            said["namespace"] = step["namespace"]
    else:
        said = {
            "type": "message",
            "id": f"msg_{number:06}",
            "role": "assistant",
            "content": [{"type": "output_text", "text": step["text"]}],
        }
    response = {"id": f"resp_{number:06}", "model": model}
    usage = {**_USAGE, "input_tokens_details": None, "output_tokens_details": None, "total_tokens": 2}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": said},
        {"type": "response.completed", "response": {**response, "usage": usage}},
    ]
    return [(event["type"], event) for event in events]


def _chat_message(step: dict[str, Any], number: int) -> tuple[dict[str, Any], str]:
    if "tool" not in step:
        return {"role": "assistant", "content": step["text"]}, "stop"
    call = {
        "id": f"call_{number:06}",
        "type": "function",
        "function": {"name": step["tool"], "arguments": json.dumps(step["input"])},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def chat(step: dict[str, Any], number: int, model: str) -> dict[str, Any]:
    """Return the reply of the OpenAI chat completions interface."""
    message, reason = _chat_message(step, number)
    return {
        "id": f"chatcmpl-{number:06}",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": _CHAT_USAGE,
    }


def chat_stream(step: dict[str, Any], number: int, model: str) -> Stream:
    """Return the same as the chunks of a stream."""
    message, reason = _chat_message(step, number)
    calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, "tool_calls": calls} if calls else message
    chunk = {"id": f"chatcmpl-{number:06}", "object": "chat.completion.chunk", "created": 1, "model": model}
    last = {"index": 0, "delta": {}, "finish_reason": reason}
    return [
        (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
        (None, {**chunk, "choices": [last], "usage": _CHAT_USAGE}),
        (None, "[DONE]"),
    ]


def gemini(step: dict[str, Any], number: int, model: str) -> dict[str, Any]:
    """Return the reply of the Gemini interface; its stream is this one value."""
    if "tool" in step:
        part = {"functionCall": {"id": f"call_{number:06}", "name": step["tool"], "args": step["input"]}}
    else:
        part = {"text": step["text"]}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": model,
    }
