"""The page's modules as one script, and its styles as one sheet: a browser asks for a few files, and not for sixty.

Rule 1: each module is a scope of its own, and runs once, after those that it imports. Its names are exported under its own.
Rule 2: modules import by name from `/page/`, in no circle, and export what they declare. Any other form is refused when
        the server starts, and nothing is guessed.
Rule 3: what is in `vendor/` is imported as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["pack_script", "pack_sheet"]

_HOME = "/page/"
_VENDOR = "vendor/"
_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\}|(?P<whole>\w+)) from "/page/(?P<path>[^"]+)";$', re.MULTILINE
)
_LATER = re.compile(r'\bimport\("/page/(?P<path>[^"]+)"\)')
_DECLARED = re.compile(r"^export (?=(?:async function|function|class|const) (?P<name>\w+))", re.MULTILINE)
_LISTED = re.compile(r"^export \{(?P<names>[\w\s,]*)\};$", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)
_SHEET = re.compile(r'^@import "/page/(?P<path>[^"]+)";$', re.MULTILINE)


def pack_script(texts: Mapping[str, str], name: str) -> str:
    """Return the module of this name with all that it imports, at once or later.

    Raises:
        ValueError: a module is written in another form than rule 2 has it.
    """
    packed: dict[str, str] = {}
    _add(packed, texts, name, ())
    scopes = ", ".join(_scope(each) for each in packed if not each.startswith(_VENDOR))
    return "".join(sorted(packed.values(), key=lambda text: not text.startswith("import"))) + (
        f"export {{ {scopes} }};\n"
    )


def _add(packed: dict[str, str], texts: Mapping[str, str], name: str, within: tuple[str, ...]) -> None:
    """Add a module after all that it imports."""
    if name in within:
        raise ValueError(f"The page's modules import each other in a circle: {' '.join((*within, name))}.")
    if name in packed:
        return
    if name.startswith(_VENDOR):
        packed[name] = f'import * as {_scope(name)} from "{_HOME}{name}";\n'
        return
    text = texts[name]
    for found in (*_IMPORT.finditer(text), *_LATER.finditer(text)):
        _add(packed, texts, found["path"], (*within, name))
    exported = [found["name"] for found in _DECLARED.finditer(text)]
    for found in _LISTED.finditer(text):
        exported += (": ".join(reversed(each.split(" as "))) for each in _listed(found["names"]))
    body = _DECLARED.sub("", _LISTED.sub("", _IMPORT.sub(_take, text)))
    body = _LATER.sub(lambda found: f"Promise.resolve({_scope(found['path'])})", body)
    if other := _OTHER.search(body):
        raise ValueError(f"{name} of the page cannot be packed: {other[0].strip()}")
    packed[name] = f"const {_scope(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _take(found: re.Match[str]) -> str:
    """Return what stands for an import: the names, out of the scope that has them."""
    scope = _scope(found["path"])
    if found["whole"]:
        return f"const {found['whole']} = {scope}.default;"
    names = (each.replace(" as ", ": ") for each in _listed(found["names"]))
    return f"const {{ {', '.join(names)} }} = {scope};"


def _listed(names: str) -> list[str]:
    return [each.strip() for each in names.split(",") if each.strip()]


def _scope(name: str) -> str:
    """Return what a module is called in the pack: `module_run_words` for `run-words.js`."""
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))


def pack_sheet(texts: Mapping[str, str], name: str) -> str:
    """Return a sheet with those that it imports in their places."""
    return _SHEET.sub(lambda found: texts[found["path"]], texts[name])
