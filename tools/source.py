"""What the source says beside the code: docstrings of classes, and the string under a field.

Ids of requirements, as in (I43), are for readers of the code and are left out.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Sequence
from functools import cache

__all__ = ["field_notes", "first_sentence", "paragraphs", "table"]

_REQUIREMENTS = re.compile(r" *\((?:[GCIWQ](?:-[UX])?\d+(?:-[GCIWQ]\d+)?(?:, )?)+\)| *\(decided rule \d+\)")


def paragraphs(documented: object) -> list[str]:
    """Return the paragraphs of a docstring, each on one line; examples and lists of errors are left out."""
    text = _REQUIREMENTS.sub("", inspect.getdoc(documented) or "")
    kept = text.partition("\nRaises:")[0].partition(">>>")[0]
    return [" ".join(part.split()) for part in kept.split("\n\n") if part.strip()]


def first_sentence(documented: object) -> str:
    """Return the first paragraph of a docstring."""
    return next(iter(paragraphs(documented)), "")


@cache
def field_notes(cls: type) -> dict[str, str]:
    """Return the string that stands under each field of a class, for those that have one."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    notes: dict[str, str] = {}
    if not isinstance(tree, ast.ClassDef):
        return notes
    for node, following in zip(tree.body, tree.body[1:], strict=False):
        name = _assigned(node)
        if (
            name
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            notes[name] = " ".join(_REQUIREMENTS.sub("", following.value.value).split())
    return notes


def _assigned(node: ast.stmt) -> str:
    target = node.target if isinstance(node, ast.AnnAssign) else None
    if isinstance(node, ast.Assign):
        target = node.targets[0] if isinstance(node.targets[0], ast.Name) else None
    return target.id if isinstance(target, ast.Name) else ""


def table(head: tuple[str, ...], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
