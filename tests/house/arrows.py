"""Reads a package's imports from its source, without importing it.

A room is a folder of the package, and `""` is the package's own top, which gathers the public names.
A wrong arrow is an import that the drawing does not have, also one that only the type checker sees:
what a room names, it knows.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.reach import parse

__all__ = ["ARROWS", "Import", "Module", "cycles", "hidden_imports", "read_package", "wrong_arrows"]

_SEEN_FROM_OUTSIDE = {"client", "effects", "flows", "protocol"}
_ALL = {"hub", "engine", "storage", "surfaces", "hosts", *_SEEN_FROM_OUTSIDE}
ARROWS: dict[str, set[str]] = {
    "protocol": set(),
    "flows": {"protocol"},
    "effects": {"protocol", "flows"},
    "engine": {"protocol"},
    "storage": {"protocol"},
    "hub": {"engine", "storage", "protocol"},
    "client": {"hub", "effects", "flows", "protocol"},
    "surfaces": _SEEN_FROM_OUTSIDE,
    "hosts": _SEEN_FROM_OUTSIDE,
    "testing": _ALL,
    "cli": {"", "testing", *_ALL},
    "": {"cli", "testing", *_ALL},
}
"""Room to the rooms that it may import."""

_LOADS_BY_NAME = {"import_module", "__import__"}


@dataclass(frozen=True)
class Import:
    """One name that a module takes in."""

    line: int
    name: str
    """Fully qualified: `from a import b` takes in `a.b`."""
    is_hidden: bool
    """It stands inside a function."""


@dataclass(frozen=True)
class Module:
    """One source file of the package."""

    place: str
    """Its path inside the package."""
    room: str
    imports: tuple[Import, ...]
    leans_on: dict[Import, str]
    """The imports that reach another room, and which."""


@cache
def read_package(top: Path) -> list[Module]:
    """Read every module under the folder of a package."""
    rooms = {path.name for path in top.iterdir() if path.is_dir()} | set(ARROWS)
    modules = []
    for path in sorted(top.rglob("*.py")):
        place = path.relative_to(top)
        room = place.parts[0] if len(place.parts) > 1 else place.stem if place.stem in rooms else ""
        imports = tuple(_imports(parse(path), (top.name, *place.parent.parts), is_hidden=False))
        reached = {imported: _room(imported.name, top.name, rooms) for imported in imports}
        leans_on = {imported: to for imported, to in reached.items() if to is not None and to != room}
        modules.append(Module(place.as_posix(), room, imports, leans_on))
    return modules


def _room(name: str, package: str, rooms: set[str]) -> str | None:
    first, *rest = name.split(".")
    if first != package:
        return None
    return rest[0] if rest and rest[0] in rooms else ""


def _imports(node: ast.AST, parents: tuple[str, ...], *, is_hidden: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for name in _names(child, parents):
            yield Import(getattr(child, "lineno", 0), name, is_hidden)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(child, parents, is_hidden=is_hidden or is_function)


def _names(node: ast.AST, parents: tuple[str, ...]) -> list[str]:
    match node:
        case ast.Import(names=aliases):
            return [alias.name for alias in aliases]
        case ast.ImportFrom(module=module, names=aliases, level=level):
            above = parents[: len(parents) - level + 1] if level else ()
            base = ".".join([*above, *filter(None, [module])])
            return [f"{base}.{alias.name}" for alias in aliases]
        case ast.Call(
            func=ast.Attribute(attr=called) | ast.Name(id=called),
            args=[ast.Constant(value=str(name)), *_],
        ) if called in _LOADS_BY_NAME:
            return [name]
    return []


def wrong_arrows(modules: list[Module]) -> list[str]:
    """List the imports that the drawing does not have, one sentence each."""
    found = [f"{module.place}: no such room" for module in modules if module.room not in ARROWS]
    for module in modules:
        for imported, room in module.leans_on.items():
            if room not in ARROWS.get(module.room, {room}):
                found.append(f"{module.place}:{imported.line}: may not import {imported.name}")
    return sorted(found)


def hidden_imports(modules: list[Module]) -> list[str]:
    """List the imports inside functions, outside the two places that may load late."""
    return [
        f"{module.place}:{imported.line}: import inside a function"
        for module in modules
        if module.room != "cli" and module.place != "__init__.py"
        for imported in module.imports
        if imported.is_hidden
    ]


def cycles(modules: list[Module]) -> list[str]:
    """List the rooms that reach themselves through others; the top does not count, it gathers all of them."""
    leans: dict[str, set[str]] = {}
    for module in modules:
        leans.setdefault(module.room, set()).update(set(module.leans_on.values()) - {""})
    return sorted(room for room in leans if room and room in _reach(leans, room))


def _reach(leans: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = set(leans[start])
    while ahead:
        room = ahead.pop()
        seen.add(room)
        ahead |= leans.get(room, set()) - seen
    return seen
