"""Every question of a walk-through, with its fixed text.

Rule 1: letters belong to options. What is left out takes its letter with it, and nothing moves up (W-X11).
Rule 2: a stem is plain text and carries one recommendation at most; what explains it is the prompt's body (W29, W40).
Rule 3: at most one option is recommended, in routing and preview none (W8, W43, W-X22).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assent.flows.walk_through.block import action_framing, handle_of, render_block
from assent.protocol.display import quote
from assent.protocol.finding import Action, Finding
from assent.protocol.prompt import Field, Option, Prompt

__all__ = [
    "ACKNOWLEDGE",
    "APPEND",
    "APPLY",
    "CANCEL",
    "CASCADE",
    "CONVERT",
    "DECISION",
    "DEFER",
    "EACH",
    "LFG",
    "LFG_THE_REST",
    "ONE_BY_ONE",
    "PROCEED",
    "RECORD_ONLY",
    "REPORT_ONLY",
    "RETRY",
    "SKIP",
    "cascade_prompt",
    "failure_prompt",
    "finding_prompt",
    "no_fix_prompt",
    "position_line",
    "preview_prompt",
    "routing_prompt",
]

DECISION = "decision"
"""The name of the one field."""

# What is recorded when an option is chosen; its label may be longer.
ONE_BY_ONE, LFG, APPEND, REPORT_ONLY = "Review each finding", "LFG", "Append findings", "Report only"
APPLY, DEFER, SKIP, LFG_THE_REST = Action.APPLY, Action.DEFER, Action.SKIP, "LFG the rest"
ACKNOWLEDGE = "Acknowledge"
CASCADE, EACH = "Cascade", "Decide each"
RETRY, RECORD_ONLY, CONVERT = "Retry", "Record only", "Convert to Skip"
PROCEED, CANCEL = "Proceed", "Cancel"

_Menu = tuple[tuple[str, str, str], ...]
"""Letter, key and label."""

_ROUTING: _Menu = (  # W7
    ("A", ONE_BY_ONE, "Review each finding one by one — accept the recommendation or choose another action"),
    ("B", LFG, "LFG. Apply the agent's best-judgment action per finding"),
    ("C", APPEND, "Append findings to the doc's Open Questions section and proceed"),
    ("D", REPORT_ONLY, "Report only — take no further action"),
)
_SKIP_LABEL = "Skip — don't apply, don't append"
_FINDING: _Menu = (  # W42
    ("A", APPLY, "Apply the proposed fix"),
    ("B", DEFER, "Defer — append to the doc's Open Questions section"),
    ("C", SKIP, _SKIP_LABEL),
    ("D", LFG_THE_REST, "LFG the rest — apply the agent's best judgment to this and remaining findings"),
)
_NO_FIX: _Menu = (  # W54
    ("A", DEFER, "Defer to Open Questions"),
    ("B", SKIP, _SKIP_LABEL),
    ("C", ACKNOWLEDGE, "Acknowledge without applying — record the decision, no document edit"),
)
_CASCADE: _Menu = (  # W21
    ("A", CASCADE, "Cascade — apply same action to all dependents"),
    ("B", EACH, "Decide each dependent individually"),
)
_FAILURE: _Menu = (  # W-U11
    ("A", RETRY, "Retry — try to append the entry again"),
    ("B", RECORD_ONLY, "Record only — keep the deferral in the report, leave the document as it is"),
    ("C", CONVERT, "Convert to Skip — don't apply, don't append"),
)
_PREVIEW: _Menu = (("A", PROCEED, "Proceed"), ("B", CANCEL, "Cancel"))  # W-U13

_WITHOUT_FIX = "the review surfaced the issue without a concrete fix"
_SHOWN_TITLES = 12


def _prompt(
    stem: str, menu: _Menu, *, body: str = "", without: Collection[str] = (), recommended: str = ""
) -> Prompt:
    options = tuple(
        Option(key, label, recommended=key == recommended, mark=letter)
        for letter, key, label in menu
        if key not in without
    )
    return Prompt(stem, body, (Field(DECISION, options=options),))


def routing_prompt(count: int, unavailable: str = "", document: str = "") -> Prompt:
    """Return the first question (W6-W10). `unavailable` says why nothing can be appended, where that is so.

    Among other asks nobody would know which `document` it is about; so its body says that.
    """
    stem = f"What should the agent do with the remaining {count} findings?"
    body = f"Review of {quote(document)}" if document else ""
    if not unavailable:
        return _prompt(stem, _ROUTING, body=body)
    stem += f"\nAppend to Open Questions unavailable — {unavailable}."
    return _prompt(stem, _ROUTING, body=body, without=(APPEND,))


def position_line(finding: Finding, place: tuple[int, int] | None) -> str:
    """Return which finding it is: `Finding 2 of 8 — P1 Two tiers.`; where there is only one, without the counter."""
    counter = "" if place is None else f"Finding {place[0]} of {place[1]} — "
    return f"{counter}{finding.severity} {handle_of(finding)}."


def finding_prompt(
    finding: Finding,
    place: tuple[int, int] | None,
    action: Action,
    unavailable: str = "",
    obstacle: str = "",
) -> Prompt:
    """Return the question about one finding (W29-W46); `action` is what is recommended now, perhaps remapped.

    `obstacle` says why its fix cannot be applied, where that is so.
    """
    is_remapped = action is not finding.recommended_action
    remap = ""
    if is_remapped:  # W45, W55
        was = finding.recommended_action
        why = (obstacle if was is Action.APPLY else unavailable).removesuffix(" in this environment")
        remap = f"Synthesis recommended {was}; downgraded to {action} — {why}."
    stem = f"{position_line(finding, place)}\n{action_framing(finding, action, is_remapped)}"
    without: list[str] = []
    if unavailable:
        without.append(DEFER)
        stem += f"\n{_no_defer(unavailable)}"
    if place is None:
        without.append(LFG_THE_REST)
    body = render_block(finding, place, action, remap)
    return _prompt(stem, _FINDING, body=body, without=without, recommended=action)


def no_fix_prompt(
    finding: Finding, place: tuple[int, int] | None, unavailable: str = "", obstacle: str = ""
) -> Prompt:
    """Return what is asked when Apply was picked and cannot be done (W53-W59); `obstacle` says why, where it has a fix."""
    where = position_line(finding, place)
    why = obstacle if finding.has_fix else _WITHOUT_FIX
    stem = f"Apply isn't executable for this finding — {why}. How should the agent proceed?"
    if not unavailable:
        return _prompt(stem, _NO_FIX, body=where, recommended=DEFER)
    stem = f"{stem}\n{_no_defer(unavailable)}"
    return _prompt(stem, _NO_FIX, body=where, without=(DEFER,), recommended=SKIP)


def cascade_prompt(
    root: Finding, place: tuple[int, int] | None, action: Action, dependents: Sequence[Finding]
) -> Prompt:
    """Return the announcement of a cascade, which is its question, too (W20, W21, W-X12)."""
    doing = {Action.SKIP: "Skipping", Action.DEFER: "Deferring"}[action]
    titles = [quote(handle_of(finding), 100) for finding in dependents[:_SHOWN_TITLES]]
    if len(dependents) > _SHOWN_TITLES:
        titles.append(f"and {len(dependents) - _SHOWN_TITLES} more")
    stem = (
        f"{doing} this root will auto-resolve {len(dependents)} dependent finding(s): {'; '.join(titles)}. "
        "Continue?"
    )
    return _prompt(stem, _CASCADE, body=position_line(root, place), recommended=CASCADE)


def failure_prompt(finding: Finding, place: tuple[int, int] | None, reason: str) -> Prompt:
    """Return what is asked when an entry could not be appended (W-U11)."""
    stem = (
        f"The entry could not be appended to Open Questions: {quote(reason, 500)} What should the agent do?"
    )
    return _prompt(stem, _FAILURE, body=position_line(finding, place))


def preview_prompt(preview: str, count: int) -> Prompt:
    """Return the question below a preview (W-U13)."""
    them = "this finding" if count == 1 else f"these {count} findings"
    return _prompt(f"Should the agent do this with {them}?", _PREVIEW, body=preview)


def _no_defer(unavailable: str) -> str:
    return f"Defer unavailable — {unavailable}."
