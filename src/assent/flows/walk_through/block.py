"""One finding as a person meets it: the block that explains it, and the phrases of the question (W30-W40).

Rule 1: the block is Markdown and explains; the question is plain text and decides. Nothing of one is in the other but
        the handle.
Rule 2: a block names one action as recommended, the one that the menu marks.
Rule 3: a reason that nobody gave is not made up. It is taken from what the finding carries, or left out.
"""

from __future__ import annotations

import re

from assent.flows.walk_through.fix import render_whole_fix
from assent.flows.walk_through.prose import brief, one_line, passage, sentences
from assent.protocol.display import display, is_blank
from assent.protocol.finding import Action, AutofixClass, Finding
from assent.protocol.words import join_words

__all__ = ["action_framing", "handle_of", "render_block"]

_HANDLE_WORDS, _HANDLE_LENGTH = 8, 100
"""W31 and W-U1."""
_REASON_SENTENCES, _REASON_LENGTH = 3, 600
"""W37."""
_QUOTE, _CONFLICT, _NAME, _NAMES = 160, 500, 60, 4
_CONFIRMED = 100

_NO_FIX = "None was proposed: the review names the issue without a concrete fix."
_ACTION = re.compile(r"\b(?:apply|defer|skip)\b", re.IGNORECASE)


def handle_of(finding: Finding) -> str:
    """Return by what a person knows the finding: its title on one line, at most eight words, without a full stop."""
    title = one_line(finding.title if is_blank(finding.plain_title) else finding.plain_title)
    words = title.split()
    cut = " ".join(words[:_HANDLE_WORDS])
    if len(words) > _HANDLE_WORDS:
        cut = cut.rstrip(",;:.—– ") + "…"
    return brief(cut, _HANDLE_LENGTH).rstrip(". ") or "(no title)"


def render_block(finding: Finding, place: tuple[int, int] | None, action: Action, remap: str = "") -> str:
    """Return the block that explains a finding, in Markdown.

    `place` is its number and how many there are, and nothing where there is only this one (W44). `action` is the one
    that the menu marks, and `remap` the sentence on why it is not the one of the synthesis (W45).
    """
    counter = f"Finding {place[0]} of {place[1]} — " if place else ""
    parts = [
        f"## {counter}{finding.severity} {handle_of(finding)}",
        f"Section: {display(finding.section, lines=False).strip()}",
        "**What's wrong**",
        passage(finding.title if is_blank(finding.why_it_matters) else finding.why_it_matters),
        "**Proposed fix**",
    ]
    if finding.has_fix:
        parts += [render_whole_fix(finding), "**Why it works**", passage(_reason(finding))]
    else:
        parts.append(_NO_FIX)  # W-X15
    parts.append(_conflict_line(finding, action, remap))
    return "\n\n".join(filter(None, parts))


def _reason(finding: Finding) -> str:
    """Return why the fix is right, as the reviewers said it; else what it rests on (W37)."""
    said = one_line(finding.why_it_works)
    if not is_blank(said):
        told = sentences(said)
        more = " …" * (len(told) > _REASON_SENTENCES)
        return brief(" ".join(told[:_REASON_SENTENCES]) + more, _REASON_LENGTH)
    evidence = next((brief(quoted, _QUOTE) for quoted in finding.evidence if not is_blank(quoted)), "")
    stop = "" if evidence.endswith((".", "!", "?")) else "."
    quotes = [f'The review quotes: "{evidence}"{stop}'] if evidence else []
    return " ".join([*quotes, _who(finding)])


def _who(finding: Finding) -> str:
    names = [brief(name, _NAME) for name in finding.reviewers if not is_blank(name)]
    if len(names) > 1:
        shown = names[:_NAMES]
        if len(names) > _NAMES:
            shown.append(f"{len(names) - _NAMES} more")
        # Where they disagreed they did not find the same.
        found = "looked at it" if finding.conflict_context.strip() else "found it independently"
        return f"{join_words(shown)} {found}."
    who = names[0] if names else "A reviewer"
    return f"{who} confirmed it directly." if finding.confidence == _CONFIRMED else f"{who} checked it twice."


def _conflict_line(finding: Finding, action: Action, remap: str) -> str:
    """Return who recommended what and what became of it; the action that is named last is the marked one (W-X16)."""
    conflict = "" if is_blank(finding.conflict_context) else brief(finding.conflict_context, _CONFLICT)
    said = " ".join(filter(None, [conflict, one_line(remap)]))
    if not said:
        return ""
    named = _ACTION.findall(said)
    if not named or named[-1].lower() != action.lower():
        said = f"{said} Agent's recommendation: {action}."
    return passage(said)


def action_framing(finding: Finding, action: Action, is_remapped: bool) -> str:
    """Return the recommended action in a phrase, to be answered with yes or no (W40)."""
    is_blocked = is_remapped and finding.recommended_action is Action.APPLY and finding.has_fix
    match action:
        case Action.APPLY:
            return "Apply the proposed fix?"
        case Action.DEFER if is_blocked:
            return "Defer to Open Questions since the fix cannot be applied here?"
        case Action.SKIP if is_blocked:
            return "Skip since the fix can be neither applied nor deferred here?"
        case Action.DEFER if not finding.has_fix:
            return "Defer to Open Questions since the review names no concrete fix?"
        case Action.DEFER if finding.autofix_class is AutofixClass.MANUAL:
            return "Defer to Open Questions since it takes judgement?"
        case Action.DEFER:
            return "Defer to Open Questions?"
        case Action.SKIP if is_remapped:
            return "Skip since it cannot be appended to the document?"
        case Action.SKIP if finding.conflict_context.strip():
            return "Skip since a reviewer doubts it?"
        case Action.SKIP:
            return "Skip since the review recommends no change?"
