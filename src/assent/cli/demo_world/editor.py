"""The agent `editor`: has findings about a page of the handbook, and walks a person through them.

This is the real walk-through, durable: every step is an ask, what is applied is written into a page of the demo's own
folder, and at the end there is a report. Two findings depend on a third one, so that a no to it asks about them.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_PAGE = """\
# On call

## Goal

Whoever is on call knows within five minutes wether an alert matters.

## Rotation

Everybody is on call for one week. A shift lasts 10 days.

## Alert robot

A robot answers each alert first, and closes those that it knows.

## Escalation

When the robot gives up, the second person is called after 45 minutes.

## Training

New colleagues learn from the alerts that the robot has closed.

## Nights

A night with a call is followed by a free morning.
"""


def play(stage: Stage) -> None:
    """Review one page after the other; a walk that was left is begun again with a fresh page."""
    for number in count(1):
        page = stage.folder / "handbook" / f"on-call-{number}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(_PAGE)
        try:
            report = stage.client.review(
                _FINDINGS, document=page, durable=True, apply=_apply, document_type="other"
            )
        except assent.NoAnswer:
            stage.pause()
            continue
        stage.rest()
        stage.ask(
            f"The page on call is reviewed: {report.verdict}. What is next?",
            ["The page for new colleagues", "Nothing, thank you"],
            body=f"{len(report.decisions)} findings were decided. The page is `{page.name}`.",
        )
        stage.pause()


def _apply(finding: dict[str, Any], page: str) -> str:
    """Work a fix in words into the page: here, as a sentence at the end of its section."""
    heading = f"## {finding['section']}\n"
    before, found, after = page.partition(heading)
    body, gap, rest = after.partition("\n## ")
    return f"{before}{found}{body.rstrip()} {finding['suggested_fix']}\n{gap}{rest}"


def _finding(
    title: str, severity: str, section: str, quote: str, why: str, fix: str, **parts: Any
) -> dict[str, Any]:
    return {
        "title": title,
        "severity": severity,
        "section": section,
        "finding_type": "error",
        "autofix_class": "gated_auto",
        "confidence": 100,
        "evidence": [quote],
        "why_it_matters": why,
        "suggested_fix": fix,
        **parts,
    }


_FINDINGS = [
    {
        "reviewer": "coherence",
        "findings": [
            _finding(
                "Whether is misspelled",
                "P3",
                "Goal",
                "knows within five minutes wether an alert matters",
                "The first sentence reads as unfinished.",
                "Spell `whether` right.",
                autofix_class="safe_auto",
                edit={"before": "wether", "after": "whether"},
            ),
            _finding(
                "A shift has seven and ten days",
                "P1",
                "Rotation",
                "Everybody is on call for one week. A shift lasts 10 days.",
                "Three days of each shift belong to two people, and on those nobody answers.",
                "Say one week in both sentences.",
                edit={"before": "A shift lasts 10 days.", "after": "A shift begins on Monday at nine."},
                why_it_works="The calendar is cut into weeks, and has been for years.",
            ),
            _finding(
                "The second person waits for the robot",
                "P1",
                "Escalation",
                "When the robot gives up, the second person is called after 45 minutes.",
                "Three quarters of an hour pass before a second pair of eyes looks.",
                "Call the second person after 15 minutes, whatever the robot does.",
                edit={
                    "before": "When the robot gives up, the second person is called after 45 minutes.",
                    "after": "The second person is called after 15 minutes without an answer.",
                },
                concerns="alert robot/escalation",
                why_it_works="The pager can do that by itself.",
            ),
        ],
        "residual_risks": ["Holidays may fall on a Monday, when shifts begin."],
        "deferred_questions": [],
    },
    {
        "reviewer": "scope-guardian",
        "findings": [
            _finding(
                "Nothing shows that the alert robot helps",
                "P1",
                "Alert robot",
                "A robot answers each alert first, and closes those that it knows.",
                "It closed 61 alerts last month, and 9 of them were real. Nothing in the goal needs it.",
                "Until its figures are better, whoever is on call answers each alert.",
                autofix_class="manual",
                challenges="alert robot",
                why_it_works="Without it the median answer took four minutes.",
            ),
            _finding(
                "Training uses what the robot closed",
                "P2",
                "Training",
                "New colleagues learn from the alerts that the robot has closed.",
                "One in seven of these was closed by mistake, and is learned as right.",
                "Let them sit beside somebody for their first week instead.",
                edit={
                    "before": "New colleagues learn from the alerts that the robot has closed.",
                    "after": "New colleagues sit beside somebody for their first week.",
                },
                confidence=75,
                concerns="alert robot",
                why_it_works="The teams that do so need no second week.",
            ),
            _finding(
                "Nobody says who decides about the free morning",
                "P2",
                "Nights",
                "A night with a call is followed by a free morning.",
                "People ask for it, or do not dare to.",
                "It needs nobody's leave.",
                finding_type="omission",
                autofix_class="manual",
                confidence=75,
            ),
        ],
        "residual_risks": [],
        "deferred_questions": ["Who pays for the pager of the second person?"],
    },
]
