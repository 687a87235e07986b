"""The host's settings file, with our hooks and without them. Values only; `cli/install.py` reads and writes.

Rule 1: everything else in the file stays as it is. What is ours is told by its command, and by nothing else; a command
        to which somebody has added something is theirs.
Rule 2: nothing is ever loosened: no permission is touched, and a call that had to be approved still has to be, unless all
        of ours is taken out.
Rule 3: a file that is not plain JSON, or has a key twice, is refused: what cannot be written back is not rewritten.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from assent.hosts.claude_code.glance import HOST, QUESTION_TOOL
from assent.hosts.claude_code.pattern import matcher_of
from assent.protocol.error import BadRequestError

__all__ = [
    "MARGIN_SECONDS",
    "Settings",
    "Wish",
    "are_left",
    "connect",
    "connect_server",
    "disconnect",
    "disconnect_server",
    "found_words",
    "parse_settings",
    "render_settings",
]

MARGIN_SECONDS = 60
"""So much longer than people have to answer, the host waits for a hook: it must never lose patience first."""
SERVER = "assent"
_PROGRAM = "assent"

_STARTS_OURS = re.compile(r"(?<![\w-])assent['\"]? hook claude-code(?![\w-])")
_HOOK = ["hook", HOST]
_GUARD = " || exit 2"
_VALUED = ("--wait", "--ask", "--confirm", "--category", "--store", "--project")
_INDENT = re.compile(r"\n([ \t]+)\S")
_SERVER_ARGUMENTS = ["mcp"]

Settings = dict[str, Any]


class Wish(NamedTuple):
    """What is to stand in the settings."""

    program: str
    """How the hook is started: `assent`, or a path to it."""
    patterns: tuple[str, ...]
    """Calls that a person must approve."""
    wait_seconds: int
    confirmed: tuple[str, ...] = ()
    """Calls that the host asks about in its own dialog."""
    store: str | None = None
    """Where to ask; None is as before."""
    project: str | None = None
    category: str = ""
    """Of what kind the calls are that must be approved; empty is as before."""


def parse_settings(text: str, name: str) -> Settings:
    """Read a settings file; an empty one has no settings.

    Raises:
        BadRequestError: it is no JSON object with each key once, or could not be written back.
    """
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=_once, parse_float=_finite, parse_constant=_finite)
        json.dumps(settings, ensure_ascii=False).encode()  # half of a surrogate pair cannot be written
    except UnicodeEncodeError:
        raise BadRequestError(f"{name} holds half of a character, so it was left as it is.") from None
    except (ValueError, RecursionError) as error:
        told = error if isinstance(error, ValueError) else "it is nested too deeply"
        raise BadRequestError(f"{name} is not plain JSON, so it was left as it is: {told}.") from None
    if not isinstance(settings, dict):
        raise BadRequestError(f"{name} holds no object, so it was left as it is.")
    return settings


def render_settings(settings: Settings, like: str) -> str:
    """Write settings with the indent and the ends of lines of the text that they came from; none is an empty text."""
    if not settings:
        return ""
    found = _INDENT.search(like)
    text = json.dumps(settings, indent=found[1] if found else 2, ensure_ascii=False) + "\n"
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def found_words(settings: Settings, option: str) -> tuple[str, ...]:
    """Return what our hooks in these settings have for an option."""
    found = (_options(entry) or {} for entry in _entries(settings))
    return tuple(dict.fromkeys(word for options in found for word in options.get(option, ())))


def are_left(settings: Settings) -> bool:
    """Say whether some hook starts ours in a way that is not ours: somebody has added something to it."""
    commands = (entry.get("command") for entry in _entries(settings) if not _is_ours(entry))
    return any(isinstance(command, str) and _STARTS_OURS.search(command) for command in commands)


def connect(settings: Settings, wish: Wish, name: str) -> Settings:
    """Return the settings with our hooks in them; those that stood there already are replaced.

    Raises:
        BadRequestError: the hooks in the file are not as the host has them.
    """
    _check(settings, name)
    wanted = _hooks(
        wish._replace(
            patterns=tuple(dict.fromkeys((*found_words(settings, "--ask"), *wish.patterns))),
            confirmed=tuple(dict.fromkeys((*found_words(settings, "--confirm"), *wish.confirmed))),
            store=wish.store or next(iter(found_words(settings, "--store")), None),
            project=wish.project or next(iter(found_words(settings, "--project")), None),
            category=wish.category or next(iter(found_words(settings, "--category")), ""),
        )
    )
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


def connect_server(settings: Settings, wish: Wish, name: str) -> Settings:
    """Return the settings of MCP servers with ours among them.

    Raises:
        BadRequestError: another server has our name.
    """
    servers = settings.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise BadRequestError(f"mcpServers in {name} is no object, so it was left as it is.")
    args = [*_SERVER_ARGUMENTS, *_place_words(wish)]
    if SERVER in servers and not _is_our_server(servers[SERVER]):
        raise BadRequestError(f"{name} has another server called {SERVER}, so it was left as it is.")
    # What a person has added to it, such as its environment, stays.
    server = {**servers.get(SERVER, {}), "command": wish.program}
    if "args" not in server or len(args) > 1:
        server["args"] = args
    return {**settings, "mcpServers": {**servers, SERVER: server}}


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
    words = [wish.program, *_HOOK, "--wait", f"{wish.wait_seconds}s", *_place_words(wish)]
    plain = shlex.join(words)
    for option, patterns in (("--ask", wish.patterns), ("--confirm", wish.confirmed)):
        words += [word for pattern in patterns for word in (option, pattern)]
    words += ["--category", wish.category] if wish.category else []
    entry = {"type": "command", "command": plain, "timeout": wish.wait_seconds + MARGIN_SECONDS}

    def group(matcher: str | None = None) -> Settings:
        return {"matcher": matcher, "hooks": [dict(entry)]} if matcher else {"hooks": [dict(entry)]}

    before = [group(QUESTION_TOOL)]
    watched = [*wish.patterns, *wish.confirmed]
    if watched:
        # A hook that cannot be started, is killed or hangs must stop the call. The host takes only status 2 for a no,
        # and one that hangs only where it is told to.
        asking = {**entry, "command": shlex.join(words) + _GUARD, "onFailure": "block"}
        before.append({"matcher": matcher_of(watched), "hooks": [asking]})
    return {
        "PreToolUse": before,
        "PermissionRequest": [group("*")],
        "PostToolUse": [group(QUESTION_TOOL)],
        "Elicitation": [group("*")],
        "Notification": [group()],
        "Stop": [group()],
        "SessionEnd": [group()],
    }


def _place_words(wish: Wish) -> list[str]:
    said = (("--store", wish.store), ("--project", wish.project))
    return [word for option, value in said if value for word in (option, value)]


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
    return _options(entry) is not None


def _options(entry: Settings) -> dict[str, list[str]] | None:
    """Return what our command is told, by option; None where it is not ours, or has more than ours has."""
    command = entry.get("command")
    try:
        words = shlex.split(command.removesuffix(_GUARD)) if isinstance(command, str) else []
    except ValueError:
        return None  # a quote is missing
    if [word.rpartition("/")[2] for word in words[:1]] != [_PROGRAM] or words[1:3] != _HOOK:
        return None
    found: dict[str, list[str]] = {option: [] for option in _VALUED}
    left = iter(words[3:])
    for word in left:
        option, sign, value = word.partition("=")
        if option in _VALUED:
            found[option].append(value if sign else next(left, ""))
        elif word != "--headless":
            return None
    return found


def _is_our_server(server: object) -> bool:
    if not isinstance(server, dict) or not isinstance(server.get("args"), list):
        return False
    args = server["args"]
    return (
        args[:1] == _SERVER_ARGUMENTS
        and all(option in {"--store", "--project"} for option in args[1::2])
        and str(server.get("command", "")).rpartition("/")[2] == _PROGRAM
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number that JSON has")
    return number


def _once(pairs: list[tuple[str, Any]]) -> Settings:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in it")
    return made
