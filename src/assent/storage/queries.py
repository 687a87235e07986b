"""SQL lives in .sql files: each query has a name and a sentence."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

__all__ = ["load_queries"]

_NAME = re.compile(r"^-- (\w+): (.+)$", re.MULTILINE)


def load_queries(package: str, name: str) -> dict[str, str]:
    """Return the named queries of a .sql file, comments taken off."""
    return dict(_read(package, name))


@cache
def _read(package: str, name: str) -> dict[str, str]:
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    pieces = _NAME.split(text)
    queries = {}
    for title, body in zip(pieces[1::3], pieces[3::3], strict=True):
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        queries[title] = " ".join(" ".join(lines).split()).rstrip(";")
    return queries
