"""Menus for the tests of surfaces: two with their fixed texts written out, and every one that a walk-through asks."""

from assent.flows.walk_through.menu import (
    cascade_prompt,
    failure_prompt,
    finding_prompt,
    no_fix_prompt,
    preview_prompt,
    routing_prompt,
)
from assent.protocol.finding import Action, AutofixClass, Finding, FindingType, Severity
from assent.protocol.prompt import Field, Option, Prompt

__all__ = [
    "BLOCK",
    "FINDING",
    "FINDING_LINES",
    "MENUS",
    "ROUTING",
    "ROUTING_LINES",
    "SHORT_LINES",
    "WITHOUT_B",
]

ROUTING_LINES = [
    "What should the agent do with the remaining 3 findings?",
    "A. Review each finding one by one — accept the recommendation or choose another action",
    "B. LFG. Apply the agent's best-judgment action per finding",
    "C. Append findings to the doc's Open Questions section and proceed",
    "D. Report only — take no further action",
]
BLOCK = [
    "## Finding 2 of 3 — P1 Readers see two tiers",
    "",
    "Section: Scope Boundaries",
    "",
    "**What's wrong**",
    "",
    "Section 2 names three tiers and section 4 two, so nobody can tell what to build.",
    "",
    "**Proposed fix**",
    "",
    "Name three tiers in section 4, too.",
    "",
    "**Why it works**",
    "",
    "The glossary has three.",
    "",
    "Coherence recommends Apply; scope-guardian recommends Skip. Agent's recommendation: Skip.",
]
FINDING_LINES = [
    "Finding 2 of 3 — P1 Readers see two tiers.",
    "Skip since a reviewer doubts it?",
    "A. Apply the proposed fix",
    "B. Defer — append to the doc's Open Questions section",
    "C. Skip — don't apply, don't append (recommended)",
    "D. LFG the rest — apply the agent's best judgment to this and remaining findings",
]
SHORT_LINES = [
    "Finding 2 of 3 — P1 Readers see two tiers.",
    "Skip since a reviewer doubts it?",
    "Defer unavailable — document is read-only in this environment.",
    "A. Apply the proposed fix",
    "C. Skip — don't apply, don't append (recommended)",
    "D. LFG the rest — apply the agent's best judgment to this and remaining findings",
]


def menu(lines: list[str], block: list[str], keys: list[str]) -> Prompt:
    """Return the menu that is shown as `lines` beneath `block`."""
    stem, options = lines[: -len(keys)], []
    for key, line in zip(keys, lines[-len(keys) :], strict=True):
        label = line[3:].removesuffix(" (recommended)")
        options.append(Option(key, label, recommended=line.endswith("(recommended)"), mark=line[0]))
    return Prompt("\n".join(stem), "\n".join(block), (Field("decision", options=tuple(options)),))


ROUTING = menu(ROUTING_LINES, [], ["Review each finding", "LFG", "Append findings", "Report only"])
FINDING = menu(FINDING_LINES, BLOCK, ["Apply", "Defer", "Skip", "LFG the rest"])
WITHOUT_B = menu(SHORT_LINES, BLOCK, ["Apply", "Skip", "LFG the rest"])

_FOUND = Finding(
    "scope-tiers",
    "Readers see two tiers",
    Severity.P1,
    "Scope Boundaries",
    "Section 2 names three tiers and section 4 two.",
    FindingType.ERROR,
    AutofixClass.GATED_AUTO,
    100,
    Action.APPLY,
    suggested_fix="Name three tiers.",
)
_READ_ONLY = "document is read-only in this environment"

MENUS: dict[str, Prompt] = {
    "routing": routing_prompt(3),
    "routing without append": routing_prompt(3, _READ_ONLY),
    "finding": finding_prompt(_FOUND, (2, 3), Action.APPLY),
    "only finding": finding_prompt(_FOUND, None, Action.DEFER),
    "finding without append": finding_prompt(_FOUND, (2, 3), Action.SKIP, _READ_ONLY),
    "only finding without append": finding_prompt(_FOUND, None, Action.SKIP, _READ_ONLY),
    "no fix": no_fix_prompt(_FOUND, (2, 3)),
    "no fix without append": no_fix_prompt(_FOUND, (2, 3), _READ_ONLY),
    "cascade": cascade_prompt(_FOUND, (2, 3), Action.SKIP, [_FOUND, _FOUND]),
    "failure": failure_prompt(_FOUND, (2, 3), "The file was changed."),
    "preview": preview_prompt("Applying (1):\n[P1] Scope — Two tiers.", 1),
}
"""Every menu of a walk-through, by what it asks."""
