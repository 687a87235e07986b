"""What the tests of `assent gate` share: a review to name findings of, and every way to spell an option."""

import json
from pathlib import Path

from assent.protocol.gate import CONTEXTS, Context

__all__ = ["CHOICES", "SPELLINGS", "spell", "write_review"]

CHOICES = [
    (context, number) for context in CONTEXTS.values() for number in range(1, len(context.options) + 1)
]
"""Every option of every standard gate."""
SPELLINGS = ("number", "stop", "bracket", "label", "line")


def spell(context: Context, number: int, spelling: str) -> str:
    """Return a reply that chooses an option."""
    label = context.options[number - 1]
    return {
        "number": str(number),
        "stop": f"{number}.",
        "bracket": f" {number}) ",
        "label": f"  {label.swapcase().replace(' ', '  ')}",
        "line": f"{number}. {label.upper()}",
    }[spelling]


def _finding(severity: str, title: str, line: int) -> dict[str, object]:
    return {
        "severity": severity,
        "title": title,
        "file": "retry.py",
        "line": line,
        "category": "bug",
        "confidence": 90,
        "description": "It is so.",
    }


def write_review(folder: Path) -> str:
    """Write a review with the findings H1, M1 and L1 in two chunks of three; return its name."""
    chunks = [
        {
            "label": "payment retries",
            "files": ["retry.py"],
            "lines": 286,
            "findings": [
                _finding("warning", "Key is built twice", 41),
                _finding("critical", "Loop never ends \x1b[2J", 88),
            ],
        },
        {
            "label": "settings",
            "files": ["conf.py"],
            "lines": 20,
            "findings": [_finding("info", "Misleading name", 12)],
        },
        {"label": "docs", "files": ["README.md"], "lines": 4},
    ]
    pull = {"owner": "acme", "repo": "shop", "number": 7, "head_sha": "0123456789abcdef"}
    (folder / "FINDINGS.json").write_text(json.dumps({"pull_request": pull, "chunks": chunks}))
    return "FINDINGS.json"
