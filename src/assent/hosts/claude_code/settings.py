"""The host's settings file, with our hooks and without them. Values only; `cli/install.py` reads and writes.

Rule 1: everything else in the file stays as it is. What is ours is told by its command, and by nothing else.
Rule 2: nothing is ever loosened: no permission is touched, and a call that had to be approved still has to be, unless all
        of ours is taken out.
Rule 3: a file that is not plain JSON, or has a key twice, is refused: what cannot be written back is not rewritten.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from assent.hosts.claude_code.glance import QUESTION_TOOL
from assent.hosts.claude_code.pattern import matcher_of
from assent.protocol.error import BadRequestError

__all__ = [
    "MARGIN_SECONDS",
    "Wish",
    "connect",
    "connect_server",
    "disconnect",
    "disconnect_server",
    "found_patterns",
    "parse_settings",
    "render_settings",
]

MARGIN_SECONDS = 60
"""So much longer than people have to answer, the host waits for a hook: it must never lose patience first."""
SERVER = "assent"

_OURS = re.compile(r"(?:'[^']*/|\S*/)?assent'? hook claude-code(?:\s|$)")
_INDENT = re.compile(r"\n([ \t]+)\S")
_SERVER_ARGUMENTS = ["mcp"]

Settings = dict[str, Any]


class Wish(NamedTuple):
    """What is to stand in the settings."""

    program: str
    """How the hook is started: `assent`, or a path to it."""
    patterns: tuple[str, ...]
    wait_seconds: int


def parse_settings(text: str, name: str) -> Settings:
    """Read a settings file; an empty one has no settings.

    Raises:
        BadRequestError: it is no JSON object with each key once.
    """
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        told = error if isinstance(error, ValueError) else "it is nested too deeply"
        raise BadRequestError(f"{name} is not plain JSON, so it was left as it is: {told}.") from None
    if not isinstance(settings, dict):
        raise BadRequestError(f"{name} holds no object, so it was left as it is.")
    return settings


def render_settings(settings: Settings, like: str) -> str:
    """Write settings with the indent of the text that they came from; none at all is an empty text."""
    found = _INDENT.search(like)
    return (
        json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n" if settings else ""
    )


def found_patterns(settings: Settings) -> tuple[str, ...]:
    """Return the patterns that our hooks in these settings have."""
    found: list[str] = []
    for entry in _entries(settings):
        command = entry.get("command", "")
        if _is_ours(entry):
            words = iter(shlex.split(command))
            found += [next(words, "") for word in words if word == "--ask"]
    return tuple(dict.fromkeys(found))


def connect(settings: Settings, wish: Wish, name: str) -> Settings:
    """Return the settings with our hooks in them; those that stood there already are replaced.

    Raises:
        BadRequestError: the hooks in the file are not as the host has them.
    """
    _check(settings, name)
    patterns = tuple(dict.fromkeys((*found_patterns(settings), *wish.patterns)))
    wanted = _hooks(wish._replace(patterns=patterns))
    if _ours(settings) == wanted:
        return settings
    without = disconnect(settings, name)
    hooks = dict(without.get("hooks", {}))
    for event, groups in wanted.items():
        hooks[event] = [*hooks.get(event, []), *groups]
    return {**without, "hooks": hooks}


def disconnect(settings: Settings, name: str) -> Settings:
    """Return the settings without our hooks, and without the lists that only they were in.

    Raises:
        BadRequestError: the hooks in the file are not as the host has them.
    """
    _check(settings, name)
    if not _ours(settings):
        return settings
    hooks: Settings = {}
    for event, groups in settings["hooks"].items():
        kept = [_without_ours(group) for group in groups]
        left = [
            group for group, before in zip(kept, groups, strict=True) if group["hooks"] or group == before
        ]
        if left or not groups:
            hooks[event] = left
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**settings, "hooks": hooks} if hooks else rest


def connect_server(settings: Settings, program: str, name: str) -> Settings:
    """Return the settings of MCP servers with ours among them.

    Raises:
        BadRequestError: another server has our name.
    """
    servers = settings.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise BadRequestError(f"mcpServers in {name} is no object, so it was left as it is.")
    wanted = {"command": program, "args": _SERVER_ARGUMENTS}
    if SERVER in servers and not _is_our_server(servers[SERVER]):
        raise BadRequestError(f"{name} has another server called {SERVER}, so it was left as it is.")
    return {**settings, "mcpServers": {**servers, SERVER: wanted}}


def disconnect_server(settings: Settings) -> Settings:
    """Return the settings of MCP servers without ours."""
    servers = settings.get("mcpServers")
    if not isinstance(servers, dict) or not _is_our_server(servers.get(SERVER)):
        return settings
    left = {key: value for key, value in servers.items() if key != SERVER}
    rest = {key: value for key, value in settings.items() if key != "mcpServers"}
    return {**settings, "mcpServers": left} if left else rest


def _hooks(wish: Wish) -> Settings:
    """Return our hooks, by event."""
    words = [wish.program, "hook", "claude-code", "--wait", f"{wish.wait_seconds}s"]
    plain = shlex.join(words)
    asking = shlex.join([*words, *(word for pattern in wish.patterns for word in ("--ask", pattern))])
    limit = wish.wait_seconds + MARGIN_SECONDS

    def group(command: str, matcher: str | None = None) -> Settings:
        entry = {"type": "command", "command": command, "timeout": limit}
        return {"matcher": matcher, "hooks": [entry]} if matcher else {"hooks": [entry]}

    before = [group(plain, QUESTION_TOOL)]
    if wish.patterns:
        # A hook that cannot be started, or is killed, must stop the call: the host takes only status 2 for a no.
        before.append(group(f"{asking} || exit 2", matcher_of(list(wish.patterns))))
    return {
        "PreToolUse": before,
        "PermissionRequest": [group(plain, "*")],
        "PostToolUse": [group(plain, QUESTION_TOOL)],
        "Elicitation": [group(plain, "*")],
        "Stop": [group(plain)],
        "SessionEnd": [group(plain)],
    }


def _check(settings: Settings, name: str) -> None:
    """Refuse hooks that are not as the host has them: what is not understood is not rewritten."""
    hooks = settings.get("hooks", {})
    is_well = isinstance(hooks, dict) and all(
        isinstance(groups, list)
        and all(
            isinstance(group, dict)
            and isinstance(group.get("hooks"), list)
            and all(isinstance(entry, dict) for entry in group["hooks"])
            for group in groups
        )
        for groups in hooks.values()
    )
    if not is_well:
        raise BadRequestError(
            f"The hooks in {name} are not as Claude Code has them, so it was left as it is."
        )


def _entries(settings: Settings) -> Iterator[Settings]:
    for groups in settings.get("hooks", {}).values():
        for group in groups:
            yield from group["hooks"]


def _ours(settings: Settings) -> Settings:
    """Return what is ours, by event, each in a group as `_hooks` makes it."""
    found: Settings = {}
    for event, groups in settings.get("hooks", {}).items():
        own = [
            {**group, "hooks": [entry for entry in group["hooks"] if _is_ours(entry)]}
            for group in groups
            if any(map(_is_ours, group["hooks"]))
        ]
        if own:
            found[event] = own
    return found


def _without_ours(group: Settings) -> Settings:
    return {**group, "hooks": [entry for entry in group["hooks"] if not _is_ours(entry)]}


def _is_ours(entry: Settings) -> bool:
    command = entry.get("command")
    return isinstance(command, str) and _OURS.match(command) is not None


def _is_our_server(server: object) -> bool:
    return (
        isinstance(server, dict)
        and server.get("args") == _SERVER_ARGUMENTS
        and str(server.get("command", "")).rpartition("/")[2] == SERVER
    )


def _once(pairs: list[tuple[str, Any]]) -> Settings:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in it")
    return made
