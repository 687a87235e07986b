"""The page of the public Python names: what each is, and how it is called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import assent
import assent.testing
from assent.client.calls import Value
from tools.reference_json import rows
from tools.source import first_sentence, paragraphs, table

__all__ = ["render_python"]

_CLIENTS = ("Client", "AsyncClient")
_WRAPPED = {"open": "Handle", "run": "DrivenRun"}
"""What a client makes of what the call behind its method returns."""
_VALUES = (
    *("Ask", "Field", "Option", "Prompt", "Context", "Choice", "Closing", "Run", "Turn"),
    *("CompletionReport", "Decision", "Failure", "Primer"),
    *("ControlMessage", "Message"),
    *("Handed", "Notification", "Task", "Policy"),
    *(
        "Consequence",
        "DoneReason",
        "FreeText",
        "Kind",
        "Mode",
        "NextStep",
        "NotificationKind",
        "State",
        "Status",
        "TaskStatus",
    ),
)

_HEAD = """\
# Python

`import assent` costs almost nothing: every name below loads on first use. A call that ends badly raises one of the
[errors](errors.md). The fields of the values are those of the [JSON](json.md) forms.
"""

_VALUE = """\
## Values

An answer is a `Value`: `{value}`. It is one text, a list where several options may be chosen, and in a round a value
for each field's name.
"""

_GATES = """\
## Gates and review sessions

