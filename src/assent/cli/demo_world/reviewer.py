"""The agent `reviewer`: has read a pull request, and goes through what it found with a person, gate by gate.

This is the real session. There is no way to GitHub from here, so nothing of it is ever posted.
"""

from __future__ import annotations

from typing import Any

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_DIVES = {
    "critical": "Seen twice in the staging log of last night: both orders were charged two times.",
    "warning": "Not seen in any log. It takes two requests within the same millisecond.",
    "info": "A matter of reading, and of nothing else.",
}


def play(stage: Stage) -> None:
    """Review one pull request after the other; one that was put aside is taken up again."""
    number, is_saved = 482, False
    while True:
        closing = assent.hold_session(
            stage.client,
            _review(number),
            resume=is_saved,
            deep_dive=_dive,
            folder=stage.folder / "reviewer",
        )
        is_saved = closing.how == "paused"
        number += not is_saved
        stage.pause()


def _dive(_: str, finding: dict[str, Any]) -> str:
    return _DIVES[finding["severity"]]


def _review(number: int) -> dict[str, Any]:
    return {
        "pull_request": {
            "owner": "example",
            "repo": "checkout-api",
            "number": number,
            "head_sha": f"{number:07x}",
            "title": "Charge a card again when the line broke",
        },
        "commits": 5,
        "chunks": [
            {
                "label": "charging again",
                "files": ["src/pay/again.py", "src/pay/card.py"],
                "lines": 214,
                "findings": [
                    {
                        "severity": "critical",
                        "title": "A second charge gets a key of its own",
                        "file": "src/pay/card.py",
                        "line": 57,
                        "category": "bug",
                        "confidence": 97,
                        "description": "The key is made inside the loop. The bank sees two charges, and makes both.",
                        "suggestion": "    key = key or new_key()",
                    },
                    {
                        "severity": "warning",
                        "title": "The pause between two tries does not grow",
                        "file": "src/pay/again.py",
                        "line": 23,
                        "category": "performance",
                        "confidence": 91,
                        "description": "After an outage every shop comes back in the same second.",
                        "suggestion": "    pause = min(pause * 2, LONGEST)",
                    },
                    {
                        "severity": "warning",
                        "title": "A try that was given up is not told",
                        "file": "src/pay/again.py",
                        "line": 40,
                        "category": "error-handling",
                        "confidence": 88,
                        "description": "The caller gets None, and takes it for a payment that is under way.",
                    },
                ],
            },
            {
                "label": "tests",
                "files": ["tests/pay/test_again.py"],
                "lines": 96,
                "findings": [
                    {
                        "severity": "info",
                        "title": "The test sleeps for two seconds",
                        "file": "tests/pay/test_again.py",
                        "line": 12,
                        "category": "testing",
                        "confidence": 84,
                        "description": "A clock that the test moves would do, and be right more often.",
                    }
                ],
            },
        ],
    }
