"""Static import graph: which modules of the package a user can reach, and which of them a test file uses.

Rule 1: nothing is imported. Source is parsed, imports inside functions included.
Rule 2: an import that only the type checker sees reaches nothing.
Rule 3: a module that is named whole by a string is imported: `"assent.client.gate"` in a table of lazy names, or behind
        `-m`. The two tables that name modules by their last part are read as such.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

__all__ = ["ENTRIES", "PACKAGE", "find_used", "is_outside", "parse", "reach", "read_graph"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "assent"
ENTRIES = (
    "assent",
    "assent.__main__",
    "assent.cli",
    "assent.testing",
    "assent.hosts.acp.client",
    "assent.hosts.crewai",
    "assent.hosts.langchain",
    "assent.hosts.langgraph",
    "assent.hosts.openai_agents",
    "assent.hosts.pydantic_ai",
    "assent.hosts.stdin",
    "assent.testing.server",
)
"""What users start or import. Server, MCP, hooks and page are commands; of the rest it is what the docs import."""
_DOORS = ("assent.cli", "assent.hosts", "assent.testing", "assent.surfaces.http")
"""Packages by which a test comes in as users do."""
_TABLES = ("cli.table", "cli.demo_world.cast")
"""Where modules are named by their last part, for whoever loads one of them by its name."""


@cache
def read_graph(top: Path = PACKAGE) -> dict[str, set[str]]:
    """Return each module of the package below `top`, and the modules of it that it imports."""
    files = _files(top, top.parent)
    graph = {name: set(_imported(path, top.parent, files)) for name, path in files.items()}
    for table in (f"{top.name}.{each}" for each in _TABLES):
        if table in files:
            constants = [node for node in ast.walk(parse(files[table])) if isinstance(node, ast.Constant)]
            words = {node.value for node in constants if isinstance(node.value, str)}
            graph[table] |= {f"{table.rpartition('.')[0]}.{word}" for word in words} & files.keys()
    return graph


def reach(graph: Mapping[str, Collection[str]], entries: Collection[str] = ENTRIES) -> set[str]:
    """Return the modules that the entries lead to, themselves included."""
    seen: set[str] = set()
    ahead = {entry for entry in entries if entry in graph}
    while ahead:
        name = ahead.pop()
        seen.add(name)
        # Importing a module runs the packages around it.
        around = {name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1)}
        ahead |= ({*graph[name]} | (around & graph.keys())) - seen
    return seen


@cache
def find_used(file: Path, root: Path = ROOT) -> frozenset[str]:
    """Return the modules of the package that a test file imports: itself, by test helpers, or by its `conftest.py`."""
    package, helpers = _files(PACKAGE, PACKAGE.parent), _files(root / "tests", root)
    used: set[str] = set()
    seen: set[Path] = set()
    ahead = {file, *(path for each in file.parents if (path := each / "conftest.py") in helpers.values())}
    while ahead:
        path = ahead.pop()
        seen.add(path)
        names = set(_imported(path, root, {**package, **helpers}))
        used |= names & package.keys()
        ahead |= {helpers[name] for name in names & helpers.keys()} - seen
    return frozenset(used)


def is_outside(file: Path) -> bool:
    """Tell whether a test file comes in as users do: by a command, a server, a host, or what `assent` exports."""
    calls = {name for name in read_graph()["assent"] if name.startswith("assent.client.")}
    return any(
        name in {*ENTRIES, *calls} or name.startswith(tuple(f"{door}." for door in _DOORS))
        for name in find_used(file)
    )


@cache
def _files(top: Path, above: Path) -> dict[str, Path]:
    return {_name(path, above): path for path in sorted(top.rglob("*.py"))}


def _name(path: Path, above: Path) -> str:
    parts = path.relative_to(above).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parse(path: Path) -> ast.Module:
    """Return the tree of a source file, which is read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _imported(path: Path, above: Path, known: Mapping[str, Path]) -> Iterator[str]:
    package = path.parent.relative_to(above).parts if path.is_relative_to(above) else ()
    for node in _running(parse(path)):
        match node:
            case ast.Import(names=aliases):
                found = [alias.name for alias in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = ".".join(
                    [*(package[: len(package) - level + 1] if level else ()), *filter(None, [module])]
                )
                # `from a import b` names a module a.b, or a name in a.
                inner = [f"{base}.{alias.name}" for alias in aliases]
                found = [name if name in known else base for name in inner]
            case ast.Constant(value=str(text)) if "." in text:
                found = [text, f"{text}.__main__"]
            case _:
                continue
        yield from (name for name in found if name in known)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: all but what stands beneath `if TYPE_CHECKING`, and docstrings, which name no module whole."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _running(other)
            continue
        yield child
        yield from _running(child)
