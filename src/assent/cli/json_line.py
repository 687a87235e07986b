"""JSON on standard output, one value a line."""

from __future__ import annotations

import json
import sys

import click

from assent.protocol.display import is_hidden

__all__ = ["echo_json", "render_inert"]


def echo_json(line: bytes) -> None:
    """Print one line of JSON. On a terminal, what it would obey is escaped: the same JSON, and nothing happens."""
    click.echo(render_inert(line.decode()) if sys.stdout.isatty() else line)


def render_inert(line: str) -> str:
    r"""Return the same JSON with every hidden character as an escape.

    >>> render_inert('{"title":"safe\u200b"}')
    '{"title":"safe\\u200b"}'
    """
    if line.isascii() and line.isprintable():
        return line
    # Between its strings JSON on one line holds nothing hidden, so every such character may be escaped.
    return "".join(json.dumps(sign)[1:-1] if is_hidden(sign) else sign for sign in line)
