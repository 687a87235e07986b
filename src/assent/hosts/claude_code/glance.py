"""The first look at a hook's input: is there anything to ask at all? It loads almost nothing, and mostly the answer is no.

The host starts the hook before every call of the tools that it watches, and each start is time that people wait. So
this file is asked before the command line is even read by the library that reads it.

Rule 1: only the standard library, and of it little.
Rule 2: whatever is not plainly nothing is looked at in full: unknown options, an input that cannot be read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from assent.hosts.claude_code.pattern import must_ask

__all__ = [
    "HOST",
    "MAX_INPUT_BYTES",
    "QUESTION_TOOL",
    "Watch",
    "concerns",
    "make_watch",
    "nothing_to_ask",
    "read_event",
]

HOST = "claude-code"
QUESTION_TOOL = "AskUserQuestion"
MAX_INPUT_BYTES = 16 << 20
_VALUED = ("--ask", "--confirm", "--category", "--wait", "--store", "--project")
_ENDINGS = ("Stop", "SessionEnd")


class Watch(NamedTuple):
    """What a hook was told to look out for, and what the host tells of itself."""

    patterns: list[str]
    """Calls that a person must approve."""
    is_headless: bool
    """Nobody sits at the host, so what nobody answers is put off or refused."""
    confirmed: Sequence[str] = ()
    """Calls for which the host's own dialog is enough, where somebody sits at it."""
    can_defer: bool = True
    """The host puts off what it is told to put off. One that does not would let the call happen."""
    is_hosted: bool = False
    """The host itself has started this, and has written the call down in its transcript."""
    category: str = ""
    """Of what kind the calls are that must be approved, so that the project's policy decides; empty always asks."""
    host_id: str = ""
    """The host's process: it starts several hooks for one call where several settings have one."""


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
def _input() -> bytes:
    """Return what came on standard input. It is read once: what is left of an input that was refused is no input."""
    return b"" if sys.stdin is None else sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)


def read_event() -> dict[str, Any]:
    """Return what the host wrote to standard input.

    Raises:
        ValueError: it is no JSON object with the name of an event.
    """
    raw = _input()
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
        watched = [*watch.patterns, *watch.confirmed]
        return not isinstance(tool, str) or must_ask(watched, tool, event.get("tool_input"))
    if name in {"PermissionRequest", "Notification"}:
        return True
    if name == "PostToolUse":
        return tool == QUESTION_TOOL and not watch.is_headless
    if name == "Elicitation":
        return watch.is_headless
    if name in _ENDINGS:
        return not watch.is_headless and not event.get("background_tasks")
    return False


def make_watch(
    patterns: list[str],
    confirmed: Sequence[str],
    environ: Mapping[str, str],
    *,
    is_headless: bool,
    category: str = "",
) -> Watch:
    """Return what to look out for; the host tells in the environment what it is."""
    attended, entry = environ.get("CLAUDE_CODE_SESSION_ATTENDED"), environ.get("CLAUDE_CODE_ENTRYPOINT", "")
    is_alone = entry.startswith("sdk") if attended is None else attended == "0"
    # A session with a screen (`cli`, also one in the background) takes no notice of "defer".
    has_screen = attended == "1" or entry == "cli" or bool(environ.get("CLAUDE_CODE_SESSION_KIND"))
    return Watch(
        patterns,
        is_headless or is_alone,
        confirmed,
        can_defer=not has_screen,
        is_hosted=bool(environ.get("CLAUDE_CODE_SESSION_ID")),
        category=category,
        host_id=environ.get("CLAUDE_PID", ""),
    )


def _watch(arguments: list[str], environ: Mapping[str, str]) -> Watch | None:
    """Read the arguments as `assent hook` would; None where that is for it to say."""
    if arguments[:1] != [HOST]:
        return None
    given: dict[str, list[str]] = {option: [] for option in _VALUED}
    is_headless = False
    left = iter(arguments[1:])
    for word in left:
        option, sign, value = word.partition("=")
        if word == "--headless":
            is_headless = True
        elif option in _VALUED:
            text = value if sign else next(left, None)
            if text is None:
                return None
            given[option].append(text)
        else:
            return None
    category = (given["--category"] or [""])[-1]
    return make_watch(given["--ask"], given["--confirm"], environ, is_headless=is_headless, category=category)
