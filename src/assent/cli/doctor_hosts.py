"""Which agent hosts are here, which of them know of Assent, and what each can show. It looks at files and starts nothing.

A host is *here* when its program is on the path, or its package can be imported. It is *connected* when a settings file of
it names our command: as a hook, or as an MCP server. What a settings file says beyond that is not our business, and one
that cannot be read connects nothing.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from assent.cli.doctor_check import Check
from assent.protocol.capability import CAPABILITIES, Capability, FreeText

__all__ = ["Framework", "Program", "look_at_hosts", "render_capability"]

_MAX_SETTINGS_BYTES = 1 << 20
_DEEPEST = 12


class Program(msgspec.Struct, frozen=True):
    """A host that is a program."""

    name: str
    command: str
    capability: str
    settings: tuple[str, ...]
    """Where it may name us; `~` is the home of the user, everything else is in the project."""
    connect: str
    """The command that connects it."""


class Framework(msgspec.Struct, frozen=True):
    """A host that is a library."""

    package: str
    page: str


PROGRAMS = (
    Program(
        "claude-code",
        "claude",
        "claude-code",
        (
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".mcp.json",
            "~/.claude/settings.json",
            "~/.claude.json",
        ),
        "assent install claude-code",
    ),
    Program("codex", "codex", "codex", (".codex/config.toml", "~/.codex/config.toml"), "assent host codex"),
    Program(
        "opencode",
        "opencode",
        "opencode",
        ("opencode.json", "~/.config/opencode/opencode.json"),
        "assent host opencode",
    ),
    Program(
        "gemini",
        "gemini",
        "stdio",  # no hook can answer its own tool: it gets the numbered text of our MCP server
        (".gemini/settings.json", "~/.gemini/settings.json"),
        "assent mcp as an MCP server in .gemini/settings.json",
    ),
)
FRAMEWORKS = (
    Framework("langgraph", "langgraph"),
    Framework("langchain", "langchain"),
    Framework("openai-agents", "openai-agents"),
    Framework("pydantic-ai-slim", "pydantic-ai"),
    Framework("crewai", "crewai"),
    Framework("agent-client-protocol", "acp"),
)


def look_at_hosts(root: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """Tell of each host that is here, and name the others."""
    absent = []
    for program in PROGRAMS:
        found = shutil.which(program.command, path=environ.get("PATH"))
        where = list(_naming_us(program, root, environ))
        if found is None and not where:
            absent.append(program.name)
            continue
        yield _check(program, found, where)
    libraries = [f"{each.package} {number}" for each in FRAMEWORKS if (number := _version(each.package))]
    if libraries:
        yield Check("frameworks", f"{', '.join(libraries)}: imported by your own code")
    if absent:
        yield Check("other hosts", f"{', '.join(absent)}: not found on the path")


def _check(program: Program, found: str | None, where: list[str]) -> Check:
    here = f"{found}" if found else "not found on the path"
    connected = f"connected by {', '.join(where)}" if where else "not connected"
    shows = render_capability(CAPABILITIES[program.capability])
    remedy = "" if where else f"Connect it with: {program.connect}"
    return Check(program.name, f"{here}; {connected}; {shows}", remedy=remedy)


def render_capability(capability: Capability) -> str:
    """Return in a few words what a host can show at once, and what it cannot.

    >>> render_capability(CAPABILITIES["codex"])
    'shows 3 questions of 2 to 3 options, one of each, and words of your own; the rest is folded'
    """
    most = capability.max_questions
    questions = (
        "any number of questions" if most is None else "1 question" if most == 1 else f"{most} questions"
    )
    least, top = capability.min_options, capability.max_options
    options = f"{least} to {top} options" if top else "any number of options"
    several = "several of each" if capability.allows_multiple else "one of each"
    words = "no words of your own" if capability.free_text is FreeText.NEVER else "words of your own"
    is_limited = any(limit is not None for limit in (most, top)) or not capability.allows_multiple
    return f"shows {questions} of {options}, {several}, and {words}" + (
        "; the rest is folded" if is_limited else ""
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _naming_us(program: Program, root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings files that name our command."""
    home = environ.get("HOME")
    for name in program.settings:
        if name.startswith("~"):
            if not home:
                continue
            path = Path(home, name[2:])
        else:
            path = root / name
        if _names_us(_read(path)):
            yield name


def _read(path: Path) -> object:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_SETTINGS_BYTES:
            return None
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


def _names_us(value: object, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return any(
            (key == "command" and _is_ours(inner)) or _names_us(inner, depth + 1)
            for key, inner in value.items()
        )
    return isinstance(value, list) and any(_names_us(inner, depth + 1) for inner in value)


def _is_ours(command: object) -> bool:
    """Whether a command, one text or a list of words, starts `assent`."""
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        return False
    return isinstance(words, list) and any(
        isinstance(word, str) and Path(word).name == "assent" for word in words[:3]
    )
