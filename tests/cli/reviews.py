"""What the tests of document reviews share: a document, findings about it, and a desk with both in its folder."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.cli.shell import Result, Shell, Terminal
from tests.patience import PATIENCE

__all__ = [
    "DOCUMENT",
    "FIXED",
    "LIFETIME",
    "ROLLBACK",
    "ROUND_OF_FIVE",
    "SAFE",
    "TONE",
    "Desk",
    "document_of",
    "merged",
    "merged_set",
    "raw",
    "reviewer",
]

DOCUMENT = """\
# Plan

## Scope Boundaries

We cache everything for an hour.
The API is called `fetchAll`.

## Rollout

We ship on Friday. Teh users are told.

## Cache

A cache sits in front of the store.
"""
FIXED = DOCUMENT.replace("Teh", "The")
"""The document after its one safe fix."""


def raw(title: str, **changes: Any) -> dict[str, Any]:
    """Return a finding as a reviewer hands it in: a proposed fix to sign off, unless it is changed."""
    return {
        "title": title,
        "severity": "P2",
        "section": "Scope Boundaries",
        "why_it_matters": f"Readers stumble: {title.lower()}. And then they stop.",
        "finding_type": "error",
        "autofix_class": "gated_auto",
        "confidence": 100,
        "evidence": ["We cache everything for an hour."],
        "suggested_fix": "Say it in one sentence.",
        **changes,
    }


def reviewer(name: str, *findings: dict[str, Any], **parts: Sequence[str]) -> dict[str, Any]:
    """Return all that one reviewer hands in."""
    return {
        "reviewer": name,
        "findings": list(findings),
        "residual_risks": [],
        "deferred_questions": [],
        **parts,
    }


def merged(name: str, action: str = "Apply", **changes: Any) -> dict[str, Any]:
    """Return a finding of a set that was merged elsewhere; its exact edit fits `document_of`."""
    return {
        **raw(
            f"Passage {name} is unclear",
            section=f"Part {name}",
            why_it_matters=f"Readers of {name} stop. Then they ask.",
            why_it_works="It says the same in fewer words.",
            evidence=[f"Passage {name} stands here."],
            edit={"before": f"Passage {name} stands here.", "after": f"Passage {name} is clear."},
        ),
        "id": name,
        "recommended_action": action,
        "reviewers": ["coherence"],
        **changes,
    }


def merged_set(*findings: dict[str, Any], **parts: Sequence[str]) -> dict[str, Any]:
    """Return a set that was merged elsewhere."""
    return {"findings": list(findings), **parts}


def document_of(*names: str, clear: Sequence[str] = ()) -> str:
    """Return a document that findings of these names are about; those of `clear` have been applied."""
    parts = [f"Passage {name} {'is clear' if name in clear else 'stands here'}.\n" for name in names]
    return "\n".join(["# Plan\n", *parts])


SAFE = raw(
    "Typo in the rollout",
    severity="P3",
    section="Rollout",
    autofix_class="safe_auto",
    evidence=["Teh users are told."],
    suggested_fix="Correct the word.",
    edit={"before": "Teh", "after": "The"},
)
TONE = raw(
    "Tone is informal",
    severity="P3",
    section="Rollout",
    why_it_matters="It is a matter of taste.",
    autofix_class="manual",
    confidence=50,
    suggested_fix=None,
)
LIFETIME = raw(
    "Cache lifetime contradicts the SLA",
    severity="P1",
    why_it_matters="Readers see data that is an hour old. The SLA says a minute.",
    suggested_fix="Say that the cache lives for a minute.",
    edit={"before": "for an hour", "after": "for a minute"},
    why_it_works="The SLA names a minute.",
)
_NAME = raw(
    "Name breaks the house style",
    why_it_matters="Implementers will name the function differently from all others.",
    evidence=["The API is called `fetchAll`."],
    suggested_fix="Rename `fetchAll` to `fetch_all` .",
    edit={"before": "fetchAll", "after": "fetch_all"},
    why_it_works="All other names are written like this.",
)
_PREMISE = raw(
    "The cache may not be needed",
    severity="P0",
    section="Cache",
    why_it_matters="Nobody measured that reads are slow. So the premise is open.",
    autofix_class="manual",
    evidence=["A cache sits in front of the store."],
    suggested_fix=None,
    challenges="cache",
)
_EVICTION = raw(
    "Cache has no eviction",
    section="Cache",
    why_it_matters="Memory grows until the process dies.",
    finding_type="omission",
    autofix_class="manual",
    confidence=75,
    evidence=["A cache sits in front of the store."],
    suggested_fix="Name an eviction policy.",
    edit={"before": "A cache sits", "after": "A bounded cache sits"},
    concerns="cache",
)
ROLLBACK = raw(
    "Nobody rolls back",
    severity="P1",
    section="Rollout",
    why_it_matters="A bad release stays until Monday.",
    finding_type="omission",
    autofix_class="manual",
    confidence=75,
    evidence=["We ship on Friday."],
    suggested_fix=None,
)
ROUND_OF_FIVE = [
    reviewer(
        "coherence",
        LIFETIME,
        _NAME,
        SAFE,
        TONE,
        residual_risks=["The store may be slow."],
        deferred_questions=["Who owns the cache?"],
    ),
    reviewer("scope-guardian", _PREMISE, _EVICTION, ROLLBACK),
]
"""Five findings to decide, a safe fix and an observation; one of the five is a root with one dependent."""


class Desk:
    """A shell with a document and findings in its folder."""

    def __init__(self, shell: Shell, findings: object = ROUND_OF_FIVE, document: str = DOCUMENT) -> None:
        self.shell = shell
        self.folder = shell.folder
        self.path = self.folder / "plan.md"
        self.path.write_text(document)
        self.write(findings)

    def write(self, findings: object, name: str = "findings.json") -> str:
        """Write findings, or whatever else is JSON; return the file's name."""
        (self.folder / name).write_bytes(msgspec.json.encode(findings))
        return name

    @property
    def document(self) -> str:
        """The document as it is now."""
        return self.path.read_text()

    @property
    def database(self) -> Path:
        """Where the store would lie."""
        return self.shell.store

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command, without its options."""
        return ("review", "findings.json", "--document", "plan.md")

    def run(self, *options: str, replies: Sequence[str] = (), **changes: str | None) -> Result:
        """Go through it with replies from a pipe, a line each."""
        typed = "".join(f"{reply}\n" for reply in replies)
        return self.shell.run(*self.arguments, *options, typed=typed, **changes)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start it as an agent does, who cannot answer: it waits for others."""
        return self.shell.start(*self.arguments, *options, CLAUDECODE="1")

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process as a crash does."""
        process.kill()
        process.wait(PATIENCE)

    def terminal(self, *options: str, columns: int = 200) -> Terminal:
        """Start it on a terminal that is wide enough for every line, without colours."""
        return Terminal(self.shell, *self.arguments, *options, columns=columns, stdout_too=True, NO_COLOR="1")

    def talk(self, *replies: str, options: Sequence[str] = ()) -> tuple[int, list[str]]:
        """Go through it on a terminal; return its status and all lines of the screen."""
        with self.terminal(*options) as terminal:
            for number, reply in enumerate(replies, 1):
                terminal.until("\n> ", number)
                terminal.type(f"{reply}\n")
            status = terminal.end().status
            lines = terminal.screen()
        while lines and not lines[-1]:
            lines.pop()
        return status, lines
