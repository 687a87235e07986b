"""Writes the reference pages that the code itself can tell: `python -m tools.reference [--check]`.

With --check nothing is written; the exit status is 1 when a page is not what the code says.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable

from tools.page import ROOT
from tools.reference_capability import render_capabilities
from tools.reference_cli import render_cli
from tools.reference_error import render_errors, render_exit_status
from tools.reference_findings import render_findings_schema
from tools.reference_findings_page import render_findings
from tools.reference_gate import render_gates
from tools.reference_http import render_http
from tools.reference_json import render_json_page
from tools.reference_keys import render_keys
from tools.reference_python import render_python
from tools.reference_run import render_run_states
from tools.reference_schema import render_schema
from tools.reference_session import render_session
from tools.reference_state import render_states
from tools.reference_topic import render_topics
from tools.reference_wire import render_wire

__all__ = ["PAGES", "main", "render", "stale"]

PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/ask-states.md": render_states,
    "docs/reference/capabilities.md": render_capabilities,
    "docs/reference/cli.md": render_cli,
    "docs/reference/errors.md": render_errors,
    "docs/reference/exit-status.md": render_exit_status,
    "docs/reference/findings.md": render_findings,
    "docs/reference/findings.schema.json": render_findings_schema,
    "docs/reference/gates.md": render_gates,
    "docs/reference/http.md": render_http,
    "docs/reference/json.md": render_json_page,
    "docs/reference/python.md": render_python,
    "docs/reference/run-states.md": render_run_states,
    "docs/reference/session.md": render_session,
    "docs/reference/session.schema.json": render_schema,
    "docs/reference/terminal-inbox.md": render_keys,
    "docs/reference/topics.md": render_topics,
    "docs/reference/wire-format.md": render_wire,
}
_NOTE = "<!-- Written by `make docs` from the code. Change the code, not this page. -->\n\n"


def render(name: str) -> str:
    """Return a page as the code tells it."""
    note = _NOTE if name.endswith(".md") else ""  # JSON has no place for one
    return note + PAGES[name]().rstrip("\n") + "\n"


def stale(name: str) -> str:
    """Return how a page differs from the code; nothing when it does not."""
    path = ROOT / name
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(
        found.splitlines(), render(name).splitlines(), name, f"{name} (by the code)", lineterm=""
    )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Write or compare every page."""
    parser = argparse.ArgumentParser(prog="tools.reference", description="Write the reference pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page is out of date")
    chosen = parser.parse_args(arguments)
    differing = {name: found for name in PAGES if (found := stale(name))}
    for name, found in differing.items():
        if chosen.check:
            print(found)
            continue
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(render(name), encoding="utf-8")
        print(f"{name}: written")
    return 1 if differing and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