Functions that take a client as their first argument. `assent.pass_gate_async` and `assent.hold_session_async` are the same
for an `AsyncClient`, each awaited. How to use them: [stop at a gate](../how-to/stop-at-a-gate.md#from-python),
[review a pull request](../how-to/review-a-pull-request.md#from-python). `assent.review` and `assent.review_async` are the methods
`review` of the two clients: [review a document](../how-to/review-a-document.md#from-python).
"""

_SURFACES = """\
## Surfaces

Where a review takes place that is not `durable`: see [your own host's tool](../how-to/review-a-document.md#through-your-own-hosts-tool).
A dialog has `header`, `text`, `rows` (each a `label` and a `description`), `allows_free_text` and `is_multiple`; what comes back
is a label, a text, a list of them, or None.
"""

_ASYNC_RUN = """\
## assent.AsyncDrivenRun

The same for tasks: `async with client.run(…) as run`, `async for turn in run`, and each method awaited but `nested`.
"""

_LATE = re.compile(r"As `assent\.(\w+)`, which it is\.").fullmatch
"""What a method says that is a public function, loaded when it is first called."""

_TESTING = "See [test your agent](../how-to/test-your-agent.md)."


def render_python() -> str:
    """Return the page."""
    named = {name: getattr(assent, name) for name in assent.__all__ if not name.startswith("_")}
    errors = [name for name, kind in named.items() if isinstance(kind, type) and issubclass(kind, Exception)]
    parts = [_HEAD, "## Connecting\n"]
    parts += [_entry(name, named[name]) for name in ("connect", "connect_async")]
    parts += _class("Client", named["Client"])
    parts.append(_async_part(named["AsyncClient"], named["Client"]))
    for name in ("Handle", "AsyncHandle", "DrivenRun"):
        parts += _class(name, named[name])
    parts.append(_ASYNC_RUN)
    parts += _class("NotificationService", named["NotificationService"])
    parts.append(_GATES)
    parts += [_entry(name, named[name], is_for_client=True) for name in ("pass_gate", "hold_session")]
    parts.append(_SURFACES)
    for name in ("ToolSurface", "PlainSurface", "FallbackSurface"):
        parts += [f"### assent.{name}\n", _entry("", named[name], prefix=f"assent.{name}")]
    parts += _fields("Capability", named["Capability"])
    parts.append(_VALUE.format(value=_annotation(str(Value))))
    parts += [f"- `assent.{name}`: {first_sentence(named[name])}" for name in _VALUES]
    for name in ("Run", "Turn"):
        parts += _fields(name, named[name])
    parts.append("## Errors\n")
    parts += [f"- `assent.{name}` (`{named[name].code}`): {first_sentence(named[name])}" for name in errors]
    parts.append(f"\n## assent.testing\n\n{first_sentence(assent.testing)} {_TESTING}\n")
    for name in assent.testing.__all__:
        parts += _class(f"testing.{name}", getattr(assent.testing, name), level=3)
    return "\n".join(parts)


def _fields(name: str, struct: Any) -> list[str]:
    """Return the fields of a value that has no JSON form of its own."""
    told = [(f"`{name}`", f"`{kind}`", meaning) for name, kind, meaning in _told(struct)]
    return [f"\n### assent.{name}\n", table(("field", "type", "meaning"), told)]


def _told(struct: Any) -> Iterator[tuple[str, str, str]]:
    hints = inspect.get_annotations(struct)
    for name, _, meaning in rows(struct):
        yield name.strip("`"), _annotation(hints[name.strip("`")]), meaning
    for name, part in vars(struct).items():
        if isinstance(part, property):
            yield (
                name,
                _annotation(part.fget.__annotations__["return"]),
                first_sentence(part).removesuffix("."),
            )


def _class(name: str, documented: Any, level: int = 2) -> list[str]:
    parts = [f"{'#' * level} assent.{name}\n", "\n\n".join(paragraphs(documented)) + "\n"]
    if inspect.isfunction(documented):
        return [parts[0], _entry("", documented, prefix=f"assent.{name}")]
    owners = [owner for owner in documented.__mro__ if owner.__module__.split(".")[0] == "assent"]
    properties = [
        (name, part) for owner in owners for name, part in vars(owner).items() if isinstance(part, property)
    ]
    if properties:
        parts.append("".join(f"- `{name}`: {first_sentence(part)}\n" for name, part in properties))
    parts += [_entry(method, function) for method, function in _methods(documented)]
    return parts


def _async_part(client: Any, twin: Any) -> str:
    here, there = dict(_methods(client)), dict(_methods(twin))
    missing = [f"`{name}`" for name in there if name not in here]
    streams = [f"`{name}`" for name, method in here.items() if inspect.isasyncgenfunction(method)]
    plain = [
        f"`{name}`"
        for name, method in here.items()
        if not (inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method))
    ]
    lacks = f" There is no {', '.join(missing)} yet." if missing else ""
    told = " ".join(paragraphs(client))
    loops = f" {' and '.join(streams)} are for an `async for`, {' and '.join(plain)} for an `async with`."
    return f"## assent.AsyncClient\n\n{told} The same calls as `Client`, each awaited.{loops}{lacks}\n"


def _methods(cls: Any) -> Iterator[tuple[str, Any]]:
    seen = set()
    for owner in cls.__mro__:
        for name, member in vars(owner).items():
            if name.startswith("_") or name in seen or owner.__module__.split(".")[0] != "assent":
                continue
            seen.add(name)
            if inspect.isfunction(member):
                late = _LATE(member.__doc__ or "")
                yield name, getattr(assent, late[1]) if late else member


def _entry(name: str, function: Any, *, prefix: str = "", is_for_client: bool = False) -> str:
    called = prefix or name
    told = "\n\n".join(paragraphs(function)) or ""
    return f"```python\n{_signature(called, function, is_for_client=is_for_client)}\n```\n\n{told}\n"


def _signature(name: str, function: Any, *, is_for_client: bool = False) -> str:
    found = inspect.signature(function)
    shown = ["client: Client"] if is_for_client else []
    is_keyword_only = False
    for parameter in found.parameters.values():
        if parameter.name in ("self", "calls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            shown.append("*")
        shown.append(_parameter(parameter))
    is_class = inspect.isclass(function)
    result = (
        ""
        if is_class or found.return_annotation is found.empty
        else f" -> {_annotation(found.return_annotation)}"
    )
    if name in _WRAPPED:
        result = f" -> {_WRAPPED[name]}"
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) <= 110:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in shown) + f"){result}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    told = f"{stars}{parameter.name}: {_annotation(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return told
    default = parameter.default
    if isinstance(default, Mapping):
        return f"{told} = …"
    return f"{told} = {str(default)!r}" if isinstance(default, Enum) else f"{told} = {default!r}"


def _annotation(annotation: Any) -> str:
    told = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    told = re.sub(r"\bCall\[(.+)\]$", r"\1", told)
    told = re.sub(r"\b(?:assent|datetime|collections|typing)(?:\.\w+)*\.(?=\w)", "", told)
    return re.sub(r"\bQuestion\b", "str | Prompt", told)
