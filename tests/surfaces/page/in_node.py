"""Modules of the page in Node: what in them is pure is called there, many cases in one run, with nothing of a browser."""

import json
import subprocess
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tools.node import find_node

__all__ = ["call"]

_CALL = """
import told from "./told.js";
const given = JSON.parse(await new Response(process.stdin).text());
process.stdout.write(JSON.stringify(await told(given)));
"""


def call(folder: Path, module: str, given: object = None) -> Any:
    """Return what the default function of a module makes of `given`; it imports the page's own as `/page/…`, as they do."""
    page = folder / "page"
    _copy(files("assent.surfaces.http") / "page", page, page)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "told.js").write_text(_rooted(module, page), encoding="utf-8")
    (folder / "call.js").write_text(_CALL, encoding="utf-8")
    # Escaped, for half a surrogate pair is a text to a browser and to Python, and none to UTF-8.
    ran = subprocess.run(
        [find_node(), "call.js"],
        cwd=folder,
        input=json.dumps(given).encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def _copy(source: Traversable, target: Path, page: Path) -> None:
    target.mkdir(exist_ok=True)
    for found in source.iterdir():
        if found.is_dir():
            _copy(found, target / found.name, page)
        elif found.name.endswith(".js"):
            (target / found.name).write_text(
                _rooted(found.read_text(encoding="utf-8"), page), encoding="utf-8"
            )


def _rooted(text: str, page: Path) -> str:
    """Let imports that begin at the root of the site begin at the copy."""
    return text.replace('"/page/', f'"{page}/')
