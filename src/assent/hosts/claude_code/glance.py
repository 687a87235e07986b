"""The first look at a hook's input: is there anything to ask at all? It loads almost nothing, and mostly the answer is no.

The host starts the hook before every call of the tools that it watches, and each start is time that people wait. So
this file is asked before the command line is even read by the library that reads it.

Rule 1: only the standard library, and of it little.
Rule 2: whatever is not plainly nothing is looked at in full: unknown options, an input that cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from assent.hosts.claude_code.pattern import must_ask

__all__ = [
    "HOST",
    "MAX_INPUT_BYTES",
    "QUESTION_TOOL",
    "Watch",
    "concerns",
    "is_unattended",
    "nothing_to_ask",
    "read_event",
]

HOST = "claude-code"
QUESTION_TOOL = "AskUserQuestion"
MAX_INPUT_BYTES = 16 << 20
_VALUED = ("--ask", "--wait", "--store", "--project")
_ENDINGS = ("Stop", "SessionEnd")


class Watch(NamedTuple):
    """What a hook was told to look out for."""

    patterns: list[str]
    is_headless: bool
    """Nobody sits at the host, so what nobody answers is put off or refused."""


def nothing_to_ask(arguments: list[str], environ: Mapping[str, str]) -> bool:
    """Say whether `assent hook` with these arguments has nothing to do; reads standard input."""
    watch = _watch(arguments, environ)
    if watch is None or sys.stdin is None or sys.stdin.isatty():
        return False
    try:
        return not concerns(read_event(), watch)
    except ValueError:
        return False


@cache
def read_event() -> dict[str, Any]:
    """Return what the host wrote to standard input; it is read once.

    Raises:
        ValueError: it is no JSON object with the name of an event.
    """
    raw = b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    if len(raw) > MAX_INPUT_BYTES:
        raise ValueError(f"is over {MAX_INPUT_BYTES >> 20} MiB")
    try:
        event = json.loads(raw)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:
        raise ValueError("is no JSON") from None
    if isinstance(event, dict) and isinstance(event.get("hook_event_name"), str):
        return event
    raise ValueError("names no event")


def concerns(event: Mapping[str, Any], watch: Watch) -> bool:
    """Say whether an event is any business of ours."""
    name, tool = event["hook_event_name"], event.get("tool_name")
    if name == "PreToolUse":
        if tool == QUESTION_TOOL:
            return watch.is_headless  # else the host's own dialog opens, and PermissionRequest goes beside it
        return not isinstance(tool, str) or must_ask(watch.patterns, tool, event.get("tool_input"))
    if name == "PermissionRequest":
        return True
    if name == "PostToolUse":
        return tool == QUESTION_TOOL and not watch.is_headless
    if name == "Elicitation":
        return watch.is_headless
    if name in _ENDINGS:
        return not watch.is_headless and not event.get("background_tasks")
    return False


def is_unattended(environ: Mapping[str, str]) -> bool:
    """Say whether the host tells that nobody sits at it: print mode, or a program that drives it."""
    attended = environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    if attended is not None:
        return attended == "0"
    return environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _watch(arguments: list[str], environ: Mapping[str, str]) -> Watch | None:
    """Read the arguments as `assent hook` would; None where that is for it to say."""
    if arguments[:1] != [HOST]:
        return None
    patterns, is_headless = [], is_unattended(environ)
    left = iter(arguments[1:])
    for word in left:
        option, sign, value = word.partition("=")
        if word == "--headless":
            is_headless = True
        elif option in _VALUED:
            given = value if sign else next(left, None)
            if given is None:
                return None
            if option == "--ask":
                patterns.append(given)
        else:
            return None
    return Watch(patterns, is_headless)
